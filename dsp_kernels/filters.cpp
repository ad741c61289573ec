// FIR and biquad: references and cases.
#include "dsp_kernels/data.h"

namespace deputy::dsp_kernels {
namespace {

constexpr std::uint32_t kIn = 0x2000, kCoefficients = 0x1000, kOut = 0x8000, kState = 0x1800;

// 64 samples of history lie before x.
std::vector<std::int16_t> fir(const std::vector<std::int16_t>& x,
                              const std::vector<std::int16_t>& h) {
  std::vector<std::int16_t> y;
  for (std::size_t n = 64; n < x.size(); ++n) {
    std::uint32_t sum = 0;
    for (std::size_t k = 0; k < h.size(); ++k)
      sum += static_cast<std::uint32_t>(std::int32_t{h[k]} * x[n - k]);
    y.push_back(
        static_cast<std::int16_t>(clamp(round_shift(static_cast<std::int32_t>(sum), 15), 16)));
  }
  return y;
}

void add_fir(Source& source, Cases& cases, std::size_t taps, std::size_t blocks) {
  const std::size_t n = 64 * blocks;
  const auto x = source.fill<std::int16_t>(64 + n);
  auto h = source.fill<std::int16_t>(taps);
  KernelCase c{
      .kernel = "fir", .what = std::to_string(taps) + " taps, Q15", .parameters = {{"TAPS", taps}}};
  c.expected = {memory(kOut, fir(x, h))};
  h.resize(64, 0);
  c.inputs = {memory(kIn, x), memory(kCoefficients, h)};
  c.arguments = {kIn, kCoefficients, kOut, static_cast<std::uint32_t>(blocks)};
  c.outputs = static_cast<std::int64_t>(n);
  c.bound = static_cast<std::int64_t>(taps * blocks),
  c.bound_by = "a multiplication a tap and 64 samples";
  cases.push_back(std::move(c));
}

// One channel of a cascade; `state` holds the last two values of each signal.
std::vector<std::int32_t> biquad(const std::vector<std::int32_t>& x,
                                 const std::vector<std::int32_t>& k,
                                 std::vector<std::int32_t>& state) {
  const std::size_t sections = k.size() / 5;
  std::vector<std::int32_t> y;
  for (std::int32_t value : x) {
    for (std::size_t s = 0; s < sections; ++s) {
      std::int32_t *in = &state[2 * s], *out = &state[2 * s + 2];
      const auto product = [&](std::size_t i, std::int32_t v) {
        return static_cast<std::uint64_t>(std::int64_t{k[5 * s + i]} * v);
      };
      const std::uint64_t sum = product(0, value) + product(1, in[0]) + product(2, in[1]) -
                                product(3, out[0]) - product(4, out[1]);
      in[1] = in[0], in[0] = value;
      value = static_cast<std::int32_t>(clamp(round_shift(static_cast<std::int64_t>(sum), 30), 32));
    }
    std::int32_t* last = &state[2 * sections];
    last[1] = last[0], last[0] = value;
    y.push_back(value);
  }
  return y;
}

void add_biquad(Source& source, Cases& cases, std::size_t sections, std::size_t steps) {
  constexpr std::size_t kChannels = 32;
  const auto x = source.fill<std::int32_t>(kChannels * steps);
  auto k = source.fill<std::int32_t>(5 * sections);
  auto state = source.fill<std::int32_t>(kChannels * 2 * (sections + 1));
  std::vector<std::int32_t> y(x.size()), after(state.size());
  for (std::size_t ch = 0; ch < kChannels; ++ch) {
    std::vector<std::int32_t> in, own;
    for (std::size_t n = 0; n < steps; ++n) in.push_back(x[n * kChannels + ch]);
    for (std::size_t i = 0; i < 2 * (sections + 1); ++i) own.push_back(state[i * kChannels + ch]);
    const auto out = biquad(in, k, own);
    for (std::size_t n = 0; n < steps; ++n) y[n * kChannels + ch] = out[n];
    for (std::size_t i = 0; i < own.size(); ++i) after[i * kChannels + ch] = own[i];
  }
  KernelCase c{.kernel = "biquad",
               .what = std::to_string(sections) + " sections, 32 channels of Q31",
               .parameters = {{"SECTIONS", sections}}};
  k.resize(32, 0);
  c.inputs = {memory(kIn, x), memory(kCoefficients, k), memory(kState, state)};
  c.expected = {memory(kOut, y), memory(kState, after)};
  c.arguments = {kIn, kCoefficients, kOut, static_cast<std::uint32_t>(steps / 2), kState};
  c.outputs = static_cast<std::int64_t>(kChannels * steps);
  c.bound = static_cast<std::int64_t>(5 * sections * steps),
  c.bound_by = "5 multiplications a section and time step";
  cases.push_back(std::move(c));
}

}  // namespace

void add_filter_cases(Source& source, Cases& cases) {
  add_fir(source, cases, 64, 16);
  add_fir(source, cases, 16, 16);
  add_fir(source, cases, 1, 2);
  add_biquad(source, cases, 4, 64);
  add_biquad(source, cases, 2, 64);
  add_biquad(source, cases, 1, 2);
}

}  // namespace deputy::dsp_kernels
