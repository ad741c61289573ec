// The partition search against all solutions of small random problems, against an exact method on
// long chains, and against values worked out by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "delegate/partition/search.h"
#include "tests/delegate/partition_oracle.h"

namespace deputy::delegate {
namespace {

using testing::oracle_best;
using testing::oracle_complaint;
using testing::oracle_cost;
using testing::random_problem;

struct Tally {
  int problems = 0, optimal = 0, no_solution = 0;
  double excess = 0;  // of found over best, summed
  void compare(const PartitionProblem& p) {
    const std::optional<Partition> found = find_partition(p);
    const std::optional<Cost> best = oracle_best(p);
    REQUIRE(found.has_value() == best.has_value());
    ++problems;
    if (!best) {
      ++no_solution;
      return;
    }
    REQUIRE(oracle_complaint(p, *found) == "");
    const Cost cost = oracle_cost(p, *found);
    REQUIRE(found->cost.total() == cost);
    REQUIRE(cost >= *best);
    optimal += cost == *best;
    if (*best > 0)
      excess += static_cast<double>(cost - *best) / static_cast<double>(*best);
    else
      REQUIRE(cost == *best);
  }
  double average() const { return excess / (problems - no_solution); }
};

// A chain of `costs.size()` operators from a host value to a host value.
PartitionProblem chain(const std::vector<PerEngine<Cost>>& costs,
                       const std::vector<std::int64_t>& bytes) {
  PartitionProblem p;
  p.values.push_back({PartitionValue::kOutside, {}, false, bytes[0], {}});
  for (std::size_t i = 0; i < costs.size(); ++i) {
    p.ops.push_back({costs[i], false});
    p.values.back().consumers.push_back(i);
    p.values.push_back({i, {}, false, bytes[i + 1], {}});
  }
  p.values.back().read_outside = true;
  return p;
}

}  // namespace

TEST_CASE("partitions of small random problems are valid and within 2 % of the best on average") {
  Tally tally;
  for (unsigned seed = 0; seed < 2400; ++seed) {
    INFO("seed " << seed);
    tally.compare(random_problem(seed, {.joins = seed % 2 == 1}));
  }
  INFO("of " << tally.problems << " problems " << tally.optimal << " optimal, average excess "
             << 100 * tally.average() << " %");
  CHECK(tally.problems >= 2000);
  CHECK(tally.average() <= 0.02);
}

TEST_CASE("limits hold, and are met whenever they can be") {
  Tally tally;
  for (unsigned seed = 0; seed < 900; ++seed) {
    INFO("seed " << seed);
    PartitionProblem p = random_problem(seed, {.max_ops = 8, .joins = seed % 3 == 0});
    if (seed % 2) p.limits.min_ops = 2 + seed / 2 % 3;
    if (seed % 4 != 1) p.limits.max_partitions = seed / 4 % 3;
    tally.compare(p);
  }
  CHECK(tally.no_solution > 50);
  CHECK(tally.average() <= 0.02);
  INFO("of " << tally.problems << " problems " << tally.no_solution << " without solution, "
             << tally.optimal << " optimal, average excess " << 100 * tally.average() << " %");
}

TEST_CASE("three engines") {
  Tally tally;
  for (unsigned seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    tally.compare(random_problem(seed, {.engines = 3, .max_ops = 6}));
  }
  CHECK(tally.average() <= 0.02);
  INFO("of " << tally.problems << " problems " << tally.optimal << " optimal, average excess "
             << 100 * tally.average() << " %");
}

// No runtime runs groups side by side yet, so the search looks for such chances only among the
// earliest and the latest groups of a given assignment: a wider margin than above.
TEST_CASE("groups that can run side by side") {
  Tally tally;
  for (unsigned seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    tally.compare(random_problem(seed, {.max_ops = 6, .overlap_percent = seed % 2 ? 100 : 40}));
  }
  CHECK(tally.average() <= 0.1);
  INFO("of " << tally.problems << " problems " << tally.optimal << " optimal, average excess "
             << 100 * tally.average() << " %");
}

TEST_CASE("long chains are cut where an exact method cuts them") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const std::size_t count = 50 + random() % 450;
    std::vector<PerEngine<Cost>> costs(count, PerEngine<Cost>{});
    std::vector<std::int64_t> bytes(count + 1, 0);
    for (auto& c : costs) {
      c = {1 + static_cast<Cost>(random() % 1000), 1 + static_cast<Cost>(random() % 1000),
           kNotPossible};
      if (random() % 12 == 0) c[random() % 2] = kNotPossible;
    }
    for (auto& b : bytes) b = random() % 300;
    PartitionProblem p = chain(costs, bytes);
    p.launch = {0, static_cast<Cost>(random() % 3000), 0};
    p.boundary_value = {{{0, 50, 0}, {70, 0, 0}, {0, 0, 0}}};
    p.boundary_byte = {{{0, 1, 0}, {2, 0, 0}, {0, 0, 0}}};
    // Least cost up to each operator, by its engine.
    constexpr Cost kNever = std::int64_t{1} << 50;
    Cost on[2] = {0, kNever};
    for (std::size_t i = 0; i < count; ++i) {
      const Cost to_npu = 50 + bytes[i] + p.launch[1], to_host = 70 + 2 * bytes[i];
      const Cost host = std::min(on[0], on[1] + to_host), npu = std::min(on[1], on[0] + to_npu);
      on[0] = costs[i][0] == kNotPossible ? kNever : host + costs[i][0];
      on[1] = costs[i][1] == kNotPossible ? kNever : npu + costs[i][1];
    }
    const Cost best = std::min(on[0], on[1] + 70 + 2 * bytes[count]);
    const auto found = find_partition(p);
    REQUIRE(found);
    REQUIRE(oracle_complaint(p, *found) == "");
    CHECK(oracle_cost(p, *found) == best);
  }
}

TEST_CASE("large random problems are valid, and better than either engine alone") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    INFO("seed " << seed);
    const PartitionProblem p =
        random_problem(seed, {.min_ops = 300, .max_ops = 500, .joins = seed % 2 == 0});
    const auto found = find_partition(p), again = find_partition(p);
    REQUIRE(found);
    CHECK(oracle_complaint(p, *found) == "");
    CHECK(found->cost.total() == oracle_cost(p, *found));
    CHECK(found->engine == again->engine);
    for (std::size_t favourite : {0, 1}) {
      std::vector<std::size_t> engines;
      for (const PartitionOp& op : p.ops)
        engines.push_back(op.cost[favourite] == kNotPossible ? 1 - favourite : favourite);
      const Partition forced = partition_for(p, engines);
      CHECK(oracle_complaint(p, forced) == "");
      CHECK(oracle_cost(p, forced) >= oracle_cost(p, *found));
    }
  }
}

TEST_CASE("every component of the cost, by hand") {
  // host value (10 bytes) -> a (npu) -> alias -> b (host) -> c (npu) -> host; d (host) reads the
  // input too.
  PartitionProblem p;
  p.ops = {{{kNotPossible, 5, kNotPossible}, false},
           {{}, true},
           {{7, kNotPossible, kNotPossible}, false},
           {{kNotPossible, 11, kNotPossible}, false},
           {{20, kNotPossible, kNotPossible}, false}};
  p.values = {{PartitionValue::kOutside, {0, 4}, false, 10, {}},
              {0, {1}, false, 20, {}},
              {1, {2}, false, 20, {}},
              {2, {3}, false, 30, {0, 9, 0}},
              {3, {}, true, 40, {}},
              {4, {}, true, 50, {}}};
  p.launch = {1, 1000, 0};
  p.boundary_value = {{{0, 3, 0}, {4, 0, 0}, {0, 0, 0}}};
  p.boundary_byte = {{{0, 100, 0}, {200, 0, 0}, {0, 0, 0}}};
  p.overlap_percent = 50;
  const auto found = find_partition(p);
  REQUIRE(found);
  CHECK(oracle_complaint(p, *found) == "");
  REQUIRE(found->groups.size() == 3);
  CHECK(found->groups[0].ops == std::vector<std::size_t>{0});
  CHECK(found->groups[1].ops == std::vector<std::size_t>{2, 4});
  CHECK(found->groups[2].ops == std::vector<std::size_t>{3});
  CHECK(found->order == std::vector<std::size_t>{0, 1, 2, 4, 3});
  CHECK(found->cost.compute == PerEngine<Cost>{27, 16, 0});
  CHECK(found->cost.launch == 2001);
  // Into the NPU: 10 and 30 bytes; out of it: 20 (through the alias) and 40.
  CHECK(found->cost.boundary == 3 + 1000 + 4 + 4000 + 3 + 3000 + 4 + 8000);
  CHECK(found->cost.conversion == 9);
  // d needs nothing from a: the shorter of 5 and 20, half of it, rounded down.
  CHECK(found->cost.overlapped == 2);
}

}  // namespace deputy::delegate
