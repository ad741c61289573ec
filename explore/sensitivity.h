// How much each parameter matters to a result.
#pragma once

#include <string>
#include <vector>

#include "explore/space.h"

namespace deputy::explore {

/// Which level of the parameter, which is the space's `index`-th, or which of four equal parts of
/// its points, each point has, and what they are called; a name may be empty when there is no such
/// point.
std::vector<std::size_t> levels_of(const Parameter& parameter, std::size_t index,
                                   const std::vector<Point>& points,
                                   std::vector<std::string>& names);

/// One level of a parameter, or one part of its range.
struct LevelEffect {
  std::string text;
  std::size_t points = 0;
  double mean = 0;  ///< of the result over these points
};

struct Sensitivity {
  std::string parameter;
  /// The share of the result's variance that the means over the parameter's levels have (the
  /// first-order index): 1 when nothing else matters, 0 when it does not, alone. Exact on a whole
  /// grid, an estimate on samples.
  double share = 0;
  std::vector<LevelEffect> levels;  ///< those that have points, in the parameter's order
};

/// `points` and `results` go together. A continuous parameter counts by four equal parts of its
/// points.
std::vector<Sensitivity> sensitivity(const Space& space, const std::vector<Point>& points,
                                     const std::vector<double>& results);

}  // namespace deputy::explore
