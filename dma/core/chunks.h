// From a strided transfer to bus chunks: contiguous rows are merged, and a chunk is cut at a size
// limit and at 4 KiB boundaries (AXI: a burst may not cross one). Every engine that moves data uses
// this walk.
#pragma once

#include <cstdint>

namespace deputy::dma {

/// planes x rows x row_bytes of memory; strides in bytes.
struct Walk {
  std::uint64_t address = 0;
  std::uint64_t row_bytes = 1, rows = 1, planes = 1;
  std::uint64_t row_stride = 0, plane_stride = 0;
};

/// A run of bytes that is contiguous on both sides.
struct Chunk {
  std::uint64_t a = 0, b = 0;  ///< addresses on either side
  std::uint32_t bytes = 0;
};

/// Calls f(Chunk) for the pieces of a copy between two walks of equal extents (row_bytes, rows,
/// planes), in order, until f returns false. `bus_a`, `bus_b`: that side is on the bus and must
/// respect 4 KiB boundaries. Returns false when f did.
template <class F>
bool for_each_chunk(const Walk& a, const Walk& b, std::uint32_t max_bytes, bool bus_a, bool bus_b,
                    F&& f) {
  const bool merge_rows =
      (a.rows == 1 || (a.row_stride == a.row_bytes && b.row_stride == b.row_bytes));
  const std::uint64_t row = merge_rows ? a.row_bytes * a.rows : a.row_bytes;
  const std::uint64_t rows = merge_rows ? 1 : a.rows;
  const bool merge_planes =
      merge_rows && (a.planes == 1 || (a.plane_stride == row && b.plane_stride == row));
  const std::uint64_t run = merge_planes ? row * a.planes : row;
  const std::uint64_t planes = merge_planes ? 1 : a.planes;
  for (std::uint64_t p = 0; p < planes; ++p)
    for (std::uint64_t r = 0; r < rows; ++r) {
      std::uint64_t at_a = a.address + p * a.plane_stride + r * a.row_stride;
      std::uint64_t at_b = b.address + p * b.plane_stride + r * b.row_stride;
      for (std::uint64_t left = run; left > 0;) {
        std::uint64_t n = left < max_bytes ? left : max_bytes;
        if (bus_a && n > 4096 - at_a % 4096) n = 4096 - at_a % 4096;
        if (bus_b && n > 4096 - at_b % 4096) n = 4096 - at_b % 4096;
        if (!f(Chunk{at_a, at_b, static_cast<std::uint32_t>(n)})) return false;
        at_a += n;
        at_b += n;
        left -= n;
      }
    }
  return true;
}

}  // namespace deputy::dma
