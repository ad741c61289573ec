// Byte geometry of tiles in the scratchpad: the bounds and overlap rules of check_instruction.
#pragma once

#include <cstdint>

namespace deputy::arch {

/// h x w pixels of c contiguous bytes. All arithmetic fits in 64 bits for any field values of the
/// ISA.
struct Tile {
  std::uint64_t addr = 0, row_stride = 0, px_stride = 0, h = 1, w = 1, c = 1;

  std::uint64_t end() const { return addr + (h - 1) * row_stride + (w - 1) * px_stride + c; }
  bool operator==(const Tile&) const = default;
};

/// Contiguous bytes as a tile.
inline Tile span_tile(std::uint64_t addr, std::uint64_t bytes) {
  return {.addr = addr, .row_stride = 0, .px_stride = 0, .h = 1, .w = 1, .c = bytes};
}

/// True when no two pixels share a byte: rows of pixels, or columns of pixels, laid out one after
/// another.
bool writes_once(const Tile& t);

/// False only when the tiles provably share no byte: their ranges are apart, or they interleave as
/// slices of one larger map (same pixel or row pitch, different bytes of it).
bool may_overlap(const Tile& a, const Tile& b);

}  // namespace deputy::arch
