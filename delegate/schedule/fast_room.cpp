#include "delegate/schedule/fast_room.h"

#include <algorithm>

#include "delegate/passes/arena_packer.h"

namespace deputy::delegate {

std::optional<std::uint64_t> FastRoom::take(std::size_t begin, std::size_t end,
                                            std::uint64_t bytes) {
  const std::uint64_t size = arena_bytes(bytes);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> others;  // low, high
  for (const TakenRoom& t : taken_)
    if (t.begin <= end && begin <= t.end) others.emplace_back(t.low, t.high);
  std::sort(others.begin(), others.end());
  std::uint64_t low = 0;
  for (const auto& [other_low, other_high] : others) {
    if (other_low >= low + size) break;
    low = std::max(low, arena_bytes(other_high));
  }
  if (low + size > bytes_) return std::nullopt;
  taken_.push_back({begin, end, low, low + size});
  top_ = std::max(top_, low + size);
  return low;
}

void FastRoom::forget_before(std::size_t begin) {
  std::erase_if(taken_, [&](const TakenRoom& t) { return t.end < begin; });
}

}  // namespace deputy::delegate
