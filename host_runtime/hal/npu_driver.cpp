#include "host_runtime/hal/npu_driver.h"

#include "arch/memory_map.h"
#include "arch/registers.h"
#include "host_runtime/hal/text.h"

namespace deputy::host_runtime {
namespace reg = arch::npu_reg;
using base::Error;
using base::ErrorKind;

base::Status NpuDriver::probe() {
  const std::uint32_t expected = arch::npu_registers()[0].reset;
  const std::uint32_t id = port_.read32(arch::kNpuBase + reg::kId);
  if (id == expected) return {};
  return Error{ErrorKind::kHardwareFault, "npu",
               "ID reads " + hex(id) + " instead of " + hex(expected),
               "no NPU of this instruction-set version is at its address"};
}

base::Status NpuDriver::check_target(const arch::NpuConfig& target,
                                     const std::string& program) const {
  const std::uint32_t config0 = port_.read32(arch::kNpuBase + reg::kConfig0);
  const auto byte = [&](int index) {
    return static_cast<std::int64_t>(config0 >> (8 * index) & 0xFF);
  };
  const struct {
    const char* name;
    std::int64_t compiled, present;
  } fields[] = {
      {"npu.mac.oc_lanes", target.mac.oc_lanes, byte(0) + 1},
      {"npu.mac.ic_lanes", target.mac.ic_lanes, byte(1) + 1},
      {"npu.mac.pixels", target.mac.pixels, byte(2) + 1},
      {"npu.mac.dw_taps", target.mac.dw_taps, byte(3)},
      {"npu.spm.bytes", target.spm.bytes, port_.read32(arch::kNpuBase + reg::kConfig1)},
      {"npu.mac.accumulators", target.mac.accumulators,
       port_.read32(arch::kNpuBase + reg::kConfig2)},
  };
  for (const auto& f : fields)
    if (f.compiled != f.present)
      return Error{ErrorKind::kConfig, program,
                   std::string("compiled for ") + f.name + " = " + std::to_string(f.compiled) +
                       ", but this NPU has " + std::to_string(f.present),
                   "compile the model for this SoC's configuration"};
  return {};
}

void NpuDriver::count(std::uint32_t counter, arch::PmuEvent event) {
  port_.write32(arch::kNpuBase + reg::kPmuEvent0 + 4 * counter, static_cast<std::uint32_t>(event));
  port_.write32(arch::kNpuBase + reg::kPmuClear, 1u << counter);
  port_.write32(arch::kNpuBase + reg::kPmuCtrl, 1);
}

// The high half may carry between two reads.
std::uint64_t NpuDriver::counted(std::uint32_t counter) const {
  const std::uint64_t low = arch::kNpuBase + reg::kPmuCount0Lo + 8 * counter;
  for (;;) {
    const std::uint32_t high = port_.read32(low + 4), value = port_.read32(low);
    if (port_.read32(low + 4) == high) return std::uint64_t{high} << 32 | value;
  }
}

}  // namespace deputy::host_runtime
