// Points drawn from a space. The same seed gives the same points on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "explore/space.h"

namespace deputy::explore {

/// `count` different allowed points, drawn evenly. Fewer when the space seems to have no more:
/// after 1000 draws in a row that gave nothing new.
base::Result<std::vector<Genes>> draw_random(const Space& space, std::size_t count,
                                             std::uint64_t seed);

/// A Latin hypercube: each parameter's axis has `count` equal parts, and one point in each. Points
/// that are not allowed or fall on another's levels are left out, so there may be fewer.
base::Result<std::vector<Genes>> draw_latin(const Space& space, std::size_t count,
                                            std::uint64_t seed);

}  // namespace deputy::explore
