// When an engine was busy: intervals for timelines and utilisation, bounded in number. Plain C++.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace deputy::soc {

/// `busy_ps` of the time between start and end; less than all of it where short gaps were merged.
struct BusyInterval {
  std::uint64_t start_ps = 0, end_ps = 0, busy_ps = 0;
};

/// What of [from, to) the intervals cover with work, in ps; an interval that reaches out counts in
/// proportion.
inline double busy_within(const std::vector<BusyInterval>& intervals, std::uint64_t from,
                          std::uint64_t to) {
  double sum = 0;
  for (const BusyInterval& i : intervals) {
    const std::uint64_t begin = std::max(from, i.start_ps), end = std::min(to, i.end_ps);
    if (begin >= end) continue;
    sum += static_cast<double>(i.busy_ps) * static_cast<double>(end - begin) /
           static_cast<double>(i.end_ps - i.start_ps);
  }
  return sum;
}

class BusyLog {
 public:
  static constexpr std::size_t kMost = 4096;

  /// Work that took `busy_ps` between `start_ps` and `end_ps`, added in the order of its ends. Work
  /// that follows at once is one interval with that before; when there are too many, so is what
  /// follows after a short gap.
  void add(std::uint64_t start_ps, std::uint64_t end_ps, std::uint64_t busy_ps) {
    if (end_ps <= start_ps) return;
    BusyInterval next{start_ps, end_ps, busy_ps};
    while (!intervals_.empty() && intervals_.back().end_ps + gap_ps_ >= next.start_ps)
      join(next, intervals_.back()), intervals_.pop_back();
    intervals_.push_back(next);
    while (intervals_.size() > kMost) thin();
  }
  const std::vector<BusyInterval>& intervals() const { return intervals_; }

 private:
  static void join(BusyInterval& into, const BusyInterval& other) {
    into.start_ps = std::min(into.start_ps, other.start_ps);
    into.end_ps = std::max(into.end_ps, other.end_ps);
    into.busy_ps += other.busy_ps;
  }
  void thin() {
    gap_ps_ = std::max<std::uint64_t>(1'000'000, 2 * gap_ps_);
    std::vector<BusyInterval> kept;
    for (const BusyInterval& i : intervals_) {
      if (!kept.empty() && kept.back().end_ps + gap_ps_ >= i.start_ps)
        join(kept.back(), i);
      else
        kept.push_back(i);
    }
    intervals_ = std::move(kept);
  }

  std::uint64_t gap_ps_ = 0;
  std::vector<BusyInterval> intervals_;
};

}  // namespace deputy::soc
