// Resize, normalisation, grey images: references and cases.
#include <algorithm>

#include "dsp_kernels/data.h"
#include "dsp_kernels/tables.h"

namespace deputy::dsp_kernels {
namespace {

constexpr std::uint32_t kIn = 0x2000, kSecond = 0x3000, kOffsets = 0x4000, kFractions = 0x5000,
                        kOut = 0x8000;

void add_resize(Source& source, Cases& cases, std::size_t from, std::size_t to) {
  auto a = source.fill<std::int16_t>(from), b = source.fill<std::int16_t>(from);
  for (auto* row : {&a, &b})
    for (auto& v : *row) v = static_cast<std::int16_t>(v >> 1);
  const auto g = static_cast<std::int16_t>(source.below(32768));
  std::vector<std::uint16_t> offsets;
  std::vector<std::int16_t> fractions, y;
  const auto q15 = [](std::int64_t u, std::int64_t v) {
    return static_cast<std::int16_t>(clamp(round_shift(u * v, 15), 16));
  };
  for (std::size_t i = 0; i < to; ++i) {
    const std::size_t position = i * (from - 1) * 32768 / to;
    const std::size_t p = position / 32768;
    const auto f = static_cast<std::int16_t>(position % 32768);
    offsets.push_back(static_cast<std::uint16_t>(2 * p)), fractions.push_back(f);
    const std::int64_t top = a[p] + q15(a[p + 1] - a[p], f),
                       bottom = b[p] + q15(b[p + 1] - b[p], f);
    y.push_back(static_cast<std::int16_t>(top + q15(bottom - top, g)));
  }
  KernelCase c{
      .kernel = "resize",
      .what = "bilinear row, " + std::to_string(from) + " to " + std::to_string(to) + ", int16"};
  c.inputs = {memory(kIn, a), memory(kSecond, b), memory(kOffsets, offsets),
              memory(kFractions, fractions)},
  c.expected = {memory(kOut, y)};
  c.arguments = {kIn,
                 kSecond,
                 kOffsets,
                 kFractions,
                 kOut,
                 static_cast<std::uint32_t>(g),
                 static_cast<std::uint32_t>(to / 64)};
  c.outputs = static_cast<std::int64_t>(to), c.unit = "pixel";
  c.bound = static_cast<std::int64_t>(to / 64 * 7),
  c.bound_by = "7 loads and stores for 64 pixels, without bank conflicts";
  cases.push_back(std::move(c));
}

// `rows` rows of the result, each from two rows of the image.
void add_shrink(Source& source, Cases& cases, std::size_t from, std::size_t to,
                std::size_t channels, std::size_t rows) {
  constexpr std::uint32_t kTables = 0x18000, kResult = 0x1A000;
  const std::size_t row = from * channels, blocks = (to * channels + 63) / 64;
  const auto image = source.fill<std::uint8_t>(2 * rows * row);
  const std::int64_t g = source.below(32768);
  auto [offsets, fractions] = sampling(from, to, 0, channels);
  offsets.resize(64 * blocks), fractions.resize(64 * blocks);
  const auto q15 = [](std::int64_t u, std::int64_t v) { return round_shift(u * v, 15); };
  std::vector<std::int8_t> y;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const auto between = [&](std::size_t which) {
        const std::uint8_t* at = image.data() + (2 * r + which) * row + offsets[i];
        const std::int64_t left = at[0] * 128, right = at[channels] * 128;
        return left + q15(right - left, fractions[i]);
      };
      const std::int64_t top = between(0), bottom = between(1);
      y.push_back(
          static_cast<std::int8_t>(clamp(round_shift(top + q15(bottom - top, g), 7) - 128, 8)));
    }
  KernelCase c{.kernel = "shrink",
               .what = std::to_string(from) + " to " + std::to_string(to) + " pixels of " +
                       std::to_string(channels) + ", uint8 to int8",
               .parameters = {{"CHANNELS", static_cast<std::int64_t>(channels)}}};
  c.inputs = {memory(0, image), memory(kTables, offsets), memory(kTables + 0x1000, fractions)},
  c.expected = {memory(kResult, y)};
  c.arguments = {0,
                 kTables,
                 kTables + 0x1000,
                 kResult,
                 static_cast<std::uint32_t>(g),
                 static_cast<std::uint32_t>(rows),
                 static_cast<std::uint32_t>(blocks),
                 static_cast<std::uint32_t>(row)};
  c.outputs = static_cast<std::int64_t>(rows * to), c.unit = "pixel";
  c.bound = static_cast<std::int64_t>(28 * rows * blocks),
  c.bound_by = "28 vector ALU operations for 64 bytes";
  cases.push_back(std::move(c));
}

void add_normalise(Source& source, Cases& cases, std::size_t blocks) {
  const auto x = source.fill<std::uint8_t>(128 * blocks);
  const std::int32_t mean = static_cast<std::int32_t>(source.below(256)),
                     zero = static_cast<std::int32_t>(source.below(256)) - 128;
  const std::int32_t scale = static_cast<std::int32_t>(source.below(32768));
  std::vector<std::int8_t> y;
  for (const std::uint8_t v : x) {
    const std::int64_t wide = clamp((std::int64_t{v} - mean) * 64, 16);
    y.push_back(static_cast<std::int8_t>(
        clamp(round_shift(clamp(round_shift(wide * scale, 15), 16), 6) + zero, 8)));
  }
  KernelCase c{.kernel = "normalise", .what = "uint8 to int8"};
  c.inputs = {memory(kIn, x)}, c.expected = {memory(kOut, y)};
  c.arguments = {kIn,
                 kOut,
                 static_cast<std::uint32_t>(blocks),
                 static_cast<std::uint32_t>(mean),
                 static_cast<std::uint32_t>(scale),
                 static_cast<std::uint32_t>(zero)};
  c.outputs = static_cast<std::int64_t>(x.size()), c.unit = "pixel";
  c.bound = static_cast<std::int64_t>(10 * blocks),
  c.bound_by = "10 vector ALU operations for 128 pixels";
  cases.push_back(std::move(c));
}

void add_gray(Source& source, Cases& cases, std::size_t blocks) {
  const auto x = source.fill<std::uint8_t>(512 * blocks);
  std::vector<std::uint8_t> y;
  for (std::size_t i = 0; i < x.size(); i += 4)
    y.push_back(static_cast<std::uint8_t>((38 * x[i] + 75 * x[i + 1] + 15 * x[i + 2] + 64) >> 7));
  KernelCase c{.kernel = "gray", .what = "RGBX to grey, uint8"};
  c.inputs = {memory(kIn, x)}, c.expected = {memory(kOut, y)};
  c.arguments = {kIn, kOut, static_cast<std::uint32_t>(blocks)};
  c.outputs = static_cast<std::int64_t>(y.size()), c.unit = "pixel";
  c.bound = static_cast<std::int64_t>(16 * blocks),
  c.bound_by = "16 vector ALU operations for 128 pixels";
  cases.push_back(std::move(c));
}

}  // namespace

void add_image_cases(Source& source, Cases& cases) {
  add_resize(source, cases, 96, 128);
  add_resize(source, cases, 640, 192);
  add_shrink(source, cases, 640, 96, 3, 4);
  add_shrink(source, cases, 100, 64, 1, 3);
  add_normalise(source, cases, 16);
  add_gray(source, cases, 8);
}

}  // namespace deputy::dsp_kernels
