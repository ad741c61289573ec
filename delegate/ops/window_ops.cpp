#include "delegate/ops/window_ops.h"

#include "delegate/ops/operands.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

void set_kernel(WindowShape& s, const arch::OpAttrs& a, std::int64_t kh, std::int64_t kw) {
  s.kh = kh, s.kw = kw;
  s.sh = a.stride_h, s.sw = a.stride_w, s.dh = a.dilation_h, s.dw = a.dilation_w;
  s.pad_top = a.pad_top, s.pad_left = a.pad_left;
}

bool set_maps(WindowShape& s, const Tensor& in, const Tensor& out) {
  if (rank(in) != 4 || rank(out) != 4 || dim(in, 0) != dim(out, 0)) return false;
  s.n = dim(in, 0), s.ih = dim(in, 1), s.iw = dim(in, 2), s.ic = dim(in, 3);
  s.oh = dim(out, 1), s.ow = dim(out, 2), s.oc = dim(out, 3);
  return true;
}

// MEAN over neighbouring dimensions: [n, h, w, c] with the reduced ones as the window, the
// dimensions before them as n and those after as channels. Where none follow, the rows of the
// reduced dimensions lie one after the other and the window steps from each to the next.
std::optional<WindowShape> mean_shape(const Graph& graph, const Op& op) {
  const Tensor& in = graph.tensor(op.inputs[0]);
  const auto axes = constant_ints(graph, op.inputs[1]);
  if (!axes || axes->empty()) return std::nullopt;
  std::vector<bool> reduced(rank(in), false);
  for (const std::int64_t axis : *axes) {
    const auto resolved = resolve_axis(axis, rank(in));
    if (!resolved) return std::nullopt;
    reduced[*resolved] = true;
  }
  std::size_t first = 0;
  while (!reduced[first]) ++first;
  std::size_t last = rank(in);
  while (!reduced[last - 1]) --last;
  for (std::size_t i = first; i < last; ++i)
    if (!reduced[i]) return std::nullopt;
  WindowShape s;
  s.kind = WindowKind::kPool;
  if (last == rank(in)) {
    for (std::size_t i = 0; i < first; ++i) s.ow *= dim(in, i);
    for (std::size_t i = first; i < last; ++i) s.kw *= dim(in, i);
    s.iw = s.ow * s.kw, s.sw = s.kw;
    return s;
  }
  for (std::size_t i = 0; i < first; ++i) s.n *= dim(in, i);
  for (std::size_t i = first; i < last; ++i)
    (i == first && last - first > 1 ? s.ih : s.iw) *= dim(in, i);
  for (std::size_t i = last; i < rank(in); ++i) s.ic *= dim(in, i);
  s.oc = s.ic, s.kh = s.ih, s.kw = s.iw;
  return s;
}

std::optional<WindowShape> fully_connected_shape(const Graph& graph, const Op& op) {
  const Tensor &in = graph.tensor(op.inputs[0]), &w = graph.tensor(op.inputs[1]),
               &out = graph.tensor(op.outputs[0]);
  if (rank(w) != 2 || dim(w, 0) < 1 || dim(w, 1) < 1) return std::nullopt;
  WindowShape s;
  s.oc = dim(w, 0), s.ic = dim(w, 1);
  s.ow = s.iw = in.desc.elements() / s.ic;
  if (s.iw * s.ic != in.desc.elements() || s.ow * s.oc != out.desc.elements()) return std::nullopt;
  return s;
}

}  // namespace

std::optional<WindowShape> window_shape(const Graph& graph, const Op& op) {
  if (op.kind == OpKind::MEAN) return mean_shape(graph, op);
  if (op.kind == OpKind::FULLY_CONNECTED) return fully_connected_shape(graph, op);
  const Tensor &in = graph.tensor(op.inputs[0]), &out = graph.tensor(op.outputs[0]);
  WindowShape s;
  if (!set_maps(s, in, out)) return std::nullopt;
  switch (op.kind) {
    case OpKind::CONV_2D: {
      const Tensor& w = graph.tensor(op.inputs[1]);
      if (rank(w) != 4 || dim(w, 3) != s.ic || dim(w, 0) != s.oc) return std::nullopt;
      set_kernel(s, op.attrs, dim(w, 1), dim(w, 2));
      return s;
    }
    case OpKind::DEPTHWISE_CONV_2D: {
      const Tensor& w = graph.tensor(op.inputs[1]);
      if (rank(w) != 4 || dim(w, 0) != 1 || dim(w, 3) != s.oc || s.ic < 1 || s.oc % s.ic != 0)
        return std::nullopt;
      s.kind = WindowKind::kDepthwise, s.mult = s.oc / s.ic;
      set_kernel(s, op.attrs, dim(w, 1), dim(w, 2));
      return s;
    }
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
      if (s.ic != s.oc) return std::nullopt;
      s.kind = WindowKind::kPool;
      set_kernel(s, op.attrs, op.attrs.filter_h, op.attrs.filter_w);
      s.dh = s.dw = 1;
      return s;
    default:
      return std::nullopt;
  }
}

}  // namespace deputy::delegate
