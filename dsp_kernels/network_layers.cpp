// Convolution, softmax, layer normalisation: references and cases.
#include <algorithm>
#include <cmath>

#include "dsp_kernels/convolution.h"

namespace deputy::dsp_kernels {
namespace {

constexpr std::uint32_t kIn = 0x2000, kWeights = 0x8000, kParameters = 0x1000, kOut = 0x10000;

std::int8_t to_int8(std::int64_t v) { return static_cast<std::int8_t>(clamp(clamp(v, 16), 8)); }

void add_conv(Source& source, Cases& cases, std::size_t channels, std::size_t height,
              std::size_t width) {
  const Convolution conv(source, channels, height, width);
  std::vector<std::int32_t> multiplier, shift, parameters(conv.bias);
  for (std::size_t o = 0; o < Convolution::kOutputs; ++o) {
    multiplier.push_back(static_cast<std::int32_t>((1u << 30) + source.below(1u << 30)));
    shift.push_back(static_cast<std::int32_t>(36 + source.below(6)));
  }
  parameters.insert(parameters.end(), multiplier.begin(), multiplier.end());
  parameters.insert(parameters.end(), shift.begin(), shift.end());
  const std::int32_t zero = static_cast<std::int32_t>(source.below(256)) - 128;
  const auto y = conv.compute([&](std::int32_t sum, std::size_t o) {
    const std::int64_t scaled = round_shift(std::int64_t{sum} * multiplier[o], shift[o]);
    return to_int8(clamp(clamp(scaled, 32) + zero, 32));
  });
  KernelCase c = conv.make(y, parameters, zero, "int8");
  c.kernel = "conv";
  cases.push_back(std::move(c));
}

void add_softmax(Source& source, Cases& cases, std::size_t n, double scale) {
  const auto x = source.fill<std::int8_t>(128);
  std::vector<std::int32_t> table;
  for (int d = 0; d < 256; ++d)
    table.push_back(static_cast<std::int32_t>(std::lround(std::exp(-d * scale) * (1 << 23))));
  std::int32_t largest = -128;
  for (std::size_t i = 0; i < n; ++i) largest = std::max<std::int32_t>(largest, x[i]);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    sum += static_cast<std::uint32_t>(table[static_cast<std::size_t>(largest - x[i])]);
  int zeros = 0;
  while (!(sum << zeros >> 31)) ++zeros;
  const std::uint32_t reciprocal = 0x7FFFFFFFu / (sum << zeros >> 16);
  std::vector<std::int8_t> y;
  for (std::size_t i = 0; i < n; ++i)
    y.push_back(to_int8(
        round_shift(std::int64_t{table[static_cast<std::size_t>(largest - x[i])]} * reciprocal,
                    39 - zeros) -
        128));
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
  c.inputs = {memory(kIn, x), memory(kWeights, gamma), memory(kParameters, beta)},
  c.expected = {memory(kOut, y)};
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
