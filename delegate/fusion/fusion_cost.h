// Whether an operator that could be fused should be: its operands take scratchpad from the tiles in
// front of it.
#pragma once

#include <optional>
#include <string>

#include "delegate/codegen/tile_search.h"
#include "delegate/compile.h"
#include "delegate/fusion/epilogue_plan.h"

namespace deputy::delegate {

class FusionCost {
 public:
  /// `tilings` must outlive it.
  FusionCost(const Graph& graph, const CompileOptions& options, TilingCache& tilings)
      : graph_(graph), options_(options), tilings_(tilings) {}

  /// Why the operator `index`, with which `before` becomes `after`, is dearer inside the window's
  /// kernel than as a kernel of its own; nullopt when it is not.
  std::optional<std::string> refusal(const WindowShape& window, const EpiloguePlan& before,
                                     const EpiloguePlan& after, std::size_t index) const;

  /// Why a depthwise layer is not to make its input tile by tile: `conv` and `alone` apart, `with`
  /// both as one.
  std::optional<std::string> expansion_refusal(const WindowShape& conv, const WindowShape& alone,
                                               const WindowShape& with) const;

 private:
  std::optional<double> window_cycles(const WindowShape& shape) const;
  std::optional<double> tiled_cycles(const WindowShape& shape, const TransferRates& rates) const;
  std::optional<double> near_cycles(const WindowShape& shape, bool ahead) const;
  double own_cycles(std::size_t index, const WindowShape& window) const;

  const Graph& graph_;
  const CompileOptions& options_;
  TilingCache& tilings_;
};

}  // namespace deputy::delegate
