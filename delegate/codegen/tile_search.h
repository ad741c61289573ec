// Chooses how to cut a window operator: every candidate is bounded by its compute cycles and the
// bytes it moves, and the best few are timed by walking their tiles through the three queues
// (tile_cost.h). Without the search, the first tile that fits in a fixed order.
#pragma once

#include <map>
#include <optional>

#include "delegate/codegen/tile_cost.h"

namespace deputy::delegate {

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
