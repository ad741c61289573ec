// Packs buffers with known lives into one arena: dynamic storage allocation, which is NP-hard, so
// several planners compete. All place one buffer after the other at the lowest offset that is free
// during its life and differ in the order; the last searches orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "delegate/optimisations.h"

namespace deputy::delegate {

/// A buffer that is alive from action `begin` to action `end`, both included.
struct PackItem {
  std::ptrdiff_t begin = 0, end = 0;
  std::uint64_t bytes = 0;
};

inline constexpr std::uint64_t kArenaAlign = 64;  ///< cache lines are never shared between tensors
inline std::uint64_t arena_bytes(std::uint64_t bytes) {
  return (bytes + kArenaAlign - 1) / kArenaAlign * kArenaAlign;
}

enum class Packer : std::uint8_t {
  kBySize,
  kByDuration,
  kByArea,
  kByTime,
  kByPressure,
  kHillClimb
};
std::string_view packer_name(Packer packer);

struct Packing {
  std::vector<std::uint64_t> offsets;  ///< by item, multiples of kArenaAlign
  std::uint64_t bytes = 0;             ///< the arena's size
  std::uint64_t lower_bound = 0;       ///< no packing is smaller
  Packer packer = Packer::kBySize;     ///< who found it
};

/// The largest sum of the items alive at one time, each in whole cache lines.
std::uint64_t peak_bytes(const std::vector<PackItem>& items);

/// One of the fixed orders (not kHillClimb).
Packing pack_in_order(const std::vector<PackItem>& items, Packer packer);

/// The best packing found: all fixed orders, then, unless one meets the bound or `enough` bytes,
/// the hill climb. Deterministic on every machine.
Packing pack(const std::vector<PackItem>& items, Effort effort, std::uint64_t enough = 0);

}  // namespace deputy::delegate
