// A block whose power is switched off after it has been idle for a while, and that takes time to
// come back. Plain C++.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace deputy::sim {

/// Knows when the block was off. Times in ps. One that is not enabled is always on.
class PowerGate {
 public:
  PowerGate() = default;
  PowerGate(bool enabled, std::uint64_t idle_ps, std::uint64_t wake_ps)
      : enabled_(enabled), idle_ps_(idle_ps), wake_ps_(wake_ps) {}

  /// Work is to begin at `now`: how long it waits for the power to come back.
  std::uint64_t begin(std::uint64_t now) {
    if (!enabled_ || now <= idle_since_ || now - idle_since_ <= idle_ps_) return 0;
    off_.emplace_back(idle_since_ + idle_ps_, now);
    idle_since_ = now + wake_ps_;
    return wake_ps_;
  }
  /// Nothing works any more since `now`.
  void end(std::uint64_t now) { idle_since_ = std::max(idle_since_, now); }

  using Spans = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  /// [from, to) in which it was off, each ended by a wake-up.
  const Spans& off() const { return off_; }
  /// The last of all, which nothing has ended: from when it is off at `now`; `now` if it is on.
  std::uint64_t off_from(std::uint64_t now) const {
    return enabled_ && now > idle_since_ && now - idle_since_ > idle_ps_ ? idle_since_ + idle_ps_
                                                                         : now;
  }

 private:
  bool enabled_ = false;
  std::uint64_t idle_ps_ = 0, wake_ps_ = 0, idle_since_ = 0;
  Spans off_;
};

}  // namespace deputy::sim
