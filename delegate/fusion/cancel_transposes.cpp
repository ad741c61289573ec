#include "delegate/fusion/cancel_transposes.h"

#include <algorithm>
#include <vector>

#include "delegate/ops/operands.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

struct Loop {
  std::int64_t size = 1, stride = 1;  // in elements of the source
};
// The elements of a tensor, in order, are those of `source` that the loops visit, outermost first.
struct Order {
  TensorId source = kNoTensor;
  std::vector<Loop> loops;
};

std::vector<Loop> merged(const std::vector<Loop>& loops) {
  std::vector<Loop> out;
  for (const Loop& l : loops) {
    if (l.size == 1) continue;
    if (!out.empty() && out.back().stride == l.size * l.stride)
      out.back() = {out.back().size * l.size, l.stride};
    else
      out.push_back(l);
  }
  return out;
}

// The loops of each dimension of `shape`, or nothing when they do not line up with it.
std::optional<std::vector<std::vector<Loop>>> by_dimension(std::vector<Loop> loops,
                                                           const Shape& shape) {
  std::vector<std::vector<Loop>> out(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    std::int64_t left = shape[d];
    while (left > 1) {
      if (loops.empty()) return std::nullopt;
      Loop& last = loops.back();
      const std::int64_t take = std::min(left, last.size);
      if (left % take != 0 || last.size % take != 0) return std::nullopt;
      out[d].insert(out[d].begin(), {take, last.stride});
      left /= take;
      if (take == last.size)
        loops.pop_back();
      else
        last = {last.size / take, last.stride * take};
    }
  }
  return out;
}

bool is_reshape(OpKind kind) {
  return kind == OpKind::RESHAPE || kind == OpKind::SQUEEZE || kind == OpKind::EXPAND_DIMS;
}
bool moves_only(OpKind kind) { return kind == OpKind::TRANSPOSE || is_reshape(kind); }

Order order_of(const Graph& graph, const Op& op, const Order& in) {
  const Tensor& input = graph.tensor(op.inputs[0]);
  const Order own{op.outputs[0], {{graph.tensor(op.outputs[0]).desc.elements(), 1}}};
  if (is_reshape(op.kind)) return in;
  if (op.kind != OpKind::TRANSPOSE) return own;
  const auto axes = constant_ints(graph, op.inputs[1]);
  const auto loops = by_dimension(in.loops, input.desc.shape);
  if (!axes || !loops || axes->size() != rank(input)) return own;
  Order out{in.source, {}};
  for (const std::int64_t axis : *axes) {
    const auto d = resolve_axis(axis, rank(input));
    if (!d) return own;
    out.loops.insert(out.loops.end(), (*loops)[*d].begin(), (*loops)[*d].end());
  }
  return out;
}

bool is_identity(const std::vector<Loop>& loops) {
  const std::vector<Loop> m = merged(loops);
  return m.empty() || (m.size() == 1 && m[0].stride == 1);
}

bool same_kind(const Tensor& a, const Tensor& b) {
  return a.desc.dtype == b.desc.dtype && same_quantisation(a, b) && a.desc.elements() > 0 &&
         a.desc.elements() == b.desc.elements();
}

}  // namespace

std::optional<Graph> cancel_transposes(const Graph& graph) {
  std::vector<Order> orders(graph.tensors.size());
  for (std::size_t i = 0; i < orders.size(); ++i)
    orders[i] = {static_cast<TensorId>(i), {{graph.tensors[i].desc.elements(), 1}}};
  std::optional<Graph> out;
  const auto change = [&](std::size_t i, TensorId source) {
    if (!out) out = graph;
    Op& op = out->ops[i];
    op.kind = OpKind::RESHAPE, op.attrs = {}, op.inputs = {source};
  };
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    if (op.outputs.size() != 1 || op.inputs.empty() || op.inputs[0] == kNoTensor) continue;
    const TensorId result = op.outputs[0];
    Order& order = orders[static_cast<std::size_t>(result)];
    order = order_of(graph, op, orders[static_cast<std::size_t>(op.inputs[0])]);
    const Tensor& source = graph.tensor(order.source);
    if (op.kind == OpKind::TRANSPOSE && order.source != result && is_identity(order.loops) &&
        !source.constant && same_kind(source, graph.tensor(result)))
      change(i, order.source);
  }
  if (!out) return out;
  // What nobody reads any more need not be computed.
  std::vector<int> readers(graph.tensors.size(), 0);
  for (const TensorId id : out->outputs) ++readers[static_cast<std::size_t>(id)];
  for (const Op& op : out->ops)
    for (const TensorId id : op.inputs)
      if (id != kNoTensor) ++readers[static_cast<std::size_t>(id)];
  for (std::size_t i = graph.ops.size(); i-- > 0;) {
    const Op& op = graph.ops[i];
    if (!moves_only(op.kind) || readers[static_cast<std::size_t>(op.outputs[0])] > 0) continue;
    for (const TensorId id : out->ops[i].inputs)
      if (id != kNoTensor) --readers[static_cast<std::size_t>(id)];
    const Tensor& in = graph.tensor(op.inputs[0]);
    if (out->ops[i].kind == OpKind::TRANSPOSE && !in.constant &&
        same_kind(in, graph.tensor(op.outputs[0])))
      change(i, op.inputs[0]);
  }
  return out;
}

}  // namespace deputy::delegate
