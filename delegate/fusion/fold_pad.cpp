#include "delegate/fusion/fold_pad.h"

#include "base/check.h"
#include "delegate/ops/copies.h"
#include "delegate/ops/operands.h"
#include "delegate/ops/window_ops.h"

namespace deputy::delegate {

using arch::OpKind;

std::optional<std::string> fold_pad(const Graph& graph, const Op& pad, const Op& main,
                                    WindowShape& shape) {
  const auto box = pad_box(graph, pad);
  const bool weighted = main.kind == OpKind::CONV_2D || main.kind == OpKind::DEPTHWISE_CONV_2D;
  if (!weighted && main.kind != OpKind::MAX_POOL_2D)
    return "an average counts the padded values, the window's own padding is not counted";
  if (!box || graph.tensor(pad.inputs[0]).desc.shape.size() != 4 || box->out[1] != shape.ih ||
      box->out[2] != shape.iw)
    return "the padded map is not the window's";
  if (box->in[0] != box->out[0] || box->in[3] != box->out[3]) return "it pads images or channels";
  const Tensor& map = graph.tensor(main.inputs[0]);
  const auto value = static_cast<std::uint8_t>(box->value),
             zero = static_cast<std::uint8_t>(map.desc.quant.zero_point[0]);
  if (weighted && value != zero) return "it pads with another value than the zero point";
  // Outside the map a maximum sees nothing, which is the least value.
  const std::uint8_t least = is_u8(map) ? 0 : 128;
  if (!weighted && value != least) return "it pads with more than the least value";
  WindowShape folded = shape;
  folded.ih = box->in[1], folded.iw = box->in[2];
  folded.pad_top += box->before[1], folded.pad_left += box->before[2];
  if (folded.pad_top > 32767 || folded.pad_left > 32767) return "the padding is too wide";
  if (!weighted) {
    const auto misses = [](std::int64_t out, std::int64_t stride, std::int64_t kernel,
                           std::int64_t before, std::int64_t in) {
      return before >= kernel || (out - 1) * stride - before >= in;
    };
    if (misses(folded.oh, folded.sh, folded.kh, folded.pad_top, folded.ih) ||
        misses(folded.ow, folded.sw, folded.kw, folded.pad_left, folded.iw))
      return "some window would see padding only";
  }
  shape = folded;
  return std::nullopt;
}

std::optional<WindowShape> kernel_window(const Graph& graph, const Kernel& kernel) {
  auto shape = window_shape(graph, kernel.main_op(graph));
  if (shape && kernel.pad) {
    const auto refused = fold_pad(graph, graph.ops[*kernel.pad], kernel.main_op(graph), *shape);
    DEPUTY_CHECK(!refused, "the kernel was planned with a PAD that does not fold");
  }
  if (shape && kernel.expand) shape->expand = graph.tensor(kernel.input(graph)).desc.shape[3];
  return shape;
}

}  // namespace deputy::delegate
