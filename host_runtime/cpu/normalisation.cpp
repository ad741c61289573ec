// L2_NORMALIZATION over the last dimension. int8: fixed-point inverse square root of the sum of
// squares, output (1/128, 0), as TFLite's reference kernel.
#include <cmath>

#include "arch/fixed_point.h"
#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

base::Status check(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, 1, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), {DType::kInt8, DType::kFloat32}));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(expect_shape(c, c.y(), c.x().shape));
  DEPUTY_TRY(expect(c, !c.x().shape.empty(), "the input must have at least rank 1"));
  DEPUTY_TRY(expect(c, c.attrs.activation == 0, "a fused activation is not supported"));
  DEPUTY_TRY(expect_quantised(c, c.x()));
  DEPUTY_TRY(expect_quantised(c, c.y()));
  if (c.x().dtype == DType::kFloat32) return {};
  return expect(c, scale_of(c.y()) == 1.0f / 128.0f && zero_point_of(c.y()) == 0,
                "the output must have scale 1/128 and zero point 0");
}

void row_int8(const std::int8_t* in, std::int64_t depth, std::int32_t zero_point,
              std::int8_t* out) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < depth; ++i) {
    const std::int32_t d = in[i] - zero_point;
    sum += std::int64_t{d} * d;
  }
  arch::Requant inverse =
      arch::fixed_inverse_sqrt(arch::clamp_i32(sum, 0, std::numeric_limits<std::int32_t>::max()));
  inverse.shift += 7;  // the output's 1/128
  for (std::int64_t i = 0; i < depth; ++i)
    out[i] = static_cast<std::int8_t>(
        arch::clamp_i32(arch::requantize_double(in[i] - zero_point, inverse), -128, 127));
}

void row_float(const float* in, std::int64_t depth, float* out) {
  float sum = 0;
  for (std::int64_t i = 0; i < depth; ++i) sum += in[i] * in[i];
  const float norm = std::max(std::sqrt(sum), 1e-6f);
  for (std::int64_t i = 0; i < depth; ++i) out[i] = in[i] / norm;
}

base::Status run(const OpCall& c, Numerics) {
  const std::int64_t depth = c.x().shape.back();
  if (depth == 0) return {};
  for (std::int64_t at = 0; at < c.x().elements(); at += depth) {
    if (c.x().dtype == DType::kFloat32)
      row_float(c.in<float>() + at, depth, c.out<float>() + at);
    else
      row_int8(c.in<std::int8_t>() + at, depth, zero_point_of(c.x()), c.out<std::int8_t>() + at);
  }
  return {};
}

constexpr HostOp kOps[] = {{OpKind::L2_NORMALIZATION, check, run}};
}  // namespace

std::span<const HostOp> normalisation_ops() { return kOps; }

}  // namespace deputy::host_runtime
