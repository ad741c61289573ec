// Which waits an instruction needs: every read of a byte waits for the last write of it by another
// queue, every write for the last write and the reads since. Scratchpad and system memory are
// tracked alike, so that buffers may be reused in any pattern and the waits follow from the
// addresses alone.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "arch/isa.h"

namespace deputy::delegate {

inline constexpr int kSpmSpace =
    arch::kRegionCount;  ///< spaces 0..7 are the regions of system memory

/// Bytes [begin, end) of a space that an instruction touches; the bounding range of a strided
/// access.
struct Access {
  int space = kSpmSpace;
  std::uint64_t begin = 0, end = 0;
  bool write = false;
};
std::vector<Access> accesses(const arch::Operation& op);

/// How many instructions of each queue must have completed.
struct Waits {
  std::uint32_t load = 0, compute = 0, store = 0;
};

/// Follows one command stream from its start.
class HazardTracker {
 public:
  HazardTracker();
  /// Takes the next instruction of the stream and returns the waits it needs.
  Waits add(const arch::Operation& op);
  /// The waits the instruction would need if it came next.
  Waits peek(const arch::Operation& op);

 private:
  static constexpr int kQueues = 3;
  // Sequence numbers (1 = the queue's first instruction) of the last accesses of an interval by
  // each queue; 0: none. A queue is in order, so the last one stands for all before it.
  struct Last {
    std::array<std::uint32_t, kQueues> write{}, read{};
  };
  using Intervals = std::map<std::uint64_t, Last>;  // from its key to the next key

  using Needs = std::array<std::uint32_t, kQueues>;
  Needs needs(const std::vector<Access>& touched);
  Intervals::iterator split(Intervals& intervals, std::uint64_t at);

  std::array<Intervals, kSpmSpace + 1> spaces_;
  std::array<std::uint32_t, kQueues> issued_{};
};

}  // namespace deputy::delegate
