#include "delegate/fusion/epilogue_plan.h"

#include <algorithm>

#include "base/check.h"
#include "delegate/ops/eltwise_ops.h"
#include "delegate/ops/operands.h"
#include "delegate/ops/window_math.h"
#include "delegate/ops/window_ops.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

std::int8_t at(const ByteTable& table, std::int32_t value) {
  return table[static_cast<std::size_t>(value + 128)];
}

bool is_pool_kind(OpKind kind) {
  return kind == OpKind::AVERAGE_POOL_2D || kind == OpKind::MAX_POOL_2D || kind == OpKind::MEAN;
}

// What the tile search must respect along one axis of a pool over `size` results, or nullopt when
// its windows do not lie end to end from the first one on.
std::optional<std::int64_t> pool_step(std::int64_t size, std::int64_t outputs, std::int64_t kernel,
                                      std::int64_t stride, std::int64_t pad) {
  if (pad != 0) return std::nullopt;
  if (outputs == 1) return size;
  if (kernel != stride) return std::nullopt;
  return stride;
}

std::optional<std::string> append_pool(const Graph& graph, Numerics numerics, const WindowShape& w,
                                       std::size_t index, EpiloguePlan& plan) {
  const Op& op = graph.ops[index];
  const auto pool = window_shape(graph, op);
  if (!pool || pool->n != w.n || pool->ih != w.oh || pool->iw != w.ow || pool->ic != w.oc)
    return "the pooled map is not the one that is computed";
  for (const Stage& stage : plan.stages)
    if (stage.pool) return "the kernel pools already";
  const auto rows = pool_step(w.oh, pool->oh, pool->kh, pool->sh, pool->pad_top),
             columns = pool_step(w.ow, pool->ow, pool->kw, pool->sw, pool->pad_left);
  if (!rows || !columns) return "its windows overlap or do not start at the map's edge";
  Stage stage;
  stage.op = index, stage.pool = pool;
  stage.pool_math = window_math(graph, numerics, op, *pool);
  stage.finish.act_min = stage.pool_math.act_min, stage.finish.act_max = stage.pool_math.act_max;
  plan.stages.push_back(std::move(stage));
  return std::nullopt;
}

std::optional<std::string> append_eltwise(const Graph& graph, Numerics numerics,
                                          const WindowShape& w, std::size_t index, TensorId from,
                                          EpiloguePlan& plan) {
  const Op& op = graph.ops[index];
  Stage stage;
  stage.op = index;
  stage.other_first = op.inputs[1] == from;
  stage.other = op.inputs[stage.other_first ? 0 : 1];
  const Shape &mine = graph.tensor(from).desc.shape, &theirs = graph.tensor(stage.other).desc.shape;
  if (graph.tensor(op.outputs[0]).desc.shape != mine) return "the other operand is the larger one";
  const bool pooled =
      std::any_of(plan.stages.begin(), plan.stages.end(), [](const Stage& s) { return s.pool; });
  if (theirs != mine || pooled) {
    if (theirs.empty() || mine.empty() || theirs.back() != mine.back() || mine.back() != w.oc ||
        graph.tensor(stage.other).desc.elements() != w.oc)
      return pooled ? "the other operand is a map, behind a pool"
                    : "the other operand is neither of the same shape nor one value a channel";
    stage.per_channel = true;
  }
  stage.eltwise = eltwise_math(graph, numerics, op);
  stage.finish.act_min = stage.eltwise->act_min, stage.finish.act_max = stage.eltwise->act_max;
  plan.stages.push_back(std::move(stage));
  return std::nullopt;
}

}  // namespace

void Finish::then(const ByteTable& next) {
  if (table) {
    for (std::int8_t& value : *table) value = at(next, value);
    return;
  }
  const std::int32_t low = at(next, act_min), high = at(next, act_max);
  bool clamps = low <= high;
  for (std::int32_t q = act_min; q <= act_max && clamps; ++q)
    clamps = at(next, q) == std::clamp(q, low, high);
  if (clamps)
    act_min = low, act_max = high;
  else
    table = next;
}

std::optional<ByteTable> table_of(const Graph& graph, Numerics numerics, const Op& op,
                                  TensorId from) {
  if (!is_eltwise_kind(op.kind))
    return op.inputs.empty() || op.inputs[0] != from ? std::nullopt
                                                     : signed_table(graph, op, numerics);
  const bool first = op.inputs[0] == from, second = op.inputs[1] == from;
  std::int8_t scalar = 0;
  if (!(first && second)) {
    const Tensor& other = graph.tensor(op.inputs[first ? 1 : 0]);
    if (!other.constant || other.data.size() != 1) return std::nullopt;
    if (graph.tensor(from).desc.elements() != graph.tensor(op.outputs[0]).desc.elements())
      return std::nullopt;
    scalar = static_cast<std::int8_t>(signed_bytes(other)[0]);
  }
  const arch::Eltwise math = eltwise_math(graph, numerics, op);
  ByteTable out;
  for (int q = -128; q < 128; ++q) {
    const auto value = static_cast<std::int8_t>(q);
    out[static_cast<std::size_t>(q + 128)] =
        eltwise_result(math, first ? value : scalar, second ? value : scalar);
  }
  return out;
}

EpilogueShape EpiloguePlan::shape() const {
  EpilogueShape s;
  s.tables = main.table.has_value();
  for (const Stage& stage : stages) {
    s.tables += stage.finish.table.has_value();
    if (stage.pool) {
      const WindowShape& p = *stage.pool;
      s.pool_h = p.oh == 1 ? p.ih : p.sh, s.pool_w = p.ow == 1 ? p.iw : p.sw;
    } else {
      ++(stage.per_channel ? s.vectors : s.maps);
      ++(s.pools() ? s.pooled_passes : s.passes);
    }
  }
  return s;
}

std::optional<std::string> append(const Graph& graph, Numerics numerics, const WindowShape* window,
                                  std::size_t index, TensorId from, EpiloguePlan& plan) {
  const Op& op = graph.ops[index];
  std::vector<TensorId> maps = data_inputs(op);
  maps.insert(maps.end(), op.outputs.begin(), op.outputs.end());
  for (const TensorId id : maps)
    if (graph.tensor(id).desc.dtype != DType::kInt8) return "its operands are not all int8";
  if (const auto table = table_of(graph, numerics, op, from)) {
    (plan.stages.empty() ? plan.main : plan.stages.back().finish).then(*table);
    return std::nullopt;
  }
  if (!window) return "it is no table, and no window is in front of it";
  if (is_eltwise_kind(op.kind)) return append_eltwise(graph, numerics, *window, index, from, plan);
  if (is_pool_kind(op.kind)) return append_pool(graph, numerics, *window, index, plan);
  return "the operator cannot work on a tile in the scratchpad";
}

EpiloguePlan epilogue_plan(const Graph& graph, Numerics numerics, const Kernel& kernel,
                           const WindowShape* window, std::int32_t act_min, std::int32_t act_max) {
  EpiloguePlan plan = bare_epilogue(act_min, act_max);
  TensorId from = kernel.main_op(graph).outputs[0];
  for (const std::size_t op : kernel.epilogue) {
    const auto refused = append(graph, numerics, window, op, from, plan);
    DEPUTY_CHECK(!refused, "the kernel was planned with an operator that it cannot fuse");
    from = graph.ops[op].outputs[0];
  }
  return plan;
}

}  // namespace deputy::delegate
