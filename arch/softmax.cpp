#include "arch/softmax.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "arch/fixed_point.h"

namespace deputy::arch {
namespace {

constexpr int kSumIntegerBits = 12;

// Calls quantised(exponential of element i) for each element and writes the result, a value above
// the output's zero point.
template <class F>
void write_row(const std::uint8_t* in, std::int64_t n, const std::int32_t* table, int top,
               std::uint8_t flip, std::uint8_t* out, F&& quantised) {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int32_t entry = table[top - static_cast<std::int8_t>(in[i] ^ flip)];
    const std::int32_t value = std::clamp(quantised(entry), 0, 255) - 128;
    out[i] = static_cast<std::uint8_t>(value) ^ flip;
  }
}

// A float as an int, truncated; what is beyond +-2^20 (or not a number) saturates.
std::int32_t saturating_int(float v) {
  constexpr float kLimit = 1048576.0f;
  if (!(v < kLimit)) return 1 << 20;
  return static_cast<std::int32_t>(std::max(v, -kLimit));
}

}  // namespace

std::array<std::int32_t, 256> softmax_table(float beta, float s_in, Numerics mode) {
  std::array<std::int32_t, 256> table{};
  if (mode == Numerics::kFp32) {
    const float scale = -s_in * beta;
    for (int d = 0; d < 256; ++d)
      table[static_cast<std::size_t>(d)] =
          std::bit_cast<std::int32_t>(std::exp(scale * static_cast<float>(d)));
    return table;
  }
  // Differences are rescaled to 5 integer and 26 fractional bits; what does not fit counts as 0.
  const double real = static_cast<double>(beta) * static_cast<double>(s_in) * (1 << 26);
  const Requant r = quantize_multiplier(std::min(real, 2147483647.0));
  const std::int32_t smallest = -input_radius(5, r.shift);
  for (int d = 0; d < 256 && -d >= smallest; ++d)
    table[static_cast<std::size_t>(d)] = fixed_exp_negative(requantize_double(-d, r), 5);
  return table;
}

void softmax_row(const std::uint8_t* in, std::int64_t n, const std::int32_t* table, Numerics mode,
                 float s_out, std::uint8_t flip, std::uint8_t* out) {
  int top = -128;
  for (std::int64_t i = 0; i < n; ++i)
    top = std::max<int>(top, static_cast<std::int8_t>(in[i] ^ flip));
  const auto entry = [&](std::int64_t i) {
    return table[top - static_cast<std::int8_t>(in[i] ^ flip)];
  };
  if (mode == Numerics::kFp32) {
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::bit_cast<float>(entry(i));
    const float inverse = 1.0f / (sum * s_out);
    write_row(in, n, table, top, flip, out, [&](std::int32_t e) {
      return saturating_int(std::bit_cast<float>(e) * inverse + 0.5f);
    });
    return;
  }
  std::uint32_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i)
    sum += static_cast<std::uint32_t>(rdpot(entry(i), kSumIntegerBits));
  const Reciprocal reciprocal = fixed_reciprocal(static_cast<std::int32_t>(sum), kSumIntegerBits);
  // Products are below 2^31, so that more than 31 places to the right nothing is left.
  const int shift = std::max(reciprocal.bits_over_unit + 31 - 8, 0);
  write_row(in, n, table, top, flip, out, [&](std::int32_t e) {
    return shift > 31 ? 0 : rdpot(srdhm(reciprocal.scale, e), shift);
  });
}

}  // namespace deputy::arch
