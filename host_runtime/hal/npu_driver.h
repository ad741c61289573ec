// The NPU's driver: identification, reset, region binding, one job at a time, and an account of
// what went wrong. Register meanings are arch/registers.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "arch/isa.h"
#include "arch/npu_config.h"
#include "base/result.h"
#include "deputy/hw_port.h"
#include "host_runtime/hal/intc_driver.h"

namespace deputy::host_runtime {

class NpuDriver {
 public:
  /// Both must outlive the driver.
  NpuDriver(HwPort& port, IntcDriver& intc) : port_(port), intc_(intc) {}

  /// Checks the ID register, resets the engine and enables its interrupt. kHardwareFault when there
  /// is no NPU of this ISA version.
  base::Status probe();

  /// Compares what a program was compiled for with CONFIG0 to CONFIG2; kConfig names the first
  /// field that differs and what to do. Fields that only change timing are not visible here.
  base::Status check_target(const arch::NpuConfig& target, const std::string& program) const;

  /// Drops any job, clears the registers, and programs the regions and the interrupt again.
  base::Status reset();

  /// Makes region `region` of this driver's later jobs be these bytes. Every job programs its own
  /// regions, so sessions may share the engine.
  void bind(int region, std::uint64_t address, std::uint64_t bytes);

  /// Starts the command stream at `address`. One job at a time: wait() must have returned.
  base::Status submit(std::uint64_t address, std::uint64_t bytes);

  /// Blocks until the job ends or `deadline_ps` (absolute) passes. Success is done and no error.
  /// Otherwise kHardwareFault, with the fault registers in words, or whether the job still moved
  /// when its time was up; the engine has then been reset and takes new jobs.
  base::Status wait(std::uint64_t deadline_ps);

  /// The tag of the instruction the last job stopped at, if it ended with a fault the NPU reported.
  std::optional<std::uint32_t> fault_tag() const { return fault_tag_; }

 private:
  struct Binding {
    std::uint64_t address = 0, bytes = 0;
  };
  std::uint32_t read(std::uint32_t offset) const;
  void write(std::uint32_t offset, std::uint32_t value);
  void write64(std::uint32_t low_offset, std::uint64_t value);
  void program_regions();
  base::Error fault(std::uint32_t status);
  base::Error time_out();
  /// Resets after a failure; a failing reset is added to the failure's account.
  base::Error recovered(base::Error error);

  HwPort& port_;
  IntcDriver& intc_;
  std::array<Binding, arch::kRegionCount> bindings_;
  std::optional<std::uint32_t> fault_tag_;
  bool submitted_ = false;
};

}  // namespace deputy::host_runtime
