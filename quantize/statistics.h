// What calibration keeps of a tensor: a fixed number of bytes, however many samples there are. All
// range methods work on it, so a calibration need not run again for another method.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/fields.h"

namespace deputy::quantize {

/// Bin i counts values in [i, i + 1) * 2^exponent. When values fall outside, the bins are merged in
/// pairs. Values that are exactly 0 are counted apart: every quantisation has them exactly.
struct TensorStatistics {
  static constexpr std::size_t kBins = 2048;

  std::uint64_t samples = 0;  ///< calls of add()
  std::uint64_t count = 0;    ///< values, the zeros among them
  std::uint64_t zeros = 0;
  float min = 0, max = 0;                   ///< meaningful when count > 0
  double average_min = 0, average_max = 0;  ///< exponential moving averages, by sample
  std::int32_t exponent = 0;
  std::int64_t first = 0;  ///< number of bins[0]
  std::vector<std::uint64_t> bins;
  std::vector<double> channel_sums;  ///< along the last dimension

  /// Values of one sample; none may be NaN or infinite. `channels`: the last dimension.
  void add(std::span<const float> values, std::size_t channels);

  double bin_width() const;
  double bin_start(std::size_t bin) const {
    return static_cast<double>(first + static_cast<std::int64_t>(bin)) * bin_width();
  }
  /// The mean of a channel over all samples and places; 0 when nothing was seen.
  double channel_mean(std::size_t channel) const;

  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    constexpr double kMost = 3.5e38;  // any float
    v(s.samples, Field{.name = "samples"});
    v(s.count, Field{.name = "count"});
    v(s.zeros, Field{.name = "zeros"});
    v(s.min, Field{.name = "min", .min = -kMost, .max = kMost});
    v(s.max, Field{.name = "max", .min = -kMost, .max = kMost});
    v(s.average_min, Field{.name = "average_min", .min = -kMost, .max = kMost});
    v(s.average_max, Field{.name = "average_max", .min = -kMost, .max = kMost});
    v(s.exponent, Field{.name = "exponent", .min = -300, .max = 300});
    v(s.first, Field{.name = "first"});
    v(s.bins, Field{.name = "bins"});
    v(s.channel_sums, Field{.name = "channel_sums", .min = -1e300, .max = 1e300});
  }

 private:
  void cover(double lo, double hi);
};

}  // namespace deputy::quantize
