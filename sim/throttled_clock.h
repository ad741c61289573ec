// A clock whose rate is divided inside some windows of time. Without windows it is sim::Clock, to
// the picosecond.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/fault_injector.h"
#include "sim/time.h"

namespace deputy::sim {

class ThrottledClock {
 public:
  explicit ThrottledClock(double mhz) : clock_(mhz) {}
  const Clock& nominal() const { return clock_; }

  /// `injector` and `name` (the target's) must outlive this; both may be null for a clock that
  /// nothing throttles.
  void attach(FaultInjector* injector, const char* name) {
    injector_ = injector;
    name_ = name;
    if (injector) windows_ = injector->windows(name);
  }
  /// Divided by `factor` from now on, until full_speed().
  void slow_down(std::uint64_t factor) {
    slow_from_ = to_ps(sc_core::sc_time_stamp()), slow_ = factor;
  }
  /// Ends slow_down(); planned windows stay.
  void full_speed() { slow_ = 1; }

  /// When `cycles` that begin at `start` are over.
  sc_core::sc_time after(const sc_core::sc_time& start, std::uint64_t cycles) {
    if (windows_.empty() && slow_ == 1) return start + clock_.cycles(cycles);
    std::uint64_t at = to_ps(start), left = cycles * clock_.period_ps();
    while (left > 0) {
      const Stretch s = stretch(at);
      if (s.factor > 1) tell(at);
      const std::uint64_t room = s.until == UINT64_MAX ? UINT64_MAX : (s.until - at) / s.factor;
      if (left <= room) return from_ps(at + left * s.factor);
      left -= room;
      at = s.until;
    }
    return from_ps(at);
  }

  /// Clock edges in [from, to), rounded up.
  std::uint64_t cycles_between(const sc_core::sc_time& from, const sc_core::sc_time& to) const {
    return cycles_of(worked_ps(from, to));
  }
  /// The part of [from, to) that the clock at full rate would have needed: half of it where the
  /// clock is halved.
  std::uint64_t worked_ps(const sc_core::sc_time& from, const sc_core::sc_time& to) const {
    if (windows_.empty() && slow_ == 1) return to_ps(to - from);
    std::uint64_t at = to_ps(from), worked = 0;
    for (const std::uint64_t end = to_ps(to); at < end;) {
      const Stretch s = stretch(at);
      const std::uint64_t until = std::min(s.until, end);
      worked += (until - at) / s.factor;
      at = until;
    }
    return worked;
  }
  /// Edges in so much of worked_ps(), rounded up.
  std::uint64_t cycles_of(std::uint64_t worked) const {
    return (worked + clock_.period_ps() - 1) / clock_.period_ps();
  }

 private:
  struct Stretch {
    std::uint64_t factor, until;
  };
  // The division that holds at `at`, and until when; where windows overlap, the largest.
  Stretch stretch(std::uint64_t at) const {
    Stretch s{1, UINT64_MAX};
    const auto window = [&](std::uint64_t begin, std::uint64_t end, std::uint64_t factor) {
      if (at < begin)
        s.until = std::min(s.until, begin);
      else if (at < end)
        s.factor = std::max(s.factor, factor), s.until = std::min(s.until, end);
    };
    for (const auto& w : windows_) window(w.begin_ps, w.end_ps, w.factor);
    if (slow_ > 1) window(slow_from_, UINT64_MAX, slow_);
    return s;
  }
  void tell(std::uint64_t at) {
    for (auto& w : windows_)
      if (!w.told && at >= w.begin_ps && at < w.end_ps)
        w.told = true, injector_->note_throttle(name_, w.begin_ps);
  }

  Clock clock_;
  std::vector<FaultInjector::Window> windows_;
  FaultInjector* injector_ = nullptr;
  const char* name_ = "";
  std::uint64_t slow_ = 1, slow_from_ = 0;
};

}  // namespace deputy::sim
