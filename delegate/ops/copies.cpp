#include "delegate/ops/copies.h"

#include <algorithm>

#include "delegate/codegen/window.h"
#include "delegate/ops/operands.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using Copies = std::optional<std::vector<Copy>>;

std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t p = 1;
  for (std::size_t i = begin; i < end; ++i) p *= shape[i];
  return p;
}

// `parts` lie one after the other along an axis of `whole`: CONCATENATION gathers, SPLIT scatters.
Copies along_axis(const Graph& graph, TensorId whole, const std::vector<TensorId>& parts,
                  std::size_t axis, bool gather) {
  const Shape& shape = graph.tensor(whole).desc.shape;
  const std::int64_t outer = product(shape, 0, axis), row = product(shape, axis, shape.size());
  std::vector<Copy> out;
  std::int64_t at = 0;
  for (const TensorId part : parts) {
    const std::int64_t bytes =
        graph.tensor(part).desc.elements() / std::max<std::int64_t>(outer, 1);
    Copy copy{part, whole, 0, at, {{outer, bytes, row}, {bytes, 1, 1}}};
    if (!gather) copy = {whole, part, at, 0, {{outer, row, bytes}, {bytes, 1, 1}}};
    if (outer * bytes > 0) out.push_back(copy);
    at += bytes;
  }
  if (at != row) return std::nullopt;
  return out;
}

Copies split(const Graph& graph, const Op& op) {
  const auto operands = split_operands(graph, op);
  if (!operands) return std::nullopt;
  return along_axis(graph, operands->value, op.outputs, operands->axis, false);
}

// A box of the input, read with a step along each dimension.
Copies box(const Graph& graph, const Op& op) {
  const auto b = slice_box(graph, op);
  if (!b) return std::nullopt;
  const Tensor &in = graph.tensor(op.inputs[0]), &out = graph.tensor(op.outputs[0]);
  const std::vector<std::int64_t> from = byte_strides(in.desc.shape);
  Copy copy{op.inputs[0], op.outputs[0], 0, 0, {}};
  std::int64_t stride = out.desc.elements(), total = 1;
  for (std::size_t i = 0; i < rank(in); ++i) {
    total *= b->size[i];
    if (stride % b->size[i] != 0) return std::nullopt;
    stride /= b->size[i];
    copy.from_offset += b->begin[i] * from[i];
    copy.dims.push_back({b->size[i], from[i] * b->step[i], stride});
  }
  if (total != out.desc.elements()) return std::nullopt;
  return std::vector<Copy>{copy};
}

std::optional<SliceBox> slice(const Graph& graph, const Op& op) {
  const Tensor& in = graph.tensor(op.inputs[0]);
  const auto begin = constant_ints(graph, op.inputs[1]);
  auto size = constant_ints(graph, op.inputs[2]);
  if (!begin || !size || begin->size() != rank(in) || size->size() != rank(in)) return std::nullopt;
  for (std::size_t i = 0; i < rank(in); ++i)
    if ((*size)[i] == -1) (*size)[i] = dim(in, i) - (*begin)[i];
  return SliceBox{*begin, std::vector<std::int64_t>(rank(in), 1), *size};
}

std::optional<SliceBox> strided_slice(const Graph& graph, const Op& op) {
  const Tensor& in = graph.tensor(op.inputs[0]);
  const auto begins = constant_ints(graph, op.inputs[1]), ends = constant_ints(graph, op.inputs[2]);
  const auto steps = constant_ints(graph, op.inputs[3]);
  if (!begins || !ends || !steps || op.attrs.ellipsis_mask || op.attrs.new_axis_mask)
    return std::nullopt;
  if (begins->size() > rank(in) || ends->size() != begins->size() ||
      steps->size() != begins->size())
    return std::nullopt;
  std::vector<std::int64_t> begin(rank(in), 0), step(rank(in), 1), size(rank(in));
  for (std::size_t i = 0; i < rank(in); ++i) {
    size[i] = dim(in, i);
    if (i >= begins->size()) continue;
    const auto clamped = [&](std::int64_t v) {
      return std::clamp<std::int64_t>(v < 0 ? v + dim(in, i) : v, 0, dim(in, i));
    };
    step[i] = (*steps)[i];
    if (step[i] < 1) return std::nullopt;
    begin[i] = op.attrs.begin_mask >> i & 1 ? 0 : clamped((*begins)[i]);
    std::int64_t end = op.attrs.end_mask >> i & 1 ? dim(in, i) : clamped((*ends)[i]);
    if (op.attrs.shrink_axis_mask >> i & 1) end = begin[i] + 1;
    size[i] = (end - begin[i] + step[i] - 1) / step[i];
  }
  return SliceBox{begin, step, size};
}

Copies transpose(const Graph& graph, const Op& op) {
  const Tensor &in = graph.tensor(op.inputs[0]), &out = graph.tensor(op.outputs[0]);
  const auto order = constant_ints(graph, op.inputs[1]);
  if (!order || order->size() != rank(in) || rank(out) != rank(in)) return std::nullopt;
  const std::vector<std::int64_t> from = byte_strides(in.desc.shape),
                                  to = byte_strides(out.desc.shape);
  Copy copy{op.inputs[0], op.outputs[0], 0, 0, {}};
  for (std::size_t i = 0; i < rank(in); ++i) {
    const auto axis = resolve_axis((*order)[i], rank(in));
    if (!axis || dim(in, *axis) != dim(out, i)) return std::nullopt;
    copy.dims.push_back({dim(out, i), from[*axis], to[i]});
  }
  return std::vector<Copy>{copy};
}

// Blocks of pixels to channels and back: [n, h, (b), w, (b c)].
Copies space_depth(const Graph& graph, const Op& op) {
  const bool to_space = op.kind == OpKind::DEPTH_TO_SPACE;
  const Tensor& deep = graph.tensor(to_space ? op.inputs[0] : op.outputs[0]);
  const Tensor& wide = graph.tensor(to_space ? op.outputs[0] : op.inputs[0]);
  const std::int64_t b = op.attrs.block_size;
  if (rank(deep) != 4 || rank(wide) != 4 || b < 1) return std::nullopt;
  const std::int64_t n = dim(deep, 0), h = dim(deep, 1), w = dim(deep, 2), c = dim(wide, 3);
  if (dim(deep, 3) != b * b * c || dim(wide, 0) != n || dim(wide, 1) != h * b ||
      dim(wide, 2) != w * b)
    return std::nullopt;
  const std::int64_t deep_row = w * b * b * c, wide_row = w * b * c;
  Copy copy{op.inputs[0],
            op.outputs[0],
            0,
            0,
            {{n, h * deep_row, h * b * wide_row},
             {h, deep_row, b * wide_row},
             {b, b * c, wide_row},
             {w, b * b * c, b * c},
             {b * c, 1, 1}}};
  if (!to_space)
    for (CopyDim& d : copy.dims) std::swap(d.from, d.to);
  return std::vector<Copy>{copy};
}

// Null: the kind does more than move bytes.
using MakeCopies = Copies (*)(const Graph&, const Op&);

Copies joined(const Graph& graph, const Op& op) {
  const auto axis = resolve_axis(op.attrs.axis, rank(graph.tensor(op.outputs[0])));
  return axis ? along_axis(graph, op.outputs[0], op.inputs, *axis, true) : std::nullopt;
}

Copies unpack(const Graph& graph, const Op& op) {
  const auto axis = resolve_axis(op.attrs.axis, rank(graph.tensor(op.inputs[0])));
  return axis ? along_axis(graph, op.inputs[0], op.outputs, *axis, false) : std::nullopt;
}

MakeCopies maker_of(OpKind kind) {
  switch (kind) {
    case OpKind::CONCATENATION:
    case OpKind::PACK:
      return joined;
    case OpKind::UNPACK:
      return unpack;
    case OpKind::SPLIT:
    case OpKind::SPLIT_V:
      return split;
    case OpKind::SLICE:
    case OpKind::STRIDED_SLICE:
      return box;
    case OpKind::TRANSPOSE:
      return transpose;
    case OpKind::SPACE_TO_DEPTH:
    case OpKind::DEPTH_TO_SPACE:
      return space_depth;
    default:
      return nullptr;
  }
}

}  // namespace

std::vector<CopyDim> simplified(const std::vector<CopyDim>& dims) {
  std::vector<CopyDim> out;
  for (const CopyDim& d : dims) {
    if (d.size == 1) continue;
    if (!out.empty() && out.back().from == d.from * d.size && out.back().to == d.to * d.size)
      out.back() = {out.back().size * d.size, d.from, d.to};
    else
      out.push_back(d);
  }
  if (out.empty() || out.back().from != 1 || out.back().to != 1) out.push_back({1, 1, 1});
  return out;
}

std::optional<SplitOperands> split_operands(const Graph& graph, const Op& op) {
  const bool sizes = op.kind == OpKind::SPLIT_V;
  const TensorId value = op.inputs[sizes ? 0 : 1];
  const auto axis = constant_ints(graph, op.inputs[sizes ? 2 : 0]);
  if (!axis || axis->size() != 1) return std::nullopt;
  const auto resolved = resolve_axis((*axis)[0], rank(graph.tensor(value)));
  if (!resolved) return std::nullopt;
  return SplitOperands{value, *resolved};
}

std::optional<SliceBox> slice_box(const Graph& graph, const Op& op) {
  std::optional<SliceBox> box;
  if (op.kind == OpKind::SLICE) box = slice(graph, op);
  if (op.kind == OpKind::STRIDED_SLICE) box = strided_slice(graph, op);
  if (!box) return std::nullopt;
  const Tensor& in = graph.tensor(op.inputs[0]);
  for (std::size_t i = 0; i < rank(in); ++i)
    if (box->size[i] < 1 || box->begin[i] < 0 ||
        box->begin[i] + (box->size[i] - 1) * box->step[i] >= dim(in, i))
      return std::nullopt;
  return box;
}

bool moves_only(OpKind kind) { return maker_of(kind) != nullptr; }

std::optional<std::vector<Copy>> copies(const Graph& graph, const Op& op) {
  const MakeCopies make = maker_of(op.kind);
  Copies out = make ? make(graph, op) : std::nullopt;
  if (out)
    for (Copy& copy : *out) copy.dims = simplified(copy.dims);
  return out;
}

std::int64_t Exchange::shortest_row() const {
  // Rows that follow each other without a gap are one.
  const bool dense_source = sink.from == source.size * run && source_tile == source.size;
  const bool dense_sink = source.to == sink.size * run && sink_tile == sink.size;
  const std::int64_t from = run * source_tile * (dense_source ? sink_tile : 1),
                     to = run * sink_tile * (dense_sink ? source_tile : 1);
  return std::min(from, to);
}

std::int64_t Exchange::tiles() const {
  std::int64_t n = ceil_div(source.size, source_tile) * ceil_div(sink.size, sink_tile);
  for (const CopyDim& d : outer) n *= d.size;
  return n;
}

std::optional<Exchange> exchange(const Copy& copy, std::int64_t spm) {
  constexpr std::int64_t kLongRun = 64, kMaxExtent = 65535;
  Exchange e;
  e.run = copy.dims.back().size;
  if (e.run >= kLongRun) return std::nullopt;
  for (std::size_t i = 0; i + 1 < copy.dims.size(); ++i) {
    const CopyDim& d = copy.dims[i];
    if (d.from == e.run && e.source.from == 0)
      e.source = d;
    else if (d.to == e.run && e.sink.to == 0)
      e.sink = d;
    else
      e.outer.push_back(d);
  }
  if (e.source.from == 0 || e.sink.to == 0) return std::nullopt;
  // Near squares, so that rows are long on both sides; several tiles, so that transfers overlap.
  const std::int64_t runs = std::min(spm / 4 / kBufferAlign * kBufferAlign, kMaxExtent) / e.run;
  std::int64_t side = 1;
  while ((side + 1) * (side + 1) <= runs) ++side;
  e.sink_tile = std::min(e.sink.size, side);
  const std::int64_t quarter = ceil_div(e.source.size, 4),
                     enough = ceil_div(1024, e.sink_tile * e.run);
  e.source_tile = std::min({e.source.size, runs / e.sink_tile, std::max(quarter, enough)});
  e.sink_tile = std::min(e.sink.size, runs / e.source_tile);
  return e;
}

std::optional<Padding4> pad_box(const Graph& graph, const Op& op) {
  const Tensor &in = graph.tensor(op.inputs[0]), &out = graph.tensor(op.outputs[0]);
  const auto pads = constant_ints(graph, op.inputs[1]);
  if (!pads || rank(in) > 4 || rank(in) == 0 || rank(out) != rank(in) ||
      pads->size() != 2 * rank(in))
    return std::nullopt;
  Padding4 box;
  for (std::size_t i = 0; i < rank(in); ++i) {
    const std::size_t to = i + 4 - rank(in);
    box.in[to] = dim(in, i), box.out[to] = dim(out, i), box.before[to] = (*pads)[2 * i];
    if ((*pads)[2 * i] < 0 || (*pads)[2 * i + 1] < 0) return std::nullopt;
    if (dim(out, i) != dim(in, i) + (*pads)[2 * i] + (*pads)[2 * i + 1]) return std::nullopt;
  }
  if (out.desc.quant.zero_point.empty()) return std::nullopt;
  box.value = static_cast<std::int8_t>(out.desc.quant.zero_point[0]);
  if (op.kind == OpKind::PADV2) {
    const Tensor& value = graph.tensor(op.inputs[2]);
    if (!value.constant || value.data.size() != 1) return std::nullopt;
    box.value = static_cast<std::int8_t>(value.data[0]);
  }
  return box;
}

}  // namespace deputy::delegate
