// What is best of points with several objectives, all of them to be small.
#pragma once

#include <cstddef>
#include <vector>

namespace deputy::explore {

using Values = std::vector<double>;  ///< by objective; empty: the point has none

/// The points that no other is better than: none is at most as large in every objective and smaller
/// in one. Of equal points the first. Indices by the first objective, then by the next.
std::vector<std::size_t> pareto_front(const std::vector<Values>& points);

/// The volume between the points and `reference` that some point dominates; points beyond the
/// reference count nothing.
double hypervolume(std::vector<Values> points, const Values& reference);

}  // namespace deputy::explore
