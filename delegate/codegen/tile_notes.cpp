#include "delegate/codegen/tile_notes.h"

#include <fmt/format.h>

#include <algorithm>

namespace deputy::delegate {

std::string tiling_text(const WindowShape& s, const Tiling& t) {
  const std::string from = s.kind == WindowKind::kConv
                               ? fmt::format(" from {} of {} channels", std::min(t.tic, s.ic), s.ic)
                               : "";
  const std::string weights = s.has_weights() ? fmt::format("{} weight, ", t.w_slots) : "";
  return fmt::format("{}x{}x{}{}, {} outer, {}{} input and {} output buffers", t.toh, t.tow, t.toc,
                     from, t.spatial_outer ? "space" : "channels", weights, t.ifm_slots,
                     t.ofm_slots);
}

void note_tilings(KernelTrace& trace, const WindowShape& shape, const Tiling& chosen,
                  const arch::NpuConfig& npu, const TransferRates& rates) {
  std::vector<TimedTiling> timed;
  choose_tiling(shape, npu, rates, &timed);
  std::stable_sort(timed.begin(), timed.end(),
                   [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
  const std::string chosen_text = tiling_text(shape, chosen);
  bool found = false;
  for (const TimedTiling& t : timed) {
    const std::string text = tiling_text(shape, t.tiling);
    const bool is_it = !found && text == chosen_text;
    found = found || is_it;
    trace.candidates.push_back({text, t.cycles, is_it});
  }
  if (!found)
    trace.candidates.push_back({chosen_text, estimate_cycles(shape, chosen, npu, rates), true});
}

}  // namespace deputy::delegate
