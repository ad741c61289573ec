// DepthToSpace has two orders of channels: CRD, column-row last (PyTorch's PixelShuffle), and DCR,
// depth last, which TFLite's operator and the NPU have. Behind a convolution the channels can be
// had in any order.
#include "delegate/import/onnx/lowering.h"

namespace deputy::delegate::onnx_import {
namespace {

/// For each channel as DCR reads it, the channel of CRD that holds the same: channel c of offset k
/// of `block`^2 offsets is k * depth + c there and c * block^2 + k here (the ONNX specification's
/// two reshapes).
std::vector<std::size_t> order(std::size_t channels, std::size_t block) {
  const std::size_t offsets = block * block, depth = channels / offsets;
  std::vector<std::size_t> out(channels);
  for (std::size_t k = 0; k < offsets; ++k)
    for (std::size_t c = 0; c < depth; ++c) out[k * depth + c] = c * offsets + k;
  return out;
}

std::vector<float> reordered(const std::vector<float>& data, const std::vector<std::size_t>& rows) {
  const std::size_t per = data.size() / rows.size();
  std::vector<float> out;
  out.reserve(data.size());
  for (const std::size_t row : rows)
    for (std::size_t i = 0; i < per; ++i) out.push_back(data[row * per + i]);
  return out;
}

void reorder(Model& model, Node& shuffle) {
  if (shuffle.node.op != "DepthToSpace" || shuffle.node.text("mode", "DCR") != "CRD") return;
  const Value& x = model.value(shuffle.inputs[0]);
  if (x.producer == kNoValue || x.consumers.size() != 1 || x.is_output || !x.shaped) return;
  Node& conv = model.nodes[static_cast<std::size_t>(x.producer)];
  // With groups the order of channels decides which inputs they read.
  if (conv.node.op != "Conv" || conv.node.integer("group", 1) != 1) return;
  for (std::size_t i = 1; i < conv.inputs.size(); ++i) {
    if (conv.inputs[i] == kNoValue) continue;
    const Value& value = model.value(conv.inputs[i]);
    // What a DequantizeLinear makes stays as it is: its integers are wanted.
    if (!value.constant || value.desc.dtype != DType::kFloat32 || value.producer != kNoValue)
      return;
  }
  const auto block = static_cast<std::size_t>(shuffle.node.integer("blocksize", 1));
  const Shape shape = model.value(conv.inputs[1]).desc.shape;
  if (shape.empty() || shape[0] <= 0 || block == 0 ||
      static_cast<std::size_t>(shape[0]) % (block * block) != 0)
    return;
  const auto rows = order(static_cast<std::size_t>(shape[0]), block);
  const std::string name = x.desc.name;
  for (std::size_t i = 1; i < conv.inputs.size(); ++i) {
    if (conv.inputs[i] == kNoValue) continue;
    const Shape dims = model.value(conv.inputs[i]).desc.shape;
    conv.inputs[i] = add_floats(model, name + (i == 1 ? "/weights" : "/bias"), dims,
                                reordered(floats_of(model, conv.inputs[i]), rows));
  }
  for (auto& attr : shuffle.node.attrs)
    if (attr.name == "mode") attr.strings = {"DCR"};
}

}  // namespace

void reorder_pixel_shuffles(Model& model) {
  for (Node& node : model.nodes) reorder(model, node);
  link(model);
}

}  // namespace deputy::delegate::onnx_import
