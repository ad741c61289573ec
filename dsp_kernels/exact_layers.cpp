// Operators as the CPU's kernels compute them, to the byte: softmax of rows, resizing of maps,
// convolutions and fully connected layers. References and cases.
#include <algorithm>
#include <type_traits>

#include "arch/numerics.h"
#include "arch/softmax.h"
#include "dsp_kernels/convolution.h"

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

// Biases, multipliers, shifts and masks of 32 outputs, as the kernels want them.
void append_requants(const std::vector<std::int32_t>& bias,
                     const std::vector<arch::Requant>& requant, Numerics mode,
                     std::vector<std::int32_t>& to) {
  to.insert(to.end(), bias.begin(), bias.end());
  for (const auto& r : requant) to.push_back(r.multiplier);
  for (const auto& r : requant) to.push_back(mode == Numerics::kTflite ? -r.shift : 31 - r.shift);
  for (const auto& r : requant) to.push_back(r.shift ? -1 : 0);
}
std::vector<arch::Requant> some_requants(Source& source) {
  std::vector<arch::Requant> out;
  for (std::size_t o = 0; o < 32; ++o)
    out.push_back({static_cast<std::int32_t>((1u << 30) + source.below(1u << 30)),
                   o ? -static_cast<std::int32_t>(source.below(12)) : 0});
  return out;
}
std::string rounded(Numerics mode) {
  return mode == Numerics::kTflite ? "rounded twice" : "rounded once";
}
constexpr std::int32_t kLow = -100, kHigh = 90;
std::int8_t exact(std::int32_t sum, const arch::Requant& r, Numerics mode, std::int32_t zero) {
  return static_cast<std::int8_t>(
      arch::clamp_i32(std::int64_t{arch::requantize(sum, r, mode)} + zero, kLow, kHigh));
}

void add_conv_map(Source& source, Cases& cases, std::size_t channels, std::size_t height,
                  std::size_t width, Numerics mode) {
  const Convolution conv(source, channels, height, width);
  const auto requant = some_requants(source);
  std::vector<std::int32_t> parameters;
  append_requants(conv.bias, requant, mode, parameters);
  const std::int32_t zero = static_cast<std::int32_t>(source.below(256)) - 128;
  KernelCase c = conv.make(conv.compute([&](std::int32_t sum, std::size_t o) {
    return exact(sum, requant[o], mode, zero);
  }),
                           parameters, zero, rounded(mode));
  c.kernel = "conv_map", c.parameters["DOUBLE"] = mode == Numerics::kTflite;
  c.arguments.push_back(static_cast<std::uint32_t>(kLow));
  c.arguments.push_back(static_cast<std::uint32_t>(kHigh));
  cases.push_back(std::move(c));
}

void add_dense_map(Source& source, Cases& cases, std::size_t columns, std::size_t blocks,
                   Numerics mode) {
  constexpr std::uint32_t kX = 0x400, kParameters = 0x1000, kWeights = 0x4000, kOut = 0x18000;
  auto x = source.fill<std::int8_t>(columns);
  const std::int32_t zero = static_cast<std::int32_t>(source.below(256)) - 128;
  std::vector<std::int8_t> y, packed;
  std::vector<std::int32_t> parameters;
  for (std::size_t block = 0; block < blocks; ++block) {
    const auto w = source.fill<std::int8_t>(32 * columns);
    const auto bias = source.bounded<std::int32_t>(32, 50000);
    const auto requant = some_requants(source);
    append_requants(bias, requant, mode, parameters);
    std::vector<std::int8_t> row;
    for (std::size_t o = 0; o < 32; ++o) {
      std::int32_t sum = bias[o];
      for (std::size_t k = 0; k < columns; ++k) sum += std::int32_t{w[o * columns + k]} * x[k];
      row.push_back(exact(sum, requant[o], mode, zero));
    }
    for (int copy = 0; copy < 4; ++copy) y.insert(y.end(), row.begin(), row.end());
    for (std::size_t k = 0; k < columns; k += 4)
      for (std::size_t o = 0; o < 32; ++o)
        for (std::size_t i = 0; i < 4; ++i) packed.push_back(w[o * columns + k + i]);
  }
  KernelCase c{
      .kernel = "dense_map",
      .what = std::to_string(columns) + " to " + std::to_string(32 * blocks) + ", " + rounded(mode),
      .parameters = {{"TAIL", columns % 128 / 4}, {"DOUBLE", mode == Numerics::kTflite}}};
  x.resize((columns + 127) / 128 * 128);
  c.inputs = {memory(kWeights, packed), memory(kX, x), memory(kParameters, parameters)};
  c.expected = {memory(kOut, y)};
  const auto word = [](auto v) { return static_cast<std::uint32_t>(v); };
  c.arguments = {kWeights,   kX,         kOut,        word(blocks),       kParameters,
                 word(zero), word(kLow), word(kHigh), word(columns / 128)};
  c.outputs = static_cast<std::int64_t>(32 * blocks), c.unit = "output";
  c.bound = static_cast<std::int64_t>(blocks * columns / 4);
  c.bound_by = "a multiplication (and a load) for 128 weights";
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
  add_dense_map(source, cases, 512, 4, Numerics::kTflite);
  add_dense_map(source, cases, 132, 2, Numerics::kSingle);
  add_dense_map(source, cases, 64, 1, Numerics::kTflite);
}

}  // namespace deputy::dsp_kernels
