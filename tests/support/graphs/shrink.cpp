// Makes a failing graph smaller (agreement.h).
#include <algorithm>

#include "tests/support/graphs/agreement.h"

namespace deputy::graphs {
namespace {

using delegate::Graph;
using delegate::kNoTensor;
using delegate::Op;
using delegate::TensorId;

// Without operators whose results nobody needs, unread inputs, and tensors that nobody names.
Graph pruned(const Graph& graph) {
  std::vector<bool> needed(graph.tensors.size(), false);
  const auto need = [&](TensorId id) {
    if (id != kNoTensor) needed[static_cast<std::size_t>(id)] = true;
  };
  const auto is_needed = [&](TensorId id) { return needed[static_cast<std::size_t>(id)]; };
  for (const TensorId id : graph.outputs) need(id);
  std::vector<Op> kept;
  for (std::size_t i = graph.ops.size(); i-- > 0;) {
    const Op& op = graph.ops[i];
    if (std::none_of(op.outputs.begin(), op.outputs.end(), is_needed)) continue;
    for (const TensorId id : op.inputs) need(id);
    for (const TensorId id : op.outputs) need(id);
    kept.push_back(op);
  }
  std::reverse(kept.begin(), kept.end());
  Graph out;
  out.name = graph.name;
  std::vector<TensorId> moved(graph.tensors.size(), kNoTensor);
  for (std::size_t i = 0; i < graph.tensors.size(); ++i)
    if (needed[i]) {
      moved[i] = static_cast<TensorId>(out.tensors.size());
      out.tensors.push_back(graph.tensors[i]);
    }
  const auto rename = [&](std::vector<TensorId> ids) {
    for (TensorId& id : ids)
      if (id != kNoTensor) id = moved[static_cast<std::size_t>(id)];
    return ids;
  };
  for (const Op& op : kept) {
    out.ops.push_back(op);
    out.ops.back().inputs = rename(op.inputs), out.ops.back().outputs = rename(op.outputs);
    out.ops.back().source_index = static_cast<std::int32_t>(out.ops.size()) - 1;
  }
  for (const TensorId id : graph.inputs)
    if (is_needed(id)) out.inputs.push_back(moved[static_cast<std::size_t>(id)]);
  out.outputs = rename(graph.outputs);
  return out;
}

// The graph with operator `index` gone and its results as inputs.
Graph without_op(Graph graph, std::size_t index) {
  for (const TensorId id : graph.ops[index].outputs) graph.inputs.push_back(id);
  graph.ops.erase(graph.ops.begin() + static_cast<std::ptrdiff_t>(index));
  return pruned(graph);
}

}  // namespace

Graph shrink(Graph graph, const Setting& setting, std::uint64_t input_seed) {
  const auto fails = [&](const Graph& g) {
    return !g.ops.empty() && disagreement(g, setting, input_seed).has_value();
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    const auto take = [&](Graph candidate) {
      if (!fails(candidate)) return false;
      graph = std::move(candidate);
      return smaller = true;
    };
    // Only one output, only one operator's result as output, fewer outputs, fewer operators.
    for (std::size_t i = 0; graph.outputs.size() > 1 && i < graph.outputs.size(); ++i) {
      Graph g = graph;
      g.outputs.erase(g.outputs.begin() + static_cast<std::ptrdiff_t>(i));
      if (take(pruned(g))) --i;
    }
    for (std::size_t i = 0; i + 1 < graph.ops.size(); ++i) {
      Graph g = graph;
      g.outputs = {g.ops[i].outputs[0]};
      if (take(pruned(g))) break;
    }
    for (std::size_t i = graph.ops.size(); i-- > 0;)
      if (i < graph.ops.size()) take(without_op(graph, i));
  }
  return graph;
}

}  // namespace deputy::graphs
