#include "delegate/passes/fast_choice.h"

#include <algorithm>
#include <numeric>

namespace deputy::delegate {
namespace {

constexpr std::size_t kMaxStates = 2048;
constexpr std::size_t kMaxLive = 64;  // the width of a state's mask

// One choice for the buffers alive at a time of the sweep.
struct State {
  std::uint64_t live = 0;  // the chosen ones, by slot
  std::uint64_t bytes = 0, value = 0;
  std::size_t trail = 0;  // the last chosen buffer and those before it
};
struct Trail {
  std::size_t candidate = 0, before = 0;
};

class Sweep {
 public:
  Sweep(const std::vector<FastCandidate>& candidates, std::uint64_t limit)
      : candidates_(candidates), limit_(limit), chosen_(candidates.size(), false) {
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (arena_bytes(candidates[i].item.bytes) <= limit) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return candidates[a].item.begin < candidates[b].item.begin;
    });
  }

  std::vector<bool> run() {
    if (!assign_slots()) return by_density();
    states_ = {State{}};
    for (const std::size_t i : order_) {
      forget_before(candidates_[i].item.begin);
      branch(i);
    }
    const State* best = &states_[0];
    for (const State& state : states_)
      if (state.value > best->value) best = &state;
    for (std::size_t at = best->trail; at != 0; at = trails_[at].before)
      chosen_[trails_[at].candidate] = true;
    return std::move(chosen_);
  }

 private:
  // A slot for every candidate that no other one has during its life; false when there are too few.
  bool assign_slots() {
    slot_.assign(candidates_.size(), 0);
    std::vector<std::ptrdiff_t> busy_until(kMaxLive, -2);
    for (const std::size_t i : order_) {
      std::size_t slot = 0;
      while (slot < kMaxLive && busy_until[slot] >= candidates_[i].item.begin) ++slot;
      if (slot == kMaxLive) return false;
      slot_[i] = slot, busy_until[slot] = candidates_[i].item.end;
    }
    return true;
  }

  // States that differ only in buffers that are gone become one.
  void forget_before(std::ptrdiff_t time) {
    std::uint64_t gone = 0;
    std::vector<std::size_t> dead;
    std::erase_if(live_, [&](std::size_t i) {
      if (candidates_[i].item.end >= time) return false;
      gone |= std::uint64_t{1} << slot_[i];
      dead.push_back(i);
      return true;
    });
    if (gone == 0) return;
    for (State& state : states_) {
      for (const std::size_t i : dead)
        if (state.live >> slot_[i] & 1) state.bytes -= arena_bytes(candidates_[i].item.bytes);
      state.live &= ~gone;
    }
    std::sort(states_.begin(), states_.end(), [](const State& a, const State& b) {
      return a.live != b.live ? a.live < b.live : a.value > b.value;
    });
    states_.erase(std::unique(states_.begin(), states_.end(),
                              [](const State& a, const State& b) { return a.live == b.live; }),
                  states_.end());
  }

  void branch(std::size_t i) {
    const std::uint64_t bytes = arena_bytes(candidates_[i].item.bytes);
    live_.push_back(i);
    for (std::size_t s = 0, count = states_.size(); s < count; ++s) {
      State with = states_[s];
      if (with.bytes + bytes > limit_) continue;
      with.bytes += bytes, with.value += candidates_[i].value;
      with.live |= std::uint64_t{1} << slot_[i];
      trails_.push_back({i, with.trail});
      with.trail = trails_.size() - 1;
      states_.push_back(with);
    }
    if (states_.size() <= kMaxStates) return;
    std::sort(states_.begin(), states_.end(), [](const State& a, const State& b) {
      if (a.value != b.value) return a.value > b.value;
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.live < b.live;
    });
    states_.resize(kMaxStates);
  }

  // Too many live at once: by value per byte and time, each if it still fits.
  std::vector<bool> by_density() {
    std::vector<std::size_t> order = order_;
    const auto cost = [&](std::size_t i) {
      const PackItem& item = candidates_[i].item;
      return std::max<std::uint64_t>(1, arena_bytes(item.bytes)) *
             static_cast<std::uint64_t>(item.end - item.begin + 1);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return static_cast<unsigned __int128>(candidates_[a].value) * cost(b) >
             static_cast<unsigned __int128>(candidates_[b].value) * cost(a);
    });
    std::vector<PackItem> taken;
    for (const std::size_t i : order) {
      taken.push_back(candidates_[i].item);
      if (peak_bytes(taken) <= limit_)
        chosen_[i] = true;
      else
        taken.pop_back();
    }
    return std::move(chosen_);
  }

  const std::vector<FastCandidate>& candidates_;
  const std::uint64_t limit_;
  std::vector<bool> chosen_;
  std::vector<std::size_t> order_, slot_, live_;
  std::vector<State> states_;
  std::vector<Trail> trails_ = {{}};
};

}  // namespace

std::vector<bool> choose_fast(const std::vector<FastCandidate>& candidates, std::uint64_t limit) {
  return Sweep(candidates, limit).run();
}

}  // namespace deputy::delegate
