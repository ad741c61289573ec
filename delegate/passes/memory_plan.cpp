#include "delegate/passes/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "delegate/passes/fast_choice.h"

namespace deputy::delegate {
namespace {

std::vector<PackItem> items_of(const std::vector<LiveRange>& ranges) {
  std::vector<PackItem> out;
  for (const LiveRange& range : ranges) out.push_back({range.begin, range.end, range.bytes});
  return out;
}

// Adds the ranges to the plan, in one arena.
void place(const std::vector<LiveRange>& ranges, const Packing& packing, arch::Region region,
           MemoryPlan& plan) {
  (region == arch::Region::kFastArena ? plan.fast : plan.slow) = {
      packing.bytes, packing.lower_bound, packing.packer};
  for (std::size_t i = 0; i < ranges.size(); ++i)
    plan.buffers.push_back({ranges[i], region, packing.offsets[i]});
}

struct Division {
  std::vector<LiveRange> fast, slow;
  Packing packing;  // of the fast ones
};

// The buffers chosen for a load of `load` bytes, if they can be packed within `limit`.
Division divide(const std::vector<LiveRange>& ranges, std::uint64_t load, std::uint64_t limit,
                Effort effort) {
  std::vector<FastCandidate> candidates;
  for (const LiveRange& range : ranges)
    candidates.push_back({{range.begin, range.end, range.bytes}, range.traffic});
  const std::vector<bool> chosen = choose_fast(candidates, load);
  Division out;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    (chosen[i] ? out.fast : out.slow).push_back(ranges[i]);
  out.packing = pack(items_of(out.fast), effort, limit);
  return out;
}

// Adds to the fast buffers whatever still packs, the most valuable first.
void fill(Division& division, std::uint64_t limit, Effort effort) {
  std::stable_sort(division.slow.begin(), division.slow.end(),
                   [](const LiveRange& a, const LiveRange& b) { return a.traffic > b.traffic; });
  std::vector<LiveRange> left;
  for (const LiveRange& range : division.slow) {
    std::vector<PackItem> items = items_of(division.fast);
    items.push_back({range.begin, range.end, range.bytes});
    Packing packing;
    const bool fits =
        peak_bytes(items) <= limit && (packing = pack(items, effort, limit)).bytes <= limit;
    if (!fits) {
      left.push_back(range);
      continue;
    }
    division.fast.push_back(range);
    division.packing = std::move(packing);
  }
  division.slow = std::move(left);
}

// Buffers whose live bytes stay within the limit may still not pack into it: then less is asked
// for, until they do, and the room that is left is filled.
Division best_division(const std::vector<LiveRange>& ranges, std::uint64_t limit, Effort effort) {
  constexpr std::uint64_t kTries = 32;
  for (std::uint64_t i = 0; i < kTries; ++i) {
    Division next = divide(ranges, limit - limit / kTries * i, limit, effort);
    if (next.packing.bytes > limit) continue;
    if (i > 0) fill(next, limit, effort);
    return next;
  }
  Division none;
  none.slow = ranges;
  fill(none, limit, effort);
  return none;
}

}  // namespace

std::vector<LiveRange> live_ranges(const Graph& graph, const std::vector<Action>& actions,
                                   const StorageMap& storage, bool keep_all) {
  const auto last = static_cast<std::ptrdiff_t>(actions.size());
  constexpr std::ptrdiff_t kNever = std::numeric_limits<std::ptrdiff_t>::max();
  std::vector<LiveRange> all(graph.tensors.size(), {kNoTensor, kNever, -1, 0, 0});
  const auto touch = [&](TensorId id, std::ptrdiff_t at, bool moved = true) {
    if (id == kNoTensor || graph.tensor(id).constant) return;
    if (!storage.of(id).stored) return;
    LiveRange& range = all[static_cast<std::size_t>(storage.root(id))];
    range.begin = std::min(range.begin, at), range.end = std::max(range.end, at);
    if (moved) range.traffic += static_cast<std::uint64_t>(graph.tensor(id).desc.bytes());
  };
  for (const TensorId id : graph.inputs) touch(id, -1);
  for (std::ptrdiff_t at = 0; at < last; ++at) {
    const Action& action = actions[static_cast<std::size_t>(at)];
    for (const TensorId id : action.reads) touch(id, at);
    for (const TensorId id : action.writes) touch(id, at);
    for (const TensorId id : action.keeps) touch(id, at, false);
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

MemoryPlan plan_memory(const std::vector<LiveRange>& ranges, std::uint64_t fast_limit,
                       Effort effort) {
  MemoryPlan plan;
  const std::vector<PackItem> all = items_of(ranges);
  if (peak_bytes(all) <= fast_limit) {
    const Packing packing = pack(all, effort);
    if (packing.bytes <= fast_limit) {
      place(ranges, packing, arch::Region::kFastArena, plan);
      return plan;
    }
  }
  const Division division = best_division(ranges, fast_limit, effort);
  place(division.fast, division.packing, arch::Region::kFastArena, plan);
  place(division.slow, pack(items_of(division.slow), effort), arch::Region::kSlowArena, plan);
  return plan;
}

std::string plan_text(const MemoryPlan& plan) {
  const auto arena = [](const char* name, const ArenaUse& use) {
    if (use.bytes == 0) return fmt::format("{} arena empty", name);
    return fmt::format("{} arena {} bytes, lower bound {}, planned {}", name, use.bytes,
                       use.lower_bound, packer_name(use.packer));
  };
  return arena("fast", plan.fast) + "; " + arena("slow", plan.slow);
}

}  // namespace deputy::delegate
