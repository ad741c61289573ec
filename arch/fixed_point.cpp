// Fixed-point functions (fixed_point.h).
#include "arch/fixed_point.h"

#include <cmath>
#include <limits>

namespace deputy::arch {
namespace {
constexpr std::int32_t kOneQ0 =
    std::numeric_limits<std::int32_t>::max();  // the nearest Q0.31 has to 1
constexpr std::int32_t kOneQ2 = 1 << 29;

std::int32_t raw(double value, int integer_bits) {
  return static_cast<std::int32_t>(std::lround(std::ldexp(value, 31 - integer_bits)));
}

std::int32_t wrapping_add(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
std::int32_t wrapping_sub(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

/// exp(a) for a in [-1/4, 0) as Q0.31: a series around -1/8.
std::int32_t exp_quarter(std::int32_t a) {
  static const std::int32_t kExpEighth = raw(std::exp(-0.125), 0);
  static const std::int32_t kThird = raw(1.0 / 3.0, 0);
  const std::int32_t x = a + (1 << 28);
  const std::int32_t x2 = srdhm(x, x);
  const std::int32_t x3 = srdhm(x2, x);
  const std::int32_t x4_quarter = rdpot(srdhm(x2, x2), 2);
  const std::int32_t tail = rdpot(srdhm(x4_quarter + x3, kThird) + x2, 1);
  return kExpEighth + srdhm(kExpEighth, x + tail);
}

/// Newton-Raphson for 1 / d as Q2.29, d = (1 + a) / 2 in [1/2, 1] as Q0.31.
std::int32_t reciprocal_of_half_sum(std::int32_t a) {
  static const std::int32_t k48Over17 = raw(48.0 / 17.0, 2);
  static const std::int32_t kMinus32Over17 = raw(-32.0 / 17.0, 2);
  const std::int32_t d = rounding_half_sum(a, kOneQ0);
  std::int32_t x = wrapping_add(k48Over17, srdhm(d, kMinus32Over17));
  for (int i = 0; i < 3; ++i) {
    const std::int32_t error = wrapping_sub(kOneQ2, srdhm(d, x));
    x = wrapping_add(x, shift_saturating(srdhm(x, error), 2));
  }
  return x;
}
}  // namespace

std::int32_t shift_saturating(std::int32_t x, int exponent) {
  if (exponent <= 0) return rdpot(x, -exponent);
  const std::int64_t wide = static_cast<std::int64_t>(x) * (std::int64_t{1} << exponent);
  return clamp_i32(wide, std::numeric_limits<std::int32_t>::min(),
                   std::numeric_limits<std::int32_t>::max());
}

std::int32_t rounding_half_sum(std::int32_t a, std::int32_t b) {
  const std::int64_t sum = std::int64_t{a} + b;
  return static_cast<std::int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
}

std::int32_t fixed_exp_negative(std::int32_t a, int integer_bits) {
  if (a == 0) return kOneQ0;
  const int fractional_bits = 31 - integer_bits;
  const std::int32_t quarter = 1 << (fractional_bits - 2);
  const std::int32_t in_quarter = (a & (quarter - 1)) - quarter;
  std::int32_t result = exp_quarter(shift_saturating(in_quarter, integer_bits));
  const std::int32_t remainder = wrapping_sub(in_quarter, a);
  static const std::int32_t kFactors[] = {raw(std::exp(-0.25), 0), raw(std::exp(-0.5), 0),
                                          raw(std::exp(-1.0), 0),  raw(std::exp(-2.0), 0),
                                          raw(std::exp(-4.0), 0),  raw(std::exp(-8.0), 0),
                                          raw(std::exp(-16.0), 0)};
  for (int exponent = -2; exponent <= 4 && exponent < integer_bits; ++exponent)
    if (remainder & (1 << (fractional_bits + exponent)))
      result = srdhm(result, kFactors[exponent + 2]);
  return result;
}

std::int32_t fixed_one_over_one_plus(std::int32_t a) {
  return shift_saturating(reciprocal_of_half_sum(a), 1);
}

std::int32_t fixed_logistic(std::int32_t a) {
  if (a == 0) return 1 << 30;
  const std::int32_t positive = fixed_one_over_one_plus(fixed_exp_negative(a > 0 ? -a : a, 4));
  return a > 0 ? positive : kOneQ0 - positive;
}

std::int32_t fixed_tanh(std::int32_t a) {
  if (a == 0) return 0;
  // tanh(-|a|) = -(1 - e) / (1 + e), e = exp(-2|a|): the same raw value read with one more integer
  // bit.
  const std::int32_t e = fixed_exp_negative(a > 0 ? -a : a, 5);
  const std::int32_t magnitude =
      shift_saturating(wrapping_sub(reciprocal_of_half_sum(e), kOneQ2), 2);
  return a > 0 ? magnitude : -magnitude;
}

Reciprocal fixed_reciprocal(std::int32_t x, int integer_bits) {
  if (x == 0) return {0, integer_bits};  // a sum that wrapped; any answer is as good
  const int headroom = std::countl_zero(static_cast<std::uint32_t>(x));
  const std::uint32_t minus_one =
      (static_cast<std::uint32_t>(x) << headroom) - (std::uint32_t{1} << 31);
  return {fixed_one_over_one_plus(static_cast<std::int32_t>(minus_one)), integer_bits - headroom};
}

Requant fixed_inverse_sqrt(std::int32_t x) {
  if (x <= 1) return {std::numeric_limits<std::int32_t>::max(), 0};
  int shift = 11;
  while (x >= (1 << 29)) x /= 4, ++shift;
  const int pairs = (std::countl_zero(static_cast<std::uint32_t>(x)) - 1) / 2 - 1;
  shift -= pairs;
  x <<= 2 * pairs;
  const std::int32_t input = x >> 1;  // Q3.28
  const std::int32_t half_input = rdpot(input, 1);
  const std::int32_t half_three = (1 << 28) + (1 << 27);
  std::int32_t y = 1 << 28;
  for (int i = 0; i < 5; ++i) {
    // Products of Q3 factors have 6 and 9 integer bits.
    const std::int32_t y3 = shift_saturating(srdhm(srdhm(y, y), y), 6);
    y = shift_saturating(wrapping_sub(srdhm(half_three, y), srdhm(half_input, y3)), 3);
  }
  static const std::int32_t kHalfSqrt2 = raw(std::sqrt(2.0) / 2, 0);
  y = srdhm(y, kHalfSqrt2);
  if (shift < 0) y <<= -shift, shift = 0;
  return {y, -shift};
}

std::int32_t input_radius(int integer_bits, int left_shift) {
  const double largest =
      ((1 << integer_bits) - 1) * std::ldexp(1.0, 31 - integer_bits) / std::ldexp(1.0, left_shift);
  return largest >= 2147483647.0 ? std::numeric_limits<std::int32_t>::max()
                                 : static_cast<std::int32_t>(std::floor(largest));
}

}  // namespace deputy::arch
