// What a way to cut a window operator costs: a lower bound from its compute cycles and the bytes it
// moves, and an estimate from walking its tiles through the three queues.
#pragma once

#include "arch/npu_config.h"
#include "delegate/codegen/window.h"
#include "delegate/compile.h"

namespace deputy::delegate {

/// What transfers cost the queues, in NPU cycles, and what the tilings may use.
struct TransferRates {
  double weights_per_byte = 0.25;  ///< cycles; of a decoded byte where weights are packed
  double params_per_byte = 0.25;
  double ifm_per_byte = 0.25, ofm_per_byte = 0.25;
  double weights_setup = 40, ifm_setup = 40,
         ofm_setup = 40;  ///< cycles of a LOAD or STORE beside its bytes
  double weights_run = 8, ifm_run = 8,
         ofm_run = 8;  ///< of each stretch that is contiguous in memory
  double issue =
      8;  ///< of a setup, what the queue is busy with; the rest is latency that others hide
  double command = 30;                          ///< cycles to fetch and decode one instruction
  bool ifm_in_sram = true, ofm_in_sram = true;  ///< loads from SRAM and from DRAM have a port each
  bool double_buffer = true;                    ///< off: one buffer for each operand
  bool search = true;                           ///< off: the first tile that fits, rows cut first
  bool fast = false;                            ///< few candidates
  /// The first fetch of weights and parameters comes ahead of its use, as fast as `ahead_per_byte`
  /// cycles a byte.
  bool ahead = false;
  double ahead_per_byte = 0;
  std::int64_t spm_kept = 0;  ///< scratchpad bytes left to others, where a tiling fits without them
  auto operator<=>(const TransferRates&) const = default;
};
TransferRates transfer_rates(const CompileOptions& options, bool ifm_in_sram, bool ofm_in_sram);

/// What a cut costs however its buffers are chosen.
struct CutFacts {
  /// Input rows and columns that all tiles load together, overlaps counted as often as they are
  /// loaded.
  std::int64_t rows = 0, columns = 0;
  double tile_cycles = 0;  ///< computing one full tile, over all its input channels
};
CutFacts cut_facts(const WindowShape& shape, std::int64_t toh, std::int64_t tow);
double full_tile_cycles(const WindowShape& shape, const Tiling& tiling, const arch::NpuConfig& npu);

/// Lower bound of estimate_cycles.
double bound_cycles(const WindowShape& shape, const Tiling& tiling, const WindowBuffers& buffers,
                    const CutFacts& facts, const TransferRates& rates);
/// Cycles of the operator under a tiling, if it started on an idle NPU.
double estimate_cycles(const WindowShape& shape, const Tiling& tiling, const arch::NpuConfig& npu,
                       const TransferRates& rates);

}  // namespace deputy::delegate
