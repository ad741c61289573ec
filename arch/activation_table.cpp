// The 256-entry tables of one-input int8 operators (activation_table.h). Rules: TFLite's reference
// and optimised kernels for `tflite`; XNNPACK's where it takes the operator, else TFLite's
// optimised ones, for `fp32`.
#include "arch/activation_table.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "arch/fixed_point.h"
#include "arch/numerics.h"

namespace deputy::arch {
namespace {
using Table = std::array<std::int8_t, 256>;

struct Params {
  float s_in, s_out;
  std::int32_t z_in, z_out;
  Numerics mode;
};

std::int8_t saturate(std::int64_t v, std::int32_t lo = -128, std::int32_t hi = 127) {
  return static_cast<std::int8_t>(clamp_i32(v, lo, hi));
}

template <class F>
Table fill(F&& f) {
  Table table;
  for (int q = -128; q < 128; ++q) table[static_cast<std::size_t>(q + 128)] = f(q);
  return table;
}

/// round(f(real) / s_out) + z_out in float32, half away from zero.
template <class F>
Table from_real(const Params& p, F&& f) {
  const float inverse = 1.0f / p.s_out;
  return fill([&](int q) {
    const float real = p.s_in * static_cast<float>(q - p.z_in);
    const float scaled = std::round(f(real) * inverse) + static_cast<float>(p.z_out);
    return std::isnan(scaled) ? std::int8_t{0}
                              : static_cast<std::int8_t>(std::clamp(scaled, -128.0f, 127.0f));
  });
}

/// As from_real, but half to even: XNNPACK builds its tables this way.
template <class F>
Table from_real_even(const Params& p, F&& f) {
  const float inverse = 1.0f / p.s_out;
  return fill([&](int q) {
    const float real = p.s_in * static_cast<float>(q - p.z_in);
    const float scaled = f(real) * inverse;
    if (std::isnan(scaled)) return std::int8_t{0};
    return saturate(std::llrint(std::clamp(scaled, -1e6f, 1e6f)) + p.z_out);
  });
}

Numerics builtin(Numerics mode) { return mode == Numerics::kFp32 ? Numerics::kTflite : mode; }

/// RELU family: rescale, then clamp to the quantised bounds.
Table relu(const Params& p, Activation activation) {
  const Requant r = quantize_multiplier(static_cast<double>(p.s_in) / static_cast<double>(p.s_out));
  const ActivationRange range =
      activation_range(static_cast<int>(activation), p.s_out, p.z_out, -128, 127);
  return fill([&](int q) {
    return saturate(std::int64_t{requantize(q - p.z_in, r, builtin(p.mode))} + p.z_out, range.min,
                    range.max);
  });
}

/// XNNPACK's conversions: the multiplier is rounded to 8 fractional bits, the sum half up.
std::int8_t convert_q8(std::int32_t value, float scale, std::int32_t z_out) {
  const auto multiplier = static_cast<std::int64_t>(std::lrint(256.0f * scale));
  return saturate(((value * multiplier + 128) >> 8) + z_out);
}
bool xnnpack_converts(float scale) { return scale >= 1.0f / 256.0f && scale <= 128.0f; }

Table quantize(const Params& p) {
  const float scale = p.s_in / p.s_out;
  if (p.mode == Numerics::kFp32 && xnnpack_converts(scale))
    return fill([&](int q) { return convert_q8(q - p.z_in, scale, p.z_out); });
  const Requant r = quantize_multiplier(static_cast<double>(p.s_in) / static_cast<double>(p.s_out));
  return fill([&](int q) {
    return saturate(std::int64_t{requantize(q - p.z_in, r, builtin(p.mode))} + p.z_out);
  });
}

Table leaky_relu(const Params& p, float alpha) {
  const float positive = p.s_in / p.s_out, negative = p.s_in * alpha / p.s_out;
  if (p.mode == Numerics::kFp32 && xnnpack_converts(positive) && negative >= -127.99609375f &&
      negative <= 128.0f && std::fabs(negative) >= 1.0f / 256.0f)
    return fill(
        [&](int q) { return convert_q8(q - p.z_in, q >= p.z_in ? positive : negative, p.z_out); });
  const Requant identity = quantize_multiplier(static_cast<double>(positive));
  Requant slope = quantize_multiplier(std::fabs(static_cast<double>(negative)));
  if (negative < 0) slope.multiplier = -slope.multiplier;
  return fill([&](int q) {
    const std::int32_t x = q - p.z_in;
    return saturate(std::int64_t{requantize(x, x >= 0 ? identity : slope, builtin(p.mode))} +
                    p.z_out);
  });
}

/// LOGISTIC and TANH of TFLite's reference kernels: a Q4.27 argument and gemmlowp's functions.
Table sigmoid_fixed(const Params& p, std::int32_t (*function)(std::int32_t), int output_bits) {
  const Requant r = quantize_multiplier(static_cast<double>(p.s_in) * (1 << 27));
  const std::int32_t radius = input_radius(4, r.shift);
  return fill([&](int q) {
    const std::int32_t x = q - p.z_in;
    if (x <= -radius) return std::int8_t{-128};
    if (x >= radius) return std::int8_t{127};
    const std::int32_t y = function(requantize(x, r, builtin(p.mode)));
    return saturate(std::int64_t{rdpot(y, 31 - output_bits)} + p.z_out);
  });
}

float logistic(float x) { return 1.0f / (1.0f + std::exp(-x)); }

/// 16-bit forms of the fixed-point helpers.
std::int16_t srdhm16(std::int16_t a, std::int16_t b) {
  if (a == b && a == -32768) return 32767;
  const std::int32_t product = std::int32_t{a} * b;
  return static_cast<std::int16_t>((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) /
                                   (1 << 15));
}
std::int16_t doubling_high16(std::int16_t a, std::int16_t b) {
  if (a == b && a == -32768) return 32767;
  return static_cast<std::int16_t>(std::int32_t{a} * b / (1 << 15));
}
std::int16_t saturate16(std::int64_t v) {
  return static_cast<std::int16_t>(clamp_i32(v, -32768, 32767));
}
std::int16_t multiplier16(std::int32_t multiplier) {
  return multiplier >= 0x7FFF8000 ? std::int16_t{32767}
                                  : static_cast<std::int16_t>((multiplier + (1 << 15)) >> 16);
}

Table hard_swish(const Params& p) {
  const float hires_scale = p.s_in / 128.0f;
  const float reluish_scale = 3.0f / 32768.0f;
  const Requant out = quantize_multiplier(static_cast<double>(hires_scale / p.s_out));
  const Requant gate = quantize_multiplier(static_cast<double>(hires_scale / reluish_scale));
  return fill([&](int q) {
    const auto hires = static_cast<std::int16_t>((q - p.z_in) * 128);
    const std::int16_t scaled = srdhm16(hires, multiplier16(out.multiplier));
    std::int16_t reluish = hires;
    if (gate.shift > 0) reluish = saturate16(std::int64_t{reluish} << (gate.shift - 1));
    reluish = srdhm16(reluish, multiplier16(gate.multiplier));
    if (gate.shift > 0) reluish = saturate16(std::int64_t{reluish} * 2);
    if (gate.shift < 0) reluish = static_cast<std::int16_t>(rdpot(reluish, -gate.shift));
    reluish = static_cast<std::int16_t>((reluish + (1 << 15)) >> 1);
    const std::int16_t product = doubling_high16(reluish, scaled);
    const std::int32_t result =
        out.shift > 0 ? saturate16(std::int64_t{product} << out.shift) : rdpot(product, -out.shift);
    return saturate(std::int64_t{result} + p.z_out);
  });
}

/// ABS: the magnitude, rescaled only when the scales differ.
Table absolute(const Params& p) {
  const bool rescale = p.s_in != p.s_out;
  const Requant r = quantize_multiplier(static_cast<double>(p.s_in / p.s_out));
  return fill([&](int q) {
    const std::int32_t magnitude = std::abs(q - p.z_in);
    return saturate(std::int64_t{rescale ? requantize(magnitude, r, builtin(p.mode)) : magnitude} +
                    p.z_out);
  });
}

float gelu(float x, bool approximate) {
  if (approximate)
    return 0.5f * x * (1.0f + std::tanh(0.7978845608028654f * (x + 0.044715f * x * x * x)));
  return 0.5f * x * std::erfc(x * -0.70710678118654752440f);
}
}  // namespace

std::optional<std::array<std::int8_t, 256>> activation_table(OpKind kind, const OpAttrs& attrs,
                                                             const Quantisation& in,
                                                             const Quantisation& out,
                                                             Numerics mode) {
  if (in.scale.size() != 1 || out.scale.size() != 1 || in.zero_point.size() != 1 ||
      out.zero_point.size() != 1)
    return std::nullopt;
  const Params p{in.scale[0], out.scale[0], in.zero_point[0], out.zero_point[0], mode};
  const bool fp32 = mode == Numerics::kFp32;
  switch (kind) {
    case OpKind::RELU:
      return relu(p, Activation::kRelu);
    case OpKind::RELU6:
      return relu(p, Activation::kRelu6);
    case OpKind::RELU_N1_TO_1:
      return relu(p, Activation::kReluN1To1);
    case OpKind::QUANTIZE:
      return quantize(p);
    case OpKind::LEAKY_RELU:
      return leaky_relu(p, attrs.alpha);
    case OpKind::LOGISTIC:
      return fp32 ? from_real_even(p, logistic) : sigmoid_fixed(p, fixed_logistic, 8);
    case OpKind::TANH:
      return fp32 ? from_real(p, [](float x) { return std::tanh(x); })
                  : sigmoid_fixed(p, fixed_tanh, 7);
    case OpKind::HARD_SWISH:
      return hard_swish(p);
    case OpKind::ELU: {
      const auto elu = [](float x) { return x < 0 ? std::expm1(x) : x; };
      return fp32 ? from_real_even(p, elu) : from_real(p, elu);
    }
    case OpKind::GELU:
      return from_real(p, [&](float x) { return gelu(x, attrs.approximate); });
    case OpKind::ABS:
      return absolute(p);
    case OpKind::EXP:
      return from_real(p, [](float x) { return std::exp(x); });
    case OpKind::NEG:
      return from_real(p, [](float x) { return -x; });
    case OpKind::SQRT:
      return from_real(p, [](float x) { return std::sqrt(x); });
    case OpKind::RSQRT:
      return from_real(p, [](float x) { return 1.0f / std::sqrt(x); });
    default:
      return std::nullopt;
  }
}

}  // namespace deputy::arch
