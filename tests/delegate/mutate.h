// Seeded damage to a file: what a fuzzer would try first.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "workloads/random.h"

namespace deputy::delegate::testing {

/// One to four changes: bit flips, bytes set to 0, 255 or anything, 32-bit words set to values at
/// the edges of ranges, small steps of a word, a truncation. Half of them in the first 4 KB, where
/// tables lie.
inline std::vector<std::uint8_t> mutated(std::vector<std::uint8_t> bytes,
                                         workloads::Random& random) {
  static constexpr std::uint32_t kEdges[] = {0,          1,          2,          0xffffffff,
                                             0xfffffffe, 0x7fffffff, 0x80000000, 0x0000ffff,
                                             0x00010000, 0x7f800000, 0x7fc00000, 0x40000000};
  const std::uint32_t changes = 1 + random.below(4);
  for (std::uint32_t i = 0; i < changes && !bytes.empty(); ++i) {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    const std::uint32_t at =
        random.below(random.below(2) != 0 ? size : std::min<std::uint32_t>(size, 4096));
    switch (random.below(8)) {
      case 0:
        bytes[at] ^= static_cast<std::uint8_t>(1u << random.below(8));
        break;
      case 1:
        bytes[at] = 0;
        break;
      case 2:
        bytes[at] = 255;
        break;
      case 3:
        bytes[at] = static_cast<std::uint8_t>(random.below(256));
        break;
      case 4:
        bytes[at] = static_cast<std::uint8_t>(bytes[at] + random.below(9) - 4);
        break;
      case 5:
      case 6: {
        const std::uint32_t word = at & ~3u;
        if (word + 4 > size) break;
        const std::uint32_t value = kEdges[random.below(std::size(kEdges))];
        std::memcpy(bytes.data() + word, &value, sizeof value);
        break;
      }
      default:
        if (random.below(8) == 0) bytes.resize(at);
        break;
    }
  }
  return bytes;
}

}  // namespace deputy::delegate::testing
