// The sync unit's driver: hands out timelines, signals and fails them for the host, and reads them.
// Timelines are described in docs/queues.md.
#pragma once

#include <cstdint>

#include "arch/registers.h"
#include "base/result.h"
#include "deputy/hw_port.h"
#include "host_runtime/hal/intc_driver.h"

namespace deputy::host_runtime {

class SyncDriver {
 public:
  /// Both must outlive the driver.
  SyncDriver(HwPort& port, IntcDriver& intc) : port_(port), intc_(intc) {}

  /// kHardwareFault when no sync unit answers. All timelines are cleared and free afterwards.
  base::Status probe();

  /// A timeline at value 0 for the caller alone until release(); kBusy when all are taken.
  base::Result<std::uint8_t> allocate();
  /// Nobody may wait for it any more: an engine that still did would wait for its next owner.
  void release(std::uint8_t timeline);

  std::uint64_t value(std::uint8_t timeline);
  arch::SyncFailure failure(std::uint8_t timeline);
  /// A value that does not exceed the present one fails the timeline.
  void signal(std::uint8_t timeline, std::uint64_t value);
  void fail(std::uint8_t timeline, arch::SyncFailure failure);

  /// The host is interrupted when the timeline reaches `value` or fails. One threshold a timeline.
  void arm(std::uint8_t timeline, std::uint64_t value);
  void disarm(std::uint8_t timeline);
  /// Acknowledges what was raised: a bit per timeline.
  std::uint32_t take_interrupts();

 private:
  std::uint64_t at(std::uint32_t timeline0_register, std::uint8_t timeline) const;

  HwPort& port_;
  IntcDriver& intc_;
  std::uint32_t taken_ = 0, armed_ = 0;  ///< a bit per timeline
};

}  // namespace deputy::host_runtime
