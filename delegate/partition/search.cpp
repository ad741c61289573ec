#include "delegate/partition/search.h"

#include <algorithm>
#include <random>

#include "base/check.h"
#include "delegate/partition/beam.h"
#include "delegate/partition/partition_model.h"

namespace deputy::delegate {
namespace {

constexpr unsigned kSeed = 20250707;
constexpr std::size_t kRounds = 48;       // of shaking and improving again
constexpr std::size_t kLargestShake = 8;  // nodes
constexpr std::size_t kNear = 40;         // nodes around a shake that are looked at again
// Scores worked out in all, times nodes: what bounds the time.
constexpr std::size_t kEffort = 1'200'000;

class LocalSearch {
 public:
  explicit LocalSearch(const PartitionModel& model)
      : model_(model), budget_(kEffort / model.nodes().size()) {
    for (std::size_t e = 0; e < model.problem().engines; ++e)
      all_launches_ += model.problem().launch[e];
    for (std::size_t i = 0; i < model.nodes().size(); ++i) all_nodes_.push_back(i);
  }

  void start(Assignment assignment) {
    now_ = std::move(assignment);
    score_ = model_.score(now_);
    improve(all_nodes_);
    keep();
  }

  // Changes a few connected nodes of the best assignment and improves around them.
  void shake(std::mt19937& random) {
    const std::size_t size = 1 + random() % kLargestShake;
    const std::size_t engine = random() % model_.problem().engines;
    const std::vector<std::size_t> near = around(random() % best_.size());
    now_ = best_;
    bool changed = false;
    for (std::size_t i = 0; i < near.size() && i < size; ++i) changed |= set(now_, near[i], engine);
    if (!changed || spent()) return;
    score_ = score(now_);
    improve(near);
    keep();
  }

  const Assignment& best() const { return best_; }
  const Score& best_score() const { return best_score_; }

 private:
  bool set(Assignment& a, std::size_t node, std::size_t engine) const {
    if (!model_.possible(node, engine) || a[node] == engine) return false;
    a[node] = static_cast<std::uint8_t>(engine);
    return true;
  }

  Score score(const Assignment& candidate) {
    budget_ -= std::min<std::size_t>(budget_, 1);
    return model_.score(candidate);
  }
  bool spent() const { return budget_ == 0; }

  bool accept(const Assignment& candidate) {
    if (spent()) return false;
    const Score score = this->score(candidate);
    if (!(score < score_)) return false;
    now_ = candidate, score_ = score;
    return true;
  }

  void keep() {
    if (best_.empty() || score_ < best_score_) best_ = now_, best_score_ = score_;
  }

  std::vector<std::size_t> around(std::size_t node) const {
    std::vector<std::size_t> out{node};
    for (std::size_t i = 0; i < out.size() && out.size() < kNear; ++i)
      for (const auto* side :
           {&model_.nodes()[out[i]].producers, &model_.nodes()[out[i]].consumers})
        for (const std::size_t next : *side)
          if (std::find(out.begin(), out.end(), next) == out.end()) out.push_back(next);
    return out;
  }

  // Regions are the dearer moves: only where all nodes are looked at.
  void improve(const std::vector<std::size_t>& nodes) {
    for (bool better = true; better;) {
      better = single_moves(nodes);
      if (nodes.size() * 2 >= now_.size()) better |= region_moves();
    }
  }

  // One node to another engine. A node's move changes each engine's number of groups by one at
  // most, so most moves are turned down by the change of its own costs alone.
  bool single_moves(const std::vector<std::size_t>& nodes) {
    bool better = false;
    const bool sees_all = score_.violations == 0 && model_.problem().overlap_percent == 0;
    Assignment candidate = now_;
    for (const std::size_t i : nodes)
      for (std::size_t e = 0; e < model_.problem().engines; ++e) {
        const std::uint8_t old = now_[i];
        if (e == old || !model_.possible(i, e)) continue;
        const Cost before = model_.local_cost(now_, i);
        candidate[i] = static_cast<std::uint8_t>(e);
        const Cost change = model_.local_cost(candidate, i) - before;
        const Cost hope = all_launches_ + model_.nodes()[i].join_savings;
        if ((sees_all && change >= hope) || !accept(candidate))
          candidate[i] = old;
        else
          better = true;
      }
    return better;
  }

  // Every connected region of one engine, and every group, to another engine as far as possible;
  // and the regions together with what surrounds them.
  bool region_moves() {
    bool better = false;
    for (std::size_t e = 0; e < model_.problem().engines; ++e) {
      for (const bool whole_groups : {false, true}) {
        const std::vector<std::vector<std::size_t>> regions =
            whole_groups ? groups() : connected_regions();
        for (const std::vector<std::size_t>& region : regions) {
          Assignment candidate = now_;
          bool changed = false;
          for (const std::size_t node : region) changed |= set(candidate, node, e);
          if (!changed) continue;
          better |= accept(candidate);
          for (const std::size_t node : region)
            for (const auto* side :
                 {&model_.nodes()[node].producers, &model_.nodes()[node].consumers})
              for (const std::size_t next : *side) set(candidate, next, e);
          better |= accept(candidate);
        }
      }
    }
    return better;
  }

  std::vector<std::vector<std::size_t>> groups() const {
    const Grouping g = model_.group(now_);
    std::vector<std::vector<std::size_t>> out(g.engine.size());
    for (std::size_t i = 0; i < g.group.size(); ++i) out[g.group[i]].push_back(i);
    return out;
  }

  std::vector<std::vector<std::size_t>> connected_regions() const {
    std::vector<std::vector<std::size_t>> out;
    std::vector<bool> seen(now_.size(), false);
    for (std::size_t i = 0; i < now_.size(); ++i) {
      if (seen[i]) continue;
      seen[i] = true;
      std::vector<std::size_t> region{i};
      for (std::size_t at = 0; at < region.size(); ++at) {
        const PartitionModel::Node& node = model_.nodes()[region[at]];
        for (const auto* side : {&node.producers, &node.consumers})
          for (const std::size_t next : *side)
            if (!seen[next] && now_[next] == now_[i]) {
              seen[next] = true;
              region.push_back(next);
            }
      }
      out.push_back(std::move(region));
    }
    return out;
  }

  const PartitionModel& model_;
  std::size_t budget_;  // scores that may still be worked out
  Cost all_launches_ = 0;
  std::vector<std::size_t> all_nodes_;
  Assignment now_, best_;  // best_ is empty before the first start
  Score score_, best_score_;
};

// Every node on `engine` where that is possible, else on its cheapest.
Assignment everything_on(const PartitionModel& model, std::size_t engine) {
  Assignment out;
  for (const PartitionModel::Node& node : model.nodes()) {
    std::size_t best = engine;
    if (node.cost[engine] == kNotPossible)
      for (std::size_t e = 0; e < model.problem().engines; ++e)
        if (node.cost[e] != kNotPossible &&
            (node.cost[best] == kNotPossible || node.cost[e] < node.cost[best]))
          best = e;
    out.push_back(static_cast<std::uint8_t>(best));
  }
  return out;
}

}  // namespace

std::optional<Partition> find_partition(const PartitionProblem& problem) {
  const PartitionModel model(problem);
  if (model.nodes().empty()) return model.partition({});
  LocalSearch search(model);
  for (Assignment& assignment : beam_search(model)) search.start(std::move(assignment));
  for (std::size_t e = 0; e < problem.engines; ++e) search.start(everything_on(model, e));
  std::mt19937 random(kSeed);
  for (std::size_t round = 0; round < kRounds; ++round) search.shake(random);
  if (search.best_score().violations != 0) return std::nullopt;
  return model.partition(search.best());
}

Partition partition_for(const PartitionProblem& problem, const std::vector<std::size_t>& engines) {
  DEPUTY_CHECK(engines.size() == problem.ops.size(), "one engine an operator");
  const PartitionModel model(problem);
  Assignment assignment;
  for (std::size_t i = 0; i < model.nodes().size(); ++i) {
    const std::size_t engine = engines[model.nodes()[i].op];
    DEPUTY_CHECK(model.possible(i, engine), "an engine that cannot run the operator");
    assignment.push_back(static_cast<std::uint8_t>(engine));
  }
  return model.partition(assignment);
}

}  // namespace deputy::delegate
