// A memory with one port that two queues use at once, one transaction each in turn, as an estimate
// that is told of transfers in program order and not in the order of time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>

namespace deputy::delegate {

/// Times in cycles. A transfer is told when it could start and how long it takes alone, and how
/// much of that time it keeps the port busy: where the two together want more than the port has,
/// each gets its half or what the other leaves. What a transfer takes from one whose end has been
/// told already delays that queue's next transfer instead.
class SharedPort {
 public:
  /// `queue`: 0 or 1. `alone`: cycles without the other queue; `busy`: of those, the port's. The
  /// transfer's end.
  double take(std::size_t queue, double start, double alone, double busy) {
    if (alone <= 0) return std::max(start, free_[queue]);
    const double density = std::min(1.0, busy / alone);
    double at = start = std::max(start, free_[queue]), left = alone, taken = 0;
    std::deque<Interval>& others = intervals_[1 - queue];
    // Nothing of this queue starts before `start` any more.
    while (!others.empty() && others.front().end <= start) others.pop_front();
    for (const Interval& other : others) {
      const double before = std::max(0.0, other.begin - at);
      if (left <= before) break;
      at += before, left -= before;
      const double span = other.end - at;
      if (span <= 0) continue;
      double rate = 1, other_rate = 1;  // of progress
      if (density + other.density > 1) {
        const double share = std::clamp(1 - other.density, 0.5, density);
        rate = share / density, other_rate = std::min(1.0, (1 - share) / other.density);
      }
      const double together = std::min(span, left / rate);
      at += together, left = std::max(0.0, left - together * rate);
      taken += together * (1 - other_rate);
      if (left == 0) break;
    }
    at += left;
    intervals_[queue].push_back({start, at, density});
    free_[queue] = at;
    if (taken > 0) {
      free_[1 - queue] += taken;
      others.back().end += taken;
    }
    return at;
  }
  /// When the queue's next transfer may start, as far as its port is concerned.
  double free(std::size_t queue) const { return free_[queue]; }

 private:
  struct Interval {
    double begin = 0, end = 0, density = 1;
  };
  std::array<double, 2> free_{};
  std::array<std::deque<Interval>, 2> intervals_;
};

}  // namespace deputy::delegate
