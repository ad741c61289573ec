// What the NPU runs as one: an operator and those that are fused into it.
#pragma once

#include <cstddef>
#include <vector>

#include "delegate/compile.h"
#include "delegate/ir/graph.h"
#include "delegate/partition/schedule.h"

namespace deputy::delegate {

struct Kernel {
  std::vector<std::size_t> ops;  ///< indices into Graph::ops, in execution order
  std::size_t main = 0;          ///< the one whose lowering emits the instructions
  const Op& main_op(const Graph& graph) const { return graph.ops[main]; }
  std::vector<TensorId> reads, writes;  ///< tensors with storage (or constants) that it touches
};

/// The kernels of one group of NPU operators, in execution order; every operator is in exactly one.
std::vector<Kernel> plan_kernels(const Graph& graph, const Group& group,
                                 const CompileOptions& options);

/// One entry of the execution order as the memory plan sees it: everything that is read or written
/// while it runs is alive together.
struct Action {
  std::vector<TensorId> reads, writes;
  /// The operators, by kernel: of one kernel, of all those that a cascade interleaves, or one CPU
  /// operator.
  std::vector<std::vector<std::size_t>> kernels;
  bool host = false;  ///< on the CPU
};

}  // namespace deputy::delegate
