// Finds a good partition: a beam over the operators in order, then moves that lower the cost.
// Deterministic; time grows with the operators to a little over the first power.
#pragma once

#include <optional>

#include "delegate/partition/problem.h"

namespace deputy::delegate {

/// The cheapest partition found within the limits; nullopt when none was found. Every operator must
/// be possible on some engine.
std::optional<Partition> find_partition(const PartitionProblem& problem);

/// The partition that follows from given engines, one an operator (of aliases: any), each of them
/// possible. The limits are not looked at.
Partition partition_for(const PartitionProblem& problem, const std::vector<std::size_t>& engines);

}  // namespace deputy::delegate
