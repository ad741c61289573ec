// The test interpreter (interpreter.h).
#include "tests/support/interpreter.h"

#include "host_runtime/cpu/kernels.h"

namespace deputy::tests {
namespace {
using arch::TensorView;

/// Views of an op's operands; data is null for everything but constants when `values` is null.
std::vector<TensorView> views(const delegate::Graph& graph,
                              const std::vector<delegate::TensorId>& ids, GraphValues* values) {
  std::vector<TensorView> out;
  for (auto id : ids) {
    if (id == delegate::kNoTensor) {
      out.push_back({});
      continue;
    }
    const auto& tensor = graph.tensor(id);
    std::uint8_t* data = nullptr;
    if (values != nullptr)
      data = values->tensors[static_cast<std::size_t>(id)].data();
    else if (tensor.constant)
      data = const_cast<std::uint8_t*>(tensor.data.data());
    out.push_back({&tensor.desc, data});
  }
  return out;
}

base::Status check_op(const delegate::Graph& graph, const delegate::Op& op) {
  return host_runtime::check_host_op(op.kind, op.attrs, views(graph, op.inputs, nullptr),
                                     views(graph, op.outputs, nullptr));
}
}  // namespace

base::Status check_graph(const delegate::Graph& graph) {
  for (const auto& op : graph.ops) DEPUTY_TRY(check_op(graph, op));
  return {};
}

base::Result<GraphValues> run_graph(const delegate::Graph& graph,
                                    std::span<const std::vector<std::uint8_t>> inputs,
                                    Numerics mode) {
  GraphValues values;
  values.tensors.resize(graph.tensors.size());
  for (std::size_t i = 0; i < graph.tensors.size(); ++i)
    if (graph.tensors[i].constant) values.tensors[i] = graph.tensors[i].data;
  if (inputs.size() != graph.inputs.size())
    return base::Error{base::ErrorKind::kInput, graph.name, "wrong number of inputs", ""};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& desc = graph.tensor(graph.inputs[i]).desc;
    if (static_cast<std::int64_t>(inputs[i].size()) != desc.bytes())
      return base::Error{base::ErrorKind::kInput, desc.name, "input has the wrong size", ""};
    values.tensors[static_cast<std::size_t>(graph.inputs[i])] = inputs[i];
  }
  for (const auto& op : graph.ops) {
    DEPUTY_TRY(check_op(graph, op));
    for (auto id : op.outputs)
      if (id != delegate::kNoTensor)
        values.tensors[static_cast<std::size_t>(id)].assign(
            static_cast<std::size_t>(graph.tensor(id).desc.bytes()), 0xA5);
    DEPUTY_TRY(host_runtime::run_host_op(op.kind, op.attrs, views(graph, op.inputs, &values),
                                         views(graph, op.outputs, &values), mode));
  }
  return values;
}

}  // namespace deputy::tests
