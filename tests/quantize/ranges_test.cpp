// Statistics and ranges: one pass, bounded memory, and data that break naive methods (constant,
// empty, one-sided, outliers).
#include "quantize/ranges.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

namespace deputy::quantize {
namespace {

constexpr RangeMethod kMethods[] = {RangeMethod::kMinMax, RangeMethod::kMovingAverage,
                                    RangeMethod::kPercentile, RangeMethod::kEntropy,
                                    RangeMethod::kMse};

TensorStatistics of(const std::vector<std::vector<float>>& samples) {
  TensorStatistics s;
  for (const auto& v : samples) s.add(v, 1);
  return s;
}
/// Nearly normal: a sum of uniform numbers.
std::vector<float> bell(std::size_t count, float spread, unsigned seed) {
  std::minstd_rand random(seed + 1);
  std::vector<float> out(count);
  for (float& v : out) {
    float sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<float>(random() >> 8) * 0x1p-23f;
    v = spread * (sum - 6);
  }
  return out;
}
double squared_error(const std::vector<float>& values, Range r) {
  const Quantisation q = asymmetric_int8(r);
  double error = 0;
  for (const float v : values) {
    const double n = std::min(
        127.0,
        std::max(-128.0, std::nearbyint(static_cast<double>(v) / static_cast<double>(q.scale[0])) +
                             q.zero_point[0]));
    error += std::pow(
        (n - q.zero_point[0]) * static_cast<double>(q.scale[0]) - static_cast<double>(v), 2);
  }
  return error;
}

TEST_CASE("a histogram keeps every value when its bins are merged") {
  TensorStatistics s;
  std::uint64_t values = 0, zeros = 0;
  for (const float scale : {1e-3f, 1.0f, 5e4f, 1e-6f}) {
    std::vector<float> v = bell(1000, scale, 3);
    v.push_back(0);
    s.add(v, 1);
    values += v.size();
    for (const float x : v) zeros += x == 0;
  }
  std::uint64_t counted = s.zeros;
  for (const auto n : s.bins) counted += n;
  CHECK(s.bins.size() == TensorStatistics::kBins);
  CHECK(counted == values);
  CHECK(s.zeros == zeros);
  CHECK(s.bin_start(0) <= static_cast<double>(s.min));
  CHECK(s.bin_start(TensorStatistics::kBins - 1) + s.bin_width() > static_cast<double>(s.max));
}

TEST_CASE("the same values in other portions give the same histogram counts by place") {
  const auto all = bell(4096, 2, 9);
  const TensorStatistics once = of({all});
  TensorStatistics many;
  for (std::size_t i = 0; i < all.size(); i += 64) many.add(std::span(all).subspan(i, 64), 1);
  // Bins may be wider by a power of two; what lies below 0 and above is the same.
  const auto below = [](const TensorStatistics& s) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < s.bins.size(); ++i) n += s.bin_start(i) < 0 ? s.bins[i] : 0;
    return n;
  };
  CHECK(below(once) == below(many));
  CHECK(once.min == many.min);
  CHECK(once.max == many.max);
}

TEST_CASE("every method has 0 in its range and a usable scale, whatever the data") {
  const std::vector<std::vector<std::vector<float>>> data = {{},
                                                             {{0, 0, 0}},
                                                             {{3, 3, 3}},
                                                             {{-2, -2}},
                                                             {{1e-30f, 2e-30f}},
                                                             {{1e30f, -1e30f}},
                                                             {bell(100, 1, 1)},
                                                             {{0.5f}}};
  for (const auto& samples : data)
    for (const RangeMethod method : kMethods) {
      const Range r = choose_range(of(samples), method, 99.9);
      INFO(range_method_name(method) << " " << r.lo << " " << r.hi);
      CHECK(r.lo <= 0);
      CHECK(r.hi >= 0);
      const Quantisation q = asymmetric_int8(r);
      CHECK(std::isnormal(q.scale[0]));
      CHECK(q.zero_point[0] >= -128);
      CHECK(q.zero_point[0] <= 127);
    }
}

TEST_CASE("a constant is a number of its range") {
  for (const float value : {3.0f, -0.25f}) {
    const Quantisation q =
        asymmetric_int8(choose_range(of({{value, value}}), RangeMethod::kMinMax, 99.9));
    const float steps = value / q.scale[0];
    CHECK(std::fabs(steps - std::nearbyint(steps)) < 1e-3f);
  }
}

TEST_CASE("one-sided data get all 256 numbers on their side") {
  auto values = bell(5000, 1, 4);
  for (float& v : values) v = std::fabs(v);
  for (const RangeMethod method : kMethods) {
    INFO(range_method_name(method));
    CHECK(asymmetric_int8(choose_range(of({values}), method, 99.99)).zero_point[0] == -128);
    std::vector<float> negative = values;
    for (float& v : negative) v = -v;
    CHECK(asymmetric_int8(choose_range(of({negative}), method, 99.99)).zero_point[0] == 127);
  }
}

TEST_CASE("an outlier costs minmax its precision, and the others not") {
  auto values = bell(20000, 1, 5);
  values[77] = 400;
  const TensorStatistics s = of({values});
  CHECK(choose_range(s, RangeMethod::kMinMax, 99.99).hi == 400);
  for (const RangeMethod method : {RangeMethod::kPercentile, RangeMethod::kEntropy}) {
    INFO(range_method_name(method));
    CHECK(choose_range(s, method, 99.99).hi < 20);
  }
  // A squared error of 400 weighs more: less is clipped.
  std::vector<float> rest = values;
  rest[77] = 0;
  CHECK(squared_error(rest, choose_range(s, RangeMethod::kPercentile, 99.99)) <
        0.01 * squared_error(rest, choose_range(s, RangeMethod::kMinMax, 99.99)));
}

TEST_CASE("mse has at most the error of every other method") {
  for (unsigned seed = 0; seed < 4; ++seed) {
    auto values = bell(20000, 1, seed);
    for (std::size_t i = 0; i < values.size(); i += 50) values[i] *= static_cast<float>(2 + seed);
    if (seed % 2)
      for (float& v : values) v = std::max(v, -0.3f);
    const TensorStatistics s = of({values});
    const double least = squared_error(values, choose_range(s, RangeMethod::kMse, 99.99));
    for (const RangeMethod method : kMethods) {
      INFO(seed << " " << range_method_name(method));
      CHECK(least <= 1.02 * squared_error(values, choose_range(s, method, 99.9)));
    }
  }
}

TEST_CASE("moving averages forget a single wide sample") {
  std::vector<std::vector<float>> samples(50, bell(200, 1, 6));
  samples[5][0] = 100;
  CHECK(choose_range(of(samples), RangeMethod::kMovingAverage, 99.9).hi < 10);
}

TEST_CASE("a first sample of zeros, and later values of any size, have bins that hold them") {
  const std::vector<std::vector<std::vector<float>>> cases = {
      {{0, 0, 0}, {1, -2}, {0, 0}},
      {{0, 0}, {5, 6}, {5.5f, 6}},
      {{1e-45f}, {3e38f, -3e38f}, {1e-45f, 1}},
      {{1e-30f, 2e-30f}, {0}, {1e30f}},
      {{3e38f}, {1e-45f, -1e-45f}}};
  for (const auto& samples : cases) {
    const TensorStatistics s = of(samples);
    std::uint64_t counted = s.zeros, values = 0;
    for (const auto n : s.bins) counted += n;
    for (const auto& v : samples) values += v.size();
    CHECK(counted == values);
    for (const RangeMethod method : kMethods) {
      const Range r = choose_range(s, method, 99.99);
      INFO(range_method_name(method) << " " << r.lo << " " << r.hi);
      CHECK(r.lo <= 0);
      CHECK(r.hi >= 0);
      CHECK((std::isfinite(r.lo) && std::isfinite(r.hi)));
      CHECK(r.hi > r.lo);
    }
  }
  const TensorStatistics s = of({{0, 0, 0}, {1, -2}, {0, 0}});
  CHECK(choose_range(s, RangeMethod::kMinMax, 0) == Range{-2, 1});
}

}  // namespace
}  // namespace deputy::quantize
