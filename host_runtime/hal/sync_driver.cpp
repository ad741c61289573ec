#include "host_runtime/hal/sync_driver.h"

#include "arch/memory_map.h"

namespace deputy::host_runtime {
namespace reg = arch::sync_reg;
using base::Error;
using base::ErrorKind;

std::uint64_t SyncDriver::at(std::uint32_t timeline0_register, std::uint8_t timeline) const {
  return arch::kSyncBase + timeline0_register + timeline * arch::kTimelineStride;
}

base::Status SyncDriver::probe() {
  if (port_.read32(arch::kSyncBase + reg::kId) != arch::sync_registers()[0].reset)
    return Error{ErrorKind::kHardwareFault, "sync", "the ID register is not a sync unit's",
                 "no sync unit of this version is at its address"};
  port_.write32(arch::kSyncBase + reg::kIrqEnable, 0);
  port_.write32(arch::kSyncBase + reg::kClear, (1u << arch::kTimelineCount) - 1);
  taken_ = armed_ = 0;
  intc_.enable(arch::IrqLine::kSync);
  return {};
}

base::Result<std::uint8_t> SyncDriver::allocate() {
  for (std::uint8_t t = 0; t < arch::kTimelineCount; ++t) {
    if (taken_ >> t & 1) continue;
    taken_ |= 1u << t;
    return t;
  }
  return Error{ErrorKind::kBusy, "sync", "every timeline is in use",
               "close a session, or load it with fewer frames in flight"};
}

void SyncDriver::release(std::uint8_t timeline) {
  disarm(timeline);
  port_.write32(arch::kSyncBase + reg::kClear, 1u << timeline);
  taken_ &= ~(1u << timeline);
}

std::uint64_t SyncDriver::value(std::uint8_t timeline) {
  const std::uint32_t low = port_.read32(at(reg::kTimeline0ValueLo, timeline));
  return low | std::uint64_t{port_.read32(at(reg::kTimeline0ValueHi, timeline))} << 32;
}

arch::SyncFailure SyncDriver::failure(std::uint8_t timeline) {
  return static_cast<arch::SyncFailure>(port_.read32(at(reg::kTimeline0Fail, timeline)));
}

void SyncDriver::signal(std::uint8_t timeline, std::uint64_t value) {
  port_.write32(at(reg::kTimeline0SignalLo, timeline), static_cast<std::uint32_t>(value));
  port_.write32(at(reg::kTimeline0SignalHi, timeline), static_cast<std::uint32_t>(value >> 32));
}

void SyncDriver::fail(std::uint8_t timeline, arch::SyncFailure failure) {
  port_.write32(at(reg::kTimeline0FailSet, timeline), static_cast<std::uint32_t>(failure));
}

void SyncDriver::arm(std::uint8_t timeline, std::uint64_t value) {
  port_.write32(at(reg::kTimeline0WaitLo, timeline), static_cast<std::uint32_t>(value));
  port_.write32(at(reg::kTimeline0WaitHi, timeline), static_cast<std::uint32_t>(value >> 32));
  armed_ |= 1u << timeline;
  port_.write32(arch::kSyncBase + reg::kIrqEnable, armed_);
}

void SyncDriver::disarm(std::uint8_t timeline) {
  if (!(armed_ >> timeline & 1)) return;
  armed_ &= ~(1u << timeline);
  port_.write32(arch::kSyncBase + reg::kIrqEnable, armed_);
  port_.write32(arch::kSyncBase + reg::kIrqStatus, 1u << timeline);
}

std::uint32_t SyncDriver::take_interrupts() {
  // A threshold that is reached stays reached: what is served must be disarmed, or it comes back at
  // once.
  const std::uint32_t raised = port_.read32(arch::kSyncBase + reg::kIrqStatus) & armed_;
  armed_ &= ~raised;
  port_.write32(arch::kSyncBase + reg::kIrqEnable, armed_);
  intc_.take(arch::IrqLine::kSync, arch::kSyncBase + reg::kIrqStatus);
  return raised;
}

}  // namespace deputy::host_runtime
