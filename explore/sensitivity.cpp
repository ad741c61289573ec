#include "explore/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace deputy::explore {
namespace {

constexpr std::size_t kParts = 4;

}  // namespace

std::vector<std::size_t> levels_of(const Parameter& p, std::size_t index,
                                   const std::vector<Point>& points,
                                   std::vector<std::string>& names) {
  std::vector<std::size_t> out(points.size());
  if (!p.levels.empty()) {
    for (const Level& level : p.levels) names.push_back(level.text);
    for (std::size_t i = 0; i < points.size(); ++i)
      out[i] = static_cast<std::size_t>(std::ranges::find(names, points[i].texts[index]) -
                                        names.begin());
    return out;
  }
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return points[i].numbers[index]; });
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t from = order.size() * part / kParts, to = order.size() * (part + 1) / kParts;
    names.push_back(from == to ? ""
                               : fmt::format("{} to {}", points[order[from]].texts[index],
                                             points[order[to - 1]].texts[index]));
    for (std::size_t i = from; i < to; ++i) out[order[i]] = part;
  }
  return out;
}

std::vector<Sensitivity> sensitivity(const Space& space, const std::vector<Point>& points,
                                     const std::vector<double>& results) {
  std::vector<Sensitivity> out;
  const auto count = static_cast<double>(results.size());
  double mean = 0, variance = 0;
  for (const double r : results) mean += r / count;
  for (const double r : results) variance += (r - mean) * (r - mean) / count;
  for (std::size_t p = 0; p < space.parameters.size(); ++p) {
    Sensitivity s{space.parameters[p].name, 0, {}};
    std::vector<std::string> names;
    const auto groups = levels_of(space.parameters[p], p, points, names);
    std::vector<LevelEffect> levels(names.size());
    for (std::size_t i = 0; i < groups.size(); ++i)
      ++levels[groups[i]].points, levels[groups[i]].mean += results[i];
    for (std::size_t g = 0; g < levels.size(); ++g) {
      if (levels[g].points == 0) continue;
      const auto n = static_cast<double>(levels[g].points);
      levels[g].text = names[g], levels[g].mean /= n;
      if (variance > 0)
        s.share += n / count * (levels[g].mean - mean) * (levels[g].mean - mean) / variance;
      s.levels.push_back(std::move(levels[g]));
    }
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace deputy::explore
