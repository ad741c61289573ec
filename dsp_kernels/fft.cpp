// FFT: reference and cases.
#include <cmath>
#include <numbers>

#include "dsp_kernels/data.h"
#include "dsp_kernels/tables.h"

namespace deputy::dsp_kernels {
namespace {

struct Complex {
  std::int16_t re = 0, im = 0;
};

std::int16_t q15(double v) {
  return static_cast<std::int16_t>(clamp(static_cast<std::int64_t>(std::lround(v * 32768)), 16));
}
Complex factor(std::size_t n, std::size_t k) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {q15(std::cos(angle)), q15(std::sin(angle))};
}
Complex multiply(Complex a, Complex b) {
  const auto part = [](std::int64_t v) {
    return static_cast<std::int16_t>(clamp(round_shift(v, 15), 16));
  };
  return {part(std::int64_t{a.re} * b.re - std::int64_t{a.im} * b.im),
          part(std::int64_t{a.re} * b.im + std::int64_t{a.im} * b.re)};
}
std::int16_t half(std::int64_t v) { return static_cast<std::int16_t>(clamp((v + 1) >> 1, 16)); }

// The transform as a recursion: the method's definition, with none of the kernel's order.
// Decimation in frequency: even bins are the transform of the half sums, odd ones of the half
// differences times w^i.
std::vector<Complex> transform(const std::vector<Complex>& x) {
  const std::size_t n = x.size();
  if (n == 1) return x;
  std::vector<Complex> sum(n / 2), difference(n / 2), out(n);
  for (std::size_t i = 0; i < n / 2; ++i) {
    const Complex a = x[i], b = x[i + n / 2];
    sum[i] = {half(a.re + b.re), half(a.im + b.im)};
    difference[i] = {half(a.re - b.re), half(a.im - b.im)};
    if (n > 2) difference[i] = multiply(difference[i], factor(n, i));
  }
  const auto even = transform(sum), odd = transform(difference);
  for (std::size_t k = 0; k < n / 2; ++k) out[2 * k] = even[k], out[2 * k + 1] = odd[k];
  return out;
}

void add_fft(Source& source, Cases& cases, const std::string& kernel, std::size_t n) {
  constexpr std::uint32_t kIn = 0x1000, kOut = 0x2000, kWork = 0x3000, kFactors = 0x4000;
  const auto raw = source.fill<std::int16_t>(2 * n);
  std::vector<Complex> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = {raw[2 * i], raw[2 * i + 1]};
  const auto factors = fft_factors(n);
  std::int64_t zips = 0, stages = 0;
  for (std::size_t s = 1; s < n; s *= 2, ++stages) zips += s < 32;
  KernelCase c{.kernel = kernel,
               .what = std::to_string(n) + " points, complex Q15",
               .parameters = {{"N", n}}};
  c.inputs = {memory(kIn, x), memory(kFactors, factors)};
  c.expected = {memory(kOut, transform(x))};
  c.arguments = {kIn, kFactors, kOut, kWork};
  c.outputs = static_cast<std::int64_t>(n), c.unit = "point";
  const auto vectors = static_cast<std::int64_t>(n / 64);  // of 32 butterflies, a stage
  if (kernel == "fft")
    c.bound = vectors * (5 * stages - 1), c.bound_by = "5 loads and stores for 32 butterflies";
  else
    c.bound = vectors * (stages + zips),
    c.bound_by = "a sum and a rearrangement for 32 butterflies";
  cases.push_back(std::move(c));
}

}  // namespace

void add_fft_cases(Source& source, Cases& cases) {
  for (const std::size_t n : {64u, 128u, 256u}) add_fft(source, cases, "fft_registers", n);
  for (const std::size_t n : {64u, 512u, 1024u}) add_fft(source, cases, "fft", n);
}

}  // namespace deputy::dsp_kernels
