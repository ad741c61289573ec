#include "host_runtime/hal/dsp_driver.h"

#include "arch/dsp_registers.h"
#include "arch/memory_map.h"
#include "host_runtime/hal/text.h"

namespace deputy::host_runtime {
namespace reg = arch::dsp_reg;
using base::Error;
using base::ErrorKind;

base::Status DspDriver::probe() {
  const std::uint32_t expected = arch::dsp_registers()[0].reset;
  const std::uint32_t id = port_.read32(arch::kDspBase + reg::kId);
  if (id == expected) return {};
  return Error{ErrorKind::kHardwareFault, "dsp",
               "ID reads " + hex(id) + " instead of " + hex(expected),
               "this SoC has no DSP of this instruction set (dsp.present)"};
}

base::Status DspDriver::check_memories(std::uint64_t tcm_bytes, std::uint64_t program_bytes,
                                       const std::string& name) const {
  const auto check = [&](std::uint32_t offset, std::uint64_t needed,
                         const char* what) -> base::Status {
    const std::uint32_t present = port_.read32(arch::kDspBase + offset);
    if (needed <= present) return {};
    return Error{ErrorKind::kConfig, name,
                 "needs " + std::to_string(needed) + " bytes of " + what + ", this DSP has " +
                     std::to_string(present),
                 "build the image for this SoC's configuration"};
  };
  DEPUTY_TRY(check(reg::kConfig0, tcm_bytes, "data memory"));
  return check(reg::kConfig1, program_bytes, "program memory");
}

}  // namespace deputy::host_runtime
