// Conv and ConvTranspose over one or two dimensions, with constant weights.
#include "delegate/import/onnx/lower_weights.h"

namespace deputy::delegate::onnx_import {
namespace {

using arch::OpKind;

/// A number by spatial dimension, for height and width: one dimension is a width.
struct Pair {
  std::int64_t h = 1, w = 1;
};
Pair pair(const std::vector<std::int64_t>& list, std::size_t n, std::int64_t otherwise) {
  if (list.size() != n) return {otherwise, otherwise};
  return n == 1 ? Pair{otherwise, list[0]} : Pair{list[0], list[1]};
}

struct Shaped {
  bool transposed = false;
  std::size_t n = 0;  ///< spatial dimensions
  std::int64_t groups = 1;
  Form image;  ///< NHWC
  arch::OpAttrs attrs;
  std::vector<int> order;  ///< of the weights
  Shape weights;
  std::int32_t channels = 0;
  OpKind kind = OpKind::CONV_2D;
};

std::optional<Shaped> shaped(Lowering& l, const Node& node) {
  Shaped s;
  s.transposed = node.node.op == "ConvTranspose";
  const int x = node.inputs[0], y = node.outputs[0];
  const Shape &in = l.shape(x), &out = l.shape(y), &w = l.shape(node.inputs[1]);
  if (in.size() != 3 && in.size() != 4) return std::nullopt;
  s.n = in.size() - 2, s.groups = node.node.integer("group", 1);
  const Pair stride = pair(node.node.integers("strides"), s.n, 1),
             dilation = pair(node.node.integers("dilations"), s.n, 1);
  const std::int64_t kh = s.n == 2 ? w[2] : 1, kw = w.back();
  s.attrs.padding = static_cast<std::uint8_t>(arch::Padding::kExplicit);
  s.attrs.stride_h = static_cast<std::int32_t>(stride.h),
  s.attrs.stride_w = static_cast<std::int32_t>(stride.w);
  s.attrs.dilation_h = static_cast<std::int32_t>(dilation.h),
  s.attrs.dilation_w = static_cast<std::int32_t>(dilation.w);
  s.image = s.n == 2 ? Form{0, 2, 3, 1} : Form{0, kInserted, 2, 1};
  const auto pads_of = [&](std::size_t d, std::int64_t kernel, std::int64_t step,
                           std::int64_t dil) {
    const auto dim = d + 2;
    // A transposed convolution is one backwards: its image is the result.
    return s.transposed ? window_pads(node.node, d, s.n, out[dim], in[dim], kernel, step, dil)
                        : window_pads(node.node, d, s.n, in[dim], out[dim], kernel, step, dil);
  };
  const Pads px = pads_of(s.n - 1, kw, stride.w, dilation.w),
             py = s.n == 2 ? pads_of(0, kh, stride.h, dilation.h) : Pads{};
  if (s.transposed) {
    const auto more = node.node.integers("output_padding");
    const bool automatic =
        node.node.text("auto_pad", "NOTSET") != "NOTSET" || node.node.has("output_shape");
    if (automatic || s.groups != 1 || dilation.h != 1 || dilation.w != 1 || px.before < 0 ||
        py.before < 0)
      return std::nullopt;
    for (const std::int64_t m : more)
      if (m < 0 || m >= std::min(stride.h, stride.w)) return std::nullopt;
  }
  s.attrs.pad_top = static_cast<std::int32_t>(py.before),
  s.attrs.pad_bottom = static_cast<std::int32_t>(py.after);
  s.attrs.pad_left = static_cast<std::int32_t>(px.before),
  s.attrs.pad_right = static_cast<std::int32_t>(px.after);
  const auto size = [](std::int64_t v) { return static_cast<std::int32_t>(v); };
  s.channels = out[1];
  if (s.transposed) {  // ONNX: in, out, h, w; here: out, h, w, in
    s.kind = OpKind::TRANSPOSE_CONV;
    s.order = s.n == 2 ? std::vector<int>{1, 2, 3, 0} : std::vector<int>{1, kInserted, 2, 0};
    s.weights = {w[1], size(kh), size(kw), w[0]};
  } else if (s.groups == in[1] && s.groups > 1 &&
             w[1] == 1) {  // ONNX: in * multiplier, 1, h, w; here: 1, h, w, in * multiplier
    s.kind = OpKind::DEPTHWISE_CONV_2D;
    s.attrs.depth_multiplier = w[0] / in[1];
    s.order = s.n == 2 ? std::vector<int>{1, 2, 3, 0} : std::vector<int>{1, kInserted, 2, 0};
    s.weights = {1, size(kh), size(kw), w[0]};
  } else {
    s.order = s.n == 2 ? std::vector<int>{0, 2, 3, 1} : std::vector<int>{0, kInserted, 2, 1};
    s.weights = {w[0], size(kh), size(kw), w[1]};
  }
  return s;
}

bool emit(Lowering& l, const Node& node, const Shaped& s, TensorId x, TensorId w,
          std::optional<TensorId> bias, int result, std::uint8_t activation) {
  arch::OpAttrs attrs = s.attrs;
  attrs.activation = activation;
  std::vector<TensorId> inputs;
  if (s.transposed) {
    const Shape& out = l.shape(node.outputs[0]);
    inputs = {l.constant_ints({out[0], s.n == 2 ? out[2] : 1, out.back(), out[1]}), w, x};
  } else {
    inputs = {x, w};
  }
  if (bias) inputs.push_back(*bias);
  return l.emit(s.kind, attrs, std::move(inputs), {{result, s.image}});
}

}  // namespace

bool lower_convolution(Lowering& l, const Node& node) {
  if ((node.node.op != "Conv" && node.node.op != "ConvTranspose") || !l.constant(node.inputs[1]) ||
      l.constant(node.inputs[0]))
    return false;
  const auto s = shaped(l, node);
  if (!s || l.desc(node.inputs[0]).dtype != DType::kFloat32) return false;
  const int bias_value = l.has(node, 2) ? node.inputs[2] : kNoValue;
  if (bias_value != kNoValue && !l.constant(bias_value)) return false;
  const Twin *x = l.twin(node.inputs[0]), *w = l.twin(node.inputs[1]);
  const auto site = l.site(node);
  if (x && w && site) {
    const DType type = l.desc(x->value).dtype;
    bool ok = false;
    const std::size_t filters_axis = s->transposed ? 1 : 0;
    if (one_byte(l.desc(w->value).dtype) &&
        (!w->quant.per_channel() || w->quant.axis == static_cast<std::int32_t>(filters_axis))) {
      const auto bias = integer_bias(l, node, bias_value, *x, w->quant, s->channels, ok);
      if (ok && l.desc(site->value).dtype == type &&
          emit(l, node, *s, l.get(x->value, s->image),
               weight_tensor(l, {w->value, w->quant}, s->order, s->weights, type), bias,
               site->value, site->activation)) {
        l.done(*site);
        return true;
      }
    }
    l.note(node,
           "stays in floats: no integer convolution has these operand types or this quantisation");
  }
  const auto bias = float_bias(l, bias_value, s->channels);
  if (bias_value != kNoValue && !bias) return false;
  return emit(l, node, *s, l.get(node.inputs[0], s->image),
              weight_tensor(l, {node.inputs[1], {}}, s->order, s->weights, DType::kFloat32), bias,
              node.outputs[0], 0);
}

}  // namespace deputy::delegate::onnx_import
