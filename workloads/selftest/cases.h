// What `deputy probe` asks of an NPU: each operator that it takes, by itself, at and away from the
// limits of the constraint table, one number changed at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "delegate/compile.h"
#include "delegate/ir/graph.h"

namespace deputy::graphs {

struct SelftestCase {
  std::string name;       ///< "DEPTHWISE_CONV_2D int8 stride 2"
  delegate::Graph graph;  ///< one operator
  Numerics numerics = Numerics::kTflite;
  std::vector<std::vector<std::uint8_t>> inputs;
};

/// In the order of the operators; always the same.
std::vector<SelftestCase> selftest_cases();

}  // namespace deputy::graphs
