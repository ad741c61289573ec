// Which values of a map a resized one is made of: what the CPU's kernels and the tables of the
// DSP's read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "arch/ops.h"

namespace deputy::arch {

/// in / out sizes as a step in float32.
inline float resize_step(std::int64_t in, std::int64_t out, bool align_corners) {
  if (align_corners && out > 1) return static_cast<float>(in - 1) / static_cast<float>(out - 1);
  return static_cast<float>(in) / static_cast<float>(out);
}

/// RESIZE_NEAREST_NEIGHBOR: the position read for position i.
inline std::int64_t nearest_index(std::int64_t i, std::int64_t in, std::int64_t out,
                                  const OpAttrs& attrs) {
  const float offset = attrs.half_pixel_centers ? 0.5f : 0.0f;
  const float position =
      (static_cast<float>(i) + offset) * resize_step(in, out, attrs.align_corners);
  const auto index =
      static_cast<std::int64_t>(attrs.align_corners ? std::round(position) : std::floor(position));
  return std::clamp<std::int64_t>(index, 0, in - 1);
}

/// Two neighbours of an output position and the weight of the second; Weight counts from 0 to one.
template <class Weight>
struct Neighbours {
  std::int64_t low = 0, high = 0;
  Weight weight = 0;
};

/// TFLite's integer form of RESIZE_BILINEAR: positions and weights in units of 1/1024. The weight
/// may exceed one step's ends.
inline Neighbours<std::int64_t> integer_neighbours(std::int64_t i, std::int64_t in,
                                                   std::int64_t out, const OpAttrs& attrs) {
  std::int64_t scale = (1024 * in + out / 2) / out;
  if (attrs.align_corners && out > 1) scale = (1024 * (in - 1) + (out - 1) / 2) / (out - 1);
  const std::int64_t position = attrs.half_pixel_centers ? i * scale + scale / 2 - 512 : i * scale;
  const std::int64_t low = std::max<std::int64_t>(position / 1024, 0);
  const std::int64_t high = std::min<std::int64_t>((position + 1023) / 1024, in - 1);
  return {std::min(low, in - 1), std::max<std::int64_t>(high, 0), position - 1024 * low};
}

}  // namespace deputy::arch
