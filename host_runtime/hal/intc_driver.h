// The interrupt controller's driver, and the service of one engine's interrupt that the NPU and DMA
// drivers share.
#pragma once

#include <cstdint>

#include "arch/memory_map.h"
#include "base/result.h"
#include "deputy/hw_port.h"

namespace deputy::host_runtime {

class IntcDriver {
 public:
  /// `port` must outlive the driver.
  explicit IntcDriver(HwPort& port) : port_(port) {}

  /// kHardwareFault when something else answers at the controller's address.
  base::Status probe();
  /// Lets a line interrupt the host, without a stale request: what was pending is dropped.
  void enable(arch::IrqLine line);
  void disable(arch::IrqLine line);
  bool pending(arch::IrqLine line);
  void acknowledge(arch::IrqLine line);

  /// Blocks until an engine has raised its interrupt or the deadline (absolute, ps) passes, and
  /// acknowledges it: first at the device (the register at `irq_status`, write 1 to clear), then at
  /// the controller, and again until the device has nothing left, so an interrupt that arrives in
  /// between is neither lost nor left pending. An interrupt that the device knows nothing about is
  /// spurious: counted, acknowledged, and the wait goes on. Answers the device's causes, 0 on a
  /// time-out.
  base::Result<std::uint32_t> wait(arch::IrqLine line, std::uint64_t irq_status,
                                   std::uint64_t deadline_ps);

  /// Acknowledges what a device has raised, without waiting, in the same order. Answers its causes.
  std::uint32_t take(arch::IrqLine line, std::uint64_t irq_status);

  std::uint64_t spurious() const { return spurious_; }

 private:
  HwPort& port_;
  std::uint64_t spurious_ = 0;
};

}  // namespace deputy::host_runtime
