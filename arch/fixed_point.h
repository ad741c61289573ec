// Fixed-point functions of TFLite's reference kernels, on raw int32 values. Qm.n below has m
// integer bits and n = 31 - m fractional ones. The constructions (a four-term series with
// table-free range steps for exp, three Newton-Raphson steps for the reciprocal) are those that
// gemmlowp's fixed-point notes define.
#pragma once

#include <cstdint>

#include "arch/numerics.h"

namespace deputy::arch {

/// x * 2^exponent, rounded (rdpot) to the right and saturated to the left.
std::int32_t shift_saturating(std::int32_t x, int exponent);
/// round((a + b) / 2), half away from zero.
std::int32_t rounding_half_sum(std::int32_t a, std::int32_t b);

/// exp(a) as Q0.31 for a <= 0 with `integer_bits` integer bits (4 or 5).
std::int32_t fixed_exp_negative(std::int32_t a, int integer_bits);
/// 1 / (1 + a) as Q0.31 for a in [0, 1] as Q0.31.
std::int32_t fixed_one_over_one_plus(std::int32_t a);
/// Logistic and tanh of a Q4.27 argument, as Q0.31.
std::int32_t fixed_logistic(std::int32_t a);
std::int32_t fixed_tanh(std::int32_t a);
/// 1 / x as Q0.31 times 2^(-bits_over_unit), for x > 0 with `integer_bits` integer bits.
struct Reciprocal {
  std::int32_t scale;
  int bits_over_unit;
};
Reciprocal fixed_reciprocal(std::int32_t x, int integer_bits);
/// 1 / sqrt(x) as multiplier * 2^(shift - 31), for x >= 1.
Requant fixed_inverse_sqrt(std::int32_t x);

/// floor((2^integer_bits - 1) * 2^(31 - integer_bits) / 2^left_shift): the largest input whose
/// rescaled value still fits.
std::int32_t input_radius(int integer_bits, int left_shift);

}  // namespace deputy::arch
