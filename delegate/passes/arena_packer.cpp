#include "delegate/passes/arena_packer.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace deputy::delegate {
namespace {

using Order = std::vector<std::size_t>;

// A small generator of our own, so that every machine searches alike (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t limit) {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return static_cast<std::size_t>((z ^ z >> 31) % limit);
  }

 private:
  std::uint64_t state_;
};

class Arena {
 public:
  explicit Arena(const std::vector<PackItem>& items) : items_(items), rivals_(items.size()) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      bytes_.push_back(arena_bytes(items[i].bytes));
      for (std::size_t j = 0; j < items.size(); ++j)
        if (i != j && items[i].begin <= items[j].end && items[j].begin <= items[i].end)
          rivals_[i].push_back(j);
    }
  }

  /// Places the items in order, each at the lowest offset that no rival placed before takes. Gives
  /// up, with a size over `limit`, once the arena is larger than that.
  std::uint64_t place(const Order& order, std::vector<std::uint64_t>& offsets,
                      std::uint64_t limit = ~std::uint64_t{0}) {
    offsets.assign(items_.size(), kNowhere);
    std::uint64_t total = 0;
    for (const std::size_t item : order) {
      taken_.clear();
      for (const std::size_t rival : rivals_[item])
        if (offsets[rival] != kNowhere) taken_.emplace_back(offsets[rival], bytes_[rival]);
      std::sort(taken_.begin(), taken_.end());
      std::uint64_t at = 0;
      for (const auto& [begin, bytes] : taken_) {
        if (at + bytes_[item] <= begin) break;
        at = std::max(at, begin + bytes);
      }
      offsets[item] = at;
      total = std::max(total, at + bytes_[item]);
      if (total > limit) return total;
    }
    return total;
  }

  std::uint64_t end(std::size_t item, const std::vector<std::uint64_t>& offsets) const {
    return offsets[item] + bytes_[item];
  }
  const std::vector<std::size_t>& rivals(std::size_t item) const { return rivals_[item]; }

 private:
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  const std::vector<PackItem>& items_;
  std::vector<std::uint64_t> bytes_;
  std::vector<std::vector<std::size_t>> rivals_;  // items alive at the same time
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken_;
};

// For each item, the largest sum of bytes alive at one time of its life.
std::vector<std::uint64_t> pressures(const std::vector<PackItem>& items) {
  std::map<std::ptrdiff_t, std::int64_t> change;
  for (const PackItem& item : items) {
    const auto bytes = static_cast<std::int64_t>(arena_bytes(item.bytes));
    change[item.begin] += bytes, change[item.end + 1] -= bytes;
  }
  std::map<std::ptrdiff_t, std::uint64_t> alive;
  std::int64_t sum = 0;
  for (const auto& [time, delta] : change) alive[time] = static_cast<std::uint64_t>(sum += delta);
  std::vector<std::uint64_t> out;
  for (const PackItem& item : items) {
    std::uint64_t most = 0;
    for (auto it = alive.lower_bound(item.begin); it != alive.end() && it->first <= item.end; ++it)
      most = std::max(most, it->second);
    out.push_back(most);
  }
  return out;
}

// Sorted by a key, the largest first; equal keys by size, then by number.
template <class Key>
Order sorted(const std::vector<PackItem>& items, Key&& key) {
  Order order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto ka = key(a), kb = key(b);
    return ka != kb ? ka > kb : items[a].bytes > items[b].bytes;
  });
  return order;
}

Order fixed_order(const std::vector<PackItem>& items, Packer packer) {
  const auto life = [&](std::size_t i) {
    return static_cast<std::uint64_t>(items[i].end - items[i].begin + 1);
  };
  switch (packer) {
    case Packer::kByDuration:
      return sorted(items, life);
    case Packer::kByArea:
      return sorted(items, [&](std::size_t i) { return life(i) * items[i].bytes; });
    case Packer::kByTime:
      return sorted(items, [&](std::size_t i) { return -items[i].begin; });
    case Packer::kByPressure: {
      const std::vector<std::uint64_t> pressure = pressures(items);
      return sorted(items, [&](std::size_t i) { return pressure[i]; });
    }
    default:
      return sorted(items, [&](std::size_t i) { return items[i].bytes; });
  }
}

// Searches orders: whoever ends at the top of the arena is placed earlier, before one of the rivals
// that push it up. A step that does not make the arena larger is kept; after a long time without
// progress the search goes on from the best order with a few places exchanged. The idea of
// permuting the order of a greedy allocator where the peak is comes from the literature on
// allocation in on-chip memories.
class HillClimb {
 public:
  HillClimb(Arena& arena, Order order, std::uint64_t goal)
      : arena_(arena), goal_(goal), random_(1) {
    current_ = best_ = std::move(order);
    size_ = best_size_ = arena_.place(current_, offsets_);
    best_offsets_ = offsets_;
  }

  void run(int steps) {
    int idle = 0;
    for (int step = 0; step < steps && best_size_ > goal_; ++step) {
      Order next = current_;
      const bool kick = idle > kPatience;
      if (kick) {
        next = best_, idle = 0;
        for (int i = 0; i < 3; ++i)
          std::swap(next[random_.below(next.size())], next[random_.below(next.size())]);
      } else {
        relieve(next);
      }
      const std::uint64_t limit = kick ? ~std::uint64_t{0} : size_;
      const std::uint64_t size = arena_.place(next, trial_, limit);
      ++idle;
      if (size > limit) continue;
      current_ = std::move(next), size_ = size, offsets_.swap(trial_);
      if (size_ >= best_size_) continue;
      best_ = current_, best_size_ = size_, best_offsets_ = offsets_, idle = 0;
    }
  }

  std::uint64_t size() const { return best_size_; }
  const std::vector<std::uint64_t>& offsets() const { return best_offsets_; }

 private:
  static constexpr int kPatience = 200;

  // Moves an item at the top, or one that it rests on, before one of its earlier rivals.
  void relieve(Order& order) {
    position_.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
    candidates_.clear();
    for (const std::size_t item : order)
      if (arena_.end(item, offsets_) == size_) candidates_.push_back(item);
    std::size_t item = candidates_[random_.below(candidates_.size())];
    for (int depth = 0;; ++depth) {
      candidates_.clear();
      for (const std::size_t rival : arena_.rivals(item))
        if (position_[rival] < position_[item]) candidates_.push_back(rival);
      if (candidates_.empty()) break;
      const std::size_t rival = candidates_[random_.below(candidates_.size())];
      if (depth < 3 && random_.below(2) == 0) {
        item = rival;  // look below
        continue;
      }
      const auto from = order.begin() + static_cast<std::ptrdiff_t>(position_[rival]),
                 to = order.begin() + static_cast<std::ptrdiff_t>(position_[item]);
      if (random_.below(2) == 0)
        std::iter_swap(from, to);
      else
        std::rotate(from, to, to + 1);
      return;
    }
    std::swap(order[random_.below(order.size())], order[random_.below(order.size())]);
  }

  Arena& arena_;
  const std::uint64_t goal_;
  Random random_;
  Order current_, best_;
  std::uint64_t size_ = 0, best_size_ = 0;
  std::vector<std::uint64_t> offsets_, best_offsets_, trial_;
  std::vector<std::size_t> position_, candidates_;
};

constexpr Packer kFixed[] = {Packer::kBySize, Packer::kByDuration, Packer::kByArea, Packer::kByTime,
                             Packer::kByPressure};

}  // namespace

std::string_view packer_name(Packer packer) {
  constexpr std::string_view kNames[] = {"largest first",          "longest lived first",
                                         "largest area first",     "in order of time",
                                         "highest pressure first", "hill climbing"};
  return kNames[static_cast<std::size_t>(packer)];
}

std::uint64_t peak_bytes(const std::vector<PackItem>& items) {
  const std::vector<std::uint64_t> all = pressures(items);
  return all.empty() ? 0 : *std::max_element(all.begin(), all.end());
}

Packing pack_in_order(const std::vector<PackItem>& items, Packer packer) {
  Packing out;
  out.lower_bound = peak_bytes(items);
  out.packer = packer;
  out.bytes = Arena(items).place(fixed_order(items, packer), out.offsets);
  return out;
}

Packing pack(const std::vector<PackItem>& items, Effort effort, std::uint64_t enough) {
  Packing best;
  best.lower_bound = peak_bytes(items);
  best.offsets.assign(items.size(), 0);
  if (best.lower_bound == 0) return best;
  const std::uint64_t goal = std::max(enough, best.lower_bound);
  Arena arena(items);
  best.bytes = ~std::uint64_t{0};
  Order start;
  for (const Packer packer : kFixed) {
    const Order order = fixed_order(items, packer);
    std::vector<std::uint64_t> offsets;
    const std::uint64_t bytes = arena.place(order, offsets);
    if (bytes >= best.bytes) continue;
    best.bytes = bytes, best.offsets = std::move(offsets), best.packer = packer, start = order;
    if (best.bytes <= goal) return best;
  }
  HillClimb climb(arena, start, goal);
  climb.run(effort == Effort::kFull ? 4000 : 500);
  if (climb.size() < best.bytes)
    best.bytes = climb.size(), best.offsets = climb.offsets(), best.packer = Packer::kHillClimb;
  return best;
}

}  // namespace deputy::delegate
