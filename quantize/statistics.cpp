#include "quantize/statistics.h"

#include <algorithm>
#include <cmath>

namespace deputy::quantize {
namespace {

constexpr double kAveraging = 0.1;  ///< weight of the newest sample in the moving averages
constexpr int kMostBits = 40;       ///< of a bin's number before bins are merged

std::int64_t bin_of(double value, int exponent) {
  return static_cast<std::int64_t>(std::floor(std::ldexp(value, -exponent)));
}

}  // namespace

double TensorStatistics::bin_width() const { return std::ldexp(1.0, exponent); }

double TensorStatistics::channel_mean(std::size_t channel) const {
  if (channel >= channel_sums.size() || count == 0) return 0;
  return channel_sums[channel] * static_cast<double>(channel_sums.size()) /
         static_cast<double>(count);
}

/// Makes every value of [lo, hi] fall into a bin. Zeros alone need none: they are counted apart.
void TensorStatistics::cover(double lo, double hi) {
  if (bins.empty() && lo == 0 && hi == 0) return;
  const auto most = static_cast<std::int64_t>(kBins);
  if (bins.empty()) {
    if (zeros > 0) lo = std::min(lo, 0.0), hi = std::max(hi, 0.0);  // of samples before
    // Half of the bins for the first sample: later ones are a little wider.
    const double span = std::max({hi - lo, std::fabs(hi), std::fabs(lo)}) * 2 / most;
    exponent = span > 0 ? std::clamp(std::ilogb(span), -200, 200) : -200;
    first = bin_of(lo, exponent);
    bins.assign(kBins, 0);
  }
  // Bins so much wider first that their numbers fit: a value may be 2^250 times the first one's.
  const double reach = std::max(std::fabs(lo), std::fabs(hi));
  int shift = reach > 0 ? std::max(std::ilogb(reach) - kMostBits - exponent, 0) : 0;
  std::int64_t from = bin_of(lo, exponent + shift), to = bin_of(hi, exponent + shift);
  if (shift == 0 && from >= first && to < first + most) return;
  // What is used of the old bins, then twice as wide until old and new fit.
  std::size_t used_from = 0, used_to = kBins;
  while (used_from < kBins && bins[used_from] == 0) ++used_from;
  while (used_to > used_from && bins[used_to - 1] == 0) --used_to;
  const auto coarser = [&](std::size_t bin) {
    return (first + static_cast<std::int64_t>(bin)) >> std::min(shift, 63);
  };
  if (used_from < used_to)
    from = std::min(from, coarser(used_from)), to = std::max(to, coarser(used_to - 1));
  while (to - from >= most) ++shift, from >>= 1, to >>= 1;
  std::vector<std::uint64_t> wider(kBins, 0);
  const std::int64_t start = from;
  for (std::size_t i = used_from; i < used_to; ++i)
    wider[static_cast<std::size_t>(coarser(i) - start)] += bins[i];
  bins = std::move(wider), first = start, exponent += shift;
}

void TensorStatistics::add(std::span<const float> values, std::size_t channels) {
  if (values.empty()) return;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const float lo = *low, hi = *high;
  if (count == 0) {
    min = lo, max = hi, average_min = lo, average_max = hi;
  } else {
    min = std::min(min, lo), max = std::max(max, hi);
    average_min += (lo - average_min) * kAveraging;
    average_max += (hi - average_max) * kAveraging;
  }
  ++samples, count += values.size();
  cover(lo, hi);
  const double scale = std::ldexp(1.0, -exponent);
  for (const float v : values) {
    if (v == 0)
      ++zeros;
    else
      ++bins[static_cast<std::size_t>(static_cast<std::int64_t>(std::floor(v * scale)) - first)];
  }
  if (channels == 0 || values.size() % channels != 0) return;
  channel_sums.resize(channels, 0);
  for (std::size_t i = 0; i < values.size(); i += channels)
    for (std::size_t c = 0; c < channels; ++c)
      channel_sums[c] += static_cast<double>(values[i + c]);
}

}  // namespace deputy::quantize
