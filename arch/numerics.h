// Integer arithmetic of the engines, in the three named rounding modes. The single implementation
// that the NPU model, the CPU kernels and the compiler share; network tests therefore take their
// oracle from outside runtimes, never from here.
//
// Sources: TFLite's 8-bit quantisation specification; the reference kernels'
// MultiplyByQuantizedMultiplier (gemmlowp's doubling high multiply followed by a rounding
// power-of-two division); XNNPACK's qs8 fp32 requantisation and its qs8 vadd/vmul parameter set-up.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/types.h"

namespace deputy::arch {

/// A real multiplier as an engine takes it. kTflite, kSingle: real = multiplier * 2^(shift - 31).
/// kFp32: multiplier holds the bits of the float32 scale and shift is 0.
struct Requant {
  std::int32_t multiplier = 0;
  std::int32_t shift = 0;
  bool operator==(const Requant&) const = default;
};

/// frexp of `real` with a 31-bit mantissa, rounded half away; 0 when real < 2^-32. real must be >=
/// 0.
Requant quantize_multiplier(double real);
inline Requant float_requant(float scale) { return {std::bit_cast<std::int32_t>(scale), 0}; }

/// Saturating rounding doubling high multiply: round(a*b / 2^31), ties towards +infinity.
inline std::int32_t srdhm(std::int32_t a, std::int32_t b) {
  if (a == b && a == std::numeric_limits<std::int32_t>::min())
    return std::numeric_limits<std::int32_t>::max();
  const std::int64_t product = std::int64_t{a} * b;
  const std::int64_t nudge = product >= 0 ? (std::int64_t{1} << 30) : (1 - (std::int64_t{1} << 30));
  return static_cast<std::int32_t>((product + nudge) / (std::int64_t{1} << 31));
}

/// round(x / 2^exponent), ties away from zero. 0 <= exponent <= 31.
inline std::int32_t rdpot(std::int32_t x, int exponent) {
  const std::int64_t mask = (std::int64_t{1} << exponent) - 1;
  const std::int64_t remainder = x & mask;
  const std::int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + (remainder > threshold ? 1 : 0);
}

/// `TFLite` double rounding. The left shift wraps, as the reference kernel's int32 multiply does.
inline std::int32_t requantize_double(std::int32_t acc, Requant r) {
  const int left = r.shift > 0 ? r.shift : 0;
  const int right = r.shift > 0 ? 0 : -r.shift;
  const auto shifted = static_cast<std::int32_t>(static_cast<std::uint32_t>(acc) << left);
  return rdpot(srdhm(shifted, r.multiplier), right);
}

/// One rounding, ties towards +infinity.
inline std::int32_t requantize_single(std::int32_t acc, Requant r) {
  const int total = 31 - r.shift;  // 1..62: quantize_multiplier keeps -31 <= shift <= 30
  const std::int64_t rounded =
      (std::int64_t{acc} * r.multiplier + (std::int64_t{1} << (total - 1))) >> total;
  return static_cast<std::int32_t>(rounded);
}

/// float(acc) * scale, ties to even, clamped to +-2^30 so that adding a zero point cannot overflow.
inline std::int32_t requantize_fp32(std::int32_t acc, Requant r) {
  const float value = static_cast<float>(acc) * std::bit_cast<float>(r.multiplier);
  constexpr float kLimit = 1073741824.0f;
  if (!(value < kLimit)) return 1 << 30;
  if (value < -kLimit) return -(1 << 30);
  return static_cast<std::int32_t>(std::nearbyintf(value));
}

inline std::int32_t requantize(std::int32_t acc, Requant r, Numerics mode) {
  switch (mode) {
    case Numerics::kTflite:
      return requantize_double(acc, r);
    case Numerics::kSingle:
      return requantize_single(acc, r);
    case Numerics::kFp32:
      return requantize_fp32(acc, r);
  }
  return 0;
}

/// 64-bit accumulators (int16 activations): the multiplier is cut to 16 bits, then one rounding,
/// ties up.
inline std::int64_t requantize_int64(std::int64_t acc, Requant r) {
  const std::int64_t reduced =
      r.multiplier < 0x7FFF0000 ? (r.multiplier + (1 << 15)) >> 16 : 0x7FFF;
  const int total = 15 - r.shift;
  if (total <= 0)
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(acc * reduced) << -total);
  return (acc * reduced + (std::int64_t{1} << (total - 1))) >> total;
}
inline std::int64_t add_wrapping(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

inline std::int32_t clamp_i32(std::int64_t v, std::int32_t lo, std::int32_t hi) {
  return static_cast<std::int32_t>(v < lo ? lo : v > hi ? hi : v);
}

/// Multiplier of CONV_2D and DEPTHWISE_CONV_2D, one output channel: real = s_in * s_w / s_out
/// (kTflite, kSingle: in double; kFp32: float(float(s_in * s_w) / s_out)).
Requant conv_requant(float s_in, float s_w, float s_out, Numerics mode);
/// FULLY_CONNECTED: as conv, but s_in * s_w is first rounded to float32 in every mode.
Requant fully_connected_requant(float s_in, float s_w, float s_out, Numerics mode);

/// ADD, SUB, MUL of int8. kTflite, kSingle: a and b are shifted left by left_shift, rescaled by
/// their own multipliers, summed (b negated for SUB), and rescaled by out. kFp32 ADD/SUB: one
/// fixed-point stage, (a.multiplier*(a-za) + b.multiplier*(b-zb)) rounded half up at out.shift
/// bits. MUL uses out only.
struct EltwiseRequant {
  std::int32_t left_shift = 0;
  Requant a, b, out;
};
/// left_shift: 20 for 8-bit operands, 15 for int16 (kTflite, kSingle).
/// `mode` is what add_rule (mul_rule) of kernel_rules.h gave.
EltwiseRequant add_requant(float s_a, float s_b, float s_out, Numerics mode, int left_shift = 20);
EltwiseRequant mul_requant(float s_a, float s_b, float s_out, Numerics mode);

/// a, b: values less their zero points. Returns the result before the output zero point and clamp.
inline std::int32_t eltwise_add(std::int32_t a, std::int32_t b, const EltwiseRequant& r,
                                Numerics mode) {
  if (mode == Numerics::kFp32) {
    const std::int64_t acc = std::int64_t{a} * r.a.multiplier + std::int64_t{b} * r.b.multiplier;
    return static_cast<std::int32_t>((acc + (std::int64_t{1} << (r.out.shift - 1))) >> r.out.shift);
  }
  const std::int32_t sa = requantize(a * (1 << r.left_shift), r.a, mode);
  const std::int32_t sb = requantize(b * (1 << r.left_shift), r.b, mode);
  return requantize(sa + sb, r.out, mode);
}
inline std::int32_t eltwise_sub(std::int32_t a, std::int32_t b, const EltwiseRequant& r,
                                Numerics mode) {
  if (mode == Numerics::kFp32) return eltwise_add(a, -b, r, mode);
  const std::int32_t sa = requantize(a * (1 << r.left_shift), r.a, mode);
  const std::int32_t sb = requantize(b * (1 << r.left_shift), r.b, mode);
  return requantize(sa - sb, r.out, mode);
}
inline std::int32_t eltwise_mul(std::int32_t a, std::int32_t b, const EltwiseRequant& r,
                                Numerics mode) {
  return requantize(a * b, r.out, mode);
}

/// AVERAGE_POOL_2D: sum / count rounded half away from zero.
inline std::int32_t average_half_away(std::int32_t sum, std::int32_t count) {
  return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

/// MEAN of int8 over `count` elements applied to sum(x - z_in): the divisor folded into the
/// multiplier as the reference kernel does (kTflite, kSingle), or float(s_in / (s_out * count))
/// (kFp32).
Requant mean_requant(float s_in, float s_out, std::int32_t count, Numerics mode);

/// round(real / scale) + zero_point, half away from zero, saturated to [lo, hi].
std::int32_t quantize_half_away(float real, float scale, std::int32_t zero_point, std::int32_t lo,
                                std::int32_t hi);

/// The int range a fused activation allows: `activation` is arch::Activation's number.
struct ActivationRange {
  std::int32_t min, max;
};
ActivationRange activation_range(int activation, float scale, std::int32_t zero_point,
                                 std::int32_t type_min, std::int32_t type_max);

}  // namespace deputy::arch
