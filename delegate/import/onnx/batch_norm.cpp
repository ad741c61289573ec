// Conv - BatchNormalization with constants: into the convolution.
#include <cmath>
#include <cstring>

#include "delegate/import/onnx/lowering.h"

namespace deputy::delegate::onnx_import {
namespace {

std::vector<float> floats(const Model& model, int id) {
  std::vector<float> out(static_cast<std::size_t>(model.value(id).desc.elements()));
  if (!out.empty()) std::memcpy(out.data(), model.value(id).data.data(), out.size() * 4);
  return out;
}
int constant(Model& model, std::string name, Shape shape, const std::vector<float>& data) {
  const int id = model.add_value(std::move(name));
  Value& value = model.value(id);
  value.desc.dtype = DType::kFloat32, value.desc.shape = std::move(shape), value.constant = value.shaped = true;
  value.data.resize(data.size() * 4);
  if (!data.empty()) std::memcpy(value.data.data(), data.data(), value.data.size());
  return id;
}

}  // namespace

void fold_batch_norms(Model& model) {
  std::vector<Node> kept;
  std::vector<bool> gone(model.nodes.size());
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    Node& norm = model.nodes[i];
    if (norm.node.op != "BatchNormalization" || norm.outputs.size() != 1 || norm.node.integer("training_mode", 0) || norm.inputs.size() != 5) continue;
    const int x = norm.inputs[0];
    if (model.value(x).producer == kNoValue || model.value(x).consumers.size() != 1 || model.value(x).is_output) continue;
    const auto at = static_cast<std::size_t>(model.value(x).producer);
    Node& conv = model.nodes[at];
    if (conv.node.op != "Conv" || gone[at]) continue;
    bool known = model.value(conv.inputs[1]).constant && model.value(conv.inputs[1]).desc.dtype == DType::kFloat32;
    for (std::size_t k = 1; k < 5; ++k) known &= norm.inputs[k] != kNoValue && model.value(norm.inputs[k]).constant;
    const bool has_bias = conv.inputs.size() > 2 && conv.inputs[2] != kNoValue;
    if (!known || (has_bias && !model.value(conv.inputs[2]).constant)) continue;
    const auto scale = floats(model, norm.inputs[1]), shift = floats(model, norm.inputs[2]), mean = floats(model, norm.inputs[3]), variance = floats(model, norm.inputs[4]);
    auto weights = floats(model, conv.inputs[1]);
    std::vector<float> bias = has_bias ? floats(model, conv.inputs[2]) : std::vector<float>(scale.size(), 0);
    const Shape shape = model.value(conv.inputs[1]).desc.shape;
    if (shape.empty() || static_cast<std::size_t>(shape[0]) != scale.size() || bias.size() != scale.size() || weights.empty()) continue;
    const std::size_t per = weights.size() / scale.size();
    for (std::size_t c = 0; c < scale.size(); ++c) {
      const float factor = scale[c] / std::sqrt(variance[c] + norm.node.real("epsilon", 1e-5f));
      for (std::size_t k = 0; k < per; ++k) weights[c * per + k] *= factor;
      bias[c] = (bias[c] - mean[c]) * factor + shift[c];
    }
    const std::string name = model.value(norm.outputs[0]).desc.name;
    const int w = constant(model, name + "/weights", shape, weights), b = constant(model, name + "/bias", {shape[0]}, bias);
    conv.inputs.resize(3, kNoValue);
    conv.inputs[1] = w, conv.inputs[2] = b;
    conv.outputs[0] = norm.outputs[0];
    gone[i] = true;
  }
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    if (!gone[i]) kept.push_back(std::move(model.nodes[i]));
  model.nodes = std::move(kept);
  link(model);
}

}  // namespace deputy::delegate::onnx_import
