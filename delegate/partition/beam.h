// The search's first step. Internal to delegate/partition.
#pragma once

#include "delegate/partition/partition_model.h"

namespace deputy::delegate {

/// Assigns the nodes in order and keeps the cheapest partial assignments; of those that no later
/// node can tell apart, only one. Exact (up to joins, overlap and minimum sizes, which it does not
/// see) where the graph is narrow enough for the beam. The best few complete assignments, cheapest
/// first.
std::vector<Assignment> beam_search(const PartitionModel& model);

}  // namespace deputy::delegate
