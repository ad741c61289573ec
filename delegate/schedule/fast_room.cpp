#include "delegate/schedule/fast_room.h"

#include <algorithm>
#include <tuple>

#include "delegate/passes/arena_packer.h"

namespace deputy::delegate {
namespace {

bool lower(const TakenRoom& a, const TakenRoom& b) {
  return std::tie(a.low, a.high) < std::tie(b.low, b.high);
}

}  // namespace

FastRoom::FastRoom(std::vector<TakenRoom> taken, std::uint64_t bytes)
    : taken_(std::move(taken)), bytes_(bytes) {
  std::sort(taken_.begin(), taken_.end(), lower);
}

std::optional<std::uint64_t> FastRoom::take(std::size_t begin, std::size_t end,
                                            std::uint64_t bytes) {
  const std::uint64_t size = arena_bytes(bytes);
  std::uint64_t low = 0;
  for (const TakenRoom& t : taken_) {
    if (t.low >= low + size) break;
    if (t.begin <= end && begin <= t.end) low = std::max(low, arena_bytes(t.high));
  }
  if (low + size > bytes_) return std::nullopt;
  const TakenRoom room{begin, end, low, low + size};
  taken_.insert(std::upper_bound(taken_.begin(), taken_.end(), room, lower), room);
  top_ = std::max(top_, low + size);
  return low;
}

void FastRoom::forget_before(std::size_t begin) {
  std::erase_if(taken_, [&](const TakenRoom& t) { return t.end < begin; });
}

}  // namespace deputy::delegate
