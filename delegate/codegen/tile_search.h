// Chooses how to cut a window operator: every candidate is bounded by its compute cycles and the
// bytes it moves, and the best few are timed by walking their tiles through the three queues.
#pragma once

#include <map>
#include <optional>

#include "arch/npu_config.h"
#include "delegate/codegen/window.h"
#include "delegate/compile.h"

namespace deputy::delegate {

/// What transfers cost the queues, in NPU cycles.
struct TransferRates {
  double weights_per_byte = 0.25;  ///< cycles; of a decoded byte where weights are packed
  double params_per_byte = 0.25;
  double ifm_per_byte = 0.25, ofm_per_byte = 0.25;
  double weights_setup = 40, ifm_setup = 40, ofm_setup = 40;  ///< cycles of a LOAD or STORE beside its bytes
  double weights_run = 8, ifm_run = 8, ofm_run = 8;  ///< of each stretch that is contiguous in memory
  double command = 30;  ///< cycles to fetch and decode one instruction
  auto operator<=>(const TransferRates&) const = default;
};
TransferRates transfer_rates(const CompileOptions& options, bool ifm_in_sram, bool ofm_in_sram);

/// Cycles of the operator under a tiling, if it started on an idle NPU.
double estimate_cycles(const WindowShape& shape, const Tiling& tiling, const arch::NpuConfig& npu,
                       const TransferRates& rates);

/// A tiling that the search timed.
struct TimedTiling {
  Tiling tiling;
  double cycles = 0;
};

/// The best tiling found, or nullopt when not even one output at a time fits the scratchpad. Adds
/// what it timed to `timed` unless that is null.
std::optional<Tiling> choose_tiling(const WindowShape& shape, const arch::NpuConfig& npu,
                                    const TransferRates& rates,
                                    std::vector<TimedTiling>* timed = nullptr);

/// choose_tiling for one NPU that remembers its answers: networks repeat their layers.
class TilingCache {
 public:
  std::optional<Tiling> choose(const WindowShape& shape, const arch::NpuConfig& npu,
                               const TransferRates& rates);

 private:
  std::map<std::pair<WindowShape, TransferRates>, std::optional<Tiling>> answers_;
};

/// Whether choose_tiling would find one.
bool window_fits(const WindowShape& shape, const arch::NpuConfig& npu);

}  // namespace deputy::delegate
