#include "quantize/statistics.h"

#include <algorithm>
#include <cmath>

namespace deputy::quantize {
namespace {

constexpr double kAveraging = 0.1;  ///< weight of the newest sample in the moving averages

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

/// Makes every value of [lo, hi] fall into a bin.
void TensorStatistics::cover(double lo, double hi) {
  const auto most = static_cast<std::int64_t>(kBins);
  if (bins.empty()) {
    // Half of the bins for the first sample: later ones are a little wider.
    const double span = std::max({hi - lo, std::fabs(hi), std::fabs(lo)}) * 2 / most;
    exponent = span > 0 ? std::clamp(std::ilogb(span), -200, 200) : -200;
    first = bin_of(lo, exponent);
    bins.assign(kBins, 0);
  }
  std::int64_t from = std::min(first, bin_of(lo, exponent));
  std::int64_t to = std::max(first + most - 1, bin_of(hi, exponent));
  if (from == first && to == first + most - 1) return;
  // What is used of the old bins, then twice as wide until old and new fit.
  std::size_t used_from = 0, used_to = kBins;
  while (used_from < kBins && bins[used_from] == 0) ++used_from;
  while (used_to > used_from && bins[used_to - 1] == 0) --used_to;
  from = bin_of(lo, exponent), to = bin_of(hi, exponent);
  if (used_from < used_to) {
    from = std::min(from, first + static_cast<std::int64_t>(used_from));
    to = std::max(to, first + static_cast<std::int64_t>(used_to) - 1);
  }
  int shift = 0;
  while ((to >> shift) - (from >> shift) >= most) ++shift;
  std::vector<std::uint64_t> wider(kBins, 0);
  const std::int64_t start = from >> shift;
  for (std::size_t i = used_from; i < used_to; ++i)
    wider[static_cast<std::size_t>(((first + static_cast<std::int64_t>(i)) >> shift) - start)] +=
        bins[i];
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
