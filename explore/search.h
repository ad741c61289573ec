// Searches for the best points without trying all, by pagmo's algorithms. The same seed gives the
// same points, so a search that was killed takes the same way again; what it had evaluated is in
// the store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore/pareto.h"
#include "explore/space.h"

namespace deputy::explore {

/// Evaluates points and answers in their order; Values that are empty: that point failed. An error
/// ends the search.
using Evaluate = std::function<base::Result<std::vector<Values>>(const std::vector<Point>& points)>;

struct SearchOptions {
  std::string method = "nsga2";   ///< a search of methods.h
  std::int32_t population = 0;    ///< 0: chosen by the evaluations
  std::size_t evaluations = 200;  ///< different points at most
  std::uint64_t seed = 1;
};

/// The points evaluated, in that order, each once. `objectives`: how many Values have. Points that
/// are not allowed are never evaluated. Ends at the number of evaluations, or when generations have
/// brought nothing new for long. Errors are the space's, the evaluation's, or kConfig when the
/// method cannot work with the options.
base::Result<std::vector<Point>> search(const Space& space, std::size_t objectives,
                                        const SearchOptions& options, const Evaluate& evaluate);

}  // namespace deputy::explore
