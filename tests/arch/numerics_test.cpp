// The rounding rules against exact arithmetic written here (128-bit rationals) and values worked
// out by hand.
#include "arch/numerics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>

#include "arch/fixed_point.h"
#include "arch/kernel_rules.h"
#include "arch/ops.h"

namespace deputy::arch {
namespace {

__extension__ using Wide = __int128;

Wide floor_divide(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
}
/// round(a / 2^bits), ties towards +infinity.
Wide round_up_at_half(Wide a, int bits) {
  return floor_divide(a + (Wide{1} << bits) / 2, Wide{1} << bits);
}
/// round(a / 2^bits), ties away from zero.
Wide round_away_at_half(Wide a, int bits) {
  const Wide magnitude = a < 0 ? -a : a;
  const Wide rounded = floor_divide(magnitude + (Wide{1} << bits) / 2, Wide{1} << bits);
  return a < 0 ? -rounded : rounded;
}

TEST_CASE("multipliers are 31-bit mantissas") {
  CHECK(quantize_multiplier(0.5) == Requant{1 << 30, 0});
  CHECK(quantize_multiplier(1.0) == Requant{1 << 30, 1});
  CHECK(quantize_multiplier(0.75) == Requant{3 << 29, 0});
  CHECK(quantize_multiplier(3.0) == Requant{3 << 29, 2});
  CHECK(quantize_multiplier(0) == Requant{});
  CHECK(quantize_multiplier(std::ldexp(1.0, -40)) == Requant{});
  // A mantissa that rounds up to 2^31 moves to the next exponent.
  CHECK(quantize_multiplier(1.0 - std::ldexp(1.0, -40)) == Requant{1 << 30, 1});
}

TEST_CASE("the two steps of double rounding tie up and away") {
  CHECK(srdhm(1 << 30, 1) == 1);   // 0.5 -> 1
  CHECK(srdhm(1 << 30, -1) == 0);  // -0.5 -> 0
  CHECK(srdhm(INT32_MIN, INT32_MIN) == INT32_MAX);
  CHECK(rdpot(5, 1) == 3);    // 2.5 -> 3
  CHECK(rdpot(-5, 1) == -3);  // -2.5 -> -3
  CHECK(rdpot(7, 0) == 7);
  CHECK(rdpot(INT32_MIN, 31) == -1);
}

TEST_CASE("requantisation equals exact arithmetic in every mode") {
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i) {
    const auto acc = static_cast<std::int32_t>(random()) >> (random() % 24);
    const double real = std::ldexp(1.0 + random() / 4294967296.0, -static_cast<int>(random() % 20));
    const Requant r = quantize_multiplier(real);
    const Wide product = Wide{acc} * r.multiplier;
    if (r.shift <= 0) {
      const Wide high = round_up_at_half(product, 31);
      REQUIRE(requantize_double(acc, r) ==
              static_cast<std::int32_t>(round_away_at_half(high, -r.shift)));
      REQUIRE(requantize_single(acc, r) ==
              static_cast<std::int32_t>(round_up_at_half(product, 31 - r.shift)));
    }
    const float scale = static_cast<float>(real);
    const float exact = static_cast<float>(acc) * scale;
    if (std::fabs(exact) < 1e6f) {
      const float down = std::floor(exact), part = exact - down;
      const bool up = part > 0.5f || (part == 0.5f && std::fmod(down, 2.0f) != 0);
      REQUIRE(requantize_fp32(acc, float_requant(scale)) == static_cast<std::int32_t>(down) + up);
    }
  }
}

TEST_CASE("fp32 requantisation saturates instead of overflowing") {
  CHECK(requantize_fp32(INT32_MAX, float_requant(1e9f)) == 1 << 30);
  CHECK(requantize_fp32(INT32_MIN, float_requant(1e9f)) == -(1 << 30));
  CHECK(requantize_fp32(0, float_requant(INFINITY)) == 1 << 30);  // not a number
}

TEST_CASE("64-bit accumulators use a 16-bit multiplier and one rounding") {
  const Requant half = quantize_multiplier(0.5);
  CHECK(requantize_int64(3, half) == 2);    // 1.5 -> 2
  CHECK(requantize_int64(-3, half) == -1);  // -1.5 -> -1: up
  CHECK(requantize_int64(std::int64_t{1} << 40, quantize_multiplier(std::ldexp(1.0, -20))) ==
        1 << 20);
  CHECK(requantize_int64(5, quantize_multiplier(std::ldexp(1.0, 20))) == 5 << 20);
}

TEST_CASE("fully connected rounds the scale product to float32 first") {
  // 1 + 2^-23 squared needs 47 bits: the product rounds to 1 + 2^-22 in float32, not in double.
  const float s = 1.0f + std::ldexp(1.0f, -23);
  CHECK(fully_connected_requant(s, s, 4.0f, Numerics::kTflite) ==
        quantize_multiplier((1.0 + std::ldexp(1.0, -22)) / 4));
  const double exact = static_cast<double>(s) * static_cast<double>(s) / 4;
  CHECK(conv_requant(s, s, 4.0f, Numerics::kTflite) == quantize_multiplier(exact));
}

TEST_CASE("averages round half away from zero") {
  CHECK(average_half_away(5, 2) == 3);
  CHECK(average_half_away(-5, 2) == -3);
  CHECK(average_half_away(4, 3) == 1);
  CHECK(average_half_away(-4, 3) == -1);
}

TEST_CASE("fused activations become integer ranges") {
  const auto range = [](Activation a) {
    return activation_range(static_cast<int>(a), 0.05f, -100, -128, 127);
  };
  CHECK(range(Activation::kNone).min == -128);
  CHECK(range(Activation::kRelu).min == -100);
  CHECK(range(Activation::kRelu).max == 127);
  CHECK(range(Activation::kRelu6).max == 20);  // 6 / 0.05 - 100
  CHECK(range(Activation::kReluN1To1).min == -120);
  CHECK(range(Activation::kReluN1To1).max == -80);
  CHECK(activation_range(3, 1e-40f, 0, -128, 127).max == 127);
}

TEST_CASE("additions stay within one step of the real sum in every mode") {
  std::mt19937 random(11);
  for (int i = 0; i < 2000; ++i) {
    const auto scale = [&] { return 0.01f + static_cast<float>(random() % 1000) / 5000.0f; };
    const float sa = scale(), sb = scale(), so = scale();
    for (Numerics mode : {Numerics::kTflite, Numerics::kSingle, Numerics::kFp32}) {
      const EltwiseRequant r = add_requant(sa, sb, so, mode);
      const auto a = static_cast<std::int32_t>(random() % 511) - 255,
                 b = static_cast<std::int32_t>(random() % 511) - 255;
      const double real_a = static_cast<double>(sa) * a / so,
                   real_b = static_cast<double>(sb) * b / so;
      REQUIRE(std::fabs(eltwise_add(a, b, r, mode) - (real_a + real_b)) < 0.51);
      REQUIRE(std::fabs(eltwise_sub(a, b, r, mode) - (real_a - real_b)) < 0.51);
    }
  }
}

TEST_CASE("extreme scales give defined results") {
  for (float sa : {1e-45f, 1e-20f, 1.0f, 3e38f})
    for (float so : {1e-45f, 1.0f, 3e38f})
      for (Numerics mode : {Numerics::kTflite, Numerics::kSingle, Numerics::kFp32}) {
        const EltwiseRequant r = add_requant(sa, 1.0f, so, mode);
        if (mode == Numerics::kFp32) {
          CHECK(r.out.shift >= 1);
          CHECK(r.out.shift <= 40);
        }
        (void)eltwise_add(255, -255, r, mode);
      }
}

TEST_CASE("fixed-point functions are near the real ones") {
  for (int i = -2000; i <= 2000; ++i) {
    const double x = i / 250.0;  // within Q4.27
    const auto q = static_cast<std::int32_t>(std::lround(std::ldexp(x, 27)));
    CHECK(std::fabs(std::ldexp(fixed_logistic(q), -31) - 1 / (1 + std::exp(-x))) < 1e-6);
    CHECK(std::fabs(std::ldexp(fixed_tanh(q), -31) - std::tanh(x)) < 1e-6);
    if (x <= 0) CHECK(std::fabs(std::ldexp(fixed_exp_negative(q, 4), -31) - std::exp(x)) < 1e-6);
  }
  for (std::int32_t x : {2, 3, 100, 65025, 1 << 20, INT32_MAX}) {
    const Requant r = fixed_inverse_sqrt(x);
    CHECK(std::ldexp(r.multiplier, r.shift - 31) ==
          Approx(1 / std::sqrt(static_cast<double>(x))).epsilon(1e-5));
  }
}

TEST_CASE("fp32 mode knows what XNNPACK leaves to the builtin kernels") {
  CHECK(add_rule(0.1f, 0.1f, 0.1f, Numerics::kFp32) == Numerics::kFp32);
  CHECK(add_rule(0.1f, 0.00001f, 0.1f, Numerics::kFp32) == Numerics::kTflite);
  CHECK(add_rule(0.1f, 0.00001f, 0.1f, Numerics::kSingle) == Numerics::kSingle);
  CHECK(mul_rule(0.1f, 0.1f, 1e-6f, Numerics::kFp32) == Numerics::kTflite);
  CHECK(depthwise_rule(false, Numerics::kFp32) == Numerics::kTflite);
  CHECK(depthwise_rule(true, Numerics::kFp32) == Numerics::kFp32);
  const std::int64_t hw[] = {1, 2}, wh[] = {2, 1}, w[] = {2}, h[] = {1}, negative[] = {-3, -2};
  CHECK(mean_rule(4, hw, true, false, Numerics::kFp32) == MeanRule::kMeanRequant);
  CHECK(mean_rule(4, wh, false, false, Numerics::kFp32) == MeanRule::kMeanRequant);
  CHECK(mean_rule(4, w, false, false, Numerics::kFp32) == MeanRule::kMeanRequant);
  CHECK(mean_rule(4, h, false, false, Numerics::kFp32) == MeanRule::kFloat);
  CHECK(mean_rule(4, negative, true, false, Numerics::kFp32) == MeanRule::kSplitBias);
  CHECK(mean_rule(4, negative, false, true, Numerics::kFp32) == MeanRule::kTruncated);
  CHECK(mean_rule(4, negative, false, true, Numerics::kTflite) == MeanRule::kMeanRequant);
}

}  // namespace
}  // namespace deputy::arch
