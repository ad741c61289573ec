#include "delegate/passes/program_operands.h"

#include <algorithm>
#include <functional>
#include <set>

namespace deputy::delegate {

ProgramOperands::ProgramOperands(const Graph& graph, const arch::Executable& executable,
                                 const ViewPlan& views, const StorageMap& storage)
    : graph_(graph), executable_(executable), views_(views), storage_(storage) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const TensorId id : graph.ops[i].outputs) producers_[id] = i;
}

std::vector<TensorId> ProgramOperands::inputs(const std::vector<Kernel>& kernels) const {
  std::set<std::size_t> own;
  for (const Kernel& kernel : kernels) own.insert(kernel.ops.begin(), kernel.ops.end());
  std::vector<TensorId> out;
  std::set<TensorId> seen;
  const std::function<void(TensorId)> follow = [&](TensorId id) {
    if (id == kNoTensor || graph_.tensor(id).constant || !seen.insert(id).second) return;
    const auto producer = producers_.find(id);
    if (producer != producers_.end() && own.contains(producer->second)) return;
    if (producer == producers_.end() || !executable_.ops[producer->second].aliased)
      return out.push_back(id);
    for (const TensorId from : graph_.ops[producer->second].inputs) follow(from);
  };
  for (const Kernel& kernel : kernels)
    for (const TensorId id : kernel.reads) follow(id);
  return out;
}

std::uint32_t ProgramOperands::placed(TensorId id) const {
  while (executable_.tensors[static_cast<std::size_t>(id)].placement != arch::Placement::kRegion) {
    const auto part = std::find_if(views_.parts.begin(), views_.parts.end(),
                                   [&](const Part& p) { return p.tensor == id; });
    if (part == views_.parts.end()) return unaliased(id);
    id = part->whole;
  }
  return static_cast<std::uint32_t>(id);
}

// What a strided tensor is an alias of; its buffer's tensor when it is none.
std::uint32_t ProgramOperands::unaliased(TensorId id) const {
  const auto producer = producers_.find(id);
  if (producer == producers_.end() || !executable_.ops[producer->second].aliased)
    return static_cast<std::uint32_t>(storage_.root(id));
  return placed(graph_.ops[producer->second].inputs[0]);
}

void ProgramOperands::drop_overwritten(std::vector<std::uint32_t>& outputs) const {
  // A part that is listed by itself comes before the whole, and before what is written over the
  // whole.
  const auto overlap = [&](std::uint32_t a, std::uint32_t b) {
    const arch::PlacedTensor &x = executable_.tensors[a], &y = executable_.tensors[b];
    const auto xn = static_cast<std::uint64_t>(x.desc.bytes()),
               yn = static_cast<std::uint64_t>(y.desc.bytes());
    return x.region == y.region && x.offset < y.offset + yn && y.offset < x.offset + xn;
  };
  std::vector<std::uint32_t> left;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (std::none_of(outputs.begin() + static_cast<std::ptrdiff_t>(i) + 1, outputs.end(),
                     [&](std::uint32_t later) { return overlap(outputs[i], later); }))
      left.push_back(outputs[i]);
  outputs = std::move(left);
}

}  // namespace deputy::delegate
