#include "tests/delegate/partition_oracle.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"

namespace deputy::delegate::testing {
namespace {

constexpr std::size_t kOutside = PartitionValue::kOutside;
constexpr Cost kNever = std::numeric_limits<Cost>::max() / 4;

// For each value, the operators that really read it: through any number of aliases.
std::set<std::size_t> real_readers(const PartitionProblem& p, const PartitionValue& v) {
  std::set<std::size_t> out;
  for (const std::size_t c : v.consumers) {
    if (!p.ops[c].alias) {
      out.insert(c);
      continue;
    }
    for (const PartitionValue& renamed : p.values)
      if (renamed.producer == c) out.merge(real_readers(p, renamed));
  }
  return out;
}
bool leaves(const PartitionProblem& p, const PartitionValue& v) {
  bool out = v.read_outside;
  for (const std::size_t c : v.consumers)
    for (const PartitionValue& renamed : p.values)
      if (p.ops[c].alias && renamed.producer == c) out |= leaves(p, renamed);
  return out;
}

// Compute, boundaries and conversions: all that does not depend on the groups.
Cost ungrouped_cost(const PartitionProblem& p, const std::vector<std::size_t>& engine) {
  Cost sum = 0;
  for (std::size_t i = 0; i < p.ops.size(); ++i)
    if (!p.ops[i].alias) sum += p.ops[i].cost[engine[i]];
  for (const PartitionValue& v : p.values) {
    if (v.producer != kOutside && p.ops[v.producer].alias) continue;
    const std::size_t from = v.producer == kOutside ? kHost : engine[v.producer];
    std::set<std::size_t> to;
    for (const std::size_t reader : real_readers(p, v)) to.insert(engine[reader]);
    if (leaves(p, v)) to.insert(kHost);
    to.erase(from);
    for (const std::size_t e : to)
      sum += p.boundary_value[from][e] + p.boundary_byte[from][e] * v.bytes + v.conversion[e];
  }
  return sum;
}

struct Dependencies {
  std::vector<std::set<std::size_t>> before;  // by operator
  explicit Dependencies(const PartitionProblem& p) : before(p.ops.size()) {
    for (const PartitionValue& v : p.values)
      if (v.producer != kOutside && !p.ops[v.producer].alias)
        for (const std::size_t reader : real_readers(p, v)) before[reader].insert(v.producer);
  }
};

// Sets of operators as bits, for speed: the oracle's problems are small.
using Bits = std::uint64_t;
constexpr std::size_t kMaxOps = 64;
Bits bit(std::size_t op) { return Bits{1} << op; }

Cost join_savings(const PartitionProblem& p, Bits group, std::size_t engine) {
  Cost sum = 0;
  for (const PartitionJoin& j : p.joins)
    if (j.engine == engine && group & bit(j.a) && group & bit(j.b)) sum += j.saving;
  return sum;
}

Cost time_of(const PartitionProblem& p, Bits group, std::size_t engine) {
  Cost sum = 0;
  for (std::size_t op = 0; op < p.ops.size(); ++op)
    if (group & bit(op)) sum += p.ops[op].cost[engine];
  return sum;
}

// What group b hides of group a's remaining time.
Cost side_by_side(const PartitionProblem& p, const std::vector<Bits>& before, Bits a,
                  Cost left_of_a, Bits b, std::size_t engine_of_b) {
  Bits waiting = a, independent = 0;
  for (std::size_t op = 0; op < p.ops.size(); ++op)
    if (b & bit(op)) (before[op] & waiting ? waiting : independent) |= bit(op);
  return std::min(left_of_a, time_of(p, independent, engine_of_b));
}

std::vector<Bits> as_bits(const Dependencies& d) {
  std::vector<Bits> out;
  for (const std::set<std::size_t>& before : d.before) {
    out.push_back(0);
    for (const std::size_t q : before) out.back() |= bit(q);
  }
  return out;
}

// Tries every sequence of groups for one assignment.
class Groupings {
 public:
  Groupings(const PartitionProblem& p, const std::vector<Bits>& before,
            const std::vector<std::size_t>& engine)
      : p_(p), before_(before), engine_(engine) {
    for (std::size_t i = 0; i < p.ops.size(); ++i)
      if (!p.ops[i].alias) all_ |= bit(i);
  }

  Cost best() { return from(0, 0, 0, 0); }

 private:
  // The least that the operators not in `done` add.
  Cost from(Bits done, std::size_t partitions, Bits last, Cost left) {
    if (done == all_) return 0;
    const bool remember = p_.overlap_percent == 0;
    const std::pair key(done, p_.limits.max_partitions > p_.ops.size() ? 0 : partitions);
    if (remember)
      if (const auto it = known_.find(key); it != known_.end()) return it->second;
    Cost best = kNever;
    for (std::size_t e = 0; e < p_.engines; ++e)
      extend(done, e, 0, 0, partitions, last, left, best);
    if (remember) known_[key] = best;
    return best;
  }

  // Every set of operators that may be the next group.
  void extend(Bits done, std::size_t e, std::size_t op, Bits group, std::size_t partitions,
              Bits last, Cost left, Cost& best) {
    while (op < p_.ops.size() &&
           (!(all_ & ~done & bit(op)) || engine_[op] != e || before_[op] & ~(done | group)))
      ++op;
    if (op < p_.ops.size()) {
      extend(done, e, op + 1, group, partitions, last, left, best);
      extend(done, e, op + 1, group | bit(op), partitions, last, left, best);
      return;
    }
    if (group == 0) return;
    if (e != kHost) {
      const auto size = static_cast<std::size_t>(__builtin_popcountll(group));
      if (size < p_.limits.min_ops || ++partitions > p_.limits.max_partitions) return;
    }
    Cost cost = p_.launch[e] - join_savings(p_, group, e), time = 0;
    if (p_.overlap_percent != 0) {
      const Cost both = last == 0 ? 0 : side_by_side(p_, before_, last, left, group, e);
      cost -= both * p_.overlap_percent / 100;
      time = time_of(p_, group, e) - both;
    }
    best = std::min(best, cost + from(done | group, partitions, group, time));
  }

  const PartitionProblem& p_;
  const std::vector<Bits>& before_;
  const std::vector<std::size_t>& engine_;
  Bits all_ = 0;
  std::map<std::pair<Bits, std::size_t>, Cost> known_;
};

}  // namespace

PartitionProblem random_problem(unsigned seed, const RandomProblem& kind) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  PartitionProblem p;
  p.engines = kind.engines;
  p.overlap_percent = kind.overlap_percent;
  const std::size_t count = kind.min_ops + below(kind.max_ops - kind.min_ops + 1);
  const Cost scale = 1 + static_cast<Cost>(below(400));
  p.values.push_back({kOutside, {}, false, 1 + static_cast<std::int64_t>(below(100)), {}});
  p.values.push_back({kOutside, {}, false, 1 + static_cast<std::int64_t>(below(100)), {}});
  const std::size_t locality = 1 + below(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    PartitionOp op;
    op.alias = below(7) == 0;
    for (std::size_t e = 0; e < kind.engines; ++e)
      op.cost[e] = below(6) == 0 ? kNotPossible : static_cast<Cost>(below(100)) * scale;
    if (std::all_of(op.cost.begin(), op.cost.end(), [](Cost c) { return c < 0; }))
      op.cost[below(kind.engines)] = 10 * scale;
    const std::size_t reads = op.alias ? 1 : 1 + below(3);
    for (std::size_t r = 0; r < reads; ++r) {
      const std::size_t known = p.values.size(), back = std::min(known, locality);
      std::vector<std::size_t>& consumers = p.values[known - 1 - below(back)].consumers;
      if (consumers.empty() || consumers.back() != i) consumers.push_back(i);
    }
    p.ops.push_back(op);
    for (std::size_t made = op.alias || below(4) != 0 ? 1 : 2; made > 0; --made) {
      PartitionValue v;
      v.producer = i, v.bytes = static_cast<std::int64_t>(below(200));
      v.read_outside = below(8) == 0;
      if (below(5) == 0)
        for (std::size_t e = 0; e < kind.engines; ++e)
          v.conversion[e] = static_cast<Cost>(below(30)) * scale;
      p.values.push_back(std::move(v));
    }
  }
  for (PartitionValue& v : p.values) v.read_outside |= v.consumers.empty();
  const Cost per_byte = static_cast<Cost>(below(1 + static_cast<std::size_t>(scale)));
  for (std::size_t e = 0; e < kind.engines; ++e) {
    p.launch[e] = e == kHost && below(3) != 0 ? 0 : static_cast<Cost>(below(120)) * scale;
    for (std::size_t to = 0; to < kind.engines; ++to)
      p.boundary_value[e][to] = static_cast<Cost>(below(10)) * scale,
      p.boundary_byte[e][to] = per_byte;
  }
  for (std::size_t i = 0; kind.joins && i < p.values.size(); ++i) {
    const PartitionValue& v = p.values[i];
    if (v.producer == kOutside || v.consumers.empty() || below(3) != 0) continue;
    const std::size_t a = v.producer, b = v.consumers[0], e = 1;
    if (p.ops[a].alias || p.ops[b].alias || p.ops[b].cost[e] <= 0) continue;
    if (p.ops[a].cost[e] == kNotPossible) continue;
    // At most one join an operator may be fused by, so that no cost goes below zero.
    if (std::any_of(p.joins.begin(), p.joins.end(), [&](auto& j) { return j.b == b; })) continue;
    p.joins.push_back({a, b, e, p.ops[b].cost[e] / 2});
  }
  return p;
}

Cost oracle_cost(const PartitionProblem& p, const Partition& partition) {
  Cost sum = ungrouped_cost(p, partition.engine), left = 0;
  const bool small = p.ops.size() <= kMaxOps;
  std::vector<Bits> before;
  if (p.overlap_percent != 0) before = as_bits(Dependencies(p));
  DEPUTY_CHECK(small || before.empty(), "overlap is worked out for small problems only");
  Bits last = 0;
  for (const PartitionGroup& g : partition.groups) {
    sum += p.launch[g.engine];
    const std::set<std::size_t> group(g.ops.begin(), g.ops.end());
    for (const PartitionJoin& j : p.joins)
      if (j.engine == g.engine && group.contains(j.a) && group.contains(j.b)) sum -= j.saving;
    if (p.overlap_percent == 0) continue;
    Bits bits = 0;
    for (const std::size_t op : g.ops) bits |= bit(op);
    const Cost both = last == 0 ? 0 : side_by_side(p, before, last, left, bits, g.engine);
    sum -= both * p.overlap_percent / 100;
    last = bits, left = time_of(p, bits, g.engine) - both;
  }
  return sum;
}

std::string oracle_complaint(const PartitionProblem& p, const Partition& partition) {
  std::vector<int> group(p.ops.size(), -1), position(p.ops.size(), -1);
  if (partition.engine.size() != p.ops.size()) return "not one engine an operator";
  std::size_t off_host = 0;
  for (std::size_t g = 0; g < partition.groups.size(); ++g) {
    const PartitionGroup& it = partition.groups[g];
    if (it.ops.empty()) return "an empty group";
    if (it.engine >= p.engines) return "an engine that does not exist";
    off_host += it.engine != kHost;
    if (it.engine != kHost && it.ops.size() < p.limits.min_ops) return "too small a group";
    for (const std::size_t op : it.ops) {
      if (p.ops[op].alias) return "an alias in a group";
      if (group[op] != -1) return "an operator twice";
      if (partition.engine[op] != it.engine) return "an operator in another engine's group";
      if (p.ops[op].cost[it.engine] == kNotPossible) return "on an engine that cannot run it";
      group[op] = static_cast<int>(g);
    }
  }
  if (off_host > p.limits.max_partitions) return "too many partitions";
  for (std::size_t i = 0; i < p.ops.size(); ++i)
    if (!p.ops[i].alias && group[i] == -1) return "an operator in no group";

  // The graph of groups must have a topological order, and the order given must be one.
  const Dependencies d(p);
  std::vector<std::set<int>> before(partition.groups.size());
  for (std::size_t i = 0; i < p.ops.size(); ++i)
    for (const std::size_t q : d.before[i])
      if (group[q] != group[i]) before[static_cast<std::size_t>(group[i])].insert(group[q]);
  std::set<int> done;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t g = 0; g < before.size(); ++g)
      if (!done.contains(static_cast<int>(g)) &&
          std::includes(done.begin(), done.end(), before[g].begin(), before[g].end()))
        done.insert(static_cast<int>(g)), moved = true;
  }
  if (done.size() != partition.groups.size()) return "a cycle between groups";
  for (std::size_t g = 0; g < before.size(); ++g)
    for (const int q : before[g])
      if (q > static_cast<int>(g)) return "a group before one that it reads from";

  if (partition.order.size() != p.ops.size()) return "not every operator in the order";
  for (std::size_t i = 0; i < partition.order.size(); ++i)
    position[partition.order[i]] = static_cast<int>(i);
  int last_group = -1;
  for (const std::size_t op : partition.order) {
    if (p.ops[op].alias) continue;
    if (group[op] < last_group) return "the order leaves a group and comes back";
    last_group = group[op];
  }
  for (const PartitionValue& v : p.values)
    for (const std::size_t c : v.consumers) {
      if (position[c] == -1) return "an operator missing in the order";
      if (v.producer != kOutside && position[v.producer] > position[c])
        return "an operator before what it reads";
    }
  return "";
}

std::optional<Cost> oracle_best(const PartitionProblem& p) {
  DEPUTY_CHECK(p.ops.size() <= kMaxOps, "too large to try everything");
  const std::vector<Bits> before = as_bits(Dependencies(p));
  Cost may_save = 0;  // at most, by joins
  for (const PartitionJoin& j : p.joins) may_save += j.saving;
  std::vector<std::size_t> engine(p.ops.size(), kHost);
  Cost best = kNever;
  const auto assign = [&](auto&& self, std::size_t i) -> void {
    if (i == p.ops.size()) {
      const Cost ungrouped = ungrouped_cost(p, engine);
      if (p.overlap_percent == 0 && ungrouped - may_save >= best) return;  // launches cost >= 0
      best = std::min(best, ungrouped + Groupings(p, before, engine).best());
      return;
    }
    if (p.ops[i].alias) return self(self, i + 1);
    for (std::size_t e = 0; e < p.engines; ++e) {
      if (p.ops[i].cost[e] == kNotPossible) continue;
      engine[i] = e;
      self(self, i + 1);
    }
  };
  assign(assign, 0);
  if (best >= kNever / 2) return std::nullopt;
  return best;
}

}  // namespace deputy::delegate::testing
