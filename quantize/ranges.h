// From a tensor's statistics to the range of reals that its 256 numbers stand for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"
#include "quantize/statistics.h"

namespace deputy::quantize {

enum class RangeMethod : std::uint8_t { kMinMax, kMovingAverage, kPercentile, kEntropy, kMse };

std::optional<RangeMethod> range_method(std::string_view name);
std::string_view range_method_name(
    RangeMethod method);  ///< "minmax", "average", "percentile", "entropy", "mse"

/// Always has 0 in it.
struct Range {
  float lo = 0, hi = 0;
  bool operator==(const Range&) const = default;
};

/// minmax: all that was seen. average: the moving averages of each sample's extremes. percentile:
/// without the outermost (100 - percentile) % of the values on each side. entropy: the range whose
/// 256 levels lose the least information (Kullback-Leibler divergence of the clipped histogram).
/// mse: the least expected squared error of rounding and clipping.
Range choose_range(const TensorStatistics& statistics, RangeMethod method, double percentile);

Range hull(Range a, Range b);

/// int8 with one scale and zero point. 0 is a number exactly; a range of nothing gets a scale of
/// 1/255.
Quantisation asymmetric_int8(Range range);
/// int16 with zero point 0, as 16x8 operators want it: the larger end is 32767 steps away.
Quantisation symmetric_int16(Range range);

}  // namespace deputy::quantize
