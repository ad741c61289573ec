// Convolution, softmax, layer normalisation: references and cases.
#include <algorithm>
#include <cmath>

#include "dsp_kernels/data.h"

namespace deputy::dsp_kernels {
namespace {

constexpr std::uint32_t kIn = 0x2000, kWeights = 0x8000, kParameters = 0x1000, kOut = 0x10000;

std::int8_t to_int8(std::int64_t v) { return static_cast<std::int8_t>(clamp(clamp(v, 16), 8)); }

void add_conv(Source& source, Cases& cases, std::size_t channels, std::size_t height, std::size_t width) {
  constexpr std::size_t kOutputs = 32;
  const std::size_t in_width = width + 2, taps = 9 * channels;
  auto map = source.fill<std::int8_t>((height + 2) * in_width * channels);
  const auto w = source.fill<std::int8_t>(kOutputs * taps);  // OHWI
  const auto bias = source.bounded<std::int32_t>(kOutputs, 50000);
  std::vector<std::int32_t> multiplier(kOutputs), shift(kOutputs), parameters(bias);
  for (std::size_t o = 0; o < kOutputs; ++o) multiplier[o] = static_cast<std::int32_t>((1u << 30) + source.below(1u << 30)), shift[o] = static_cast<std::int32_t>(36 + source.below(6));
  parameters.insert(parameters.end(), multiplier.begin(), multiplier.end());
  parameters.insert(parameters.end(), shift.begin(), shift.end());
  const std::int32_t zero = static_cast<std::int32_t>(source.below(256)) - 128;
  std::vector<std::int8_t> y, packed;
  for (std::size_t py = 0; py < height; ++py)
    for (std::size_t px = 0; px < width; ++px)
      for (std::size_t o = 0; o < kOutputs; ++o) {
        std::int32_t sum = bias[o];
        for (std::size_t ky = 0; ky < 3; ++ky)
          for (std::size_t kx = 0; kx < 3; ++kx)
            for (std::size_t c = 0; c < channels; ++c)
              sum += std::int32_t{map[((py + ky) * in_width + px + kx) * channels + c]} * w[o * taps + (ky * 3 + kx) * channels + c];
        y.push_back(to_int8(clamp(clamp(round_shift(std::int64_t{sum} * multiplier[o], shift[o]), 32) + zero, 32)));
      }
  for (std::size_t k = 0; k < taps; k += 4)
    for (std::size_t o = 0; o < kOutputs; ++o)
      for (std::size_t i = 0; i < 4; ++i) packed.push_back(w[o * taps + k + i]);
  KernelCase c{.kernel = "conv", .what = "3x3, " + std::to_string(channels) + " to 32 channels, " + std::to_string(height) + "x" + std::to_string(width) + ", int8", .parameters = {{"CHANNELS", channels}}};
  map.resize(map.size() + 128);
  c.inputs = {memory(kIn, map), memory(kWeights, packed), memory(kParameters, parameters)}, c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kWeights, kOut, static_cast<std::uint32_t>(width / 4), kParameters, static_cast<std::uint32_t>(zero), static_cast<std::uint32_t>(in_width * channels), static_cast<std::uint32_t>(height)};
  c.outputs = static_cast<std::int64_t>(height * width), c.unit = "pixel";
  c.bound = static_cast<std::int64_t>(height * width * taps / 4), c.bound_by = "a multiplication for 128 weights and pixel";
  cases.push_back(std::move(c));
}

void add_softmax(Source& source, Cases& cases, std::size_t n, double scale) {
  const auto x = source.fill<std::int8_t>(128);
  std::vector<std::int32_t> table;
  for (int d = 0; d < 256; ++d) table.push_back(static_cast<std::int32_t>(std::lround(std::exp(-d * scale) * (1 << 23))));
  std::int32_t largest = -128;
  for (std::size_t i = 0; i < n; ++i) largest = std::max<std::int32_t>(largest, x[i]);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<std::uint32_t>(table[static_cast<std::size_t>(largest - x[i])]);
  int zeros = 0;
  while (!(sum << zeros >> 31)) ++zeros;
  const std::uint32_t reciprocal = 0x7FFFFFFFu / (sum << zeros >> 16);
  std::vector<std::int8_t> y;
  for (std::size_t i = 0; i < n; ++i) y.push_back(to_int8(round_shift(std::int64_t{table[static_cast<std::size_t>(largest - x[i])]} * reciprocal, 39 - zeros) - 128));
  KernelCase c{.kernel = "softmax", .what = std::to_string(n) + " logits, int8"};
  c.inputs = {memory(kIn, x), memory(kWeights, table)}, c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kWeights, kOut, static_cast<std::uint32_t>(n)};
  c.outputs = static_cast<std::int64_t>(n), c.unit = "logit";
  cases.push_back(std::move(c));
}

void add_layernorm(Source& source, Cases& cases) {
  const auto x = source.fill<std::int8_t>(128), beta = source.fill<std::int8_t>(128);
  const auto gamma = source.fill<std::int16_t>(128);
  std::int64_t sum = 0, squares = 0;
  for (const std::int64_t v : x) sum += v, squares += v * v;
  const std::int64_t mean = 2 * sum, variance = (128 * squares - sum * sum) * 4;
  std::int64_t deviation = static_cast<std::int64_t>(std::sqrt(static_cast<double>(variance)));
  while (deviation * deviation > variance) --deviation;
  while ((deviation + 1) * (deviation + 1) <= variance) ++deviation;
  const std::int64_t inverse = (1 << 24) / std::max<std::int64_t>(deviation, 1);
  std::vector<std::int8_t> y;
  for (std::size_t i = 0; i < 128; ++i) {
    const auto scaled = static_cast<std::int32_t>((256 * x[i] - mean) * gamma[i]);
    y.push_back(to_int8(clamp(clamp(round_shift(scaled * inverse, 39), 32) + beta[i], 32)));
  }
  KernelCase c{.kernel = "layernorm", .what = "128 values, int8"};
  c.inputs = {memory(kIn, x), memory(kWeights, gamma), memory(kParameters, beta)}, c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kWeights, kParameters, kOut};
  c.outputs = 128, c.unit = "value";
  cases.push_back(std::move(c));
}

}  // namespace

void add_layer_cases(Source& source, Cases& cases) {
  add_conv(source, cases, 16, 4, 16);
  add_conv(source, cases, 32, 2, 8);
  for (const std::size_t n : {10u, 32u, 1u}) add_softmax(source, cases, n, 0.1);
  add_layernorm(source, cases);
}

}  // namespace deputy::dsp_kernels
