// Emits what was fused behind a window: for each finished tile of the main operator, the
// instructions that take it on while it is in the scratchpad.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arch/isa.h"
#include "delegate/codegen/lower.h"
#include "delegate/codegen/map_transfer.h"
#include "delegate/fusion/epilogue_plan.h"

namespace deputy::delegate {

/// A tile in the scratchpad, dense, and what it is of a map.
struct EpilogueTile {
  MapPart part;
  std::uint32_t spm = 0;
  bool empty() const { return part.y1 <= part.y0 || part.x1 <= part.x0; }
};

class Epilogue {
 public:
  /// `window`: the main operator's. The context must outlive it.
  Epilogue(Lowering& context, EpiloguePlan plan, const WindowShape& window);

  /// Takes the buffers that epilogue_buffers() sized and loads what stays there.
  void set_buffers(std::span<const std::uint32_t> buffers, std::int64_t slots,
                   std::int64_t map_slots);
  /// Gives an instruction that produces a tile of the main operator's output its clamp and table.
  void finish_main(arch::Operation& op) const;
  /// Takes on the tile `part` of the main operator's output at `spm` and returns what is to be
  /// stored; empty when the last pooling window leaves these rows out.
  EpilogueTile emit(const MapPart& part, std::uint32_t spm);

  /// Rows and columns of the map that is stored.
  std::int64_t stored_h() const { return stored_h_; }
  std::int64_t stored_w() const { return stored_w_; }

 private:
  std::uint32_t load_table(const Finish& finish, std::span<const std::uint32_t> buffers,
                           std::size_t& next);
  void emit_eltwise(const Stage& stage, const EpilogueTile& tile, std::size_t index);
  void emit_pool(const Stage& stage, EpilogueTile& tile, std::size_t index);

  Lowering& context_;
  const EpiloguePlan plan_;
  const WindowShape window_;
  std::int64_t stored_h_, stored_w_;
  struct Place {
    std::uint32_t table = 0;
    std::vector<std::uint32_t> slots;  ///< of the operand, or of the pooled tile
    std::size_t next = 0;
    std::uint32_t slot() { return slots[next++ % slots.size()]; }
  };
  std::uint32_t main_table_ = 0;
  std::vector<Place> places_;  // one a stage
};

/// Sets clamp and table of any instruction that has them.
void set_finish(arch::Operation& op, const Finish& finish, std::uint32_t table);

/// The table's place among the constants.
MemoryRef table_constant(Lowering& context, const ByteTable& table);

}  // namespace deputy::delegate
