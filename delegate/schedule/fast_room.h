// Room in the fast arena that no tensor needs for a while. Time counts instructions in program
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace deputy::delegate {

/// Bytes [low, high) are taken from instruction `begin` to `end`, both included.
struct TakenRoom {
  std::size_t begin = 0, end = 0;
  std::uint64_t low = 0, high = 0;
};

class FastRoom {
 public:
  /// `bytes`: what the arena may have.
  FastRoom(std::vector<TakenRoom> taken, std::uint64_t bytes);

  /// Takes the lowest place that is free from `begin` to `end`, in whole cache lines; nullopt when
  /// there is none.
  std::optional<std::uint64_t> take(std::size_t begin, std::size_t end, std::uint64_t bytes);
  /// Nothing that ended before is asked about any more.
  void forget_before(std::size_t begin);
  /// The end of the highest place that was taken here.
  std::uint64_t top() const { return top_; }

 private:
  std::vector<TakenRoom> taken_;  ///< from low to high
  std::uint64_t bytes_ = 0, top_ = 0;
};

}  // namespace deputy::delegate
