// SOFTMAX and LOG_SOFTMAX over the last dimension. 8-bit SOFTMAX: arch/softmax.h. int16: two
// 513-entry tables.
#include "arch/softmax.h"

#include <algorithm>
#include <cmath>

#include "arch/fixed_point.h"
#include "host_runtime/cpu/op_call.h"
#include "host_runtime/cpu/table16.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;
using arch::rdpot;
using arch::srdhm;

base::Status check_common(const OpCall& c) {
  DEPUTY_TRY(expect_shape(c, c.y(), c.x().shape));
  DEPUTY_TRY(expect_quantised(c, c.x()));
  DEPUTY_TRY(expect_quantised(c, c.y()));
  return expect(c, !c.x().shape.empty(), "the input must have at least rank 1");
}
base::Status check_softmax(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, 1, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), {DType::kInt8, DType::kUint8, DType::kInt16, DType::kFloat32}));
  if (!(c.x().dtype == DType::kInt8 && c.y().dtype == DType::kInt16))
    DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(check_common(c));
  DEPUTY_TRY(expect(c, std::isfinite(c.attrs.beta) && c.attrs.beta > 0, "beta must be positive"));
  const auto& y = c.y();
  switch (y.dtype) {
    case DType::kInt8:
      return expect(c, std::fabs(scale_of(y) * 256 - 1) < 1e-3f && zero_point_of(y) == -128,
                    "the output must have scale 1/256 and zero point -128");
    case DType::kUint8:
      return expect(c, std::fabs(scale_of(y) * 256 - 1) < 1e-3f && zero_point_of(y) == 0,
                    "the output must have scale 1/256 and zero point 0");
    case DType::kInt16:
      return expect(c, std::fabs(scale_of(y) * 32768 - 1) < 1e-3f,
                    "the output must have scale 1/32768");
    default:
      return {};
  }
}
base::Status check_log_softmax(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, 1, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), {DType::kInt8, DType::kFloat32}));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  return check_common(c);
}

/// Calls row(offset) for each row of the last dimension.
template <class F>
void for_each_row(const OpCall& c, F&& row) {
  const std::int64_t depth = c.x().shape.back();
  if (depth == 0) return;
  for (std::int64_t i = 0; i < c.x().elements(); i += depth) row(i, depth);
}

/// 8-bit results: the passes that the NPU makes.
void softmax_8bit(const OpCall& c, Numerics mode) {
  const auto table = arch::softmax_table(c.attrs.beta, scale_of(c.x()), mode);
  const std::uint8_t flip = c.x().dtype == DType::kUint8 ? 0x80 : 0;
  for_each_row(c, [&](std::int64_t at, std::int64_t depth) {
    arch::softmax_row(c.in<std::uint8_t>() + at, depth, table.data(), mode, scale_of(c.y()), flip,
                      c.out<std::uint8_t>() + at);
  });
}

/// int8 to int16: as `tflite`'s 8-bit form, with 16 bits of result.
void softmax_8_to_16(const OpCall& c) {
  const auto table = arch::softmax_table(c.attrs.beta, scale_of(c.x()), Numerics::kTflite);
  for_each_row(c, [&](std::int64_t at, std::int64_t depth) {
    const std::int8_t* in = c.in<std::int8_t>() + at;
    const int top = *std::max_element(in, in + depth);
    const auto exp = [&](std::int64_t i) { return table[static_cast<std::size_t>(top - in[i])]; };
    std::uint32_t sum = 0;  // 19 fractional bits
    for (std::int64_t i = 0; i < depth; ++i) sum += static_cast<std::uint32_t>(rdpot(exp(i), 12));
    const arch::Reciprocal reciprocal = arch::fixed_reciprocal(static_cast<std::int32_t>(sum), 12);
    const int shift = std::clamp(reciprocal.bits_over_unit + 31 - 16, 0, 31);
    for (std::int64_t i = 0; i < depth; ++i) {
      const std::int32_t value = rdpot(srdhm(reciprocal.scale, exp(i)), shift);
      c.out<std::int16_t>()[at + i] =
          static_cast<std::int16_t>(arch::clamp_i32(std::int64_t{value} - 32768, -32768, 32767));
    }
  });
}

/// int16: exp over [-10, 0] and 1/(1+x) over [0, 1] from tables.
void softmax_int16(const OpCall& c) {
  static const Table16 kExp = Table16::over(-10.0f, 0.0f, [](float x) { return std::exp(x); });
  static const Table16 kInverse =
      Table16::over(0.0f, 1.0f, [](float x) { return 1.0f / (1.0f + x); });
  const arch::Requant r = arch::quantize_multiplier(
      static_cast<double>(c.attrs.beta) * static_cast<double>(scale_of(c.x())) / (10.0 / 65535.0));
  std::vector<std::int16_t> exps;
  for_each_row(c, [&](std::int64_t at, std::int64_t depth) {
    const std::int16_t* in = c.in<std::int16_t>() + at;
    const std::int32_t top = *std::max_element(in, in + depth);
    exps.resize(static_cast<std::size_t>(depth));
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < depth; ++i) {
      const std::int64_t diff = std::int64_t{arch::requantize_double(in[i] - top, r)} + 32767;
      exps[static_cast<std::size_t>(i)] =
          kExp(static_cast<std::int16_t>(arch::clamp_i32(diff, -32768, 32767)));
      sum += exps[static_cast<std::size_t>(i)];
    }
    const auto sum32 = static_cast<std::int32_t>(std::min<std::int64_t>(sum, 2147483647));
    const int headroom = std::countl_zero(static_cast<std::uint32_t>(std::max(sum32, 1)));
    // Q1.16, less 1, less the middle of the int16 range.
    const std::int64_t normalised = ((std::int64_t{sum32} << (headroom - 1)) + (1 << 13)) >> 14;
    const std::int32_t index = arch::clamp_i32(normalised - (1 << 16) - (1 << 15), -32768, 32767);
    const std::int32_t inverse = kInverse(static_cast<std::int16_t>(index));
    const int shift = 31 - headroom;
    for (std::int64_t i = 0; i < depth; ++i) {
      const std::int64_t v = (std::int64_t{exps[static_cast<std::size_t>(i)]} * inverse +
                              (std::int64_t{1} << (shift - 1))) >>
                             shift;
      c.out<std::int16_t>()[at + i] = static_cast<std::int16_t>(arch::clamp_i32(v, 0, 32767));
    }
  });
}

void softmax_float(const OpCall& c) {
  for_each_row(c, [&](std::int64_t at, std::int64_t depth) {
    const float* in = c.in<float>() + at;
    float* out = c.out<float>() + at;
    const float top = *std::max_element(in, in + depth);
    float sum = 0;
    for (std::int64_t i = 0; i < depth; ++i) {
      out[i] = std::exp((in[i] - top) * c.attrs.beta);
      sum += out[i];
    }
    for (std::int64_t i = 0; i < depth; ++i) out[i] = out[i] / sum;
  });
}

base::Status run_softmax(const OpCall& c, Numerics mode) {
  if (c.x().dtype == DType::kFloat32)
    softmax_float(c);
  else if (c.x().dtype == DType::kInt16)
    softmax_int16(c);
  else if (c.y().dtype == DType::kInt16)
    softmax_8_to_16(c);
  else
    softmax_8bit(c, mode);
  return {};
}

/// x - log(sum(exp)) in float32; int8 is quantised half away, as TFLite's table form does.
base::Status run_log_softmax(const OpCall& c, Numerics) {
  for_each_row(c, [&](std::int64_t at, std::int64_t depth) {
    if (c.x().dtype == DType::kFloat32) {
      const float* in = c.in<float>() + at;
      const float top = *std::max_element(in, in + depth);
      float sum = 0;
      for (std::int64_t i = 0; i < depth; ++i) sum += std::exp(in[i] - top);
      for (std::int64_t i = 0; i < depth; ++i) c.out<float>()[at + i] = in[i] - top - std::log(sum);
      return;
    }
    const std::int8_t* in = c.in<std::int8_t>() + at;
    const float scale = scale_of(c.x());
    const int top = *std::max_element(in, in + depth);
    float sum = 0;
    for (std::int64_t i = 0; i < depth; ++i)
      sum += std::exp(scale * static_cast<float>(in[i] - top));
    const float log_sum = std::log(sum);
    for (std::int64_t i = 0; i < depth; ++i) {
      const float value = scale * static_cast<float>(in[i] - top) - log_sum;
      c.out<std::int8_t>()[at + i] = static_cast<std::int8_t>(
          arch::quantize_half_away(value, scale_of(c.y()), zero_point_of(c.y()), -128, 127));
    }
  });
  return {};
}

constexpr HostOp kOps[] = {{OpKind::SOFTMAX, check_softmax, run_softmax},
                           {OpKind::LOG_SOFTMAX, check_log_softmax, run_log_softmax}};
}  // namespace

std::span<const HostOp> softmax_ops() { return kOps; }

}  // namespace deputy::host_runtime
