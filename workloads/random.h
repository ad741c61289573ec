// Deterministic random numbers for weights and inputs: the same on every machine and library.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/ops.h"

namespace deputy::workloads {

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// [lo, hi), in steps that float32 holds exactly.
  float uniform(float lo, float hi) {
    return lo + (hi - lo) * (static_cast<float>(bits() >> 40) * (1.0f / 16777216.0f));
  }
  /// Nearly normal, mean 0, variance 1, never beyond 3.5: the sum of four uniforms. No library
  /// function, so the same bits everywhere.
  float normal() {
    const std::uint64_t b = bits();
    const auto sum = static_cast<std::int64_t>((b & 0xffff) + ((b >> 16) & 0xffff) +
                                               ((b >> 32) & 0xffff) + (b >> 48));
    return static_cast<float>(sum - 131070) * (1.7320508f / 65535.0f);
  }
  /// [0, n)
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>((bits() >> 32) * n >> 32);
  }

 private:
  std::uint64_t state_;
};

/// An input tensor's bytes: every integer value equally likely; floats uniform in [-1, 1).
std::vector<std::uint8_t> seeded_input(const arch::TensorDesc& desc, std::uint64_t seed);

}  // namespace deputy::workloads
