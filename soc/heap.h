// First-fit allocation of address ranges, deterministic. Book-keeping lies outside the memory it
// manages.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace deputy::soc {

class Heap {
 public:
  Heap(std::uint64_t base, std::uint64_t bytes) : base_(base), end_(base + bytes) {}

  /// The lowest free range of `bytes` (at least 1) aligned to `align` (a power of two); nullopt
  /// when none fits.
  std::optional<std::uint64_t> alloc(std::uint64_t bytes, std::uint64_t align) {
    if (bytes == 0) bytes = 1;
    std::uint64_t at = aligned(base_, align);
    for (const auto& [start, size] : used_) {
      if (at <= start && start - at >= bytes) break;
      at = aligned(start + size > at ? start + size : at, align);
    }
    if (at > end_ || end_ - at < bytes) return std::nullopt;
    used_[at] = bytes;
    return at;
  }

  /// False when `address` is not the start of an allocated range.
  bool free(std::uint64_t address) { return used_.erase(address) == 1; }

  std::uint64_t free_bytes() const {
    std::uint64_t sum = end_ - base_;
    for (const auto& range : used_) sum -= range.second;
    return sum;
  }

 private:
  static std::uint64_t aligned(std::uint64_t at, std::uint64_t align) {
    return (at + align - 1) & ~(align - 1);
  }
  std::uint64_t base_, end_;
  std::map<std::uint64_t, std::uint64_t> used_;  ///< start -> bytes
};

}  // namespace deputy::soc
