// A function of int16 values by a 513-entry table with linear interpolation, as TFLite's int16
// softmax evaluates exp and the reciprocal.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace deputy::host_runtime {

class Table16 {
 public:
  /// y = f(x) * 32768 with x spread over [lo, hi].
  template <class F>
  static Table16 over(float lo, float hi, F&& f) {
    Table16 table;
    table.build(lo, hi, f);
    return table;
  }

  /// The high 9 bits pick the entry, the low 7 interpolate to the next.
  std::int16_t operator()(std::int16_t v) const {
    const int index = 256 + (v >> 7);
    const std::int32_t offset = v & 0x7f;
    const std::int32_t base = entries_[static_cast<std::size_t>(index)];
    const std::int32_t slope = entries_[static_cast<std::size_t>(index) + 1] - base;
    return static_cast<std::int16_t>(base + ((slope * offset + 64) >> 7));
  }

 private:
  Table16() = default;

  /// Each entry is moved by half the error that a straight line has in the middle of its interval.
  template <class F>
  void build(float lo, float hi, F&& f) {
    const float step = (hi - lo) / 512.0f, half = step / 2.0f;
    for (int i = 0; i < 512; ++i) {
      const float x = lo + static_cast<float>(i) * step;
      const float here = std::round(f(x) * 32768.0f);
      const float middle = std::round(f(x + half) * 32768.0f);
      const float next = f(x + step) * 32768.0f;
      const float error = middle - std::round((here + next) / 2.0f);
      entries_[static_cast<std::size_t>(i)] = saturate(here + std::round(error / 2.0f));
    }
    entries_[512] = saturate(std::round(f(hi) * 32768.0f));
  }
  static std::int16_t saturate(float v) {
    return std::isnan(v) ? std::int16_t{0}
                         : static_cast<std::int16_t>(std::clamp(v, -32768.0f, 32767.0f));
  }

  std::array<std::int16_t, 513> entries_{};
};

}  // namespace deputy::host_runtime
