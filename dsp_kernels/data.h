// What the kernels' cases are made with: numbers from a seed, and arrays to bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "dsp_kernels/kernels.h"

namespace deputy::dsp_kernels {

/// splitmix64: the same numbers on every machine.
class Source {
 public:
  Source(std::uint64_t seed, Fill fill) : state_(seed), fill_(fill) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  /// `count` values of T as the fill says.
  template <class T>
  std::vector<T> fill(std::size_t count) {
    std::vector<T> out(count);
    constexpr T high = std::numeric_limits<T>::max(), low = std::numeric_limits<T>::min();
    for (std::size_t i = 0; i < count; ++i) {
      const auto random = static_cast<T>(next());
      switch (fill_) {
        case Fill::kRandom:
          out[i] = random;
          break;
        case Fill::kLargest:
          out[i] = high;
          break;
        case Fill::kSmallest:
          out[i] = low;
          break;
        case Fill::kAlternating:
          out[i] = i % 2 ? low : high;
          break;
        case Fill::kZero:
          out[i] = 0;
          break;
      }
    }
    return out;
  }
  /// Within [-limit, limit], whatever the fill.
  template <class T>
  std::vector<T> bounded(std::size_t count, std::int64_t limit) {
    std::vector<T> out(count);
    for (T& v : out)
      v = static_cast<T>(
          static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(2 * limit + 1)) - limit);
    return out;
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(next() % n); }
  Fill kind() const { return fill_; }

 private:
  std::uint64_t state_;
  Fill fill_;
};

template <class T>
Memory memory(std::uint32_t address, const std::vector<T>& values) {
  Memory out{address, std::vector<std::uint8_t>(values.size() * sizeof(T))};
  std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

inline std::int64_t clamp(std::int64_t v, int bits) {
  const std::int64_t high = (std::int64_t{1} << (bits - 1)) - 1;
  return v > high ? high : v < -high - 1 ? -high - 1 : v;
}
/// floor(v / 2^n + 1/2) for n > 0.
inline std::int64_t round_shift(std::int64_t v, int n) { return (v >> n) + (v >> (n - 1) & 1); }

using Cases = std::vector<KernelCase>;
// One function a group of kernels; each adds its cases.
void add_filter_cases(Source& source, Cases& cases);
void add_resampling_cases(Source& source, Cases& cases);
void add_signal_cases(Source& source, Cases& cases);
void add_fusion_cases(Source& source, Cases& cases);
void add_layer_cases(Source& source, Cases& cases);
void add_exact_layer_cases(Source& source, Cases& cases);
void add_image_cases(Source& source, Cases& cases);
void add_mfcc_cases(Source& source, Cases& cases);
void add_fft_cases(Source& source, Cases& cases);
void add_matrix_cases(Source& source, Cases& cases);
void add_ecg_cases(Source& source, Cases& cases);

}  // namespace deputy::dsp_kernels
