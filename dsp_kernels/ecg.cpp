// What streams need besides: splitting leads, finding beats block by block, a beat's window,
// samples to int8. References and cases.
#include <algorithm>
#include <cstdlib>

#include "dsp_kernels/data.h"

namespace deputy::dsp_kernels {
namespace {

constexpr std::uint32_t kIn = 0x2000, kSecond = 0x6000, kOut = 0x8000, kOut2 = 0xC000,
                        kState = 0x1000;
using Samples = std::vector<std::int16_t>;
std::int16_t half(std::int64_t v) { return static_cast<std::int16_t>(clamp(v, 16)); }

void add_split(Source& source, Cases& cases, int shift, std::size_t blocks) {
  const auto x = source.fill<std::int16_t>(128 * blocks);
  Samples first, second;
  for (std::size_t i = 0; i < x.size(); i += 2)
    first.push_back(half(std::int64_t{x[i]} << shift)),
        second.push_back(half(std::int64_t{x[i + 1]} << shift));
  KernelCase c{.kernel = "split", .what = "two channels, int16", .parameters = {{"SHIFT", shift}}};
  c.inputs = {memory(kIn, x)}, c.expected = {memory(kOut, first), memory(kOut2, second)};
  c.arguments = {kIn, kOut, kOut2, static_cast<std::uint32_t>(blocks)};
  c.outputs = static_cast<std::int64_t>(x.size());
  c.bound = static_cast<std::int64_t>(4 * blocks), c.bound_by = "4 loads and stores for 64 pairs";
  cases.push_back(std::move(c));
}

void add_quantise(Source& source, Cases& cases, int shift, std::size_t blocks) {
  const auto x = source.fill<std::int16_t>(128 * blocks);
  std::vector<std::int8_t> y;
  for (const std::int16_t v : x)
    y.push_back(static_cast<std::int8_t>(clamp(round_shift(v, shift), 8)));
  KernelCase c{.kernel = "quantise", .what = "int16 to int8", .parameters = {{"SHIFT", shift}}};
  c.inputs = {memory(kIn, x)}, c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kOut, static_cast<std::uint32_t>(blocks)};
  c.outputs = static_cast<std::int64_t>(x.size());
  c.bound = static_cast<std::int64_t>(3 * blocks),
  c.bound_by = "3 loads and stores, or ALU operations, for 128 samples";
  cases.push_back(std::move(c));
}

struct Detector {
  std::int32_t before = 0, middle = 0, number = 0, last = 0, signal = 0, noise = 0;
};

void add_qrs_stream(Source& source, Cases& cases, std::size_t n) {
  constexpr std::int32_t kRefractory = 72, kPatience = 720;
  auto a = source.fill<std::int16_t>(n), b = source.fill<std::int16_t>(n);
  if (source.kind() == Fill::kRandom)  // beats on noise
    for (std::size_t i = 0; i < n; ++i) {
      const int phase = static_cast<int>(i % 300),
                peak = phase < 40 && i < n / 2 ? 8000 - 400 * std::abs(phase - 20) : 0;
      a[i] = static_cast<std::int16_t>(std::uint16_t(a[i]) % 300 + peak),
      b[i] = static_cast<std::int16_t>(std::uint16_t(b[i]) % 200 + peak / 2);
    }
  Detector d{.before = static_cast<std::int32_t>(source.below(100)),
             .middle = 50,
             .number = 1000,
             .last = 900,
             .signal = 6000,
             .noise = 100};
  KernelCase c{.kernel = "qrs_stream", .what = "two leads, adaptive thresholds"};
  c.inputs = {memory(kIn, a), memory(kSecond, b),
              memory(kState, std::vector<std::int32_t>{d.before, d.middle, d.number, d.last,
                                                       d.signal, d.noise})};
  std::vector<std::int32_t> beats = {0};
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t now = a[i] + b[i];
    if (d.before < d.middle && d.middle >= now) {
      const bool above = d.middle > d.noise + ((d.signal - d.noise) * 3 >> 4),
                 beat = above && d.number - d.last >= kRefractory;
      if (beat)
        beats.push_back(d.number), d.last = d.number, d.signal += (d.middle - d.signal) >> 3;
      if (!above) d.noise += (d.middle - d.noise) >> 3;
    }
    d.before = d.middle, d.middle = now, ++d.number;
  }
  if (d.number - d.last > kPatience) d.last += kPatience / 2, d.signal -= (d.signal - d.noise) >> 1;
  beats[0] = static_cast<std::int32_t>(beats.size()) - 1;
  c.expected = {memory(kOut, beats),
                memory(kState, std::vector<std::int32_t>{d.before, d.middle, d.number, d.last,
                                                         d.signal, d.noise})};
  c.arguments = {kIn, kSecond, static_cast<std::uint32_t>(n), kState, kOut};
  c.outputs = static_cast<std::int64_t>(n);
  c.bound = static_cast<std::int64_t>(8 * n), c.bound_by = "8 scalar operations a sample";
  cases.push_back(std::move(c));
}

Samples boxed(const Samples& x, std::size_t from, std::size_t times, int log) {
  Samples out;
  for (std::size_t i = 0; i < times; ++i) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < std::size_t{1} << log; ++k) sum += x[from + i + k];
    out.push_back(static_cast<std::int16_t>(sum >> log));
  }
  return out;
}

void add_beat_window(Source& source, Cases& cases, std::size_t before, std::size_t length, int log,
                     int shift) {
  const std::size_t m = std::size_t{1} << log, first = before + m + 11, candidates = 72;
  const auto x = source.fill<std::int16_t>(first + candidates + length + 2 * m);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < candidates; ++i) sum += x[first + i];
  const std::int64_t mean = sum / static_cast<std::int64_t>(candidates);
  std::int64_t largest = -1;
  std::size_t peak = first;
  for (std::size_t i = first; i < first + candidates; ++i)
    if (const std::int64_t far = std::abs(x[i] - mean); far > largest) largest = far, peak = i;
  const std::size_t start = peak - before - (m - 1);
  const Samples once = boxed(x, start, length + m, log), drift = boxed(once, 0, length, log);
  Samples flat;
  for (std::size_t i = 0; i < length; ++i)
    flat.push_back(half(std::int64_t{x[start + m - 1 + i]} - drift[i]));
  std::vector<std::uint16_t> offsets;
  Samples fractions;
  std::vector<std::int8_t> y;
  for (std::size_t k = 0; k < 256; ++k) {
    const std::size_t at = k * (length - 2) * 32768 / 255, p = at / 32768;
    const auto f = static_cast<std::int16_t>(at % 32768);
    offsets.push_back(static_cast<std::uint16_t>(2 * p)), fractions.push_back(f);
    const std::int64_t step = half(std::int64_t{flat[p + 1]} - flat[p]);
    const std::int64_t value = half(std::int64_t{flat[p]} + half(round_shift(step * f, 15)));
    y.push_back(static_cast<std::int8_t>(
        std::max<std::int64_t>(-127, clamp(round_shift(value, shift), 8))));
  }
  KernelCase c{
      .kernel = "beat_window",
      .what = std::to_string(length) + " samples to 256",
      .parameters = {{"BEFORE", before}, {"LENGTH", length}, {"BOX", log}, {"SHIFT", shift}}};
  c.inputs = {memory(kIn, x), memory(kState, offsets), memory(kState + 512, fractions)};
  c.expected = {memory(kOut, y),
                memory(kOut2, std::vector<std::uint32_t>{static_cast<std::uint32_t>(peak)})};
  c.arguments = {kIn,
                 static_cast<std::uint32_t>(first),
                 static_cast<std::uint32_t>(candidates),
                 0x10000,
                 0x11000,
                 kState,
                 kState + 512,
                 kOut,
                 kOut2};
  c.outputs = 256;
  c.bound = static_cast<std::int64_t>(3 * (2 * length + m) + 4 * m + 8 * candidates),
  c.bound_by = "3 loads and stores a mean, 2 to begin with, 8 operations a candidate";
  cases.push_back(std::move(c));
}

}  // namespace

void add_ecg_cases(Source& source, Cases& cases) {
  add_split(source, cases, 3, 8);
  add_split(source, cases, 0, 1);
  add_quantise(source, cases, 8, 16);
  add_quantise(source, cases, 3, 1);
  add_qrs_stream(source, cases, 64);
  add_qrs_stream(source, cases, 3600);
  add_beat_window(source, cases, 432, 736, 9, 5);
  add_beat_window(source, cases, 32, 64, 4, 1);
}

}  // namespace deputy::dsp_kernels
