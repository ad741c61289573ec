// Decimation and interpolation by 2: references and cases.
#include "dsp_kernels/data.h"

namespace deputy::dsp_kernels {
namespace {

constexpr std::uint32_t kIn = 0x2000, kCoefficients = 0x1000, kOut = 0x8000;

std::int16_t q15_of(std::uint32_t sum) {
  return static_cast<std::int16_t>(clamp(round_shift(static_cast<std::int32_t>(sum), 15), 16));
}

// Even coefficients from lane 0, odd ones from lane 32.
std::vector<std::int16_t> by_phase(const std::vector<std::int16_t>& h) {
  std::vector<std::int16_t> out(64, 0);
  for (std::size_t k = 0; k < h.size(); ++k) out[k % 2 * 32 + k / 2] = h[k];
  return out;
}

void add_decimate(Source& source, Cases& cases, std::size_t taps, std::size_t blocks) {
  const auto x = source.fill<std::int16_t>(128 + 128 * blocks), h = source.fill<std::int16_t>(taps);
  std::vector<std::int16_t> y;
  for (std::size_t n = 128; n < x.size(); n += 2) {
    std::uint32_t sum = 0;
    for (std::size_t k = 0; k < taps; ++k)
      sum += static_cast<std::uint32_t>(std::int32_t{h[k]} * x[n - k]);
    y.push_back(q15_of(sum));
  }
  KernelCase c{.kernel = "decimate",
               .what = "by 2, " + std::to_string(taps) + " taps, Q15",
               .parameters = {{"TAPS", taps}}};
  c.inputs = {memory(kIn, x), memory(kCoefficients, by_phase(h))};
  c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kCoefficients, kOut, static_cast<std::uint32_t>(blocks)};
  c.outputs = static_cast<std::int64_t>(y.size());
  c.bound = static_cast<std::int64_t>(taps * blocks),
  c.bound_by = "a multiplication a tap and 64 outputs";
  cases.push_back(std::move(c));
}

void add_interpolate(Source& source, Cases& cases, std::size_t taps, std::size_t blocks) {
  const auto x = source.fill<std::int16_t>(64 + 64 * blocks), h = source.fill<std::int16_t>(taps);
  std::vector<std::int16_t> y;
  for (std::size_t m = 64; m < x.size(); ++m)
    for (std::size_t p = 0; p < 2; ++p) {
      std::uint32_t sum = 0;
      for (std::size_t j = 0; 2 * j + p < taps; ++j)
        sum += static_cast<std::uint32_t>(std::int32_t{h[2 * j + p]} * x[m - j]);
      y.push_back(q15_of(sum));
    }
  KernelCase c{.kernel = "interpolate",
               .what = "by 2, " + std::to_string(taps) + " taps, Q15",
               .parameters = {{"TAPS", taps}}};
  c.inputs = {memory(kIn, x), memory(kCoefficients, by_phase(h))};
  c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kCoefficients, kOut, static_cast<std::uint32_t>(blocks)};
  c.outputs = static_cast<std::int64_t>(y.size());
  c.bound = static_cast<std::int64_t>(taps * blocks),
  c.bound_by = "a multiplication a tap and 128 outputs";
  cases.push_back(std::move(c));
}

}  // namespace

void add_resampling_cases(Source& source, Cases& cases) {
  add_decimate(source, cases, 32, 8);
  add_decimate(source, cases, 64, 2);
  add_interpolate(source, cases, 32, 8);
  add_interpolate(source, cases, 2, 1);
}

}  // namespace deputy::dsp_kernels
