#include "delegate/ops/eltwise_ops.h"

#include <algorithm>

#include "arch/kernel_rules.h"
#include "arch/numerics.h"
#include "delegate/ops/operands.h"

namespace deputy::delegate {

using arch::EltwiseMode;
using arch::OpKind;

bool is_eltwise_kind(OpKind kind) {
  return kind == OpKind::ADD || kind == OpKind::SUB || kind == OpKind::MUL ||
         kind == OpKind::MINIMUM || kind == OpKind::MAXIMUM;
}

arch::Eltwise eltwise_math(const Graph& graph, Numerics numerics, const Op& op) {
  const Quantisation a = signed_quantisation(graph.tensor(op.inputs[0])),
                     b = signed_quantisation(graph.tensor(op.inputs[1])),
                     out = signed_quantisation(graph.tensor(op.outputs[0]));
  Numerics mode = numerics;
  if (op.kind == OpKind::ADD || op.kind == OpKind::SUB)
    mode = arch::add_rule(a.scale[0], b.scale[0], out.scale[0], mode);
  if (op.kind == OpKind::MUL) mode = arch::mul_rule(a.scale[0], b.scale[0], out.scale[0], mode);
  arch::Eltwise e;
  e.rounding = static_cast<std::uint32_t>(mode), e.u8 = is_u8(graph.tensor(op.outputs[0]));
  e.a_zp = a.zero_point[0], e.b_zp = b.zero_point[0], e.ofm_zp = out.zero_point[0];
  const auto range =
      arch::activation_range(op.attrs.activation, out.scale[0], out.zero_point[0], -128, 127);
  e.act_min = range.min, e.act_max = range.max;
  arch::EltwiseRequant r;
  switch (op.kind) {
    case OpKind::ADD:
      e.mode = static_cast<std::uint32_t>(EltwiseMode::kAdd);
      break;
    case OpKind::SUB:
      e.mode = static_cast<std::uint32_t>(EltwiseMode::kSub);
      break;
    case OpKind::MUL:
      e.mode = static_cast<std::uint32_t>(EltwiseMode::kMul);
      break;
    case OpKind::MINIMUM:
      e.mode = static_cast<std::uint32_t>(EltwiseMode::kMin);
      break;
    default:
      e.mode = static_cast<std::uint32_t>(EltwiseMode::kMax);
      break;
  }
  if (op.kind == OpKind::ADD || op.kind == OpKind::SUB)
    r = arch::add_requant(a.scale[0], b.scale[0], out.scale[0], mode);
  if (op.kind == OpKind::MUL) r = arch::mul_requant(a.scale[0], b.scale[0], out.scale[0], mode);
  e.left_shift = static_cast<std::uint32_t>(r.left_shift);
  e.a_mult = r.a.multiplier, e.a_shift = r.a.shift, e.b_mult = r.b.multiplier,
  e.b_shift = r.b.shift;
  e.o_mult = r.out.multiplier, e.o_shift = r.out.shift;
  return e;
}

std::int8_t eltwise_result(const arch::Eltwise& e, std::int8_t a, std::int8_t b) {
  const auto rounding = static_cast<Numerics>(e.rounding);
  const arch::EltwiseRequant r{static_cast<int>(e.left_shift),
                               {e.a_mult, e.a_shift},
                               {e.b_mult, e.b_shift},
                               {e.o_mult, e.o_shift}};
  const std::int32_t va = a - e.a_zp, vb = b - e.b_zp;
  std::int64_t value = 0;
  switch (static_cast<EltwiseMode>(e.mode)) {
    case EltwiseMode::kAdd:
      value = std::int64_t{arch::eltwise_add(va, vb, r, rounding)} + e.ofm_zp;
      break;
    case EltwiseMode::kSub:
      value = std::int64_t{arch::eltwise_sub(va, vb, r, rounding)} + e.ofm_zp;
      break;
    case EltwiseMode::kMul:
      value = std::int64_t{arch::eltwise_mul(va, vb, r, rounding)} + e.ofm_zp;
      break;
    case EltwiseMode::kMin:
      value = std::min(a, b);
      break;
    case EltwiseMode::kMax:
      value = std::max(a, b);
      break;
  }
  return static_cast<std::int8_t>(arch::clamp_i32(value, e.act_min, e.act_max));
}

}  // namespace deputy::delegate
