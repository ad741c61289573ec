#include "delegate/import/explicit_pads.h"

#include <cstring>
#include <limits>

#include "delegate/ir/op_rules.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using arch::Padding;

bool has_window(OpKind kind) {
  return kind == OpKind::CONV_2D || kind == OpKind::DEPTHWISE_CONV_2D ||
         kind == OpKind::TRANSPOSE_CONV || kind == OpKind::AVERAGE_POOL_2D ||
         kind == OpKind::MAX_POOL_2D;
}

TensorId add_constant(Graph& graph, std::string name, DType dtype, Shape shape,
                      std::vector<std::uint8_t> data, Quantisation quant = {}) {
  Tensor tensor;
  tensor.desc.name = std::move(name), tensor.desc.dtype = dtype;
  tensor.desc.shape = std::move(shape), tensor.desc.quant = std::move(quant);
  tensor.data = std::move(data), tensor.constant = true;
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size() - 1);
}

/// The lowest number of a type, as bytes.
std::vector<std::uint8_t> lowest(DType type) {
  if (type == DType::kUint8) return {0};
  if (type == DType::kInt8) return {0x80};
  if (type == DType::kInt16) return {0x00, 0x80};
  const float value = std::numeric_limits<float>::lowest();
  std::vector<std::uint8_t> out(sizeof value);
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

}  // namespace

bool pads_have_a_word(const Graph& graph, const Op& op) {
  if (!has_window(op.kind)) return true;
  const arch::OpAttrs& a = op.attrs;
  for (const Padding padding : {Padding::kValid, Padding::kSame}) {
    Op trial = op;
    trial.attrs.padding = static_cast<std::uint8_t>(padding);
    if (!normalise_op(graph, trial).ok()) continue;
    const arch::OpAttrs& t = trial.attrs;
    if (t.pad_top == a.pad_top && t.pad_bottom == a.pad_bottom && t.pad_left == a.pad_left &&
        t.pad_right == a.pad_right)
      return true;
  }
  return false;
}

base::Result<Graph> with_pad_operators(const Graph& graph) {
  Graph out = graph;
  out.ops.clear();
  for (Op op : graph.ops) {
    if (pads_have_a_word(graph, op)) {
      out.ops.push_back(std::move(op));
      continue;
    }
    if (op.kind == OpKind::AVERAGE_POOL_2D || op.kind == OpKind::TRANSPOSE_CONV)
      return base::Error{
          base::ErrorKind::kUnsupported, op_label(graph, op),
          "TFLite has no words for its pads, and no operator before it can stand for them",
          "write an .onnx file"};
    const TensorId x = op.inputs[0];
    arch::OpAttrs& a = op.attrs;
    const bool maximum = op.kind == OpKind::MAX_POOL_2D;
    const std::int32_t edges[8] = {0, 0, a.pad_top, a.pad_bottom, a.pad_left, a.pad_right, 0, 0};
    std::vector<std::uint8_t> bytes(sizeof edges);
    std::memcpy(bytes.data(), edges, sizeof edges);
    Tensor padded = out.tensor(x);
    padded.constant = false, padded.data.clear(), padded.source_index = -1;
    padded.desc.name = out.tensor(op.outputs[0]).desc.name + "/padded";
    padded.desc.shape[1] += a.pad_top + a.pad_bottom;
    padded.desc.shape[2] += a.pad_left + a.pad_right;
    const DType type = padded.desc.dtype;
    const Quantisation quant = padded.desc.quant;
    const std::string name = padded.desc.name;
    Op pad;
    pad.kind = maximum ? OpKind::PADV2 : OpKind::PAD, pad.source_index = op.source_index;
    pad.inputs = {x, add_constant(out, name + "/pads", DType::kInt32, {4, 2}, std::move(bytes))};
    if (maximum)
      pad.inputs.push_back(add_constant(out, name + "/value", type, {}, lowest(type), quant));
    out.tensors.push_back(std::move(padded));
    pad.outputs = {static_cast<TensorId>(out.tensors.size() - 1)};
    op.inputs[0] = pad.outputs[0];
    a.pad_top = a.pad_bottom = a.pad_left = a.pad_right = 0;
    a.padding = static_cast<std::uint8_t>(Padding::kValid);
    out.ops.push_back(std::move(pad));
    out.ops.push_back(std::move(op));
  }
  DEPUTY_TRY(validate(out));
  return out;
}

}  // namespace deputy::delegate
