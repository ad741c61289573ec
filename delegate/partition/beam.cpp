#include "delegate/partition/beam.h"

#include <algorithm>

namespace deputy::delegate {
namespace {

constexpr std::size_t kKept = 3;
// States kept a step: fewer where each has much to remember, so that time stays in proportion.
constexpr std::size_t kWidest = 32, kNarrowest = 8, kLiveValues = 2048;
constexpr std::size_t kNone = PartitionValue::kOutside;

using Launches = PerEngine<std::uint16_t>;

// What later nodes need to know of a value that is still to be read.
struct Live {
  std::uint8_t engine = 0;  // its producer's
  std::uint8_t paid = 0;    // engines that have it, as bits
  Launches launches{};      // how many groups of each engine must have started before it is there
  auto operator<=>(const Live&) const = default;
};

struct State {
  Cost cost = 0;
  Launches launches{};     // over all nodes so far
  std::vector<Live> live;  // by slot; unused slots are zero
  std::size_t parent = 0;
  std::uint8_t engine = 0;  // of the node just assigned
};

bool same_future(const State& a, const State& b) {
  return a.launches == b.launches && a.live == b.live;
}
bool before(const State& a, const State& b) {
  if (a.launches != b.launches) return a.launches < b.launches;
  if (a.live != b.live) return a.live < b.live;
  return a.cost < b.cost;
}

class Beam {
 public:
  explicit Beam(const PartitionModel& model)
      : model_(model), slot_(model.data().size(), kNone), unread_(model.data().size(), 0) {
    for (std::size_t v = 0; v < unread_.size(); ++v) unread_[v] = model.data()[v].consumers.size();
  }

  std::vector<Assignment> run() {
    states_.push_back({});
    for (std::size_t i = 0; i < model_.nodes().size(); ++i) step(i);
    std::vector<Assignment> out;
    for (std::size_t s = 0; s < states_.size() && s < kKept; ++s) out.push_back(assignment(s));
    return out;
  }

 private:
  struct Choice {
    std::uint32_t parent = 0;
    std::uint8_t engine = 0;
  };

  std::size_t take_slot() {
    if (free_.empty()) return slots_++;
    const std::size_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  void step(std::size_t i) {
    const PartitionModel::Node& node = model_.nodes()[i];
    for (const std::size_t v : node.data)
      if (slot_[v] == kNone) slot_[v] = take_slot();
    std::vector<State> next;
    for (std::size_t s = 0; s < states_.size(); ++s)
      for (std::size_t e = 0; e < model_.problem().engines; ++e)
        if (model_.possible(i, e)) next.push_back(extended(s, i, static_cast<std::uint8_t>(e)));
    for (const std::size_t v : node.data) {
      const bool made_here = model_.data()[v].producer == i;
      if (made_here ? unread_[v] != 0 : --unread_[v] != 0) continue;
      for (State& state : next) state.live[slot_[v]] = {};
      free_.push_back(slot_[v]);
    }
    keep_best(next);
    std::vector<Choice> choices;
    for (const State& state : next)
      choices.push_back({static_cast<std::uint32_t>(state.parent), state.engine});
    history_.push_back(std::move(choices));
    states_ = std::move(next);
  }

  // Groups that cost nothing and that no limit binds need not be told apart.
  bool counted(std::size_t engine) const {
    const PartitionProblem& p = model_.problem();
    return p.launch[engine] != 0 ||
           (engine != kHost && p.limits.max_partitions < model_.nodes().size());
  }

  State extended(std::size_t parent, std::size_t i, std::uint8_t engine) const {
    const PartitionModel::Node& node = model_.nodes()[i];
    const PartitionProblem& problem = model_.problem();
    State out = states_[parent];
    out.parent = parent, out.engine = engine;
    out.live.resize(slots_);
    out.cost += node.cost[engine];
    Launches launches{};
    std::uint16_t group = 1;  // which one of its engine's it can be in
    for (const std::size_t v : node.data) {
      const PartitionModel::Data& d = model_.data()[v];
      if (d.producer == i) continue;
      Live& live = out.live[slot_[v]];
      if (d.producer == kNone && live.paid == 0) live.paid = 1u << kHost;
      if (!(live.paid >> engine & 1)) {
        live.paid = static_cast<std::uint8_t>(live.paid | 1u << engine);
        out.cost += d.both[live.engine][engine];
      }
      if (d.producer == kNone) continue;
      // After another engine's work, all groups of this one before it are over.
      const int over = live.launches[engine] + (live.engine == engine ? 0 : 1);
      group = std::max(group, static_cast<std::uint16_t>(over));
      for (std::size_t e = 0; e < problem.engines; ++e)
        launches[e] = std::max(launches[e], live.launches[e]);
    }
    launches[engine] = counted(engine) ? group : 0;
    for (std::size_t e = 0; e < problem.engines; ++e)
      if (launches[e] > out.launches[e]) {
        out.cost += problem.launch[e] * (launches[e] - out.launches[e]);
        out.launches[e] = launches[e];
      }
    for (const std::size_t v : node.data) {
      const PartitionModel::Data& d = model_.data()[v];
      if (d.producer != i) continue;
      Live& live = out.live[slot_[v]];
      live.engine = engine, live.launches = launches;
      live.paid = static_cast<std::uint8_t>(1u << engine);
      if (d.read_outside && engine != kHost) {
        live.paid |= 1u << kHost;
        out.cost += d.both[engine][kHost];
      }
    }
    return out;
  }

  bool within_limit(const State& state) const {
    std::size_t partitions = 0;
    for (std::size_t e = 1; e < kMaxEngines; ++e) partitions += state.launches[e];
    return partitions <= model_.problem().limits.max_partitions;
  }

  void keep_best(std::vector<State>& states) const {
    if (std::any_of(states.begin(), states.end(), [&](const State& s) { return within_limit(s); }))
      std::erase_if(states, [&](const State& s) { return !within_limit(s); });
    std::stable_sort(states.begin(), states.end(), before);
    states.erase(std::unique(states.begin(), states.end(), same_future), states.end());
    std::stable_sort(states.begin(), states.end(),
                     [](const State& a, const State& b) { return a.cost < b.cost; });
    const std::size_t width =
        std::clamp(kLiveValues / std::max<std::size_t>(1, slots_), kNarrowest, kWidest);
    if (states.size() > width) states.resize(width);
  }

  Assignment assignment(std::size_t state) const {
    Assignment out(history_.size());
    for (std::size_t i = history_.size(); i-- > 0;) {
      out[i] = history_[i][state].engine;
      state = history_[i][state].parent;
    }
    return out;
  }

  const PartitionModel& model_;
  std::vector<std::size_t> slot_;    // by value: its place in State::live
  std::vector<std::size_t> unread_;  // by value: readers to come
  std::vector<std::size_t> free_;
  std::size_t slots_ = 0;
  std::vector<State> states_;
  std::vector<std::vector<Choice>> history_;
};

}  // namespace

std::vector<Assignment> beam_search(const PartitionModel& model) { return Beam(model).run(); }

}  // namespace deputy::delegate
