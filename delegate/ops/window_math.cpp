#include "delegate/ops/window_math.h"

#include "arch/kernel_rules.h"
#include "arch/numerics.h"
#include "delegate/ops/operands.h"

namespace deputy::delegate {

using arch::OpKind;

Numerics window_rounding(const Graph& graph, Numerics numerics, const Op& op) {
  return op.kind == OpKind::DEPTHWISE_CONV_2D
             ? arch::depthwise_rule(graph.has_input(op, 2), numerics)
             : numerics;
}

WindowMath window_math(const Graph& graph, Numerics numerics, const Op& op,
                       const WindowShape& shape) {
  const Quantisation in = signed_quantisation(graph.tensor(op.inputs[0])),
                     out = signed_quantisation(graph.tensor(op.outputs[0]));
  const Numerics mode = window_rounding(graph, numerics, op);
  WindowMath math;
  math.ifm_zp = in.zero_point[0], math.ofm_zp = out.zero_point[0];
  if (shape.has_weights())
    math.w_zp = signed_quantisation(graph.tensor(op.inputs[1])).zero_point[0];
  math.rounding = static_cast<std::uint32_t>(mode);
  math.u8 = is_u8(graph.tensor(op.inputs[0]));
  const auto range =
      arch::activation_range(op.attrs.activation, out.scale[0], out.zero_point[0], -128, 127);
  math.act_min = range.min, math.act_max = range.max;
  if (op.kind == OpKind::AVERAGE_POOL_2D) math.pool = arch::PoolMode::kAverage;
  if (op.kind == OpKind::MEAN) {
    math.pool = arch::PoolMode::kMean;
    const auto requant = arch::mean_requant(in.scale[0], out.scale[0],
                                            static_cast<std::int32_t>(shape.kh * shape.kw), mode);
    math.multiplier = requant.multiplier, math.shift = requant.shift;
    math.act_min = -128, math.act_max = 127;
  }
  return math;
}

}  // namespace deputy::delegate
