#include "delegate/fusion/fusion_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "delegate/codegen/epilogue_shape.h"
#include "delegate/ops/window_ops.h"

namespace deputy::delegate {
namespace {

// A fused operator also spares memory and energy: it may cost this much more time.
constexpr double kTolerance = 1.01;
// What is made twice costs energy, and the estimate does not see the neighbours.
constexpr double kExpansionGain = 0.9, kExpansionGainLate = 0.95;

}  // namespace

// The memory plan comes later; what fits the SRAM is taken to be there.
std::optional<double> FusionCost::window_cycles(const WindowShape& s) const {
  const auto bytes = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
  const std::uint64_t in = bytes(s.n * s.ih * s.iw * s.ic), out = bytes(s.n * s.oh * s.ow * s.oc);
  const bool sram = in + out <= options_.sram_bytes;
  return tiled_cycles(s, transfer_rates(options_, sram, sram));
}

std::optional<double> FusionCost::tiled_cycles(const WindowShape& s,
                                               const TransferRates& rates) const {
  const auto tiling = tilings_.choose(s, options_.npu, rates);
  if (!tiling) return std::nullopt;
  return estimate_cycles(s, *tiling, options_.npu, rates);
}

// Of the operator on its own: a pool as a window, an element-wise one by the busiest queue.
double FusionCost::own_cycles(std::size_t index, const WindowShape& w) const {
  const Op& op = graph_.ops[index];
  if (auto pool = window_shape(graph_, op)) return window_cycles(*pool).value_or(0);
  EpilogueShape pass;
  pass.passes = 1;
  const auto elements = static_cast<double>(w.n * w.oh * w.ow * w.oc);
  const bool sram = 3 * elements <= static_cast<double>(options_.sram_bytes);
  const TransferRates rates = transfer_rates(options_, sram, sram);
  const double compute =
      static_cast<double>(w.n) * epilogue_cycles(pass, w.oh, w.ow, w.oc, options_.npu);
  const double load = 2 * elements * rates.ifm_per_byte, store = elements * rates.ofm_per_byte;
  // Four tiles: the first load and the last store are not hidden.
  return std::max({compute, load, store}) + (load + store) / 4;
}

std::optional<std::string> FusionCost::refusal(const WindowShape& window,
                                               const EpiloguePlan& before,
                                               const EpiloguePlan& after, std::size_t index) const {
  WindowShape with = window, without = window;
  with.epilogue = after.shape(), without.epilogue = before.shape();
  if (with.epilogue == without.epilogue) return std::nullopt;
  const auto fused = window_cycles(with);
  if (!fused) return "the tile and its operands do not fit the scratchpad";
  if (after.stages.size() == before.stages.size()) return std::nullopt;
  const auto alone = window_cycles(without);
  if (!alone) return std::nullopt;
  const double apart = *alone + own_cycles(index, window);
  if (*fused > apart * kTolerance)
    return fmt::format("about {:.0f} cycles together, {:.0f} apart", *fused, apart);
  return std::nullopt;
}

// With maps in SRAM, for a cascade keeps there what is too large. `ahead`: constants have come
// before.
std::optional<double> FusionCost::near_cycles(const WindowShape& s, bool ahead) const {
  TransferRates rates = transfer_rates(options_, true, true);
  if (ahead) rates.ahead = true, rates.ahead_per_byte = 1 / options_.memory.sram_bytes_per_cycle;
  return tiled_cycles(s, rates);
}

std::optional<std::string> FusionCost::expansion_refusal(const WindowShape& conv,
                                                         const WindowShape& alone,
                                                         const WindowShape& with) const {
  // Where constants come late the DRAM limits both ways, and little is to be gained.
  for (const bool ahead : {false, true}) {
    if (ahead && options_.effort == Effort::kFast) break;
    const auto fused = near_cycles(with, ahead);
    if (!fused) return "the tile and what it is made of do not fit the scratchpad";
    const auto first = near_cycles(conv, ahead), second = near_cycles(alone, ahead);
    if (!first || !second) return std::nullopt;
    if (*fused > (*first + *second) * (ahead ? kExpansionGain : kExpansionGainLate))
      return fmt::format("about {:.0f} cycles together, {:.0f} apart", *fused, *first + *second);
  }
  return std::nullopt;
}

}  // namespace deputy::delegate
