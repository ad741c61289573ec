// Cuts the graph into steps: maximal groups of operators of one engine. Everything that is ready on
// an engine runs before the other engine gets its turn, so a group only reads what earlier groups
// wrote and no cycle between groups can arise.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "delegate/compile.h"
#include "delegate/ir/graph.h"
#include "delegate/partition/placement.h"

namespace deputy::delegate {

struct Group {
  Engine engine = Engine::kNpu;  ///< kNpu or kCpu
  std::vector<std::size_t> ops;  ///< in execution order, without aliases
};

struct Schedule {
  std::vector<Group> groups;       ///< neighbours have different engines
  std::vector<std::size_t> order;  ///< all operators, aliases too, in execution order
};

Schedule make_schedule(const Graph& graph, const std::vector<OpPlacement>& placements);

/// EnginePolicy::kAuto: moves groups without convolutions or fully connected layers that stand
/// between two CPU steps to the CPU when that is estimated to cost less than launching the NPU.
/// Returns whether any moved.
bool demote_small_groups(const Graph& graph, const Schedule& schedule,
                         std::vector<OpPlacement>& placements);

}  // namespace deputy::delegate
