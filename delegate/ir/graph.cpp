// Invariants, names and MAC counts of the compiler's graph.
#include "delegate/ir/graph.h"

#include <fmt/format.h>

#include <limits>

namespace deputy::delegate {
namespace {

using arch::OpKind;

base::Error broken(const Graph& graph, std::string message) {
  return {base::ErrorKind::kModel, graph.name, std::move(message), ""};
}

/// Shapes that every later size computation can trust: no negative dimension, bytes within int32.
base::Status check_tensor(const Graph& graph, std::size_t index) {
  const Tensor& tensor = graph.tensors[index];
  const auto label = [&] { return fmt::format("tensor #{} '{}'", index, tensor.desc.name); };
  if (tensor.desc.shape.size() > kMaxRank)
    return broken(graph, fmt::format("{} has {} dimensions, the most is {}", label(),
                                     tensor.desc.shape.size(), kMaxRank));
  // A zero dimension counts as one: products of the others must not overflow either.
  std::int64_t bytes = static_cast<std::int64_t>(dtype_size(tensor.desc.dtype));
  for (const std::int32_t dim : tensor.desc.shape) {
    if (dim < 0) return broken(graph, fmt::format("{} has a negative dimension {}", label(), dim));
    bytes *= dim == 0 ? 1 : dim;
    if (bytes > std::numeric_limits<std::int32_t>::max())
      return broken(graph, fmt::format("{} has shape {}: larger than 2^31 bytes", label(),
                                       shape_text(tensor.desc.shape)));
  }
  const Quantisation& quant = tensor.desc.quant;
  if (quant.scale.size() != quant.zero_point.size())
    return broken(graph, fmt::format("{} has {} scales but {} zero points", label(),
                                     quant.scale.size(), quant.zero_point.size()));
  if (quant.per_channel() &&
      (quant.axis < 0 || static_cast<std::size_t>(quant.axis) >= tensor.desc.shape.size() ||
       static_cast<std::size_t>(tensor.desc.shape[static_cast<std::size_t>(quant.axis)]) !=
           quant.scale.size()))
    return broken(graph,
                  fmt::format("{} has {} scales along axis {}, but its shape is {}", label(),
                              quant.scale.size(), quant.axis, shape_text(tensor.desc.shape)));
  if (tensor.constant && static_cast<std::int64_t>(tensor.data.size()) != tensor.desc.bytes())
    return broken(
        graph, fmt::format("constant {} has {} bytes of data, its shape {} of {} needs {}", label(),
                           tensor.data.size(), shape_text(tensor.desc.shape),
                           dtype_name(tensor.desc.dtype), tensor.desc.bytes()));
  if (!tensor.constant && !tensor.data.empty())
    return broken(graph, fmt::format("{} has data but is not constant", label()));
  return {};
}

}  // namespace

base::Status validate(const Graph& graph) {
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) DEPUTY_TRY(check_tensor(graph, i));

  const auto in_range = [&](TensorId id) {
    return id >= 0 && static_cast<std::size_t>(id) < graph.tensors.size();
  };
  std::vector<bool> ready(graph.tensors.size());
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) ready[i] = graph.tensors[i].constant;
  for (const TensorId id : graph.inputs) {
    if (!in_range(id))
      return broken(graph, fmt::format("graph input {} is not a tensor index", id));
    if (ready[static_cast<std::size_t>(id)])
      return broken(graph, fmt::format("graph input tensor #{} '{}' is listed twice or is constant",
                                       id, graph.tensor(id).desc.name));
    ready[static_cast<std::size_t>(id)] = true;
  }
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    const auto label = [&] { return fmt::format("{} #{}", arch::op_word(op.kind, op.attrs), i); };
    for (const TensorId id : op.inputs) {
      if (id == kNoTensor) continue;
      if (!in_range(id))
        return broken(
            graph, fmt::format("{} reads tensor {}, but the graph has tensors 0 to {}", label(), id,
                               static_cast<std::int64_t>(graph.tensors.size()) - 1));
      if (!ready[static_cast<std::size_t>(id)])
        return broken(graph, fmt::format("{} reads tensor #{} '{}' before anything wrote it",
                                         label(), id, graph.tensor(id).desc.name));
    }
    for (const TensorId id : op.outputs) {
      if (!in_range(id))
        return broken(graph,
                      fmt::format("{} writes tensor {}, but the graph has tensors 0 to {}", label(),
                                  id, static_cast<std::int64_t>(graph.tensors.size()) - 1));
      if (ready[static_cast<std::size_t>(id)])
        return broken(graph,
                      fmt::format("{} writes tensor #{} '{}', which is an input, a constant or "
                                  "already written",
                                  label(), id, graph.tensor(id).desc.name));
    }
    for (const TensorId id : op.outputs) {
      if (ready[static_cast<std::size_t>(id)])
        return broken(graph, fmt::format("{} writes tensor #{} twice", label(), id));
      ready[static_cast<std::size_t>(id)] = true;
    }
  }
  for (const TensorId id : graph.outputs) {
    if (!in_range(id))
      return broken(graph, fmt::format("graph output {} is not a tensor index", id));
    if (!ready[static_cast<std::size_t>(id)])
      return broken(graph, fmt::format("graph output tensor #{} '{}' is never written", id,
                                       graph.tensor(id).desc.name));
  }
  return {};
}

std::string op_label(const Graph& graph, const Op& op) {
  const bool named = !op.outputs.empty() && op.outputs[0] >= 0 &&
                     static_cast<std::size_t>(op.outputs[0]) < graph.tensors.size();
  return fmt::format("{} #{} '{}'", arch::op_word(op.kind, op.attrs), op.source_index,
                     named ? graph.tensor(op.outputs[0]).desc.name : "");
}

std::uint64_t op_macs(const Graph& graph, const Op& op) {
  const auto shape = [&](TensorId id) -> const Shape& { return graph.tensor(id).desc.shape; };
  const auto count = [&](TensorId id) {
    return static_cast<std::uint64_t>(graph.tensor(id).desc.elements());
  };
  const auto product = [](const Shape& s, std::size_t from) {
    std::uint64_t n = 1;
    for (std::size_t i = from; i < s.size(); ++i) n *= static_cast<std::uint64_t>(s[i]);
    return n;
  };
  switch (op.kind) {
    case OpKind::CONV_2D:          // weights: out channels, height, width, in channels
    case OpKind::FULLY_CONNECTED:  // weights: outputs, inputs
      return count(op.outputs[0]) * product(shape(op.inputs[1]), 1);
    case OpKind::DEPTHWISE_CONV_2D: {  // weights: 1, height, width, channels
      const Shape& w = shape(op.inputs[1]);
      return count(op.outputs[0]) * static_cast<std::uint64_t>(w[1]) *
             static_cast<std::uint64_t>(w[2]);
    }
    case OpKind::TRANSPOSE_CONV: {  // each input element meets every tap of every output channel
      const Shape& w = shape(op.inputs[1]);
      return count(op.inputs[2]) * static_cast<std::uint64_t>(w[0]) *
             static_cast<std::uint64_t>(w[1]) * static_cast<std::uint64_t>(w[2]);
    }
    case OpKind::BATCH_MATMUL: {
      const Shape& a = shape(op.inputs[0]);
      return count(op.outputs[0]) *
             static_cast<std::uint64_t>(a[a.size() - (op.attrs.adj_x ? 2 : 1)]);
    }
    default:
      return 0;
  }
}

}  // namespace deputy::delegate
