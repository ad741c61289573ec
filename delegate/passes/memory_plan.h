// Where every tensor lives: the fast arena (shared SRAM) or the slow one (DRAM), reused as live
// ranges end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/memory_map.h"
#include "delegate/compile.h"
#include "delegate/fusion/kernel.h"
#include "delegate/ir/graph.h"
#include "delegate/passes/arena_packer.h"
#include "delegate/passes/storage.h"

namespace deputy::delegate {

/// A buffer that must stay intact from `begin` to `end`, both included: positions among the
/// actions. Graph inputs are there from -1; graph outputs stay until actions.size(). A buffer lives
/// from the first touch of any tensor in it to the last.
struct LiveRange {
  TensorId tensor = kNoTensor;  ///< a root
  std::ptrdiff_t begin = 0, end = 0;
  std::uint64_t bytes = 0;
  std::uint64_t traffic = 0;  ///< bytes that reads and writes of its tensors move, each read and
                              ///< written once an action
};
std::vector<LiveRange> live_ranges(const Graph& graph, const std::vector<Action>& actions,
                                   const StorageMap& storage, bool keep_all);

struct PlannedBuffer {
  LiveRange range;
  arch::Region region = arch::Region::kFastArena;
  std::uint64_t offset = 0;
};
/// How well an arena is packed.
struct ArenaUse {
  std::uint64_t bytes = 0;
  std::uint64_t lower_bound = 0;  ///< the largest sum of its live buffers; no plan is smaller
  Packer packer = Packer::kBySize;
};
struct MemoryPlan {
  std::vector<PlannedBuffer> buffers;
  ArenaUse fast, slow;
};
/// All buffers in the fast arena if a packing stays within `fast_limit` bytes, else those whose
/// traffic costs the slow memory most. Each arena is packed by the best of several planners
/// (arena_packer.h).
MemoryPlan plan_memory(const std::vector<LiveRange>& ranges, std::uint64_t fast_limit,
                       Effort effort);

/// The plan in words: each arena's size, its lower bound and who planned it.
std::string plan_text(const MemoryPlan& plan);

}  // namespace deputy::delegate
