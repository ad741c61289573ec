// BatchNormalization with constants: into the convolution before it, where there is one; else it
// becomes a convolution by 1x1 of each channel for itself, or, where there is no image, a product
// and a sum. Engines know no BatchNormalization.
#include <cmath>
#include <optional>

#include "delegate/import/onnx/lowering.h"

namespace deputy::delegate::onnx_import {
namespace {

/// y = x * factor[c] + shift[c].
struct Affine {
  std::vector<float> factor, shift;
};
std::optional<Affine> affine_of(const Model& model, const Node& norm) {
  if (norm.node.op != "BatchNormalization" || norm.outputs.size() != 1 ||
      norm.node.integer("training_mode", 0) || norm.inputs.size() != 5)
    return std::nullopt;
  for (std::size_t k = 1; k < 5; ++k) {
    if (norm.inputs[k] == kNoValue) return std::nullopt;
    const Value& value = model.value(norm.inputs[k]);
    if (!value.constant || value.desc.dtype != DType::kFloat32 ||
        value.desc.elements() != model.value(norm.inputs[1]).desc.elements())
      return std::nullopt;
  }
  const auto scale = floats_of(model, norm.inputs[1]), shift = floats_of(model, norm.inputs[2]),
             mean = floats_of(model, norm.inputs[3]), variance = floats_of(model, norm.inputs[4]);
  Affine out;
  for (std::size_t c = 0; c < scale.size(); ++c) {
    out.factor.push_back(scale[c] / std::sqrt(variance[c] + norm.node.real("epsilon", 1e-5f)));
    out.shift.push_back(shift[c] - mean[c] * out.factor[c]);
  }
  return out;
}

/// Into the convolution that makes the norm's operand. False: there is none that could take it.
bool fold(Model& model, const Node& norm, const Affine& affine, const std::vector<bool>& gone) {
  const Value& x = model.value(norm.inputs[0]);
  if (x.producer == kNoValue || x.consumers.size() != 1 || x.is_output) return false;
  const auto at = static_cast<std::size_t>(x.producer);
  Node& conv = model.nodes[at];
  if (conv.node.op != "Conv" || gone[at]) return false;
  const auto constant_floats = [&](int id) {
    return model.value(id).constant && model.value(id).desc.dtype == DType::kFloat32;
  };
  const bool has_bias = conv.inputs.size() > 2 && conv.inputs[2] != kNoValue;
  if (!constant_floats(conv.inputs[1]) || (has_bias && !constant_floats(conv.inputs[2])))
    return false;
  const std::size_t channels = affine.factor.size();
  auto weights = floats_of(model, conv.inputs[1]);
  std::vector<float> bias =
      has_bias ? floats_of(model, conv.inputs[2]) : std::vector<float>(channels, 0);
  const Shape shape = model.value(conv.inputs[1]).desc.shape;
  if (shape.empty() || static_cast<std::size_t>(shape[0]) != channels || bias.size() != channels ||
      weights.empty())
    return false;
  const std::size_t per = weights.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t k = 0; k < per; ++k) weights[c * per + k] *= affine.factor[c];
    bias[c] = bias[c] * affine.factor[c] + affine.shift[c];
  }
  const std::string name = model.value(norm.outputs[0]).desc.name;
  const int w = add_floats(model, name + "/weights", shape, weights),
            b = add_floats(model, name + "/bias", {shape[0]}, bias);
  conv.inputs.resize(3, kNoValue);
  conv.inputs[1] = w, conv.inputs[2] = b;
  conv.outputs[0] = norm.outputs[0];
  return true;
}

/// What stands for the norm: one node or two; none where its operand is not what they take.
std::vector<Node> instead(Model& model, const Node& norm, const Affine& affine) {
  const arch::TensorDesc desc = model.value(norm.inputs[0]).desc;
  const auto channels = static_cast<std::int32_t>(affine.factor.size());
  if (!model.value(norm.inputs[0]).shaped || desc.dtype != DType::kFloat32 ||
      desc.shape.size() < 2 || desc.shape.size() > 4 || desc.shape[1] != channels ||
      desc.elements() == 0)
    return {};
  const std::string name = model.value(norm.outputs[0]).desc.name;
  const auto node = [&](const char* op, std::vector<int> inputs, int output) {
    Node out = norm;
    out.node.op = op, out.node.attrs.clear();
    out.inputs = std::move(inputs), out.outputs = {output};
    return out;
  };
  if (desc.shape.size() == 2) {
    const int product = model.add_value(name + "/product");
    model.value(product).desc.dtype = desc.dtype, model.value(product).desc.shape = desc.shape,
    model.value(product).shaped = true;
    const int factor = add_floats(model, name + "/factor", {channels}, affine.factor),
              shift = add_floats(model, name + "/shift", {channels}, affine.shift);
    return {node("Mul", {norm.inputs[0], factor}, product),
            node("Add", {product, shift}, norm.outputs[0])};
  }
  Shape shape(desc.shape.size(), 1);
  shape[0] = channels;
  const int w = add_floats(model, name + "/weights", shape, affine.factor),
            b = add_floats(model, name + "/bias", {channels}, affine.shift);
  Node conv = node("Conv", {norm.inputs[0], w, b}, norm.outputs[0]);
  conv.node.attrs.push_back({"group", arch::OnnxAttr::Type::kInts, {channels}, {}, {}});
  return {std::move(conv)};
}

}  // namespace

void fold_batch_norms(Model& model) {
  std::vector<Node> kept;
  std::vector<bool> gone(model.nodes.size());
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    if (const auto affine = affine_of(model, model.nodes[i]))
      gone[i] = fold(model, model.nodes[i], *affine, gone);
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    if (gone[i]) continue;
    const auto affine = affine_of(model, model.nodes[i]);
    auto nodes = affine ? instead(model, model.nodes[i], *affine) : std::vector<Node>();
    if (nodes.empty()) nodes.push_back(std::move(model.nodes[i]));
    for (Node& node : nodes) kept.push_back(std::move(node));
  }
  model.nodes = std::move(kept);
  link(model);
}

}  // namespace deputy::delegate::onnx_import
