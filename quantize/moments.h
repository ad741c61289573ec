// How the inputs of a weighted operator vary together: what error-compensating rounding works on
// (compensate.h).
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "base/result.h"
#include "delegate/ir/graph.h"
#include "quantize/executor.h"

namespace deputy::quantize {

/// Sums over patches: what the weights of one output see. By group of the operator.
struct MomentSum {
  double count = 0;
  std::vector<double> first;   ///< groups x taps
  std::vector<double> second;  ///< groups x taps x taps
};

/// `held` is of samples that rounding is judged by and not fitted to; its count may be 0.
struct LayerMoments {
  std::size_t groups = 1, taps = 0;
  MomentSum fit, held;
};

class InputMoments {
 public:
  /// All sums of a network together; the layers with the most taps are left out beyond it.
  static constexpr std::size_t kMostBytes = std::size_t{512} << 20;

  InputMoments() = default;
  /// Of the weighted operators of `graph`, smallest first, within kMostBytes. Allocates.
  explicit InputMoments(const delegate::Graph& graph);

  /// One sample of the same graph, run in floats. From large images a fixed subset of the patches
  /// is taken.
  base::Status add(const delegate::Graph& graph, std::span<const Bytes> inputs, bool held);
  bool empty() const { return layers_.empty(); }
  /// nullptr: there are none of this operator.
  const LayerMoments* find(std::size_t op) const;

 private:
  std::map<std::size_t, LayerMoments> layers_;  ///< by operator
};

}  // namespace deputy::quantize
