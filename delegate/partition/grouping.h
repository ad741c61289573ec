// From engines of nodes to groups: which nodes share a launch. Internal to delegate/partition.
#pragma once

#include "delegate/partition/partition_model.h"

namespace deputy::delegate {

/// Gives engines their turn in the order `turns`, round and round, and runs every node at the first
/// turn of its engine at which its producers have run. With two engines one of the two orders has
/// the fewest groups possible, whatever each engine's launch costs.
Grouping as_early_as_possible(const PartitionModel& model, const Assignment& assignment,
                              const PerEngine<std::uint8_t>& turns);

/// The same groups, every node in the last one in which it can be.
Grouping as_late_as_possible(const PartitionModel& model, const Assignment& assignment,
                             Grouping grouping);

/// Moves nodes between groups of one engine until every group off the host has the problem's
/// min_ops, as far as that goes.
Grouping filled(const PartitionModel& model, const Assignment& assignment, Grouping grouping);

}  // namespace deputy::delegate
