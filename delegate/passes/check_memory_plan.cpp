#include "delegate/passes/check_memory_plan.h"

#include <fmt/format.h>

#include <map>

namespace deputy::delegate {
namespace {

class Replay {
 public:
  Replay(const Graph& graph, const arch::Executable& executable)
      : graph_(graph), executable_(executable), value_(graph.tensors.size()) {
    for (std::size_t i = 0; i < value_.size(); ++i) value_[i] = static_cast<TensorId>(i);
    for (auto& arena : owner_) arena.emplace(0, kNoTensor);
  }

  std::optional<std::string> run(const std::vector<std::size_t>& order, bool keep_all) {
    for (const TensorId id : graph_.inputs) write(id);
    for (const std::size_t index : order) {
      const Op& op = graph_.ops[index];
      for (const TensorId id : op.inputs) read(id, op_label(graph_, op));
      if (executable_.ops[index].aliased) {
        alias(op);
        continue;
      }
      for (const TensorId id : op.outputs) write(id);
      // Operators may not compute in place: their inputs survive them.
      for (const TensorId id : op.inputs) read(id, op_label(graph_, op) + " while it runs");
      for (const TensorId id : op.outputs) read(id, "the end of " + op_label(graph_, op));
    }
    for (const TensorId id : graph_.outputs) read(id, "the graph's end");
    if (keep_all)
      for (const Op& op : graph_.ops)
        for (const TensorId id : op.outputs) read(id, "inspection");
    return problem_;
  }

 private:
  using Owners = std::map<std::uint64_t, TensorId>;  // from its key to the next key
  const arch::PlacedTensor& place(TensorId id) const {
    return executable_.tensors[static_cast<std::size_t>(id)];
  }
  Owners* owners(TensorId id) {
    const arch::PlacedTensor& p = place(id);
    if (p.placement != arch::Placement::kRegion || p.region == arch::Region::kConstants)
      return nullptr;
    return &owner_[p.region == arch::Region::kSlowArena];
  }
  static Owners::iterator split(Owners& owners, std::uint64_t at) {
    const auto it = std::prev(owners.upper_bound(at));
    return it->first == at ? it : owners.emplace_hint(std::next(it), at, it->second);
  }
  void report(std::string text) {
    if (!problem_) problem_ = std::move(text);
  }

  void write(TensorId id) {
    Owners* arena = owners(id);
    if (!arena) return report(fmt::format("tensor {} has no storage to be written", id));
    const auto bytes = static_cast<std::uint64_t>(place(id).desc.bytes());
    if (bytes == 0) return;
    const auto first = split(*arena, place(id).offset),
               last = split(*arena, place(id).offset + bytes);
    arena->erase(std::next(first), last);
    first->second = id;
  }
  void read(TensorId id, const std::string& when) {
    if (id == kNoTensor || graph_.tensor(id).constant) return;
    Owners* arena = owners(id);
    if (!arena) return report(fmt::format("tensor {} has no storage at {}", id, when));
    const auto bytes = static_cast<std::uint64_t>(place(id).desc.bytes());
    if (bytes == 0) return;
    const auto first = split(*arena, place(id).offset),
               last = split(*arena, place(id).offset + bytes);
    for (auto it = first; it != last; ++it)
      if (it->second != value_[static_cast<std::size_t>(id)])
        return report(
            fmt::format("tensor {} is overwritten by tensor {} before {}", id, it->second, when));
  }
  void alias(const Op& op) {
    const arch::PlacedTensor &in = place(op.inputs[0]), &out = place(op.outputs[0]);
    if (in.region != out.region || in.offset != out.offset || in.desc.bytes() != out.desc.bytes())
      report(op_label(graph_, op) + " is an alias with storage of its own");
    value_[static_cast<std::size_t>(op.outputs[0])] =
        value_[static_cast<std::size_t>(op.inputs[0])];
  }

  const Graph& graph_;
  const arch::Executable& executable_;
  std::vector<TensorId> value_;  // the tensor that first held each tensor's value
  Owners owner_[2];              // fast, slow
  std::optional<std::string> problem_;
};

}  // namespace

std::optional<std::string> check_memory_plan(const Graph& graph, const arch::Executable& executable,
                                             const std::vector<std::size_t>& order, bool keep_all) {
  return Replay(graph, executable).run(order, keep_all);
}

}  // namespace deputy::delegate
