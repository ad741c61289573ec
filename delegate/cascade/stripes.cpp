#include "delegate/cascade/stripes.h"

#include <algorithm>
#include <limits>

#include "delegate/fusion/epilogue_plan.h"
#include "delegate/fusion/fold_pad.h"
#include "delegate/ops/eltwise_ops.h"
#include "delegate/ops/window_math.h"

namespace deputy::delegate {

using arch::OpKind;

RowRange StageInput::rows(RowRange out) const {
  if (out.end <= out.begin) return {0, 0};
  const Halo h = halo(out.begin, out.end, stride, reach, 1, pad, height);
  return {h.begin, h.end};
}

namespace {

bool is_map(const Tensor& t) { return t.desc.shape.size() == 4 && t.desc.shape[0] == 1; }

// Operators of two operands: maps of the output's shape, or constants of few elements or one row.
std::optional<CascadeStage> eltwise_stage(const Graph& graph, const Op& op, CascadeStage stage) {
  for (const TensorId id : op.inputs) {
    const Tensor& in = graph.tensor(id);
    if (in.desc.shape == graph.tensor(op.outputs[0]).desc.shape && !in.constant)
      stage.inputs.push_back({id, 1, 1, 0, stage.height});
    else if (!in.constant || in.desc.shape.size() > 1)
      return std::nullopt;
  }
  return stage;
}

}  // namespace

std::optional<WindowShape> fused_window(const Graph& graph, Numerics numerics,
                                        const Kernel& kernel) {
  auto shape = kernel_window(graph, kernel);
  if (!shape) return std::nullopt;
  const WindowMath math = window_math(graph, numerics, kernel.main_op(graph), *shape);
  shape->epilogue =
      epilogue_plan(graph, numerics, kernel, &*shape, math.act_min, math.act_max).shape();
  return shape;
}

std::optional<CascadeStage> stage_of(const Graph& graph, Numerics numerics, const Kernel& kernel) {
  const Op& op = kernel.main_op(graph);
  const TensorId output = kernel.output(graph);
  if (op.outputs.size() != 1 || !is_map(graph.tensor(output))) return std::nullopt;
  const Shape& out = graph.tensor(output).desc.shape;
  CascadeStage stage{output, out[1], std::int64_t{out[2]} * out[3], {}};
  if (is_eltwise_kind(op.kind)) return eltwise_stage(graph, op, stage);
  if (op.kind != OpKind::CONV_2D && op.kind != OpKind::DEPTHWISE_CONV_2D &&
      op.kind != OpKind::AVERAGE_POOL_2D && op.kind != OpKind::MAX_POOL_2D)
    return std::nullopt;
  const Tensor& input = graph.tensor(kernel.input(graph));
  const auto shape = fused_window(graph, numerics, kernel);
  if (!shape || shape->n != 1 || !is_map(input) || input.constant || shape->epilogue.pools())
    return std::nullopt;
  stage.inputs.push_back(
      {kernel.input(graph), shape->sh, (shape->kh - 1) * shape->dh + 1, shape->pad_top, shape->ih});
  // Maps that are added to each tile have the output's rows.
  for (const std::size_t index : kernel.epilogue)
    for (const TensorId id : graph.ops[index].inputs)
      if (id != kNoTensor && !graph.tensor(id).constant &&
          std::find(kernel.reads.begin(), kernel.reads.end(), id) != kernel.reads.end()) {
        if (graph.tensor(id).desc.shape != out) return std::nullopt;
        stage.inputs.push_back({id, 1, 1, 0, stage.height});
      }
  return stage;
}

namespace {

// By stripe and stage: the rows that the stripes make, each stage no more than is needed.
std::vector<std::vector<RowRange>> stripe_rows(const std::vector<CascadeStage>& stages,
                                               std::int64_t step) {
  const std::size_t n = stages.size();
  std::vector<std::int64_t> made(n, 0);  // rows of each stage so far
  std::vector<std::vector<RowRange>> out;
  for (std::int64_t end = 0; end < stages.back().height;) {
    end = std::min(stages.back().height, end + step);
    const bool last = end == stages.back().height;
    std::vector<RowRange> rows(n);
    std::vector<std::int64_t> goal(n, 0);
    goal.back() = end;
    for (std::size_t s = n; s-- > 0;) {
      goal[s] = std::max(made[s], last ? stages[s].height : goal[s]);
      rows[s] = {made[s], goal[s]};
      for (const StageInput& in : stages[s].inputs)
        for (std::size_t p = 0; p < s; ++p)
          if (stages[p].output == in.tensor) goal[p] = std::max(goal[p], in.rows(rows[s]).end);
    }
    made = std::move(goal);
    out.push_back(std::move(rows));
  }
  return out;
}

std::vector<StripeStep> in_order(const std::vector<std::vector<RowRange>>& rows, std::size_t n,
                                 bool skewed) {
  std::vector<StripeStep> out;
  const auto add = [&](std::size_t stripe, std::size_t s) {
    if (rows[stripe][s].end > rows[stripe][s].begin) out.push_back({s, rows[stripe][s]});
  };
  if (skewed) {
    for (std::size_t t = 0; t < rows.size() + n - 1; ++t)
      for (std::size_t s = n; s-- > 0;)
        if (t >= s && t - s < rows.size()) add(t - s, s);
  } else {
    for (std::size_t stripe = 0; stripe < rows.size(); ++stripe)
      for (std::size_t s = 0; s < n; ++s) add(stripe, s);
  }
  return out;
}

}  // namespace

Stripes plan_stripes(const std::vector<CascadeStage>& stages, std::int64_t step, bool skewed) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  const std::size_t n = stages.size();
  Stripes out;
  out.rows = stripe_rows(stages, step);
  for (std::size_t s = 0; s < n; ++s) {
    std::int64_t most = 1;
    for (const auto& rows : out.rows) most = std::max(most, rows[s].end - rows[s].begin);
    for (auto& rows : out.rows) rows[s].nominal = most;
  }
  out.order = in_order(out.rows, n, skewed);
  std::vector<std::int64_t> made(n, 0);
  // The first row of `tensor` that stages still to come read.
  const auto still_read = [&](TensorId tensor) {
    std::int64_t first = kEnd;
    for (std::size_t s = 0; s < n; ++s)
      for (const StageInput& in : stages[s].inputs)
        if (in.tensor == tensor && made[s] < stages[s].height)
          first = std::min(first, in.rows({made[s], made[s] + 1}).begin);
    return first;
  };
  for (const StripeStep& now : out.order) {
    // While a stage runs, it still reads its inputs and its readers' rows are all there.
    const TensorId tensor = stages[now.stage].output;
    const std::int64_t first = still_read(tensor);
    if (first != kEnd && now.rows.end > first)
      out.rings[tensor] = std::max(out.rings[tensor], now.rows.end - first);
    made[now.stage] = now.rows.end;
  }
  // A stripe is stored whole, also rows that nobody reads (a stride may skip some).
  for (std::size_t s = 0; s < n; ++s)
    if (const auto ring = out.rings.find(stages[s].output); ring != out.rings.end())
      ring->second = std::max(ring->second, out.rows[0][s].nominal);
  return out;
}

}  // namespace deputy::delegate
