// Windowing, median, moving statistics, wavelet: references and cases.
#include <algorithm>
#include <array>

#include "dsp_kernels/data.h"

namespace deputy::dsp_kernels {
namespace {

constexpr std::uint32_t kIn = 0x2000, kSecond = 0x6000, kOut = 0x8000, kOut2 = 0xC000,
                        kState = 0x10000;
using Samples = std::vector<std::int16_t>;

void add_window(Source& source, Cases& cases, std::size_t blocks) {
  const auto x = source.fill<std::int16_t>(256 * blocks),
             w = source.fill<std::int16_t>(256 * blocks);
  Samples y;
  for (std::size_t i = 0; i < x.size(); ++i)
    y.push_back(static_cast<std::int16_t>(clamp(round_shift(std::int64_t{x[i]} * w[i], 15), 16)));
  KernelCase c{.kernel = "window", .what = "Q15"};
  c.inputs = {memory(kIn, x), memory(kSecond, w)}, c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kSecond, kOut, static_cast<std::uint32_t>(blocks)};
  c.outputs = static_cast<std::int64_t>(x.size());
  c.bound = static_cast<std::int64_t>(12 * blocks),
  c.bound_by = "3 loads and stores for 64 samples";
  cases.push_back(std::move(c));
}

void add_window_complex(Source& source, Cases& cases, std::size_t blocks) {
  const auto x = source.fill<std::int16_t>(64 * blocks), w = source.fill<std::int16_t>(64 * blocks);
  Samples y;
  for (std::size_t i = 0; i < x.size(); ++i)
    y.push_back(static_cast<std::int16_t>(clamp(round_shift(std::int64_t{x[i]} * w[i], 15), 16))),
        y.push_back(0);
  KernelCase c{.kernel = "window_complex", .what = "Q15, to complex"};
  c.inputs = {memory(kIn, x), memory(kSecond, w)}, c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kSecond, kOut, static_cast<std::uint32_t>(blocks)};
  c.outputs = static_cast<std::int64_t>(x.size());
  c.bound = static_cast<std::int64_t>(4 * blocks), c.bound_by = "4 loads and stores for 64 samples";
  cases.push_back(std::move(c));
}

void add_median(Source& source, Cases& cases, std::size_t blocks) {
  const auto x = source.fill<std::int16_t>(64 + 64 * blocks);
  Samples y;
  for (std::size_t n = 64; n < x.size(); ++n) {
    std::array<std::int16_t, 5> five;
    std::copy(x.begin() + static_cast<long>(n) - 4, x.begin() + static_cast<long>(n) + 1,
              five.begin());
    std::sort(five.begin(), five.end());
    y.push_back(five[2]);
  }
  KernelCase c{.kernel = "median", .what = "of 5, int16"};
  c.inputs = {memory(kIn, x)}, c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kOut, static_cast<std::uint32_t>(blocks)};
  c.outputs = static_cast<std::int64_t>(y.size());
  c.bound = static_cast<std::int64_t>(14 * blocks),
  c.bound_by = "4 shifts and 10 comparisons for 64 samples";
  cases.push_back(std::move(c));
}

void add_moving(Source& source, Cases& cases, int log, std::size_t steps) {
  constexpr std::size_t kChannels = 64;
  const std::size_t window = std::size_t{1} << log;
  const auto x = source.fill<std::int16_t>(kChannels * steps);
  auto ring = source.bounded<std::int16_t>(kChannels * window, 4096);
  Samples history = ring, mean, square;
  for (const std::int16_t v : x) history.push_back(static_cast<std::int16_t>(round_shift(v, 3)));
  for (std::size_t n = 0; n < steps; ++n)
    for (std::size_t ch = 0; ch < kChannels; ++ch) {
      std::int64_t sum = 0, squares = 0;
      for (std::size_t k = 1; k <= window; ++k) {
        const std::int64_t v = history[(n + k) * kChannels + ch];
        sum += v, squares += v * v;
      }
      mean.push_back(static_cast<std::int16_t>(clamp(round_shift(sum, log), 16)));
      square.push_back(static_cast<std::int16_t>(clamp(round_shift(squares, log + 10), 16)));
    }
  KernelCase c{.kernel = "moving",
               .what = "mean and square over " + std::to_string(window) + ", 64 channels of int16",
               .parameters = {{"LOG", log}}};
  c.inputs = {memory(kIn, x), memory(kState, ring)},
  c.expected = {memory(kOut, mean), memory(kOut2, square)};
  c.arguments = {kIn, kOut, kOut2, static_cast<std::uint32_t>(steps), kState};
  c.outputs = static_cast<std::int64_t>(x.size());
  c.bound = static_cast<std::int64_t>(5 * steps),
  c.bound_by = "5 loads and stores for a time step of 64 channels";
  cases.push_back(std::move(c));
}

void add_wavelet(Source& source, Cases& cases, std::size_t blocks) {
  const std::size_t n = 64 * blocks;
  const auto x = source.fill<std::int16_t>(2 * n + 128);
  const auto state = source.fill<std::int16_t>(64);
  Samples s, d;
  std::int16_t before = state[63];
  for (std::size_t i = 0; i < n; ++i) {
    const auto detail =
        static_cast<std::int16_t>(x[2 * i + 1] - ((x[2 * i] + x[2 * i + 2] + 1) >> 1));
    const auto both = static_cast<std::int16_t>(before + detail);
    d.push_back(detail);
    s.push_back(static_cast<std::int16_t>(x[2 * i] + round_shift(both, 2)));
    before = detail;
  }
  KernelCase c{.kernel = "wavelet", .what = "5/3, one level, int16"};
  c.inputs = {memory(kIn, x), memory(kState, state)},
  c.expected = {memory(kOut, s), memory(kOut2, d)};
  c.arguments = {kIn, kOut, kOut2, static_cast<std::uint32_t>(blocks), kState};
  c.outputs = static_cast<std::int64_t>(2 * n);
  c.bound = static_cast<std::int64_t>(8 * blocks),
  c.bound_by = "3 rearrangements and 5 sums for 128 samples";
  cases.push_back(std::move(c));
}

}  // namespace

void add_signal_cases(Source& source, Cases& cases) {
  add_window(source, cases, 4);
  add_window_complex(source, cases, 4);
  add_median(source, cases, 16);
  add_moving(source, cases, 4, 64);
  add_moving(source, cases, 6, 8);
  add_wavelet(source, cases, 8);
}

}  // namespace deputy::dsp_kernels
