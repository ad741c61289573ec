// What a partition problem's solutions cost, worked out from the definitions of problem.h and
// nothing else, and the best solution of small problems by trying all of them.
#pragma once

#include <limits>
#include <optional>
#include <random>
#include <string>

#include "delegate/partition/problem.h"

namespace deputy::delegate::testing {

struct RandomProblem {
  std::size_t engines = 2;
  std::size_t min_ops = 2, max_ops = 9;
  bool joins = false;
  std::int64_t overlap_percent = 0;
};
PartitionProblem random_problem(unsigned seed, const RandomProblem& kind);

/// What the partition costs by its engines and groups (not by its `cost`).
Cost oracle_cost(const PartitionProblem& problem, const Partition& partition);

/// Why the partition is no solution: an operator missing, twice, on an engine that cannot run it, a
/// producer in a later group, a cycle between groups, a wrong order, a broken limit; empty when it
/// is one.
std::string oracle_complaint(const PartitionProblem& problem, const Partition& partition);

/// The lowest cost of all solutions; nullopt when there is none. All assignments, each with all
/// sequences of groups.
std::optional<Cost> oracle_best(const PartitionProblem& problem);

}  // namespace deputy::delegate::testing
