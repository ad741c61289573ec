#include "delegate/passes/external_io.h"

#include <fmt/format.h>

#include <algorithm>

namespace deputy::delegate {
namespace {

bool among(const std::vector<TensorId>& ids, TensorId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

class Chooser {
 public:
  Chooser(const Graph& graph, const StorageMap& storage) : graph_(graph), storage_(storage) {}

  ExternalIo run() {
    for (const auto* ids : {&graph_.inputs, &graph_.outputs})
      for (const TensorId id : *ids)
        if (!among(all_, id)) all_.push_back(id);
    for (const TensorId id : all_) choose(id);
    return std::move(out_);
  }

 private:
  void choose(TensorId id) {
    if (const std::string reason = refusal(id); !reason.empty())
      out_.kept.push_back(fmt::format("{} '{}' has no external region: {}",
                                      among(graph_.inputs, id) ? "input" : "output",
                                      graph_.tensor(id).desc.name, reason));
    else
      out_.buffers.push_back({id, storage_.root(id), among(graph_.outputs, id)});
  }

  std::string refusal(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    if (tensor.constant) return "it is a constant";
    if (tensor.desc.bytes() == 0) return "it is empty";
    if (among(graph_.inputs, id) && among(graph_.outputs, id))
      return "it is input and output at once";
    if (!fills_buffer(graph_, storage_, id))
      return fmt::format("it lies inside '{}'", graph_.tensor(storage_.root(id)).desc.name);
    for (const TensorId other : all_)
      if (other != id && storage_.of(other).stored && storage_.root(other) == storage_.root(id))
        return fmt::format("it shares its memory with '{}'", graph_.tensor(other).desc.name);
    if (out_.buffers.size() == arch::kMaxExternalRegions)
      return fmt::format("all {} are taken", arch::kMaxExternalRegions);
    return {};
  }

  const Graph& graph_;
  const StorageMap& storage_;
  std::vector<TensorId> all_;
  ExternalIo out_;
};

}  // namespace

bool ExternalIo::has(TensorId root) const {
  return std::any_of(buffers.begin(), buffers.end(),
                     [&](const ExternalBuffer& b) { return b.root == root; });
}

ExternalIo external_io(const Graph& graph, const StorageMap& storage, IoPlacement io) {
  return io == IoPlacement::kArena ? ExternalIo() : Chooser(graph, storage).run();
}

MemoryPlan plan_with_external(const std::vector<LiveRange>& ranges, const ExternalIo& external,
                              std::uint64_t fast_limit, Effort effort) {
  if (external.buffers.empty()) return plan_memory(ranges, fast_limit, effort);
  std::vector<LiveRange> inside;
  for (const LiveRange& range : ranges)
    if (!external.has(range.tensor)) inside.push_back(range);
  MemoryPlan plan = plan_memory(inside, fast_limit, effort);
  for (std::size_t i = 0; i < external.buffers.size(); ++i)
    for (const LiveRange& range : ranges)
      if (range.tensor == external.buffers[i].root)
        plan.buffers.push_back({range, arch::external_region(static_cast<int>(i)), 0});
  return plan;
}

}  // namespace deputy::delegate
