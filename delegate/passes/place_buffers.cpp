#include "delegate/passes/place_buffers.h"

#include <algorithm>

#include "delegate/passes/in_place.h"

namespace deputy::delegate {
namespace {

// Bytes that buffers in the slow arena move. External DRAM is left out: in_place_pairs() adds
// nothing to it.
std::uint64_t slow_traffic(const MemoryPlan& plan) {
  std::uint64_t sum = 0;
  for (const PlannedBuffer& buffer : plan.buffers)
    if (buffer.region == arch::Region::kSlowArena) sum += buffer.range.traffic;
  return sum;
}

class Placer {
 public:
  Placer(const Graph& graph, const std::vector<Action>& actions, StorageWishes wishes,
         const CompileOptions& options)
      : graph_(graph), actions_(actions), wishes_(std::move(wishes)), options_(options) {}

  Placing run() {
    Placing best = placed({}, options_.effort);
    if (!options_.optimisations.in_place || options_.keep_all_tensors) return best;
    Pairs pairs = in_place_pairs(graph_, options_.numerics, actions_, best.storage, options_.io);
    if (pairs.empty()) return best;
    Placing all = placed(pairs, options_.effort);
    if (!worse(all, best)) best = std::move(all);
    if (slow_traffic(best.plan) == 0) return best;
    // A result over its operand is in the same memory for both their lives. Where the fast arena is
    // short, it may be better to keep two buffers, of which one is fast.
    constexpr std::size_t kMaxPairs = 32;
    for (std::size_t i = 0; i < std::min(pairs.size(), kMaxPairs); ++i) {
      Pairs without = pairs;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      Placing next = placed(without, Effort::kFast);
      if (slow_traffic(next.plan) >= slow_traffic(best.plan)) continue;
      best = std::move(next), pairs = std::move(without), --i;
    }
    return best;
  }

 private:
  using Pairs = std::vector<std::pair<TensorId, TensorId>>;

  Placing placed(const Pairs& in_place, Effort effort) {
    wishes_.in_place = in_place;
    Placing out;
    out.storage = plan_storage(graph_, wishes_);
    out.external = external_io(graph_, out.storage, options_.io);
    out.plan =
        plan_with_external(live_ranges(graph_, actions_, out.storage, options_.keep_all_tensors),
                           out.external, options_.sram_bytes, effort);
    out.in_place = in_place.size();
    return out;
  }
  static bool worse(const Placing& a, const Placing& b) {
    const std::uint64_t ta = slow_traffic(a.plan), tb = slow_traffic(b.plan);
    return ta != tb ? ta > tb : a.plan.fast.bytes > b.plan.fast.bytes;
  }

  const Graph& graph_;
  const std::vector<Action>& actions_;
  StorageWishes wishes_;
  const CompileOptions& options_;
};

}  // namespace

Placing place_buffers(const Graph& graph, const std::vector<Action>& actions, StorageWishes wishes,
                      const CompileOptions& options) {
  return Placer(graph, actions, std::move(wishes), options).run();
}

std::vector<TensorView> tensor_views(const Placing& placing) {
  const StorageMap& storage = placing.storage;
  std::vector<const PlannedBuffer*> buffers(storage.tensors.size(), nullptr);
  for (const PlannedBuffer& buffer : placing.plan.buffers)
    buffers[static_cast<std::size_t>(buffer.range.tensor)] = &buffer;
  std::vector<TensorView> out(storage.tensors.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Storage& s = storage.tensors[i];
    const PlannedBuffer* buffer = buffers[static_cast<std::size_t>(s.root)];
    if (buffer && s.stored)
      out[i] = {shifted({buffer->region, buffer->offset}, s.offset), s.strides, s.ring, true};
  }
  return out;
}

}  // namespace deputy::delegate
