#include "delegate/passes/memory_plan.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace deputy::delegate {
namespace {

constexpr std::uint64_t kTensorAlign = 64;  // cache lines are never shared between tensors
std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kTensorAlign - 1) / kTensorAlign * kTensorAlign;
}

// The lowest offset below `limit` where the range fits beside the buffers of `region` alive with
// it.
std::optional<std::uint64_t> first_fit(const std::vector<PlannedBuffer>& placed,
                                       const LiveRange& range, arch::Region region,
                                       std::uint64_t limit) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  for (const PlannedBuffer& other : placed)
    if (other.region == region && other.range.overlaps(range))
      taken.emplace_back(other.offset, other.offset + aligned(other.range.bytes));
  std::sort(taken.begin(), taken.end());
  std::uint64_t at = 0;
  for (const auto& [begin, end] : taken) {
    if (at + aligned(range.bytes) <= begin) break;
    at = std::max(at, end);
  }
  if (at + aligned(range.bytes) > limit) return std::nullopt;
  return at;
}

}  // namespace

std::vector<LiveRange> live_ranges(const Graph& graph, const std::vector<Action>& actions,
                                   const StorageMap& storage, bool keep_all) {
  const auto last = static_cast<std::ptrdiff_t>(actions.size());
  constexpr std::ptrdiff_t kNever = std::numeric_limits<std::ptrdiff_t>::max();
  std::vector<LiveRange> all(graph.tensors.size(), {kNoTensor, kNever, -1, 0});
  const auto touch = [&](TensorId id, std::ptrdiff_t at) {
    if (id == kNoTensor || graph.tensor(id).constant) return;
    if (!storage.of(id).stored) return;
    LiveRange& range = all[static_cast<std::size_t>(storage.root(id))];
    range.begin = std::min(range.begin, at), range.end = std::max(range.end, at);
  };
  for (const TensorId id : graph.inputs) touch(id, -1);
  for (std::ptrdiff_t at = 0; at < last; ++at) {
    const Action& action = actions[static_cast<std::size_t>(at)];
    for (const TensorId id : action.reads) touch(id, at);
    for (const TensorId id : action.writes) touch(id, at);
  }
  for (const TensorId id : graph.outputs) touch(id, last);

  std::vector<LiveRange> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].begin == kNever) continue;
    if (keep_all) all[i].begin = -1, all[i].end = last;
    all[i].tensor = static_cast<TensorId>(i);
    all[i].bytes = storage.bytes[i];
    out.push_back(all[i]);
  }
  return out;
}

MemoryPlan plan_memory(std::vector<LiveRange> ranges, std::uint64_t fast_limit) {
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const LiveRange& a, const LiveRange& b) { return a.bytes > b.bytes; });
  MemoryPlan plan;
  for (const LiveRange& range : ranges) {
    PlannedBuffer buffer{range, arch::Region::kFastArena, 0};
    auto offset = first_fit(plan.buffers, range, arch::Region::kFastArena, fast_limit);
    if (!offset) {
      buffer.region = arch::Region::kSlowArena;
      offset = first_fit(plan.buffers, range, arch::Region::kSlowArena,
                         std::numeric_limits<std::uint64_t>::max());
    }
    buffer.offset = *offset;
    std::uint64_t& bytes =
        buffer.region == arch::Region::kFastArena ? plan.fast_bytes : plan.slow_bytes;
    bytes = std::max(bytes, buffer.offset + aligned(range.bytes));
    plan.buffers.push_back(buffer);
  }
  return plan;
}

}  // namespace deputy::delegate
