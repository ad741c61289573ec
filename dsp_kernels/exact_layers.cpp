// Operators as the CPU's kernels compute them, to the byte: softmax of rows and resizing of maps.
// References and cases.
#include <algorithm>
#include <type_traits>

#include "arch/numerics.h"
#include "arch/softmax.h"
#include "dsp_kernels/data.h"

namespace deputy::dsp_kernels {
namespace {

void add_softmax_rows(Source& source, Cases& cases, std::size_t n, std::size_t rows, bool flip) {
  constexpr std::uint32_t kIn = 0x2000, kTable = 0x1000, kOut = 0x10000;
  const auto x = source.fill<std::uint8_t>(n * rows);
  const auto table = arch::softmax_table(1, 0.1f, Numerics::kTflite);
  std::vector<std::uint8_t> y(x.size());
  for (std::size_t row = 0; row < rows; ++row)
    arch::softmax_row(x.data() + n * row, static_cast<std::int64_t>(n), table.data(),
                      Numerics::kTflite, 1.0f / 256, flip ? 0x80 : 0, y.data() + n * row);
  KernelCase c{.kernel = "softmax_rows",
               .what = std::to_string(rows) + " rows of " + std::to_string(n) +
                       (flip ? ", uint8" : ", int8"),
               .parameters = {{"FLIP", flip ? 128 : 0}}};
  c.inputs = {memory(kIn, x), memory(kTable, std::vector(table.begin(), table.end()))};
  c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kTable, kOut, static_cast<std::uint32_t>(n),
                 static_cast<std::uint32_t>(rows)};
  c.outputs = static_cast<std::int64_t>(n * rows), c.unit = "value";
  cases.push_back(std::move(c));
}

struct Neighbours {
  std::int32_t low = 0, high = 0, weight = 0;
};
// TFLite's, half pixel centres.
Neighbours neighbours(std::int64_t i, std::int64_t in, std::int64_t out) {
  const std::int64_t scale = (1024 * in + out / 2) / out, at = i * scale + scale / 2 - 512;
  const std::int64_t low = std::min(std::max<std::int64_t>(at / 1024, 0), in - 1);
  return {
      static_cast<std::int32_t>(low),
      static_cast<std::int32_t>(std::max<std::int64_t>(std::min((at + 1023) / 1024, in - 1), 0)),
      static_cast<std::int32_t>(at - 1024 * std::max<std::int64_t>(at / 1024, 0))};
}

template <class T>
void add_resize_map(Source& source, Cases& cases, std::int64_t from, std::int64_t to,
                    std::int64_t channels, bool away) {
  constexpr std::uint32_t kIn = 0x10000, kColumns = 0x1000, kRows = 0x8000, kOut = 0x18000;
  const auto map = source.fill<T>(static_cast<std::size_t>(from * from * channels));
  const std::int64_t values = to * channels, blocks = (values + 31) / 32;
  std::vector<std::int32_t> columns(static_cast<std::size_t>(96 * blocks)), rows;
  std::vector<T> y;
  for (std::int64_t i = 0; i < values; ++i) {
    const Neighbours n = neighbours(i / channels, from, to);
    const auto channel = static_cast<std::int32_t>(i % channels);
    const auto at = static_cast<std::size_t>(i / 32 * 96 + i % 32);
    columns[at] = static_cast<std::int32_t>(n.low * channels) + channel;
    columns[at + 32] = static_cast<std::int32_t>(n.high * channels) + channel;
    columns[at + 64] = n.weight;
  }
  for (std::int64_t row = 0; row < to; ++row) {
    const Neighbours v = neighbours(row, from, to);
    rows.insert(rows.end(), {static_cast<std::int32_t>(v.low * from * channels),
                             static_cast<std::int32_t>(v.high * from * channels), v.weight});
    for (std::int64_t i = 0; i < values; ++i) {
      const Neighbours h = neighbours(i / channels, from, to);
      const auto pixel = [&](std::int64_t r, std::int64_t c) {
        return std::int64_t{
            map[static_cast<std::size_t>((r * from + c) * channels + i % channels)]};
      };
      const std::int64_t sum =
          (pixel(v.low, h.low) * (1024 - h.weight) + pixel(v.low, h.high) * h.weight) *
              (1024 - v.weight) +
          (pixel(v.high, h.low) * (1024 - h.weight) + pixel(v.high, h.high) * h.weight) * v.weight;
      y.push_back(static_cast<T>(away ? (sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20)
                                      : (sum + (1 << 19)) >> 20));
    }
  }
  constexpr bool kUnsigned = std::is_unsigned_v<T>;
  KernelCase c{.kernel = "resize_map",
               .what = std::to_string(from) + "x" + std::to_string(from) + " to " +
                       std::to_string(to) + "x" + std::to_string(to) + " of " +
                       std::to_string(channels) + (kUnsigned ? ", uint8" : ", int8"),
               .parameters = {{"UNSIGNED", kUnsigned}, {"AWAY", away}}};
  c.inputs = {memory(kIn, map), memory(kColumns, columns), memory(kRows, rows)};
  c.expected = {memory(kOut, y)};
  c.arguments = {kIn,
                 kColumns,
                 kRows,
                 kOut,
                 static_cast<std::uint32_t>(blocks),
                 static_cast<std::uint32_t>(to),
                 static_cast<std::uint32_t>(values)};
  c.outputs = to * values, c.unit = "value";
  c.bound = 37 * blocks * to, c.bound_by = "37 vector ALU operations for 32 values";
  cases.push_back(std::move(c));
}

void add_conv_map(Source& source, Cases& cases, std::size_t channels, std::size_t height,
                  std::size_t width, Numerics mode) {
  constexpr std::uint32_t kIn = 0x2000, kWeights = 0x8000, kParameters = 0x1000, kOut = 0x10000;
  constexpr std::size_t kOutputs = 32;
  const std::size_t in_width = width + 2, taps = 9 * channels;
  auto map = source.fill<std::int8_t>((height + 2) * in_width * channels);
  const auto w = source.fill<std::int8_t>(kOutputs * taps);  // OHWI
  const auto bias = source.bounded<std::int32_t>(kOutputs, 50000);
  std::vector<arch::Requant> requant;
  for (std::size_t o = 0; o < kOutputs; ++o)
    requant.push_back({static_cast<std::int32_t>((1u << 30) + source.below(1u << 30)),
                       o ? -static_cast<std::int32_t>(source.below(12)) : 0});
  std::vector<std::int32_t> parameters(bias);
  for (const auto& r : requant) parameters.push_back(r.multiplier);
  for (const auto& r : requant)
    parameters.push_back(mode == Numerics::kTflite ? -r.shift : 31 - r.shift);
  for (const auto& r : requant) parameters.push_back(r.shift ? -1 : 0);
  const std::int32_t zero = static_cast<std::int32_t>(source.below(256)) - 128, low = -100,
                     high = 90;
  std::vector<std::int8_t> y, packed;
  for (std::size_t py = 0; py < height; ++py)
    for (std::size_t px = 0; px < width; ++px)
      for (std::size_t o = 0; o < kOutputs; ++o) {
        std::int32_t sum = bias[o];
        for (std::size_t ky = 0; ky < 3; ++ky)
          for (std::size_t kx = 0; kx < 3; ++kx)
            for (std::size_t c = 0; c < channels; ++c)
              sum += std::int32_t{map[((py + ky) * in_width + px + kx) * channels + c]} *
                     w[o * taps + (ky * 3 + kx) * channels + c];
        y.push_back(static_cast<std::int8_t>(arch::clamp_i32(
            std::int64_t{arch::requantize(sum, requant[o], mode)} + zero, low, high)));
      }
  for (std::size_t k = 0; k < taps; k += 4)
    for (std::size_t o = 0; o < kOutputs; ++o)
      for (std::size_t i = 0; i < 4; ++i) packed.push_back(w[o * taps + k + i]);
  KernelCase c{.kernel = "conv_map",
               .what = "3x3, " + std::to_string(channels) + " to 32 channels, " +
                       std::to_string(height) + "x" + std::to_string(width) +
                       (mode == Numerics::kTflite ? ", rounded twice" : ", rounded once"),
               .parameters = {{"CHANNELS", channels}, {"DOUBLE", mode == Numerics::kTflite}}};
  map.resize(map.size() + 128);
  c.inputs = {memory(kIn, map), memory(kWeights, packed), memory(kParameters, parameters)};
  c.expected = {memory(kOut, y)};
  const auto word = [](auto v) { return static_cast<std::uint32_t>(v); };
  c.arguments = {kIn,
                 kWeights,
                 kOut,
                 word(width / 4),
                 kParameters,
                 word(zero),
                 word(in_width * channels),
                 word(height),
                 word(low),
                 word(high)};
  c.outputs = static_cast<std::int64_t>(height * width), c.unit = "pixel";
  c.bound = static_cast<std::int64_t>(height * width * taps / 4);
  c.bound_by = "a multiplication for 128 weights and pixel";
  cases.push_back(std::move(c));
}

}  // namespace

void add_exact_layer_cases(Source& source, Cases& cases) {
  add_softmax_rows(source, cases, 10, 3, false);
  add_softmax_rows(source, cases, 128, 8, false);
  add_softmax_rows(source, cases, 1001, 1, true);
  add_softmax_rows(source, cases, 4095, 1, false);
  add_conv_map(source, cases, 16, 4, 16, Numerics::kTflite);
  add_conv_map(source, cases, 8, 3, 8, Numerics::kSingle);
  add_conv_map(source, cases, 40, 2, 4, Numerics::kTflite);
  add_resize_map<std::int8_t>(source, cases, 7, 14, 8, true);
  add_resize_map<std::int8_t>(source, cases, 16, 11, 3, false);
  add_resize_map<std::uint8_t>(source, cases, 12, 24, 16, true);
}

}  // namespace deputy::dsp_kernels
