#include "quantize/prepare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "arch/onnx_node.h"
#include "delegate/ops/operands.h"

namespace deputy::quantize {
namespace {

using arch::OpKind;
using delegate::Graph;
using delegate::kNoTensor;
using delegate::Op;
using delegate::Tensor;
using delegate::TensorId;

bool takes_activation(OpKind kind) {
  switch (kind) {
    case OpKind::CONV_2D:
    case OpKind::DEPTHWISE_CONV_2D:
    case OpKind::FULLY_CONNECTED:
    case OpKind::ADD:
    case OpKind::SUB:
    case OpKind::MUL:
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
      return true;
    default:
      return false;
  }
}

std::optional<arch::Activation> activation_of(OpKind kind) {
  switch (kind) {
    case OpKind::RELU:
      return arch::Activation::kRelu;
    case OpKind::RELU6:
      return arch::Activation::kRelu6;
    case OpKind::RELU_N1_TO_1:
      return arch::Activation::kReluN1To1;
    default:
      return std::nullopt;
  }
}

/// y = x * factor[c] + shift[c].
struct Affine {
  std::vector<float> factor, shift;
};

/// A constant with one value, or one for each of `channels` along the last dimension; repeated to
/// `channels`.
std::optional<std::vector<float>> per_channel(const Graph& graph, TensorId id,
                                              std::size_t channels) {
  const Tensor& t = graph.tensor(id);
  if (!t.constant || t.desc.dtype != DType::kFloat32) return std::nullopt;
  auto values = floats_of(t);
  if (values.size() == 1) return std::vector<float>(channels, values[0]);
  if (values.size() != channels || t.desc.shape.empty() ||
      static_cast<std::size_t>(t.desc.shape.back()) != channels)
    return std::nullopt;
  return values;
}

std::optional<Affine> affine(const Graph& graph, const Op& op, TensorId x, std::size_t channels) {
  const std::vector<float> ones(channels, 1), zeros(channels, 0);
  if (op.kind == OpKind::MUL || op.kind == OpKind::ADD || op.kind == OpKind::SUB) {
    const bool second = op.inputs[1] == x;
    if (op.attrs.activation || op.inputs[0] == op.inputs[1] || (second && op.kind == OpKind::SUB))
      return std::nullopt;
    auto values = per_channel(graph, op.inputs[second ? 0 : 1], channels);
    if (!values) return std::nullopt;
    if (op.kind == OpKind::MUL) return Affine{*values, zeros};
    if (op.kind == OpKind::SUB)
      for (float& v : *values) v = -v;
    return Affine{ones, *values};
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::vector<std::size_t>> users_of(const Graph& graph) {
  std::vector<std::vector<std::size_t>> out(graph.tensors.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const TensorId id : graph.ops[i].inputs)
      if (id != kNoTensor) out[static_cast<std::size_t>(id)].push_back(i);
  for (const TensorId id : graph.outputs) out[static_cast<std::size_t>(id)].push_back(kGraphOutput);
  return out;
}
std::vector<std::size_t> makers_of(const Graph& graph) {
  std::vector<std::size_t> out(graph.tensors.size(), kGraphOutput);
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const TensorId id : graph.ops[i].outputs)
      if (id != kNoTensor) out[static_cast<std::size_t>(id)] = i;
  return out;
}

std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> out(tensor.data.size() / sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), tensor.data.data(), out.size() * sizeof(float));
  return out;
}
void set_floats(Tensor& tensor, const std::vector<float>& values) {
  tensor.data.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
}
TensorId add_floats(Graph& graph, std::string name, Shape shape, const std::vector<float>& values) {
  Tensor tensor;
  tensor.desc.name = std::move(name), tensor.desc.dtype = DType::kFloat32;
  tensor.desc.shape = std::move(shape), tensor.constant = true;
  set_floats(tensor, values);
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size() - 1);
}

bool is_weighted(const Graph& graph, const Op& op) {
  if (!delegate::is_weighted_kind(op.kind)) return false;
  const auto constant_floats = [&](std::size_t i) {
    const Tensor& t = graph.tensor(op.inputs[i]);
    return t.constant && t.desc.dtype == DType::kFloat32;
  };
  return graph.tensor(op.inputs[0]).desc.dtype == DType::kFloat32 && constant_floats(1) &&
         (!graph.has_input(op, 2) || constant_floats(2));
}
std::size_t weight_channels(const Graph& graph, const Op& op) {
  const Shape& w = graph.tensor(op.inputs[1]).desc.shape;
  return static_cast<std::size_t>(w[delegate::output_axis(op.kind)]);
}
std::size_t weight_channel(const Graph& graph, const Op& op, std::size_t index) {
  const std::size_t channels = weight_channels(graph, op);
  if (op.kind == OpKind::DEPTHWISE_CONV_2D) return index % channels;
  const auto all = static_cast<std::size_t>(graph.tensor(op.inputs[1]).desc.elements());
  return index / (all / channels);
}

void fuse_activations(Graph& graph) {
  const auto users = users_of(graph);
  const auto makers = makers_of(graph);
  std::vector<bool> gone(graph.ops.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const auto activation = activation_of(graph.ops[i].kind);
    if (!activation) continue;
    const TensorId x = graph.ops[i].inputs[0];
    const std::size_t maker = makers[static_cast<std::size_t>(x)];
    if (maker == kGraphOutput || users[static_cast<std::size_t>(x)].size() != 1) continue;
    Op& before = graph.ops[maker];
    if (!takes_activation(before.kind) || before.attrs.activation || gone[maker] ||
        graph.tensor(x).desc.dtype != DType::kFloat32)
      continue;
    before.attrs.activation = static_cast<std::uint8_t>(*activation);
    before.outputs[0] = graph.ops[i].outputs[0];
    gone[i] = true;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (!gone[i]) {
      if (kept != i) graph.ops[kept] = std::move(graph.ops[i]);
      ++kept;
    }
  graph.ops.resize(kept);
}

int fold_scales(Graph& graph) {
  int folded = 0;
  for (bool changed = true; changed;) {
    changed = false;
    const auto users = users_of(graph);
    const auto makers = makers_of(graph);
    for (std::size_t i = 0; i < graph.ops.size() && !changed; ++i) {
      const Op op = graph.ops[i];
      for (const TensorId x : op.inputs) {
        if (x == kNoTensor || makers[static_cast<std::size_t>(x)] == kGraphOutput) continue;
        const std::size_t maker = makers[static_cast<std::size_t>(x)];
        Op& before = graph.ops[maker];
        if (!is_weighted(graph, before) || before.attrs.activation ||
            users[static_cast<std::size_t>(x)].size() != 1 ||
            graph.tensor(x).desc.shape != graph.tensor(op.outputs[0]).desc.shape)
          continue;
        const std::size_t channels = weight_channels(graph, before);
        const auto a = affine(graph, op, x, channels);
        if (!a) continue;
        auto weights = floats_of(graph.tensor(before.inputs[1]));
        for (std::size_t k = 0; k < weights.size(); ++k)
          weights[k] *= a->factor[weight_channel(graph, before, k)];
        std::vector<float> bias(channels, 0);
        if (graph.has_input(before, 2)) bias = floats_of(graph.tensor(before.inputs[2]));
        for (std::size_t c = 0; c < channels; ++c) bias[c] = bias[c] * a->factor[c] + a->shift[c];
        const std::string name = graph.tensor(op.outputs[0]).desc.name;
        const Shape shape = graph.tensor(before.inputs[1]).desc.shape;
        const TensorId w = add_floats(graph, name + "/weights", shape, weights);
        const TensorId b =
            add_floats(graph, name + "/bias", {static_cast<std::int32_t>(channels)}, bias);
        Op& conv = graph.ops[maker];
        conv.inputs.resize(3, kNoTensor);
        conv.inputs[1] = w, conv.inputs[2] = b, conv.outputs[0] = op.outputs[0];
        graph.ops.erase(graph.ops.begin() + static_cast<std::ptrdiff_t>(i));
        ++folded, changed = true;
        break;
      }
    }
  }
  return folded;
}

void separate_weights(Graph& graph) {
  auto users = users_of(graph);
  for (Op& op : graph.ops) {
    if (!is_weighted(graph, op)) continue;
    for (std::size_t i = 1; i < op.inputs.size(); ++i) {
      const TensorId id = op.inputs[i];
      if (id == kNoTensor || !graph.tensor(id).constant) continue;
      auto& uses = users[static_cast<std::size_t>(id)];
      if (uses.size() < 2) continue;
      uses.pop_back();  // how many are left is all that counts
      Tensor copy = graph.tensor(id);
      copy.desc.name += "/" + std::to_string(graph.tensors.size());
      graph.tensors.push_back(std::move(copy));
      op.inputs[i] = static_cast<TensorId>(graph.tensors.size() - 1);
    }
  }
}

void remove_unused(Graph& graph) {
  std::vector<bool> needed(graph.tensors.size());
  const auto need = [&](TensorId id) {
    if (id != kNoTensor) needed[static_cast<std::size_t>(id)] = true;
  };
  for (const TensorId id : graph.outputs) need(id);
  std::vector<Op> kept;
  for (std::size_t i = graph.ops.size(); i-- > 0;) {
    Op& op = graph.ops[i];
    if (std::none_of(op.outputs.begin(), op.outputs.end(), [&](TensorId id) {
          return id != kNoTensor && needed[static_cast<std::size_t>(id)];
        }))
      continue;
    for (const TensorId id : op.inputs) need(id);
    for (const TensorId id : op.outputs) need(id);
    kept.push_back(std::move(op));
  }
  std::reverse(kept.begin(), kept.end());
  for (const TensorId id : graph.inputs) need(id);
  std::vector<TensorId> renamed(graph.tensors.size(), kNoTensor);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < renamed.size(); ++i)
    if (needed[i]) {
      renamed[i] = static_cast<TensorId>(tensors.size());
      tensors.push_back(std::move(graph.tensors[i]));
    }
  const auto rename = [&](std::vector<TensorId>& ids) {
    for (TensorId& id : ids)
      if (id != kNoTensor) id = renamed[static_cast<std::size_t>(id)];
  };
  for (Op& op : kept) rename(op.inputs), rename(op.outputs);
  rename(graph.inputs), rename(graph.outputs);
  graph.ops = std::move(kept), graph.tensors = std::move(tensors);
}

}  // namespace deputy::quantize
