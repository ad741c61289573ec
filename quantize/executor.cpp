#include "quantize/executor.h"

#include "host_runtime/cpu/kernels.h"

namespace deputy::quantize {
namespace {

using arch::TensorView;
using delegate::kNoTensor;
using delegate::TensorId;

std::uint8_t nothing = 0;  // where the data of tensors without elements "are"

std::uint8_t* data_of(const Bytes& bytes) {
  return bytes.empty() ? &nothing : const_cast<std::uint8_t*>(bytes.data());
}

std::vector<TensorView> views(const delegate::Graph& graph, const std::vector<TensorId>& ids,
                              const std::vector<Bytes>* values) {
  std::vector<TensorView> out;
  for (const TensorId id : ids) {
    if (id == kNoTensor) {
      out.push_back({});
      continue;
    }
    const delegate::Tensor& tensor = graph.tensor(id);
    std::uint8_t* data = nullptr;
    if (tensor.constant)
      data = data_of(tensor.data);
    else if (values)
      data = data_of((*values)[static_cast<std::size_t>(id)]);
    out.push_back({&tensor.desc, data});
  }
  return out;
}

}  // namespace

Executor::Executor(const delegate::Graph& graph, Numerics numerics)
    : graph_(graph), numerics_(numerics), last_use_(graph.tensors.size(), 0) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    for (const TensorId id : graph.ops[i].inputs)
      if (id != kNoTensor) last_use_[static_cast<std::size_t>(id)] = i;
    for (const TensorId id : graph.ops[i].outputs)
      if (id != kNoTensor) last_use_[static_cast<std::size_t>(id)] = i;
  }
  for (const TensorId id : graph.outputs)
    last_use_[static_cast<std::size_t>(id)] = graph.ops.size();
}

base::Status Executor::check() const {
  for (const delegate::Op& op : graph_.ops)
    DEPUTY_TRY(host_runtime::check_host_op(op.kind, op.attrs, views(graph_, op.inputs, nullptr),
                                           views(graph_, op.outputs, nullptr)));
  return {};
}

base::Result<std::vector<Bytes>> Executor::run(std::span<const Bytes> inputs,
                                               const Observer& observe) const {
  if (inputs.size() != graph_.inputs.size())
    return base::Error{base::ErrorKind::kInput, graph_.name, "wrong number of inputs", ""};
  std::vector<Bytes> values(graph_.tensors.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorId id = graph_.inputs[i];
    if (static_cast<std::int64_t>(inputs[i].size()) != graph_.tensor(id).desc.bytes())
      return base::Error{base::ErrorKind::kInput, graph_.tensor(id).desc.name,
                         "a sample has the wrong size", ""};
    values[static_cast<std::size_t>(id)] = inputs[i];
    if (observe) DEPUTY_TRY(observe(id, inputs[i]));
  }
  for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
    const delegate::Op& op = graph_.ops[i];
    for (const TensorId id : op.outputs)
      if (id != kNoTensor)
        values[static_cast<std::size_t>(id)].resize(
            static_cast<std::size_t>(graph_.tensor(id).desc.bytes()));
    DEPUTY_TRY(host_runtime::run_host_op(op.kind, op.attrs, views(graph_, op.inputs, &values),
                                         views(graph_, op.outputs, &values), numerics_));
    if (observe)
      for (const TensorId id : op.outputs)
        if (id != kNoTensor) DEPUTY_TRY(observe(id, values[static_cast<std::size_t>(id)]));
    const auto release = [&](TensorId id) {
      if (id != kNoTensor && last_use_[static_cast<std::size_t>(id)] == i)
        Bytes().swap(values[static_cast<std::size_t>(id)]);
    };
    for (const TensorId id : op.inputs) release(id);
    for (const TensorId id : op.outputs) release(id);
  }
  std::vector<Bytes> out;
  for (const TensorId id : graph_.outputs)
    out.push_back(graph_.tensor(id).constant ? graph_.tensor(id).data
                                             : values[static_cast<std::size_t>(id)]);
  return out;
}

}  // namespace deputy::quantize
