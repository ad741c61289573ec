// Conversions that bring a model to the NPU's quantisation contract: QUANTIZE operators between
// tensors whose types or scales do not meet, and constants rewritten.
#pragma once

#include <string>
#include <vector>

#include "delegate/contract/check_contract.h"

namespace deputy::delegate {

struct Conversion {
  std::size_t op = 0;  ///< for which operator, index in the graph that was given
  std::string text;    ///< "'x' as uint8: QUANTIZE, exact"
};
struct Converted {
  Graph graph;
  std::vector<Conversion> conversions;  ///< empty: the graph is as it was
};

/// Converts beside every operator whose mismatches can all be mended (Mismatch::convertible); the
/// others stay as they are. The new operators carry the source index of the one they serve. Where a
/// step is not exact (another scale, a bias rounded anew) the text says so.
Converted convert_to_contract(const Graph& graph, const CompileOptions& options);

}  // namespace deputy::delegate
