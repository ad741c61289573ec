// The NPU's own registers: identification and configuration. Jobs go through its queue manager
// (queue_driver.h). Register meanings are arch/registers.h.
#pragma once

#include <string>

#include "arch/npu_config.h"
#include "arch/registers.h"
#include "base/result.h"
#include "deputy/hw_port.h"

namespace deputy::host_runtime {

class NpuDriver {
 public:
  /// `port` must outlive the driver.
  explicit NpuDriver(HwPort& port) : port_(port) {}

  /// kHardwareFault when there is no NPU of this ISA version.
  base::Status probe();

  /// Compares what a program was compiled for with CONFIG0 to CONFIG2; kConfig names the first
  /// field that differs and what to do. Fields that only change timing are not visible here.
  base::Status check_target(const arch::NpuConfig& target, const std::string& program) const;

  /// Performance counters (PMU_*): `counter` < arch::kPmuCounters counts `event` from 0 on, in the
  /// jobs that end from now on. A reset of the NPU forgets it.
  void count(std::uint32_t counter, arch::PmuEvent event);
  std::uint64_t counted(std::uint32_t counter) const;

 private:
  HwPort& port_;
};

}  // namespace deputy::host_runtime
