#include "quantize/ranges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace deputy::quantize {
namespace {

constexpr std::array kNames = {"minmax", "average", "percentile", "entropy", "mse"};
constexpr int kLevels = 256;
constexpr int kCandidates = 64;  ///< clippings tried on each side
constexpr int kRounds = 3;       ///< of one side after the other

/// The bins between the outermost that are not empty.
struct Histogram {
  std::vector<double> counts, centres;
  double width = 0, zeros = 0;
};

Histogram histogram(const TensorStatistics& s) {
  Histogram out;
  out.width = s.bin_width(), out.zeros = static_cast<double>(s.zeros);
  for (std::size_t i = 0; i < s.bins.size(); ++i) {
    if (s.bins[i] == 0) continue;
    out.counts.push_back(static_cast<double>(s.bins[i]));
    // A bin's edge may lie outside of what was seen.
    out.centres.push_back(std::clamp(s.bin_start(i) + out.width / 2, static_cast<double>(s.min),
                                     static_cast<double>(s.max)));
  }
  return out;
}

/// The squared error of every value in the numbers of [lo, hi]: of rounding inside, of clipping
/// outside.
double squared_error(const Histogram& h, double lo, double hi) {
  const Quantisation q = asymmetric_int8({static_cast<float>(lo), static_cast<float>(hi)});
  const double step = static_cast<double>(q.scale[0]), least = (-128 - q.zero_point[0]) * step,
               most = (127 - q.zero_point[0]) * step;
  double error = 0;
  for (std::size_t i = 0; i < h.counts.size(); ++i) {
    const double x = h.centres[i];
    const double off = x - std::clamp(std::nearbyint(x / step) * step, least, most);
    error += h.counts[i] * off * off;
  }
  return error;
}

/// Divergence of the values from what 256 levels of [lo, hi] leave of them. Clipped values count at
/// the range's ends.
double divergence(const Histogram& h, double lo, double hi) {
  const double step = (hi - lo) / (kLevels - 1);
  std::vector<double> level(kLevels, 0), bins_of_level(kLevels, 0);
  std::vector<int> place(h.counts.size());
  std::vector<double> p(h.counts.size(), 0);
  double below = 0, above = 0, total = 0;
  int first = -1, last = -1;
  for (std::size_t i = 0; i < h.counts.size(); ++i) {
    total += h.counts[i];
    place[i] = -1;
    if (h.centres[i] < lo) {
      below += h.counts[i];
    } else if (h.centres[i] > hi) {
      above += h.counts[i];
    } else {
      place[i] =
          std::clamp(static_cast<int>(std::lround((h.centres[i] - lo) / step)), 0, kLevels - 1);
      p[i] = h.counts[i];
      level[static_cast<std::size_t>(place[i])] += h.counts[i];
      bins_of_level[static_cast<std::size_t>(place[i])] += 1;
      if (first < 0) first = static_cast<int>(i);
      last = static_cast<int>(i);
    }
  }
  if (first < 0 || total <= 0) return HUGE_VAL;
  p[static_cast<std::size_t>(first)] += below;
  p[static_cast<std::size_t>(last)] += above;
  double kept = 0, out = 0;
  for (const double l : level) kept += l;
  for (std::size_t i = 0; i < h.counts.size(); ++i) {
    if (p[i] <= 0) continue;
    const auto l = static_cast<std::size_t>(place[i]);
    const double q = level[l] / bins_of_level[l] / kept, share = p[i] / total;
    out += share * std::log(share / q);
  }
  return out;
}

template <class Cost>
Range search(const Histogram& h, Range widest, const Cost& cost) {
  double lo = widest.lo, hi = widest.hi, best = cost(h, lo, hi);
  for (int round = 0; round < kRounds; ++round) {
    const double before = best;
    for (const bool upper : {true, false}) {
      const double whole = upper ? widest.hi : widest.lo;
      if (whole == 0) continue;
      for (int i = 1; i <= kCandidates; ++i) {
        const double end = whole * i / kCandidates;
        const double c = upper ? cost(h, lo, end) : cost(h, end, hi);
        if (c < best) best = c, (upper ? hi : lo) = end;
      }
    }
    if (best >= before) break;
  }
  return {static_cast<float>(lo), static_cast<float>(hi)};
}

Range percentile_range(const TensorStatistics& s, double percentile) {
  const double cut = static_cast<double>(s.count) * (1 - percentile / 100);
  const double width = s.bin_width();
  // Zeros are values too: they count where they lie.
  const auto zero_bin = -s.first;
  const auto in_bin = [&](std::size_t i) {
    return static_cast<double>(s.bins[i]) +
           (static_cast<std::int64_t>(i) == zero_bin ? static_cast<double>(s.zeros) : 0);
  };
  double lo = s.min, hi = s.max, seen = 0;
  for (std::size_t i = 0; i < s.bins.size(); ++i)
    if (seen += in_bin(i); seen > cut) {
      lo = std::max(lo, s.bin_start(i));
      break;
    }
  seen = 0;
  for (std::size_t i = s.bins.size(); i-- > 0;)
    if (seen += in_bin(i); seen > cut) {
      hi = std::min(hi, s.bin_start(i) + width);
      break;
    }
  return {static_cast<float>(lo), static_cast<float>(hi)};
}

}  // namespace

std::optional<RangeMethod> range_method(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<RangeMethod>(i);
  return std::nullopt;
}
std::string_view range_method_name(RangeMethod method) {
  return kNames[static_cast<std::size_t>(method)];
}

Range hull(Range a, Range b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

Range choose_range(const TensorStatistics& s, RangeMethod method, double percentile) {
  const Range nothing;
  if (s.count == 0) return nothing;
  const Range seen = hull({s.min, s.max}, nothing);
  switch (method) {
    case RangeMethod::kMinMax:
      return seen;
    case RangeMethod::kMovingAverage:
      return hull({static_cast<float>(s.average_min), static_cast<float>(s.average_max)}, nothing);
    case RangeMethod::kPercentile:
      return hull(percentile_range(s, percentile), nothing);
    case RangeMethod::kEntropy:
      return seen == nothing ? seen : search(histogram(s), seen, divergence);
    case RangeMethod::kMse:
      return seen == nothing ? seen : search(histogram(s), seen, squared_error);
  }
  return seen;
}

Quantisation asymmetric_int8(Range range) {
  range = hull(range, {});
  double span = static_cast<double>(range.hi) - static_cast<double>(range.lo);
  if (!(span > 0)) span = 1;
  // Smaller scales would not be normal numbers once multiplied by those of weights.
  const auto scale = static_cast<float>(std::clamp(span / (kLevels - 1), 1e-20, 1e20));
  const double zero =
      std::nearbyint(-128 - static_cast<double>(range.lo) / static_cast<double>(scale));
  return {{scale}, {static_cast<std::int32_t>(std::clamp(zero, -128.0, 127.0))}, 0};
}

Quantisation symmetric_int16(Range range) {
  double most =
      std::max(std::fabs(static_cast<double>(range.lo)), std::fabs(static_cast<double>(range.hi)));
  if (!(most > 0)) most = 1;
  return {{static_cast<float>(std::clamp(most / 32767, 1e-20, 1e20))}, {0}, 0};
}

}  // namespace deputy::quantize
