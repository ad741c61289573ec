#include "sim/fault_injector.h"

#include <algorithm>

#include "sim/time.h"

namespace deputy::sim {

FaultInjector::FaultInjector(const FaultPlan& plan) : plan_(plan) {
  for (const Fault& fault : plan_.faults) counts_.push_back({fault_kind(fault)});
}

void FaultInjector::fire(std::size_t index, std::uint64_t time_ps, std::uint64_t address) {
  ++counts_[index].fired;
  if (events_.size() < kMostEvents)
    events_.push_back({plan_.faults[index].kind, plan_.faults[index].target, time_ps, address});
}

// Every fault that the event fits counts it; the first that is due happens.
const Fault* FaultInjector::hit(FaultKind kind, std::string_view target, const Event& event) {
  const std::uint64_t now = to_ps(sc_core::sc_time_stamp());
  const Fault* found = nullptr;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    Count& count = counts_[i];
    const Fault& f = plan_.faults[i];
    if (count.kind != kind || f.target != target ||
        now < static_cast<std::uint64_t>(f.at_ns) * 1000)
      continue;
    if (f.ring >= 0 && f.ring != event.ring) continue;
    const auto first = static_cast<std::uint64_t>(f.address);
    if (f.bytes > 0 && (event.address >= first + static_cast<std::uint64_t>(f.bytes) ||
                        event.address + event.bytes <= first))
      continue;
    ++count.seen;
    if (found || count.seen < static_cast<std::uint64_t>(f.nth)) continue;
    if (f.repeat != 0 && count.fired >= static_cast<std::uint64_t>(f.repeat)) continue;
    fire(i, now, event.address);
    found = &f;
  }
  return found;
}

std::vector<FaultInjector::Window> FaultInjector::windows(std::string_view target) const {
  std::vector<Window> out;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const Fault& f = plan_.faults[i];
    if (counts_[i].kind != FaultKind::kThrottle || f.target != target) continue;
    const auto begin = static_cast<std::uint64_t>(f.at_ns) * 1000;
    const auto length = static_cast<std::uint64_t>(f.duration_ns) * 1000;
    out.push_back(
        {begin, length == 0 ? UINT64_MAX : begin + length, static_cast<std::uint64_t>(f.factor)});
  }
  return out;
}

void FaultInjector::note_throttle(std::string_view target, std::uint64_t begin_ps) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const Fault& f = plan_.faults[i];
    if (counts_[i].kind == FaultKind::kThrottle && f.target == target && counts_[i].fired == 0 &&
        static_cast<std::uint64_t>(f.at_ns) * 1000 == begin_ps)
      fire(i, std::max(begin_ps, to_ps(sc_core::sc_time_stamp())), 0);
  }
}

std::vector<std::uint64_t> FaultInjector::fired() const {
  std::vector<std::uint64_t> out;
  for (const Count& count : counts_) out.push_back(count.fired);
  return out;
}

std::vector<std::uint64_t> FaultInjector::seen() const {
  std::vector<std::uint64_t> out;
  for (const Count& count : counts_) out.push_back(count.seen);
  return out;
}

}  // namespace deputy::sim
