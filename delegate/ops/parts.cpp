#include "delegate/ops/parts.h"

#include "delegate/ops/copies.h"
#include "delegate/ops/operands.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

// Parts one after the other along an axis.
std::optional<Parts> along(const Graph& graph, TensorId whole, const std::vector<TensorId>& list,
                           std::size_t axis, bool gather) {
  Parts out{whole, gather, {}};
  std::int64_t at = 0;
  for (const TensorId id : list) {
    out.parts.push_back(slice_part(graph, id, whole, axis, at));
    at += dim(graph.tensor(id), axis);
  }
  return out;
}

// One slice of width 1 after the other; the parts lack the dimension.
std::optional<Parts> stacked(const Graph& graph, TensorId whole, const std::vector<TensorId>& list,
                             std::size_t axis, bool gather) {
  Parts out{whole, gather, {}};
  for (std::size_t i = 0; i < list.size(); ++i) {
    Part part = slice_part(graph, list[i], whole, axis, static_cast<std::int64_t>(i));
    part.axis.erase(part.axis.begin() + static_cast<std::ptrdiff_t>(axis));
    part.step.pop_back();
    out.parts.push_back(std::move(part));
  }
  return out;
}

std::optional<Parts> sliced(const Graph& graph, const Op& op) {
  const auto box = slice_box(graph, op);
  if (!box) return std::nullopt;
  Part part{op.outputs[0], op.inputs[0], box->begin, {}, {}};
  for (std::size_t i = 0; i < box->begin.size(); ++i) {
    if (op.kind == OpKind::STRIDED_SLICE && (op.attrs.shrink_axis_mask >> i & 1)) continue;
    part.axis.push_back(i), part.step.push_back(box->step[i]);
  }
  if (part.axis.size() != rank(graph.tensor(op.outputs[0]))) return std::nullopt;
  return Parts{op.inputs[0], false, {part}};
}

}  // namespace

std::optional<Parts> parts_of(const Graph& graph, const Op& op) {
  switch (op.kind) {
    case OpKind::CONCATENATION:
    case OpKind::PACK: {
      const auto axis = resolve_axis(op.attrs.axis, rank(graph.tensor(op.outputs[0])));
      if (!axis) return std::nullopt;
      return op.kind == OpKind::PACK ? stacked(graph, op.outputs[0], op.inputs, *axis, true)
                                     : along(graph, op.outputs[0], op.inputs, *axis, true);
    }
    case OpKind::UNPACK: {
      const auto axis = resolve_axis(op.attrs.axis, rank(graph.tensor(op.inputs[0])));
      if (!axis) return std::nullopt;
      return stacked(graph, op.inputs[0], op.outputs, *axis, false);
    }
    case OpKind::SPLIT:
    case OpKind::SPLIT_V: {
      const auto operands = split_operands(graph, op);
      if (!operands) return std::nullopt;
      return along(graph, operands->value, op.outputs, operands->axis, false);
    }
    case OpKind::SLICE:
    case OpKind::STRIDED_SLICE:
      return sliced(graph, op);
    default:
      return std::nullopt;
  }
}

}  // namespace deputy::delegate
