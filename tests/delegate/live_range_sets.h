// Random sets of live ranges, realistic and adversarial.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "delegate/passes/arena_packer.h"

namespace deputy::delegate {

struct RangeSet {
  std::string family;
  std::vector<PackItem> items;
};

/// Set number `index`; families take turns.
RangeSet random_range_set(unsigned index);

}  // namespace deputy::delegate
