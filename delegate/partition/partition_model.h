// A partition problem prepared for the search: aliases resolved, costs of crossings worked out, and
// the score of an assignment of engines. Internal to delegate/partition.
#pragma once

#include <compare>
#include <optional>

#include "delegate/partition/problem.h"

namespace deputy::delegate {

/// The engine of every node.
using Assignment = std::vector<std::uint8_t>;

/// Broken limits first, then cost.
struct Score {
  std::int64_t violations = 0;
  Cost cost = 0;
  auto operator<=>(const Score&) const = default;
};

/// Groups in execution order; every node's group.
struct Grouping {
  std::vector<std::uint8_t> engine;  ///< by group; neighbours differ
  std::vector<std::size_t> group;    ///< by node
};

class PartitionModel {
 public:
  explicit PartitionModel(const PartitionProblem& problem);

  /// A node is an operator that is no alias; they are numbered in the problem's order.
  struct Node {
    std::size_t op = 0;
    PerEngine<Cost> cost{};
    std::vector<std::size_t> producers, consumers;  ///< nodes, ascending
    std::vector<std::size_t> data;                  ///< what it reads and writes
    Cost join_savings = 0;                          ///< of all joins it could be in
  };
  /// A value with the readers of its aliases. Never without readers.
  struct Data {
    std::size_t producer = PartitionValue::kOutside;  ///< a node
    std::vector<std::size_t> consumers;               ///< nodes, ascending
    bool read_outside = false;
    PerEngine<PerEngine<Cost>> boundary{}, conversion{}, both{};  ///< [from][to]
  };
  struct Join {
    std::size_t a = 0, b = 0, engine = 0;
    Cost saving = 0;
  };

  const PartitionProblem& problem() const { return problem_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Data>& data() const { return data_; }
  const std::vector<Join>& joins() const { return joins_; }
  bool possible(std::size_t node, std::size_t engine) const {
    return nodes_[node].cost[engine] != kNotPossible;
  }

  Score score(const Assignment& assignment) const;
  /// The grouping that score() was of.
  Grouping group(const Assignment& assignment) const;
  PartitionCost cost(const Assignment& assignment, const Grouping& grouping) const;
  /// The part of the cost that depends on the node's engine alone and on its neighbours': running
  /// it, and its data's crossings.
  Cost local_cost(const Assignment& assignment, std::size_t node) const;
  Partition partition(const Assignment& assignment) const;

 private:
  struct Candidate {
    Grouping grouping;
    Score score;  ///< without the costs that do not depend on the grouping
  };
  Candidate best_grouping(const Assignment& assignment) const;
  Candidate rated(const Assignment& assignment, Grouping grouping) const;
  void add_values();
  void add_joins();
  Cost overlapped(const Assignment& assignment, const Grouping& grouping) const;
  std::vector<std::size_t> full_order(const std::vector<PartitionGroup>& groups) const;

  const PartitionProblem& problem_;
  std::vector<PerEngine<std::uint8_t>> turn_orders_;  // of the engines, that are worth a try
  std::vector<std::size_t> node_of_;                  ///< by operator; kOutside for aliases
  std::vector<Node> nodes_;
  std::vector<Data> data_;
  std::vector<Join> joins_;
};

}  // namespace deputy::delegate
