// Where every tensor lives: the fast arena (shared SRAM) or the slow one (DRAM), reused as live
// ranges end.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/memory_map.h"
#include "delegate/compile.h"
#include "delegate/fusion/kernel.h"
#include "delegate/ir/graph.h"
#include "delegate/passes/storage.h"

namespace deputy::delegate {

/// A buffer that must stay intact from `begin` to `end`, both included: positions among the
/// actions. Graph inputs are there from -1; graph outputs stay until actions.size(). A buffer lives
/// from the first touch of any tensor in it to the last.
struct LiveRange {
  TensorId tensor = kNoTensor;  ///< a root
  std::ptrdiff_t begin = 0, end = 0;
  std::uint64_t bytes = 0;
  bool overlaps(const LiveRange& other) const { return begin <= other.end && other.begin <= end; }
};
std::vector<LiveRange> live_ranges(const Graph& graph, const std::vector<Action>& actions,
                                   const StorageMap& storage, bool keep_all);

struct PlannedBuffer {
  LiveRange range;
  arch::Region region = arch::Region::kFastArena;
  std::uint64_t offset = 0;
};
struct MemoryPlan {
  std::vector<PlannedBuffer> buffers;
  std::uint64_t fast_bytes = 0, slow_bytes = 0;
};
/// Greedy: the largest first, each at the lowest offset free during its life, in the fast arena
/// while it stays within `fast_limit` bytes.
MemoryPlan plan_memory(std::vector<LiveRange> ranges, std::uint64_t fast_limit);

}  // namespace deputy::delegate
