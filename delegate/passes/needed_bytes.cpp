#include "delegate/passes/needed_bytes.h"

#include <algorithm>

namespace deputy::delegate {
namespace {

using arch::OpKind;
using Stretch = std::pair<std::uint64_t, std::uint64_t>;

struct Axis {
  std::int64_t out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;
};

// The indices of [0, size) that some window covers.
std::vector<bool> covered(const Axis& a, std::int64_t size) {
  std::vector<bool> out(static_cast<std::size_t>(size), false);
  for (std::int64_t o = 0; o < a.out; ++o)
    for (std::int64_t k = 0; k < a.kernel; ++k) {
      const std::int64_t at = o * a.stride - a.pad + k * a.dilation;
      if (at >= 0 && at < size) out[static_cast<std::size_t>(at)] = true;
    }
  return out;
}

bool is_window(OpKind kind) {
  return kind == OpKind::CONV_2D || kind == OpKind::DEPTHWISE_CONV_2D ||
         kind == OpKind::AVERAGE_POOL_2D || kind == OpKind::MAX_POOL_2D;
}

// Rows, then columns.
std::pair<Axis, Axis> axes_of(const Graph& graph, const Op& op) {
  const arch::OpAttrs& a = op.attrs;
  const Shape& out = graph.tensor(op.outputs[0]).desc.shape;
  Axis y{out[1], a.filter_h, a.stride_h, 1, a.pad_top},
      x{out[2], a.filter_w, a.stride_w, 1, a.pad_left};
  if (op.kind == OpKind::CONV_2D || op.kind == OpKind::DEPTHWISE_CONV_2D) {
    const Shape& weights = graph.tensor(op.inputs[1]).desc.shape;
    y.kernel = weights[1], x.kernel = weights[2];
    y.dilation = a.dilation_h, x.dilation = a.dilation_w;
  }
  return {y, x};
}

std::vector<Stretch> covered_bytes(const Shape& shape, const Axis& y, const Axis& x) {
  const std::vector<bool> rows = covered(y, shape[1]), columns = covered(x, shape[2]);
  std::vector<Stretch> out;
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for (std::int64_t r = 0; r < shape[1]; ++r)
      for (std::int64_t c = 0; c < shape[2]; ++c) {
        if (!rows[static_cast<std::size_t>(r)] || !columns[static_cast<std::size_t>(c)]) continue;
        const auto begin =
            static_cast<std::uint64_t>(((n * shape[1] + r) * shape[2] + c) * shape[3]);
        if (!out.empty() && out.back().second == begin)
          out.back().second += static_cast<std::uint64_t>(shape[3]);
        else
          out.emplace_back(begin, begin + static_cast<std::uint64_t>(shape[3]));
      }
  return out;
}

std::vector<Stretch> copied_bytes(const std::vector<Copy>& list, TensorId operand,
                                  const std::function<bool(const Copy&)>& in_place) {
  std::vector<Stretch> out;
  for (const Copy& copy : list) {
    if (copy.from != operand || in_place(copy)) continue;
    const CopyDim& inner = copy.dims.back();  // contiguous
    std::vector<std::int64_t> at(copy.dims.size() - 1, 0);
    for (bool more = true; more;) {
      std::int64_t from = copy.from_offset;
      for (std::size_t i = 0; i < at.size(); ++i) from += at[i] * copy.dims[i].from;
      out.emplace_back(from, from + inner.size);
      std::size_t i = at.size();
      while (i > 0 && ++at[i - 1] == copy.dims[i - 1].size) at[--i] = 0;
      more = i > 0;
    }
  }
  return out;
}

}  // namespace

std::vector<Stretch> needed_bytes(const Graph& graph, const Op& op, TensorId operand,
                                  const Op* behind_pad,
                                  const std::function<bool(const Copy&)>& in_place) {
  const arch::TensorDesc& desc = graph.tensor(operand).desc;
  if (desc.bytes() == 0) return {};
  if (desc.shape.size() == 4 && is_window(op.kind) && operand == op.inputs[0]) {
    const auto [y, x] = axes_of(graph, op);
    return covered_bytes(desc.shape, y, x);
  }
  if (behind_pad && is_window(behind_pad->kind)) {
    if (const auto box = pad_box(graph, op); box && desc.shape.size() == 4) {
      auto [y, x] = axes_of(graph, *behind_pad);
      y.pad += box->before[1], x.pad += box->before[2];
      return covered_bytes(desc.shape, y, x);
    }
  }
  if (moves_only(op.kind))
    if (const auto list = copies(graph, op)) return copied_bytes(*list, operand, in_place);
  return {{0, static_cast<std::uint64_t>(desc.bytes())}};
}

}  // namespace deputy::delegate
