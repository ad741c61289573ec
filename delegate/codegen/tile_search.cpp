#include "delegate/codegen/tile_search.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "arch/npu_timing.h"

namespace deputy::delegate {
namespace {

using Sizes = std::vector<std::int64_t>;
constexpr std::int64_t kMaxExtent = 65535;  // of a tile, by the width of the instruction's fields
constexpr std::int64_t kMaxWalk = 50000;    // tiles of a candidate worth timing
constexpr std::size_t kTimed = 32, kTimedFast = 4;  // candidates that are timed
constexpr int kSumSplits = 3;

void normalise(Sizes& sizes) {
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
}

// Even cuts of `size`, the tile rounded up to `quantum`, then ever smaller ones down to 1.
Sizes cuts(std::int64_t size, std::int64_t quantum, std::int64_t limit) {
  Sizes out;
  for (const std::int64_t parts : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48, 64})
    out.push_back(std::min(size, align_up(ceil_div(size, parts), quantum)));
  for (std::int64_t tile = std::min(size, quantum); tile >= 1; tile /= 2) out.push_back(tile);
  std::erase_if(out, [&](std::int64_t tile) { return tile > limit; });
  if (out.empty()) out.push_back(limit);
  normalise(out);
  return out;
}

Sizes powers_of_two_cuts(std::int64_t size, std::int64_t limit) {
  Sizes out;
  for (std::int64_t parts = 1; parts < 2 * size; parts *= 2) out.push_back(ceil_div(size, parts));
  std::erase_if(out, [&](std::int64_t tile) { return tile > limit; });
  if (out.empty()) out.push_back(limit);
  normalise(out);
  return out;
}

// The cuts that keep the windows of a fused pool whole, rounded up where they do not.
Sizes pooled_cuts(Sizes sizes, std::int64_t size, std::int64_t step) {
  if (step == 0) return sizes;
  for (std::int64_t& tile : sizes) tile = std::min(size, align_up(tile, step));
  std::erase_if(sizes, [](std::int64_t tile) { return tile > kMaxExtent; });
  normalise(sizes);
  return sizes;
}

// Depthwise blocks may not straddle input channels unless they hold whole ones.
Sizes channel_cuts(const WindowShape& s, const arch::NpuConfig& npu) {
  if (s.kind != WindowKind::kDepthwise || s.mult == 1)
    return cuts(s.oc, npu.output_block(), kMaxExtent);
  Sizes out;
  for (const std::int64_t inputs :
       cuts(s.ic, std::max<std::int64_t>(1, npu.output_block() / s.mult), kMaxExtent))
    out.push_back(inputs * s.mult);
  for (std::int64_t block = s.mult; block >= 1; --block)
    if (s.mult % block == 0) out.push_back(block);
  std::erase_if(out, [](std::int64_t tile) { return tile > kMaxExtent; });
  normalise(out);
  return out;
}

bool extents_fit(const WindowShape& s, const Tiling& t) {
  const std::int64_t rows = std::min(s.ih, (t.toh - 1) * s.sh + (s.kh - 1) * s.dh + 1);
  const std::int64_t columns = std::min(s.iw, (t.tow - 1) * s.sw + (s.kw - 1) * s.dw + 1);
  return rows <= kMaxExtent && columns <= kMaxExtent;
}

bool accumulators_fit(const WindowShape& s, const Tiling& t, const arch::NpuConfig& npu) {
  return s.kind != WindowKind::kConv || t.tic >= s.ic ||
         t.toh * t.tow * t.toc <= npu.mac.accumulators;
}

struct Candidate {
  Tiling tiling;
  double bound = 0;
  std::size_t order = 0;  // as generated, for ties
};

// The ways to keep operands in the scratchpad worth trying for one cut, best first.
void add_slot_choices(const WindowShape& s, Tiling t, const CutFacts& facts,
                      const arch::NpuConfig& npu, const TransferRates& rates,
                      std::vector<Candidate>& out) {
  const std::int64_t no = ceil_div(s.oc, t.toc),
                     nk = s.kind == WindowKind::kConv ? ceil_div(s.ic, t.tic) : 1;
  const std::int64_t ns = s.n * ceil_div(s.oh, t.toh) * ceil_div(s.ow, t.tow);
  struct Slots {
    std::int64_t w, ifm, ofm;
  };
  const std::int64_t all_w = no * nk, all_ifm = ns * nk,
                     two_ofm = std::min<std::int64_t>(2, ns * no);
  const std::int64_t two_w = std::min<std::int64_t>(2, all_w),
                     two_ifm = std::min<std::int64_t>(2, all_ifm);
  const Slots single = {1, 1, 1};
  const Slots choices[] = {{all_w, two_ifm, two_ofm},
                           {two_w, all_ifm, two_ofm},
                           {std::min(all_w, 2 * nk), two_ifm, two_ofm},
                           {nk, two_ifm, two_ofm},
                           {two_w, nk, two_ofm},
                           {two_w, two_ifm, two_ofm},
                           {1, two_ifm, two_ofm},
                           {two_w, two_ifm, 1},
                           {two_w, 1, 1},
                           {1, 1, 1},
                           {all_w, 1, two_ofm},
                           {all_w, 1, 1}};
  std::vector<Slots> seen;
  const std::size_t count =
      std::size(choices) - (s.expand > 0 ? 0 : 2);  // the last two for expansions
  for (Slots c : std::span(choices).first(count)) {
    if (!rates.double_buffer) c = single;
    if (!s.has_weights()) c.w = 0;
    if (std::any_of(seen.begin(), seen.end(),
                    [&](const Slots& o) { return o.w == c.w && o.ifm == c.ifm && o.ofm == c.ofm; }))
      continue;
    seen.push_back(c);
    t.w_slots = c.w, t.ifm_slots = c.ifm, t.ofm_slots = c.ofm;
    for (const std::int64_t maps : {2, 1}) {
      if (maps == 2 && !rates.double_buffer) continue;
      t.map_slots = maps;
      const WindowBuffers buffers = window_buffers(s, t);
      if (buffers.total() > npu.spm.bytes) continue;
      out.push_back({t, bound_cycles(s, t, buffers, facts, rates), 0});
      if (s.epilogue.maps == 0) break;
    }
  }
}

// The lists of tile sizes that are tried, largest first.
struct Axes {
  Sizes heights, widths, outputs, inputs;
};
Axes axes_of(const WindowShape& s, const arch::NpuConfig& npu) {
  return {pooled_cuts(cuts(s.oh, 1, kMaxExtent), s.oh, s.epilogue.pool_h),
          pooled_cuts(powers_of_two_cuts(s.ow, kMaxExtent), s.ow, s.epilogue.pool_w),
          channel_cuts(s, npu),
          s.kind == WindowKind::kConv ? cuts(s.ic, npu.mac.ic_lanes, kMaxExtent) : Sizes{1}};
}

bool legal(const WindowShape& s, const Tiling& t, const arch::NpuConfig& npu) {
  return accumulators_fit(s, t, npu) && extents_fit(s, t) &&
         window_buffers(s, t).total() <= npu.spm.bytes;
}

// All channels if they fit, else fewer outputs, else fewer inputs; of a map as many columns, then
// as many rows. Two buffers for each operand where that leaves room for any tile.
std::optional<Tiling> first_tiling(const WindowShape& s, const arch::NpuConfig& npu,
                                   bool double_buffer) {
  const Axes axes = axes_of(s, npu);
  for (const std::int64_t slots : {2, 1}) {
    if (slots == 2 && !double_buffer) continue;
    for (const std::int64_t tic : axes.inputs)
      for (const std::int64_t toc : axes.outputs)
        for (const std::int64_t tow : axes.widths)
          for (const std::int64_t toh : axes.heights) {
            const Tiling t{toh,   tow,   toc,  tic, true, s.has_weights() ? slots : 0,
                           slots, slots, slots};
            if (legal(s, t, npu)) return t;
          }
  }
  return std::nullopt;
}

}  // namespace

bool window_fits(const WindowShape& s, const arch::NpuConfig& npu) {
  Tiling smallest;
  smallest.w_slots = s.has_weights();
  if (s.epilogue.pools())
    smallest.toh = std::min(s.oh, s.epilogue.pool_h),
    smallest.tow = std::min(s.ow, s.epilogue.pool_w);
  return window_buffers(s, smallest).total() <= npu.spm.bytes && extents_fit(s, smallest);
}

std::optional<Tiling> choose_tiling(const WindowShape& s, const arch::NpuConfig& whole,
                                    const TransferRates& rates,
                                    std::vector<TimedTiling>* timed_out) {
  arch::NpuConfig npu = whole;
  if (rates.spm_kept > 0)
    npu.spm.bytes =
        static_cast<std::int32_t>(std::max<std::int64_t>(0, npu.spm.bytes - rates.spm_kept));
  if (rates.spm_kept > 0 && !window_fits(s, npu)) npu = whole;
  if (!rates.search) return first_tiling(s, npu, rates.double_buffer);
  const auto [heights, widths, outputs, inputs] = axes_of(s, npu);
  std::vector<Candidate> candidates;
  for (const std::int64_t toh : heights)
    for (const std::int64_t tow : widths) {
      CutFacts facts = cut_facts(s, toh, tow);
      for (const std::int64_t toc : outputs) {
        int sums =
            0;  // ways to split the input channels that fit; the largest parts are worth a look
        for (const std::int64_t tic : inputs) {
          Tiling t{toh, tow, toc, tic};
          t.w_slots = s.has_weights();
          if (!legal(s, t, npu)) continue;
          if (++sums > kSumSplits) break;
          facts.tile_cycles = full_tile_cycles(s, t, npu);
          for (const bool spatial_outer : {true, false}) {
            t.spatial_outer = spatial_outer;
            add_slot_choices(s, t, facts, npu, rates, candidates);
            if (s.kind == WindowKind::kPool || toc >= s.oc) break;  // the order changes nothing
          }
        }
      }
    }
  if (candidates.empty()) return std::nullopt;
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].order = i;
  const std::size_t worth = std::min(rates.fast ? kTimedFast : kTimed, candidates.size());
  const auto timed = candidates.begin() + static_cast<std::ptrdiff_t>(worth);
  std::partial_sort(candidates.begin(), timed, candidates.end(),
                    [](const Candidate& a, const Candidate& b) {
                      return a.bound != b.bound ? a.bound < b.bound : a.order < b.order;
                    });
  Tiling best = candidates.front().tiling;
  double best_cycles = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < worth; ++i) {
    const Tiling& t = candidates[i].tiling;
    const std::int64_t tiles = s.n * ceil_div(s.oh, t.toh) * ceil_div(s.ow, t.tow) *
                               ceil_div(s.oc, t.toc) * ceil_div(s.ic, t.tic);
    if (candidates[i].bound >= best_cycles) break;
    if (tiles > kMaxWalk) continue;
    const double cycles = estimate_cycles(s, t, npu, rates);
    if (timed_out) timed_out->push_back({t, cycles});
    if (cycles < best_cycles) best_cycles = cycles, best = t;
  }
  return best;
}

std::optional<Tiling> TilingCache::choose(const WindowShape& shape, const arch::NpuConfig& npu,
                                          const TransferRates& rates) {
  const auto [it, missing] = answers_.try_emplace({shape, rates});
  if (missing) it->second = choose_tiling(shape, npu, rates);
  return it->second;
}

}  // namespace deputy::delegate
