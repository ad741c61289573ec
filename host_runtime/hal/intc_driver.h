// The interrupt controller's driver, and the acknowledgement of a device's interrupt that all
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

  /// Acknowledges what a device has raised: first at the device (the register at `irq_status`,
  /// write 1 to clear), then at the controller, and again until the device has nothing left, so
  /// that an interrupt that arrives in between is neither lost nor left pending. Answers the
  /// device's causes, 0 when there were none.
  std::uint32_t take(arch::IrqLine line, std::uint64_t irq_status);

 private:
  HwPort& port_;
};

}  // namespace deputy::host_runtime
