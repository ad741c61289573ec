#include "arch/numerics.h"

#include <algorithm>

#include "arch/ops.h"
#include "base/check.h"

namespace deputy::arch {

Requant quantize_multiplier(double real) {
  DEPUTY_CHECK(real >= 0, "a requantisation multiplier is negative");
  if (real == 0) return {};
  if (!std::isfinite(real)) return {std::numeric_limits<std::int32_t>::max(), 30};
  int shift = 0;
  const double fraction = std::frexp(real, &shift);
  auto q =
      static_cast<std::int64_t>(std::round(fraction * static_cast<double>(std::int64_t{1} << 31)));
  if (q == (std::int64_t{1} << 31)) q /= 2, ++shift;
  if (shift < -31) return {};
  if (shift > 30) shift = 30, q = (std::int64_t{1} << 31) - 1;
  return {static_cast<std::int32_t>(q), shift};
}

Requant conv_requant(float s_in, float s_w, float s_out, Numerics mode) {
  if (mode == Numerics::kFp32) return float_requant(s_in * s_w / s_out);
  return quantize_multiplier(static_cast<double>(s_in) * static_cast<double>(s_w) /
                             static_cast<double>(s_out));
}

Requant fully_connected_requant(float s_in, float s_w, float s_out, Numerics mode) {
  if (mode == Numerics::kFp32) return float_requant(s_in * s_w / s_out);
  return quantize_multiplier(static_cast<double>(s_in * s_w) / static_cast<double>(s_out));
}

EltwiseRequant add_requant(float s_a, float s_b, float s_out, Numerics mode, int left_shift) {
  EltwiseRequant r;
  if (mode == Numerics::kFp32) {
    // The larger multiplier gets 21 significant bits, so that the sum fits in int32.
    const float a = s_a / s_out, b = s_b / s_out;
    const int exponent = std::clamp(std::ilogb(std::max(a, b)), -20, 19);
    r.out.shift = 20 - exponent;  // 13..30 for the ratios that add_rule lets through
    const auto fixed = [&](float ratio) {
      return clamp_i32(std::llrint(std::min(std::ldexp(ratio, r.out.shift), 2e9f)), 0,
                       std::numeric_limits<std::int32_t>::max());
    };
    r.a.multiplier = fixed(a);
    r.b.multiplier = fixed(b);
    return r;
  }
  r.left_shift = left_shift;
  const double twice_max = 2 * static_cast<double>(std::max(s_a, s_b));
  r.a = quantize_multiplier(static_cast<double>(s_a) / twice_max);
  r.b = quantize_multiplier(static_cast<double>(s_b) / twice_max);
  r.out = quantize_multiplier(
      twice_max / (static_cast<double>(1 << r.left_shift) * static_cast<double>(s_out)));
  return r;
}

EltwiseRequant mul_requant(float s_a, float s_b, float s_out, Numerics mode) {
  EltwiseRequant r;
  if (mode == Numerics::kFp32)
    r.out = float_requant(s_a * s_b / s_out);
  else
    r.out = quantize_multiplier(static_cast<double>(s_a) * static_cast<double>(s_b) /
                                static_cast<double>(s_out));
  return r;
}

Requant mean_requant(float s_in, float s_out, std::int32_t count, Numerics mode) {
  if (mode == Numerics::kFp32) return float_requant(s_in / (s_out * static_cast<float>(count)));
  Requant r = quantize_multiplier(static_cast<double>(s_in) / static_cast<double>(s_out));
  int shift = 63 - std::countl_zero(static_cast<std::uint64_t>(count));
  shift = std::min(shift, 32);
  shift = std::min(shift, 31 + r.shift);
  r.multiplier =
      static_cast<std::int32_t>((static_cast<std::int64_t>(r.multiplier) << shift) / count);
  r.shift -= shift;
  return r;
}

std::int32_t quantize_half_away(float real, float scale, std::int32_t zero_point, std::int32_t lo,
                                std::int32_t hi) {
  const float q = std::round(real / scale) + static_cast<float>(zero_point);
  if (!(q > static_cast<float>(lo))) return lo;  // also NaN
  if (q >= static_cast<float>(hi)) return hi;
  return static_cast<std::int32_t>(q);
}

ActivationRange activation_range(int activation, float scale, std::int32_t zero_point,
                                 std::int32_t type_min, std::int32_t type_max) {
  const auto q = [&](float real) {
    const float q = std::clamp(std::round(real / scale), -65536.0f, 65536.0f);
    return clamp_i32(static_cast<std::int64_t>(q) + zero_point, type_min, type_max);
  };
  switch (static_cast<Activation>(activation)) {
    case Activation::kNone:
      return {type_min, type_max};
    case Activation::kRelu:
      return {q(0), type_max};
    case Activation::kReluN1To1:
      return {q(-1), q(1)};
    case Activation::kRelu6:
      return {q(0), q(6)};
  }
  DEPUTY_CHECK(false, "unknown activation");
}

}  // namespace deputy::arch
