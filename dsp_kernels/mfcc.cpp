// Mel-frequency cepstrum: tables, reference and cases.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "dsp_kernels/data.h"

namespace deputy::dsp_kernels {
namespace {

constexpr std::uint32_t kIn = 0x1000, kWork = 0x1800, kOut = 0x1C00, kLogs = 0x1E00, kWeights = 0x4000, kCosines = 0xC000;
constexpr std::size_t kFilters = 32;

// Triangles that are equally wide in mel, from bin 1 to the last; Q15.
std::vector<std::int32_t> mel_weights(std::size_t bins) {
  const auto mel = [](double hz) { return 1127 * std::log(1 + hz / 700); };
  const auto hz = [](double m) { return 700 * (std::exp(m / 1127) - 1); };
  const double step = 8000.0 / static_cast<double>(bins), low = mel(step), high = mel(8000);
  const auto edge = [&](std::size_t i) { return hz(low + (high - low) * static_cast<double>(i) / (kFilters + 1)); };
  std::vector<std::int32_t> out;
  for (std::size_t k = 0; k < bins; ++k)
    for (std::size_t f = 0; f < kFilters; ++f) {
      const double at = static_cast<double>(k) * step, rise = (at - edge(f)) / (edge(f + 1) - edge(f)), fall = (edge(f + 2) - at) / (edge(f + 2) - edge(f + 1));
      out.push_back(static_cast<std::int32_t>(std::lround(32767 * std::clamp(std::min(rise, fall), 0.0, 1.0))));
    }
  return out;
}
std::vector<std::int32_t> cosines() {
  std::vector<std::int32_t> out;
  for (std::size_t f = 0; f < kFilters; ++f)
    for (std::size_t c = 0; c < kFilters; ++c)
      out.push_back(static_cast<std::int32_t>(std::lround(8192 * std::cos(std::numbers::pi / kFilters * (static_cast<double>(f) + 0.5) * static_cast<double>(c)))));
  return out;
}

std::int64_t log2_q10(std::int64_t v) {
  int n = 0;
  while (v >> (n + 1)) ++n;
  const std::int64_t f = n >= 15 ? (v - (std::int64_t{1} << n)) >> (n - 15) : (v - (std::int64_t{1} << n)) << (15 - n);
  const std::int64_t bow = round_shift(round_shift(f * (32768 - f), 15) * 11, 5);
  return (std::int64_t{n} << 10) + round_shift(f + bow, 5);
}

void add_mfcc(Source& source, Cases& cases, std::size_t bins) {
  const auto x = source.fill<std::int16_t>(2 * bins);
  const auto w = mel_weights(bins), d = cosines();
  std::vector<std::int32_t> logs, out;
  for (std::size_t f = 0; f < kFilters; ++f) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < bins; ++k) {
      const std::int64_t re = x[2 * k], im = x[2 * k + 1];
      sum += w[k * kFilters + f] * ((re * re + im * im) >> 1);
    }
    logs.push_back(static_cast<std::int32_t>(log2_q10(clamp(clamp(round_shift(sum, 15), 32) + 1, 32))));
  }
  for (std::size_t c = 0; c < kFilters; ++c) {
    std::int64_t sum = 0;
    for (std::size_t f = 0; f < kFilters; ++f) sum += std::int64_t{d[f * kFilters + c]} * logs[f];
    out.push_back(static_cast<std::int32_t>(clamp(round_shift(sum, 15), 32)));
  }
  KernelCase c{.kernel = "mfcc", .what = std::to_string(bins) + " bins, 32 mel filters, 32 coefficients", .parameters = {{"BINS", bins}}};
  c.inputs = {memory(kIn, x), memory(kWeights, w), memory(kCosines, d)}, c.expected = {memory(kOut, out), memory(kLogs, logs)};
  c.arguments = {kIn, kWeights, kCosines, kOut, kWork, kLogs};
  c.outputs = 1, c.unit = "frame";
  c.bound = static_cast<std::int64_t>(bins / 32 * 2 + bins + bins / 32 + kFilters + 2), c.bound_by = "a load for each bin and 32 filters, and for each filter";
  cases.push_back(std::move(c));
}

}  // namespace

void add_mfcc_cases(Source& source, Cases& cases) { add_mfcc(source, cases, 128); }

}  // namespace deputy::dsp_kernels
