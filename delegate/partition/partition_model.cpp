#include "delegate/partition/partition_model.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/check.h"
#include "delegate/partition/grouping.h"

namespace deputy::delegate {
namespace {

constexpr std::size_t kNone = PartitionValue::kOutside;

std::vector<PerEngine<std::uint8_t>> turn_orders(std::size_t engines) {
  PerEngine<std::uint8_t> turns{0, 1, 2};
  std::vector<PerEngine<std::uint8_t>> out;
  do out.push_back(turns);
  while (
      std::next_permutation(turns.begin(), turns.begin() + static_cast<std::ptrdiff_t>(engines)));
  return out;
}

// What a value's crossings cost: `per_pair` once for every engine but its producer's that reads it.
Cost crossings(const PartitionModel::Data& d, const Assignment& assignment,
               const PerEngine<PerEngine<Cost>>& per_pair) {
  const std::size_t from = d.producer == kNone ? kHost : assignment[d.producer];
  unsigned paid = 1u << from;
  Cost sum = 0;
  const auto reads = [&](std::size_t engine) {
    if (paid >> engine & 1) return;
    paid |= 1u << engine;
    sum += per_pair[from][engine];
  };
  for (const std::size_t c : d.consumers) reads(assignment[c]);
  if (d.read_outside) reads(kHost);
  return sum;
}

}  // namespace

PartitionModel::PartitionModel(const PartitionProblem& problem)
    : problem_(problem),
      turn_orders_(turn_orders(problem.engines)),
      node_of_(problem.ops.size(), kNone) {
  DEPUTY_CHECK(problem.engines >= 1 && problem.engines <= kMaxEngines, "so many engines");
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const PartitionOp& op = problem.ops[i];
    if (op.alias) continue;
    node_of_[i] = nodes_.size();
    Node node{i, op.cost, {}, {}, {}, 0};
    for (std::size_t e = problem.engines; e < kMaxEngines; ++e) node.cost[e] = kNotPossible;
    DEPUTY_CHECK(std::any_of(node.cost.begin(), node.cost.end(), [](Cost c) { return c >= 0; }),
                 "an operator that no engine runs");
    nodes_.push_back(std::move(node));
  }
  add_values();
  add_joins();
}

void PartitionModel::add_values() {
  const std::vector<PartitionValue>& values = problem_.values;
  std::vector<std::vector<std::size_t>> made_by(problem_.ops.size());
  for (std::size_t v = 0; v < values.size(); ++v)
    if (values[v].producer != kNone) made_by[values[v].producer].push_back(v);
  for (const PartitionValue& value : values) {
    const bool outside = value.producer == kNone;
    if (!outside && problem_.ops[value.producer].alias) continue;  // part of what the alias reads
    Data d;
    d.producer = outside ? kNone : node_of_[value.producer];
    d.read_outside = value.read_outside;
    std::set<std::size_t> consumers;
    std::vector<std::size_t> open = value.consumers;
    while (!open.empty()) {
      const std::size_t op = open.back();
      open.pop_back();
      DEPUTY_CHECK(outside || op > value.producer, "an operator before its producer");
      if (!problem_.ops[op].alias) {
        consumers.insert(node_of_[op]);
        continue;
      }
      for (const std::size_t v : made_by[op]) {
        open.insert(open.end(), values[v].consumers.begin(), values[v].consumers.end());
        d.read_outside |= values[v].read_outside;
      }
    }
    d.consumers.assign(consumers.begin(), consumers.end());
    if (d.consumers.empty() && !d.read_outside) continue;
    for (std::size_t from = 0; from < problem_.engines; ++from)
      for (std::size_t to = 0; to < problem_.engines; ++to) {
        if (from == to) continue;
        d.boundary[from][to] =
            problem_.boundary_value[from][to] + problem_.boundary_byte[from][to] * value.bytes;
        d.conversion[from][to] = value.conversion[to];
        d.both[from][to] = d.boundary[from][to] + d.conversion[from][to];
      }
    for (const std::size_t c : d.consumers) nodes_[c].data.push_back(data_.size());
    if (!outside) nodes_[d.producer].data.push_back(data_.size());
    data_.push_back(std::move(d));
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    std::set<std::size_t> producers, consumers;
    for (const std::size_t v : nodes_[i].data) {
      const Data& d = data_[v];
      if (d.producer == i)
        consumers.insert(d.consumers.begin(), d.consumers.end());
      else if (d.producer != kNone)
        producers.insert(d.producer);
    }
    nodes_[i].producers.assign(producers.begin(), producers.end());
    nodes_[i].consumers.assign(consumers.begin(), consumers.end());
  }
}

void PartitionModel::add_joins() {
  for (const PartitionJoin& join : problem_.joins) {
    const Join j{node_of_[join.a], node_of_[join.b], join.engine, join.saving};
    DEPUTY_CHECK(j.a != kNone && j.b != kNone, "a join of an alias");
    nodes_[j.a].join_savings += j.saving;
    nodes_[j.b].join_savings += j.saving;
    joins_.push_back(j);
  }
}

Cost PartitionModel::local_cost(const Assignment& assignment, std::size_t node) const {
  Cost sum = nodes_[node].cost[assignment[node]];
  for (const std::size_t v : nodes_[node].data)
    sum += crossings(data_[v], assignment, data_[v].both);
  return sum;
}

Cost PartitionModel::overlapped(const Assignment& assignment, const Grouping& g) const {
  if (problem_.overlap_percent == 0) return 0;
  std::vector<Cost> left(g.engine.size(), 0);  // of each group's time, not yet hidden
  for (std::size_t i = 0; i < nodes_.size(); ++i) left[g.group[i]] += nodes_[i].cost[assignment[i]];
  // Of each group, the nodes that need nothing from the group before it.
  std::vector<Cost> independent(g.engine.size(), 0);
  std::vector<bool> needs(nodes_.size(), false);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const std::size_t p : nodes_[i].producers)
      if (g.group[p] + 1 == g.group[i] || (g.group[p] == g.group[i] && needs[p])) needs[i] = true;
    if (!needs[i]) independent[g.group[i]] += nodes_[i].cost[assignment[i]];
  }
  Cost hidden = 0;
  for (std::size_t i = 1; i < g.engine.size(); ++i) {
    const Cost both = std::min(left[i - 1], independent[i]);
    left[i] -= both;
    hidden += both * problem_.overlap_percent / 100;
  }
  return hidden;
}

PartitionModel::Candidate PartitionModel::rated(const Assignment& assignment, Grouping g) const {
  Candidate out{std::move(g), {}};
  const PartitionLimits& limits = problem_.limits;
  std::size_t partitions = 0;
  for (const std::uint8_t engine : out.grouping.engine) {
    out.score.cost += problem_.launch[engine];
    partitions += engine != kHost;
  }
  if (partitions > limits.max_partitions)
    out.score.violations += static_cast<std::int64_t>(partitions - limits.max_partitions);
  if (limits.min_ops > 1) {
    std::vector<std::size_t> size(out.grouping.engine.size(), 0);
    for (const std::size_t group : out.grouping.group) ++size[group];
    for (std::size_t i = 0; i < size.size(); ++i)
      if (out.grouping.engine[i] != kHost && size[i] < limits.min_ops)
        out.score.violations += static_cast<std::int64_t>(limits.min_ops - size[i]);
  }
  for (const Join& j : joins_)
    if (out.grouping.group[j.a] == out.grouping.group[j.b] && assignment[j.a] == j.engine)
      out.score.cost -= j.saving;
  out.score.cost -= overlapped(assignment, out.grouping);
  return out;
}

PartitionModel::Candidate PartitionModel::best_grouping(const Assignment& assignment) const {
  const bool placement_matters = problem_.limits.min_ops > 1 || problem_.overlap_percent != 0;
  std::optional<Candidate> best;
  const auto consider = [&](Grouping g) {
    Candidate c = rated(assignment, std::move(g));
    if (!best || c.score < best->score) best = std::move(c);
  };
  for (const auto& turns : turn_orders_) {
    Grouping early = as_early_as_possible(*this, assignment, turns);
    if (placement_matters) {
      Grouping late = as_late_as_possible(*this, assignment, early);
      if (problem_.limits.min_ops > 1) {
        consider(filled(*this, assignment, early));
        consider(filled(*this, assignment, late));
      }
      consider(std::move(late));
    }
    consider(std::move(early));
  }
  return *std::move(best);
}

Score PartitionModel::score(const Assignment& assignment) const {
  Score score = best_grouping(assignment).score;
  for (std::size_t i = 0; i < nodes_.size(); ++i) score.cost += nodes_[i].cost[assignment[i]];
  for (const Data& d : data_) score.cost += crossings(d, assignment, d.both);
  return score;
}

Grouping PartitionModel::group(const Assignment& assignment) const {
  return best_grouping(assignment).grouping;
}

PartitionCost PartitionModel::cost(const Assignment& assignment, const Grouping& g) const {
  PartitionCost out;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    out.compute[assignment[i]] += nodes_[i].cost[assignment[i]];
  for (const std::uint8_t engine : g.engine) out.launch += problem_.launch[engine];
  for (const Data& d : data_) {
    out.boundary += crossings(d, assignment, d.boundary);
    out.conversion += crossings(d, assignment, d.conversion);
  }
  for (const Join& j : joins_)
    if (g.group[j.a] == g.group[j.b] && assignment[j.a] == j.engine) out.joined += j.saving;
  out.overlapped = overlapped(assignment, g);
  return out;
}

Partition PartitionModel::partition(const Assignment& assignment) const {
  const Grouping g = group(assignment);
  Partition out;
  out.engine.assign(problem_.ops.size(), kHost);
  for (const std::uint8_t engine : g.engine) out.groups.push_back({engine, {}});
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    out.engine[nodes_[i].op] = assignment[i];
    out.groups[g.group[i]].ops.push_back(nodes_[i].op);
  }
  out.order = full_order(out.groups);
  out.cost = cost(assignment, g);
  return out;
}

// Aliases run as soon as what they read is there.
std::vector<std::size_t> PartitionModel::full_order(
    const std::vector<PartitionGroup>& groups) const {
  std::vector<std::size_t> missing(problem_.ops.size(), 0);
  std::vector<std::vector<std::size_t>> readers(problem_.ops.size());
  for (const PartitionValue& value : problem_.values) {
    if (value.producer == kNone) continue;
    for (const std::size_t c : value.consumers) {
      if (!problem_.ops[c].alias) continue;
      ++missing[c];
      readers[value.producer].push_back(c);
    }
  }
  std::vector<std::size_t> order;
  const auto run = [&](std::size_t op) {
    std::vector<std::size_t> ready{op};
    while (!ready.empty()) {
      const std::size_t next = ready.back();
      ready.pop_back();
      order.push_back(next);
      for (const std::size_t alias : readers[next])
        if (--missing[alias] == 0) ready.push_back(alias);
    }
  };
  std::vector<std::size_t> early;  // aliases of graph inputs and constants
  for (std::size_t i = 0; i < problem_.ops.size(); ++i)
    if (problem_.ops[i].alias && missing[i] == 0) early.push_back(i);
  for (const std::size_t op : early) run(op);
  for (const PartitionGroup& group : groups)
    for (const std::size_t op : group.ops) run(op);
  return order;
}

}  // namespace deputy::delegate
