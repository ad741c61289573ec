// Pooling over one or two dimensions.
#include <algorithm>

#include "delegate/import/onnx/lowering.h"

namespace deputy::delegate::onnx_import {

using arch::OpKind;

Pads window_pads(const arch::OnnxNode& node, std::size_t dimension, std::size_t dimensions,
                 std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                 std::int64_t dilation) {
  const auto pads = node.integers("pads");
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const std::int64_t needed = (out - 1) * stride + (kernel - 1) * dilation + 1 - in;
  Pads p;
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    const std::int64_t all = std::max<std::int64_t>(0, needed);
    p.before = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
  } else if (automatic == "NOTSET" && pads.size() == 2 * dimensions) {
    p.before = pads[dimension];
  }
  p.after = std::max<std::int64_t>(0, needed - p.before);
  return p;
}

bool lower_pool(Lowering& l, const Node& node) {
  const bool max = node.node.op == "MaxPool";
  if (!max && node.node.op != "AveragePool") return false;
  const int x = node.inputs[0], y = node.outputs[0];
  const Shape &in = l.shape(x), &out = l.shape(y);
  const auto kernel = node.node.integers("kernel_shape"), strides = node.node.integers("strides"),
             dilations = node.node.integers("dilations"), pads = node.node.integers("pads");
  const std::size_t n = kernel.size();
  if ((n != 1 && n != 2) || in.size() != n + 2) return false;
  if (std::any_of(dilations.begin(), dilations.end(), [](auto d) { return d != 1; })) return false;
  const bool padded = node.node.text("auto_pad", "NOTSET").starts_with("SAME") ||
                      std::any_of(pads.begin(), pads.end(), [](auto p) { return p != 0; });
  if (!max && padded && node.node.integer("count_include_pad", 0)) return false;
  if (std::any_of(pads.begin(), pads.end(), [](auto p) { return p < 0; })) return false;
  const Form form = n == 2 ? Form{0, 2, 3, 1} : Form{0, kInserted, 2, 1};
  arch::OpAttrs attrs;
  attrs.padding = static_cast<std::uint8_t>(arch::Padding::kExplicit);
  const auto size = [](std::int64_t v) { return static_cast<std::int32_t>(v); };
  const auto stride = [&](std::size_t d) { return strides.size() == n ? strides[d] : 1; };
  const std::size_t w = n - 1;
  const Pads px = window_pads(node.node, w, n, in[w + 2], out[w + 2], kernel[w], stride(w), 1);
  attrs.filter_w = size(kernel[w]), attrs.stride_w = size(stride(w)),
  attrs.pad_left = size(px.before), attrs.pad_right = size(px.after);
  if (n == 2) {
    const Pads py = window_pads(node.node, 0, n, in[2], out[2], kernel[0], stride(0), 1);
    attrs.filter_h = size(kernel[0]), attrs.stride_h = size(stride(0)),
    attrs.pad_top = size(py.before), attrs.pad_bottom = size(py.after);
  }
  const OpKind kind = max ? OpKind::MAX_POOL_2D : OpKind::AVERAGE_POOL_2D;
  const auto run = [&](int from, int to) {
    return l.emit(kind, attrs, {l.get(from, form)}, {{to, form}});
  };
  if (const Twin* t = l.twin(x)) {
    // The maximum of numbers of one scale is one of them; a mean has the result's scale, which need
    // not be the operand's.
    const Twin operand = *t;
    const auto site = l.site(node);
    if (max) {
      const int to = l.new_twin(y, operand.value, operand.quant);
      if (run(operand.value, to)) return true;
      l.quant.twins.erase(y);
    } else if (site && !site->activation && l.quant.integers[site->value] == operand.quant &&
               l.desc(site->value).dtype == l.desc(operand.value).dtype &&
               run(operand.value, site->value)) {
      l.done(*site);
      return true;
    }
  }
  return run(x, y);
}

}  // namespace deputy::delegate::onnx_import
