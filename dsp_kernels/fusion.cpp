// Sensor fusion and QRS detection: references and cases.
#include "dsp_kernels/data.h"

namespace deputy::dsp_kernels {
namespace {

constexpr std::uint32_t kIn = 0x2000, kOut = 0x8000, kState = 0x1000, kCount = 0x1800;

std::int32_t q31(std::int64_t a, std::int64_t b) {
  return static_cast<std::int32_t>(clamp(round_shift(a * b, 31), 32));
}
std::int32_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int32_t>(clamp(a + b, 32));
}

void add_complementary(Source& source, Cases& cases, std::size_t steps) {
  constexpr std::size_t kSensors = 32;
  const auto in = source.fill<std::int32_t>(2 * kSensors * steps);
  auto angle = source.fill<std::int32_t>(kSensors);
  const auto gains = source.fill<std::int32_t>(3);  // A, B, G
  KernelCase c{.kernel = "complementary", .what = "32 sensors of Q31"};
  c.inputs = {memory(kIn, in), memory(kState, angle)};
  std::vector<std::int32_t> out;
  for (std::size_t n = 0; n < steps; ++n)
    for (std::size_t i = 0; i < kSensors; ++i) {
      const std::int32_t rate = in[(2 * n) * kSensors + i], tilt = in[(2 * n + 1) * kSensors + i];
      angle[i] = sum(q31(sum(angle[i], q31(rate, gains[2])), gains[0]), q31(tilt, gains[1]));
      out.push_back(angle[i]);
    }
  c.expected = {memory(kOut, out), memory(kState, angle)};
  c.arguments = {kIn,
                 kOut,
                 static_cast<std::uint32_t>(steps),
                 static_cast<std::uint32_t>(gains[0]),
                 static_cast<std::uint32_t>(gains[1]),
                 static_cast<std::uint32_t>(gains[2]),
                 kState};
  c.outputs = static_cast<std::int64_t>(out.size());
  c.bound = static_cast<std::int64_t>(5 * steps),
  c.bound_by = "two dependent sums and a product a step: latency 1 + 3 + 1";
  cases.push_back(std::move(c));
}

void add_kalman(Source& source, Cases& cases, std::size_t steps) {
  const auto z = source.bounded<std::int32_t>(steps, 10000);
  std::int32_t x = static_cast<std::int32_t>(source.below(1000));
  std::uint32_t p = source.below(1000), q = 1 + source.below(100), r = 1 + source.below(10000);
  KernelCase c{.kernel = "kalman",
               .what = "one value, int32, gain Q16",
               .arguments = {kIn, kOut, static_cast<std::uint32_t>(steps),
                             static_cast<std::uint32_t>(x), p, q, r},
               .inputs = {memory(kIn, z)}};
  std::vector<std::int32_t> out;
  for (const std::int32_t measured : z) {
    p += q;
    const std::uint32_t gain = (p << 16) / (p + r);
    x += static_cast<std::int32_t>(gain * static_cast<std::uint32_t>(measured - x)) >> 16;
    p -= gain * p >> 16;
    out.push_back(x);
  }
  c.expected = {memory(kOut, out)};
  c.outputs = static_cast<std::int64_t>(steps);
  c.bound = static_cast<std::int64_t>(11 * steps), c.bound_by = "11 scalar operations a step";
  cases.push_back(std::move(c));
}

void add_qrs(Source& source, Cases& cases, int window, std::size_t blocks) {
  const std::size_t n = 64 * blocks;
  const auto x = source.fill<std::int16_t>(64 + n);
  const auto at = [&](std::size_t i, std::size_t back) {
    return i < back ? 0 : std::int64_t{x[i - back]};
  };
  std::vector<std::int64_t> squares;
  std::vector<std::int16_t> y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t d =
        clamp(round_shift(2 * at(i, 0) + at(i, 1) - at(i, 3) - 2 * at(i, 4), 3), 16);
    squares.push_back(clamp(round_shift(d * d, 15), 16));
    std::int64_t total = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(window) && k <= i; ++k)
      total += squares[i - k];
    if (i >= 64) y.push_back(static_cast<std::int16_t>(clamp(round_shift(total, 6), 16)));
  }
  KernelCase c{.kernel = "qrs",
               .what = "derivative, square, mean of " + std::to_string(window),
               .parameters = {{"WINDOW", window}}};
  c.inputs = {memory(kIn, x)}, c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kOut, static_cast<std::uint32_t>(blocks)};
  c.outputs = static_cast<std::int64_t>(n);
  c.bound = static_cast<std::int64_t>((static_cast<std::size_t>(window) + 5) * blocks),
  c.bound_by = "a multiplication a sample of the mean, 5 more, for 64 samples";
  cases.push_back(std::move(c));
}

void add_qrs_detect(Source& source, Cases& cases, int refractory, std::size_t n) {
  // Beats on noise, so that both ways are taken; or what the fill says.
  auto f = source.fill<std::int16_t>(n);
  if (source.kind() == Fill::kRandom)
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t phase = i % 300;
      f[i] = static_cast<std::int16_t>(
          std::uint16_t(f[i]) % 400 +
          (phase < 40 ? 8000 - 400 * (phase < 20 ? 20 - phase : phase - 20) : 0));
    }
  std::int32_t signal = 4000, noise = 200, last = -refractory;
  KernelCase c{.kernel = "qrs_detect",
               .what = "adaptive thresholds",
               .parameters = {{"REFRACTORY", refractory}}};
  c.arguments = {kIn,
                 kOut,
                 static_cast<std::uint32_t>(n),
                 static_cast<std::uint32_t>(signal),
                 static_cast<std::uint32_t>(noise),
                 0,
                 kCount};
  std::vector<std::int32_t> beats;
  for (std::int32_t i = 1; i + 1 < static_cast<std::int32_t>(n); ++i) {
    const std::int32_t v = f[static_cast<std::size_t>(i)];
    if (v <= f[static_cast<std::size_t>(i) - 1] || v < f[static_cast<std::size_t>(i) + 1]) continue;
    if (i - last >= refractory && v > noise + ((signal - noise) >> 2)) {
      beats.push_back(i), last = i;
      signal += (v - signal) >> 3;
    } else {
      noise += (v - noise) >> 3;
    }
  }
  c.inputs = {memory(kIn, f)};
  c.expected = {
      memory(kOut, beats),
      memory(kCount, std::vector<std::uint32_t>{static_cast<std::uint32_t>(beats.size())})};
  c.outputs = static_cast<std::int64_t>(n);
  cases.push_back(std::move(c));
}

}  // namespace

void add_fusion_cases(Source& source, Cases& cases) {
  add_complementary(source, cases, 64);
  add_kalman(source, cases, 200);
  add_qrs(source, cases, 54, 16);
  add_qrs(source, cases, 2, 1);
  add_qrs_detect(source, cases, 72, 3600);
}

}  // namespace deputy::dsp_kernels
