#include "delegate/partition/grouping.h"

#include <algorithm>

namespace deputy::delegate {
namespace {

constexpr std::size_t kNone = PartitionValue::kOutside;

// Drops empty groups, then joins neighbours of one engine.
Grouping compact(Grouping g) {
  std::vector<std::size_t> size(g.engine.size(), 0);
  for (const std::size_t group : g.group) ++size[group];
  Grouping out;
  std::vector<std::size_t> renamed(g.engine.size(), 0);
  for (std::size_t i = 0; i < g.engine.size(); ++i) {
    if (size[i] == 0) continue;
    if (out.engine.empty() || out.engine.back() != g.engine[i]) out.engine.push_back(g.engine[i]);
    renamed[i] = out.engine.size() - 1;
  }
  out.group = std::move(g.group);
  for (std::size_t& group : out.group) group = renamed[group];
  return out;
}

// The groups that `node` may be in, its neighbours staying where they are.
std::pair<std::size_t, std::size_t> room(const PartitionModel& model, const Grouping& g,
                                         std::size_t node) {
  std::size_t first = 0, last = g.engine.size() - 1;
  for (const std::size_t p : model.nodes()[node].producers) first = std::max(first, g.group[p]);
  for (const std::size_t c : model.nodes()[node].consumers) last = std::min(last, g.group[c]);
  return {first, last};
}

}  // namespace

Grouping as_early_as_possible(const PartitionModel& model, const Assignment& assignment,
                              const PerEngine<std::uint8_t>& turns) {
  const std::size_t engines = model.problem().engines;
  PerEngine<std::size_t> turn_of{};
  for (std::size_t t = 0; t < engines; ++t) turn_of[turns[t]] = t;
  Grouping g;
  g.group.resize(model.nodes().size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < g.group.size(); ++i) {
    std::size_t ready = 0, turn = 0;  // the last group it reads from, and whose turn that was
    for (const std::size_t p : model.nodes()[i].producers)
      if (g.group[p] > ready) ready = g.group[p], turn = turn_of[assignment[p]];
    const std::size_t mine = turn_of[assignment[i]];
    g.group[i] = ready + (mine >= turn ? mine - turn : mine + engines - turn);
    count = std::max(count, g.group[i] + 1);
  }
  for (std::size_t i = 0; i < count; ++i) g.engine.push_back(turns[i % engines]);
  return compact(std::move(g));
}

Grouping as_late_as_possible(const PartitionModel& model, const Assignment& assignment,
                             Grouping g) {
  // The last group of each engine at or before a given one.
  std::vector<PerEngine<std::size_t>> latest(g.engine.size());
  for (std::size_t i = 0; i < g.engine.size(); ++i) {
    latest[i] = i == 0 ? PerEngine<std::size_t>{kNone, kNone, kNone} : latest[i - 1];
    latest[i][g.engine[i]] = i;
  }
  for (std::size_t i = g.group.size(); i-- > 0;)
    g.group[i] = latest[room(model, g, i).second][assignment[i]];
  return compact(std::move(g));
}

Grouping filled(const PartitionModel& model, const Assignment& assignment, Grouping g) {
  const std::size_t wanted = model.problem().limits.min_ops;
  std::vector<std::size_t> size(g.engine.size(), 0);
  for (const std::size_t group : g.group) ++size[group];
  const auto move = [&](std::size_t node, std::size_t to) {
    --size[g.group[node]], ++size[to];
    g.group[node] = to;
  };
  for (std::size_t target = 0; target < g.engine.size(); ++target) {
    if (g.engine[target] == kHost || size[target] == 0) continue;
    // From earlier groups, their last nodes first; then from later ones, their first nodes first.
    const auto pull = [&](std::size_t node) {
      const std::size_t from = g.group[node];
      if (assignment[node] != g.engine[target] || from == target || size[target] >= wanted) return;
      const auto [first, last] = room(model, g, node);
      if (first > target || last < target) return;
      // A group that is short anyway may as well be emptied.
      if (size[from] > wanted || (size[from] < wanted && from > target)) move(node, target);
    };
    for (std::size_t i = g.group.size(); i-- > 0;)
      if (g.group[i] < target) pull(i);
    for (std::size_t i = 0; i < g.group.size(); ++i)
      if (g.group[i] > target) pull(i);
  }
  return compact(std::move(g));
}

}  // namespace deputy::delegate
