// Proves a memory plan by replaying what runs: whose value each byte of the arenas and external
// regions holds is followed write by write, and every read must find its own tensor's bytes,
// element by element. Knows nothing of live ranges, roots or planners; works from the views that
// the code is generated from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/executable.h"
#include "delegate/codegen/views.h"
#include "delegate/fusion/kernel.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// What is checked. Nothing is owned.
struct MemoryUse {
  const Graph& graph;
  const arch::Executable& executable;    ///< arena sizes, external regions, steps, programs
  const std::vector<TensorView>& views;  ///< by tensor
  const std::vector<Action>& actions;    ///< in execution order; an operator in none does no work
  bool keep_all = false;                 ///< every tensor must still hold its value at the end
};

/// What is wrong, or nullopt. An action reads its operands whole, writes its results, and then its
/// operands must still be intact, but for one that it may overwrite: an element-wise NPU
/// operator's, dense in the same place as the result.
std::optional<std::string> check_memory_plan(const MemoryUse& use);

}  // namespace deputy::delegate
