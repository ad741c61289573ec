// The integer graph: the float graph with a plan put into practice.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "delegate/ir/graph.h"
#include "quantize/plan.h"
#include "quantize/statistics.h"
#include "quantize/weights.h"

namespace deputy::quantize {

struct Rewritten {
  delegate::Graph graph;
  /// By tensor of the float graph: the tensor with its values, int8 where it has an integer form,
  /// else float; kNoTensor where nothing computes it any more.
  std::vector<delegate::TensorId> twin;
  std::vector<std::size_t>
      origin;  ///< by new operator: the float graph's operator, or kGraphOutput for a conversion
  std::map<std::size_t, std::string> notes;     ///< by operator of the float graph
  std::map<std::size_t, double> compensated;    ///< operators: IntegerWeights::compensated_db
  std::map<std::size_t, std::string> refusals;  ///< integer operators that turned out impossible
};

/// With `float_io` graph inputs and outputs stay float32 and are converted inside; otherwise those
/// that have an integer form are int8. Operators in `refusals` were left out of nothing: the caller
/// plans again without them.
base::Result<Rewritten> rewrite(const delegate::Graph& graph, const Plan& plan,
                                const std::vector<TensorStatistics>& statistics,
                                const InputMoments& moments, const WeightOptions& options,
                                bool float_io);

}  // namespace deputy::quantize
