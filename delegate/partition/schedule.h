// Cuts the graph into steps: as few groups of operators of one engine as their dependencies allow.
// A group only reads what earlier groups wrote, so no cycle between groups can arise.
#pragma once

#include <vector>

#include "delegate/ir/graph.h"
#include "delegate/partition/placement.h"
#include "delegate/partition/problem.h"

namespace deputy::delegate {

/// The graph's operators and values without any cost: every operator is possible nowhere yet;
/// aliases as placed.
PartitionProblem dataflow(const Graph& graph, const std::vector<bool>& alias);

Schedule schedule_of(const Partition& partition);

/// The schedule of operators whose engines are given.
Schedule make_schedule(const Graph& graph, const std::vector<OpPlacement>& placements);

}  // namespace deputy::delegate
