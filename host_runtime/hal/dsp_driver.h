// The DSP's own registers: identification and configuration. Jobs go through its queue manager
// (queue_driver.h). Register meanings are arch/dsp_registers.h.
#pragma once

#include <string>

#include "arch/dsp_image.h"
#include "base/result.h"
#include "deputy/hw_port.h"

namespace deputy::host_runtime {

class DspDriver {
 public:
  /// `port` must outlive the driver.
  explicit DspDriver(HwPort& port) : port_(port) {}

  /// kHardwareFault when there is no DSP of this instruction set.
  base::Status probe();

  /// kConfig when the image does not fit the memories that this DSP has.
  base::Status check_target(const arch::DspImage& image, const std::string& name) const {
    return check_memories(image.tcm_bytes, image.words.size() * 4, name);
  }
  base::Status check_memories(std::uint64_t tcm_bytes, std::uint64_t program_bytes,
                              const std::string& name) const;

 private:
  HwPort& port_;
};

}  // namespace deputy::host_runtime
