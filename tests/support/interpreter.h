// Runs a compiler graph op by op on the CPU kernels and keeps every tensor. For tests: no memory
// plan, no simulator, nothing between the graph and the kernels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "delegate/ir/graph.h"

namespace deputy::tests {

/// tensors[i] holds tensor i's bytes (constants included; empty if nothing computed it).
struct GraphValues {
  std::vector<std::vector<std::uint8_t>> tensors;
};

/// check_host_op for every op; the first refusal.
base::Status check_graph(const delegate::Graph& graph);

/// inputs[i] are graph input i's bytes. Errors: a refused op, a wrong input size, a run-time data
/// error.
base::Result<GraphValues> run_graph(const delegate::Graph& graph,
                                    std::span<const std::vector<std::uint8_t>> inputs,
                                    Numerics mode);

}  // namespace deputy::tests
