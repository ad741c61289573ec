// What an epilogue asks of the tiles: scratchpad, cycles, bytes and which extents are legal.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "arch/npu_config.h"

namespace deputy::delegate {

/// Sizes that the tile search needs of the operators behind a window (fusion/epilogue_plan.h).
struct EpilogueShape {
  std::int64_t tables = 0;   ///< 256 bytes each, resident
  std::int64_t vectors = 0;  ///< operands of one value an output channel, resident
  std::int64_t maps = 0;     ///< operands as large as the tile, loaded with it
  std::int64_t passes = 0;   ///< element-wise instructions on the whole tile
  /// Pooling on the tile: 0, or what a tile's rows and columns must be a multiple of (or all of
  /// them).
  std::int64_t pool_h = 0, pool_w = 0;
  std::int64_t pooled_passes = 0;  ///< element-wise instructions on the pooled tile
  auto operator<=>(const EpilogueShape&) const = default;

  bool pools() const { return pool_h > 0; }
  /// Whether tiles of `tile` rows (columns) out of `size` are whole pooling windows.
  static bool legal(std::int64_t tile, std::int64_t size, std::int64_t step) {
    return step == 0 || tile % step == 0 || tile >= size;
  }
  std::int64_t stored_rows(std::int64_t rows) const {
    return pools() ? (rows + pool_h - 1) / pool_h : rows;
  }
  std::int64_t stored_columns(std::int64_t columns) const {
    return pools() ? (columns + pool_w - 1) / pool_w : columns;
  }
};

/// Bytes of the scratchpad buffers in the order that Epilogue (codegen/epilogue.h) takes them, for
/// tiles of h x w x c of `channels` output channels in `slots` output buffers and `map_slots` for
/// each operand map. With a pool the output buffers are the pooled tile's.
std::vector<std::int64_t> epilogue_buffers(const EpilogueShape& shape, std::int64_t h,
                                           std::int64_t w, std::int64_t c, std::int64_t channels,
                                           std::int64_t slots, std::int64_t map_slots);

/// Cycles that its instructions occupy the compute queue for a tile of h x w x c.
double epilogue_cycles(const EpilogueShape& shape, std::int64_t h, std::int64_t w, std::int64_t c,
                       const arch::NpuConfig& npu);

}  // namespace deputy::delegate
