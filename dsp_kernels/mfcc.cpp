// Mel-frequency cepstrum: reference and cases.
#include "dsp_kernels/data.h"
#include "dsp_kernels/tables.h"

namespace deputy::dsp_kernels {
namespace {

constexpr std::uint32_t kIn = 0x1000, kWork = 0x1800, kOut = 0x1C00, kLogs = 0x1E00,
                        kWeights = 0x4000, kCosines = 0xC000;
constexpr std::size_t kFilters = kMelFilters;

std::int64_t log2_q10(std::int64_t v) {
  int n = 0;
  while (v >> (n + 1)) ++n;
  const std::int64_t f =
      n >= 15 ? (v - (std::int64_t{1} << n)) >> (n - 15) : (v - (std::int64_t{1} << n)) << (15 - n);
  const std::int64_t bow = round_shift(round_shift(f * (32768 - f), 15) * 11, 5);
  return (std::int64_t{n} << 10) + round_shift(f + bow, 5);
}

void add_mfcc(Source& source, Cases& cases, std::size_t bins) {
  const auto x = source.fill<std::int16_t>(2 * bins);
  const auto w = mel_weights(bins, 8000), d = mel_cosines();
  std::vector<std::int32_t> logs, out;
  for (std::size_t f = 0; f < kFilters; ++f) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < bins; ++k) {
      const std::int64_t re = x[2 * k], im = x[2 * k + 1];
      sum += w[k * kFilters + f] * ((re * re + im * im) >> 1);
    }
    logs.push_back(
        static_cast<std::int32_t>(log2_q10(clamp(clamp(round_shift(sum, 15), 32) + 1, 32))));
  }
  for (std::size_t c = 0; c < kFilters; ++c) {
    std::int64_t sum = 0;
    for (std::size_t f = 0; f < kFilters; ++f) sum += std::int64_t{d[f * kFilters + c]} * logs[f];
    out.push_back(static_cast<std::int32_t>(clamp(round_shift(sum, 15), 32)));
  }
  KernelCase c{.kernel = "mfcc",
               .what = std::to_string(bins) + " bins, 32 mel filters, 32 coefficients",
               .parameters = {{"BINS", bins}}};
  c.inputs = {memory(kIn, x), memory(kWeights, w), memory(kCosines, d)},
  c.expected = {memory(kOut, out), memory(kLogs, logs)};
  c.arguments = {kIn, kWeights, kCosines, kOut, kWork, kLogs};
  c.outputs = 1, c.unit = "frame";
  c.bound = static_cast<std::int64_t>(bins / 32 * 2 + bins + bins / 32 + kFilters + 2),
  c.bound_by = "a load for each bin and 32 filters, and for each filter";
  cases.push_back(std::move(c));
}

void add_narrow(Source& source, Cases& cases) {
  const auto x = source.fill<std::int32_t>(32);
  const std::int32_t zero = static_cast<std::int32_t>(source.below(256)) - 128;
  std::vector<std::int8_t> y;
  for (const std::int64_t v : x)
    y.push_back(static_cast<std::int8_t>(clamp(round_shift(v, 10) + zero, 8)));
  KernelCase c{.kernel = "narrow", .what = "32 words to int8"};
  c.inputs = {memory(kIn, x)}, c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kOut, static_cast<std::uint32_t>(zero)};
  c.outputs = 32, c.unit = "value";
  cases.push_back(std::move(c));
}

}  // namespace

void add_mfcc_cases(Source& source, Cases& cases) {
  add_mfcc(source, cases, 128);
  add_narrow(source, cases);
}

}  // namespace deputy::dsp_kernels
