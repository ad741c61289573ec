#include "soc/sync_unit.h"

#include "base/check.h"
#include "sim/register_access.h"
#include "sim/time.h"

namespace deputy::soc {
namespace reg = arch::sync_reg;

namespace {
// The registers of timeline 0 and the distance to the next.
std::uint32_t at(std::uint32_t timeline0_register, std::uint32_t timeline) {
  return timeline0_register + timeline * arch::kTimelineStride;
}
}  // namespace

SyncUnit::SyncUnit(sc_core::sc_module_name name, std::function<void(bool)> irq)
    : sc_module(name), socket("socket"), irq_(std::move(irq)), registers_(arch::sync_registers()) {
  socket.register_b_transport(this, &SyncUnit::b_transport);
}

void SyncUnit::attach(sim::Trace* trace) {
  trace_ = trace;
  for (std::uint32_t i = 0; trace && i < arch::kTimelineCount; ++i)
    signals_[i] = trace->signal("timeline." + std::to_string(i), sim::SignalKind::kTimeline);
}

SyncUnit::Reach SyncUnit::reach(const arch::TimelinePoint& point) const {
  const Timeline& t = timelines_.at(point.timeline);
  if (t.value >= point.value) return Reach::kReached;
  return t.failure == arch::SyncFailure::kNone ? Reach::kNotYet : Reach::kFailed;
}

void SyncUnit::signal(std::uint32_t timeline, std::uint64_t value) {
  Timeline& t = timelines_.at(timeline);
  if (t.failure != arch::SyncFailure::kNone) return;
  if (value <= t.value) return fail(timeline, arch::SyncFailure::kNotIncreasing);
  t.value = value;
  publish(timeline);
}

void SyncUnit::fail(std::uint32_t timeline, arch::SyncFailure failure) {
  Timeline& t = timelines_.at(timeline);
  if (failure == arch::SyncFailure::kNone || t.failure != arch::SyncFailure::kNone) return;
  t.failure = failure;
  publish(timeline);
}

void SyncUnit::publish(std::uint32_t timeline) {
  const Timeline& t = timelines_[timeline];
  registers_.set(at(reg::kTimeline0Fail, timeline), static_cast<std::uint32_t>(t.failure));
  if (trace_) trace_->change(signals_[timeline], sim::to_ps(sc_core::sc_time_stamp()), t.value);
  update_irq();
  changed_.notify(sc_core::SC_ZERO_TIME);
}

void SyncUnit::update_irq() {
  const std::uint32_t armed = registers_.get(reg::kIrqEnable);
  for (std::uint32_t i = 0; i < arch::kTimelineCount; ++i) {
    if ((armed >> i & 1) == 0) continue;
    const std::uint64_t threshold = registers_.get(at(reg::kTimeline0WaitLo, i)) |
                                    std::uint64_t{registers_.get(at(reg::kTimeline0WaitHi, i))}
                                        << 32;
    if (timelines_[i].value >= threshold || timelines_[i].failure != arch::SyncFailure::kNone)
      registers_.set(reg::kIrqStatus, registers_.get(reg::kIrqStatus) | 1u << i);
  }
  irq_((registers_.get(reg::kIrqStatus) & armed) != 0);
}

std::uint32_t SyncUnit::read(std::uint32_t offset) {
  if (offset >= reg::kTimeline0ValueLo) {
    const std::uint32_t timeline = (offset - reg::kTimeline0ValueLo) / arch::kTimelineStride;
    if (offset == at(reg::kTimeline0ValueLo, timeline)) {
      const std::uint64_t value = timelines_[timeline].value;
      registers_.set(at(reg::kTimeline0ValueHi, timeline), static_cast<std::uint32_t>(value >> 32));
      return static_cast<std::uint32_t>(value);
    }
  }
  return registers_.bus_read(offset);
}

void SyncUnit::write(std::uint32_t offset, std::uint32_t value) {
  registers_.bus_write(offset, value);
  if (offset == reg::kClear) {
    for (std::uint32_t i = 0; i < arch::kTimelineCount; ++i) {
      if ((value >> i & 1) == 0) continue;
      timelines_[i] = {};
      registers_.set(reg::kIrqEnable, registers_.get(reg::kIrqEnable) & ~(1u << i));
      registers_.set(reg::kIrqStatus, registers_.get(reg::kIrqStatus) & ~(1u << i));
      publish(i);
    }
  } else if (offset >= reg::kTimeline0ValueLo) {
    const std::uint32_t timeline = (offset - reg::kTimeline0ValueLo) / arch::kTimelineStride;
    if (offset == at(reg::kTimeline0SignalHi, timeline)) {
      const std::uint64_t to =
          std::uint64_t{value} << 32 | registers_.get(at(reg::kTimeline0SignalLo, timeline));
      signal(timeline, to);
      if (trace_) trace_->fence({sim::to_ps(sc_core::sc_time_stamp()), timeline, to, -1, true});
    }
    if (offset == at(reg::kTimeline0FailSet, timeline))
      fail(timeline, static_cast<arch::SyncFailure>(value & 0xFF));
  }
  update_irq();
}

void SyncUnit::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  sim::register_access(
      payload, delay, [&](std::uint32_t offset) { return registers_.find(offset) != nullptr; },
      [&](std::uint32_t offset) { return read(offset); },
      [&](std::uint32_t offset, std::uint32_t value) { write(offset, value); });
}

}  // namespace deputy::soc
