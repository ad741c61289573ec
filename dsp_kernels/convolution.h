// A 3x3 convolution of int8 to 32 channels over a padded map, as plain loops: what the cases of
// `conv` and `conv_map` share.
#pragma once

#include <string>
#include <vector>

#include "dsp_kernels/data.h"

namespace deputy::dsp_kernels {

struct Convolution {
  static constexpr std::size_t kOutputs = 32;
  static constexpr std::uint32_t kIn = 0x2000, kWeights = 0x8000, kParameters = 0x1000,
                                 kOut = 0x10000;
  std::size_t channels, height, width;    ///< of the result; the map has a pixel more on each side
  std::vector<std::int8_t> map, weights;  ///< NHWC, OHWI
  std::vector<std::int32_t> bias;

  Convolution(Source& source, std::size_t c, std::size_t h, std::size_t w)
      : channels(c),
        height(h),
        width(w),
        map(source.fill<std::int8_t>((h + 2) * (w + 2) * c)),
        weights(source.fill<std::int8_t>(kOutputs * 9 * c)),
        bias(source.bounded<std::int32_t>(kOutputs, 50000)) {}

  /// `value(sum, output)` of every output, NHWC.
  template <class Value>
  std::vector<std::int8_t> compute(Value&& value) const {
    std::vector<std::int8_t> y;
    for (std::size_t py = 0; py < height; ++py)
      for (std::size_t px = 0; px < width; ++px)
        for (std::size_t o = 0; o < kOutputs; ++o) {
          std::int32_t sum = bias[o];
          for (std::size_t tap = 0; tap < 9; ++tap)
            for (std::size_t c = 0; c < channels; ++c)
              sum +=
                  std::int32_t{map[((py + tap / 3) * (width + 2) + px + tap % 3) * channels + c]} *
                  weights[(o * 9 + tap) * channels + c];
          y.push_back(value(sum, o));
        }
    return y;
  }

  /// The case, but for its kernel's name, what is special, and arguments behind these.
  KernelCase make(const std::vector<std::int8_t>& y, const std::vector<std::int32_t>& parameters,
                  std::int32_t zero, const std::string& how) const {
    std::vector<std::int8_t> packed, padded = map;
    for (std::size_t k = 0; k < 9 * channels; k += 4)
      for (std::size_t o = 0; o < kOutputs; ++o)
        for (std::size_t i = 0; i < 4; ++i) packed.push_back(weights[o * 9 * channels + k + i]);
    padded.resize(padded.size() + 128);
    KernelCase c{.what = "3x3, " + std::to_string(channels) + " to 32 channels, " +
                         std::to_string(height) + "x" + std::to_string(width) + ", " + how};
    c.parameters["CHANNELS"] = static_cast<std::int64_t>(channels);
    c.inputs = {memory(kIn, padded), memory(kWeights, packed), memory(kParameters, parameters)};
    c.expected = {memory(kOut, y)};
    c.arguments = {kIn,
                   kWeights,
                   kOut,
                   static_cast<std::uint32_t>(width / 4),
                   kParameters,
                   static_cast<std::uint32_t>(zero),
                   static_cast<std::uint32_t>((width + 2) * channels),
                   static_cast<std::uint32_t>(height)};
    c.outputs = static_cast<std::int64_t>(height * width), c.unit = "pixel";
    c.bound = static_cast<std::int64_t>(height * width * 9 * channels / 4);
    c.bound_by = "a multiplication for 128 weights and pixel";
    return c;
  }
};

}  // namespace deputy::dsp_kernels
