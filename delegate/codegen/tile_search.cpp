#include "delegate/codegen/tile_search.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "arch/npu_timing.h"

namespace deputy::delegate {
namespace {

using Sizes = std::vector<std::int64_t>;
constexpr std::int64_t kMaxExtent = 65535;  // of a tile, by the width of the instruction's fields
constexpr std::int64_t kMaxWalk = 50000;    // tiles of a candidate worth timing
constexpr std::size_t kTimed = 32;          // candidates that are timed
constexpr int kSumSplits = 3;
// Commands are fetched beside the work, from the memory that the weights come from: an instruction
// costs a share of its fetch even when the queues hide its latency.
constexpr double kCommandShare = 0.4;

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
    return cuts(s.oc, npu.mac.oc_lanes, kMaxExtent);
  Sizes out;
  for (const std::int64_t inputs :
       cuts(s.ic, std::max<std::int64_t>(1, npu.mac.oc_lanes / s.mult), kMaxExtent))
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

// What a cut costs however its slots are chosen.
struct CutFacts {
  // Input rows and columns that all tiles load together, overlaps counted as often as they are
  // loaded.
  std::int64_t rows = 0, columns = 0;
  double tile_cycles = 0;  // computing one full tile, over all its input channels
};
std::int64_t total_rows(const WindowShape& s, std::int64_t toh) {
  std::int64_t sum = 0;
  for (std::int64_t y = 0; y < s.oh; y += toh)
    sum += halo(y, std::min(s.oh, y + toh), s.sh, s.kh, s.dh, s.pad_top, s.ih).size();
  return sum;
}
std::int64_t total_columns(const WindowShape& s, std::int64_t tow) {
  std::int64_t sum = 0;
  for (std::int64_t x = 0; x < s.ow; x += tow)
    sum += halo(x, std::min(s.ow, x + tow), s.sw, s.kw, s.dw, s.pad_left, s.iw).size();
  return sum;
}

double full_tile_cycles(const WindowShape& s, const Tiling& t, const arch::NpuConfig& npu) {
  const std::int64_t nk = s.kind == WindowKind::kConv ? ceil_div(s.ic, t.tic) : 1;
  WindowStep full;
  full.y1 = t.toh, full.x1 = t.tow, full.o1 = t.toc;
  full.c1 = s.kind == WindowKind::kConv ? t.tic : input_channels(s, 0, t.toc);
  full.rows.end = std::min(s.ih, (t.toh - 1) * s.sh + (s.kh - 1) * s.dh + 1);
  full.columns.end = std::min(s.iw, (t.tow - 1) * s.sw + (s.kw - 1) * s.dw + 1);
  const auto cycles_of = [&](bool last) {
    full.last_k = last;
    return static_cast<double>(arch::compute_cost(window_instruction(s, full, {}, {}), npu).cycles);
  };
  return cycles_of(true) + (nk > 1 ? static_cast<double>(nk - 1) * cycles_of(false) : 0) +
         epilogue_cycles(s.epilogue, t.toh, t.tow, t.toc, npu);
}

// Stretches of memory, contiguous each, that hold a tile of a map `width` pixels wide and `depth`
// channels deep. Each is at least one bus transaction, so thin slices of channels are dear.
double map_runs(std::int64_t rows, std::int64_t columns, std::int64_t channels, std::int64_t width,
                std::int64_t depth) {
  if (channels < depth) return static_cast<double>(rows * columns);
  return columns < width ? static_cast<double>(rows) : 1;
}
double weight_runs(const WindowShape& s, std::int64_t outputs, std::int64_t channels) {
  if (s.packed) return 1;
  if (s.kind == WindowKind::kConv)
    return channels < s.ic ? static_cast<double>(outputs * s.kh * s.kw) : 1;
  return outputs < s.oc ? static_cast<double>(s.kh * s.kw) : 1;
}

// Lower bound of the cycles: the busiest of the three queues, plus filling and draining the
// pipeline.
double bound_cycles(const WindowShape& s, const Tiling& t, const WindowBuffers& b,
                    const CutFacts& facts, const TransferRates& rates) {
  const std::int64_t ny = ceil_div(s.oh, t.toh), nx = ceil_div(s.ow, t.tow),
                     no = ceil_div(s.oc, t.toc);
  const std::int64_t nk = s.kind == WindowKind::kConv ? ceil_div(s.ic, t.tic) : 1,
                     ns = s.n * ny * nx;
  const double tiles = static_cast<double>(ns * no * nk);

  double ifm_bytes =
      static_cast<double>(s.n * facts.rows * facts.columns) * static_cast<double>(s.ic);
  double ifm_loads = static_cast<double>(ns * nk);
  if (s.kind != WindowKind::kConv) ifm_loads *= static_cast<double>(no);
  double ifm_runs = ifm_loads;
  const bool channels_split = s.kind == WindowKind::kConv ? nk > 1 : no > 1;
  if (channels_split)
    ifm_runs = static_cast<double>(s.n * facts.rows * facts.columns *
                                   (s.kind == WindowKind::kConv ? nk : no));
  else if (nx > 1)
    ifm_runs = static_cast<double>(s.n * facts.rows * nx);
  const bool ifm_stays = t.spatial_outer ? t.ifm_slots >= nk : t.ifm_slots >= ns * nk;
  if (s.kind == WindowKind::kConv && !ifm_stays)
    for (double* total : {&ifm_bytes, &ifm_loads, &ifm_runs}) *total *= static_cast<double>(no);

  double weight_bytes = 0, param_bytes = 0, weight_loads = 0, weight_stretches = 0;
  if (s.has_weights()) {
    const std::int64_t per_output = s.kh * s.kw * (s.kind == WindowKind::kConv ? s.ic : 1);
    weight_bytes = static_cast<double>(s.oc * per_output);
    weight_loads = static_cast<double>(no * nk);
    const bool weights_stay = t.w_slots >= (t.spatial_outer ? no * nk : nk);
    if (!weights_stay)
      weight_bytes *= static_cast<double>(ns), weight_loads *= static_cast<double>(ns);
    param_bytes = static_cast<double>(s.oc * arch::kChannelParamBytes);
    weight_stretches = weight_loads * weight_runs(s, t.toc, t.tic);
    weight_loads += static_cast<double>(no);
  }
  const double output_bytes = static_cast<double>(s.n * s.oh * s.ow * s.oc);
  const double output_runs = no > 1   ? static_cast<double>(s.n * s.oh * s.ow * no)
                             : nx > 1 ? static_cast<double>(s.n * s.oh * nx)
                                      : static_cast<double>(ns);
  const double maps = static_cast<double>(s.epilogue.maps);
  const double load = ifm_bytes * rates.ifm_per_byte + weight_bytes * rates.weights_per_byte +
                      param_bytes * rates.params_per_byte + ifm_loads * rates.ifm_setup +
                      weight_loads * rates.weights_setup + ifm_runs * rates.ifm_run +
                      weight_stretches * rates.weights_run +
                      maps * (output_bytes * rates.ofm_per_byte +
                              static_cast<double>(ns * no) * rates.ofm_setup + output_runs * rates.ofm_run);
  const double stored = static_cast<double>(s.epilogue.stored_rows(s.oh) * s.epilogue.stored_columns(s.ow)) /
                        static_cast<double>(s.oh * s.ow);
  const double store = output_bytes * stored * rates.ofm_per_byte +
                       static_cast<double>(ns * no) * rates.ofm_setup + output_runs * stored * rates.ofm_run;

  const double share =
      output_bytes / (static_cast<double>(ns * no) * static_cast<double>(t.toh * t.tow * t.toc));
  const double compute = facts.tile_cycles * static_cast<double>(ns * no) * share;

  const double fill = static_cast<double>(b.ifm) * rates.ifm_per_byte +
                      static_cast<double>(b.weights) * rates.weights_per_byte;
  const double drain = static_cast<double>(b.ofm) * rates.ofm_per_byte;
  const double extra = static_cast<double>(2 * s.epilogue.maps + s.epilogue.vectors + s.epilogue.pools());
  const double commands =
      (ifm_loads + weight_loads + tiles + static_cast<double>(ns * no) * (1 + extra)) *
      rates.command;
  const bool overlapped = t.ifm_slots > 1 && t.ofm_slots > 1;
  const double queues =
      overlapped ? std::max({load + drain, fill + compute + drain, store + fill}) : load + compute;
  return std::max(queues, commands) + commands * kCommandShare;
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
  const Slots choices[] = {{all_w, two_ifm, two_ofm},
                           {two_w, all_ifm, two_ofm},
                           {std::min(all_w, 2 * nk), two_ifm, two_ofm},
                           {nk, two_ifm, two_ofm},
                           {two_w, nk, two_ofm},
                           {two_w, two_ifm, two_ofm},
                           {1, two_ifm, two_ofm},
                           {two_w, two_ifm, 1},
                           {two_w, 1, 1},
                           {1, 1, 1}};
  std::vector<Slots> seen;
  for (Slots c : choices) {
    if (!s.has_weights()) c.w = 0;
    if (std::any_of(seen.begin(), seen.end(),
                    [&](const Slots& o) { return o.w == c.w && o.ifm == c.ifm && o.ofm == c.ofm; }))
      continue;
    seen.push_back(c);
    t.w_slots = c.w, t.ifm_slots = c.ifm, t.ofm_slots = c.ofm;
    for (const std::int64_t maps : {2, 1}) {
      t.map_slots = maps;
      const WindowBuffers buffers = window_buffers(s, t);
      if (buffers.total() > npu.spm.bytes) continue;
      out.push_back({t, bound_cycles(s, t, buffers, facts, rates), 0});
      if (s.epilogue.maps == 0) break;
    }
  }
}

}  // namespace

TransferRates transfer_rates(const CompileOptions& options, bool ifm_in_sram, bool ofm_in_sram) {
  const MemoryEstimate& m = options.memory;
  TransferRates rates;
  rates.weights_per_byte = rates.params_per_byte = 1 / m.dram_bytes_per_cycle;
  rates.ifm_per_byte = 1 / (ifm_in_sram ? m.sram_bytes_per_cycle : m.dram_bytes_per_cycle);
  rates.ofm_per_byte = 1 / (ofm_in_sram ? m.sram_bytes_per_cycle : m.dram_bytes_per_cycle);
  constexpr double kCommandBytes = 36;  // about the mean of LOAD, CONV and STORE
  rates.command = options.npu.ctrl.decode_cycles + kCommandBytes / m.dram_bytes_per_cycle;
  const auto latency = [&](bool sram) { return sram ? m.sram_latency_cycles : m.dram_latency_cycles; };
  const auto setup = [&](bool sram) { return options.npu.dma.issue_cycles + latency(sram); };
  rates.weights_setup = setup(false), rates.ifm_setup = setup(ifm_in_sram), rates.ofm_setup = setup(ofm_in_sram);
  // What the window cannot hide of the latency, and a few cycles for the grant that every stretch takes from the other
  // queues: of two cuts that are equally fast, the one with fewer transactions wins.
  constexpr double kGrantCycles = 4;
  const auto run = [&](bool sram) { return latency(sram) / options.npu.dma.outstanding + kGrantCycles; };
  rates.weights_run = run(false), rates.ifm_run = run(ifm_in_sram), rates.ofm_run = run(ofm_in_sram);
  return rates;
}

double estimate_cycles(const WindowShape& s, const Tiling& t, const arch::NpuConfig& npu,
                       const TransferRates& rates) {
  struct Slot {
    double ready = 0, free = 0;  // loaded; last used
  };
  const WindowBuffers b = window_buffers(s, t);
  const auto slots = [](std::int64_t n) {
    return std::vector<Slot>(static_cast<std::size_t>(std::max<std::int64_t>(n, 1)));
  };
  std::vector<Slot> weights = slots(b.w_slots), params = slots(b.p_slots), ifm = slots(b.ifm_slots),
                    ofm = slots(b.ofm_slots);
  double load = 0, compute = 0, store = 0, dispatch = 0, taken_on = 0;
  const auto fetch = [&](Slot& slot, double cycles, double setup) {
    dispatch += rates.command;
    load = std::max({load, slot.free, dispatch}) + cycles + setup;
    slot.ready = load;
  };
  walk(s, t, [&](const WindowStep& step) {
    const auto channels = static_cast<double>(step.c1 - step.c0),
               outputs = static_cast<double>(step.o1 - step.o0);
    Slot& w = weights[static_cast<std::size_t>(step.w_slot)];
    Slot& p = params[static_cast<std::size_t>(step.p_slot)];
    Slot& in = ifm[static_cast<std::size_t>(step.ifm_slot)];
    Slot& out = ofm[static_cast<std::size_t>(step.ofm_slot)];
    const double taps =
        static_cast<double>(s.kh * s.kw) * (s.kind == WindowKind::kConv ? channels : 1);
    if (step.load_weights)
      fetch(w, outputs * taps * rates.weights_per_byte +
                   weight_runs(s, step.o1 - step.o0, step.c1 - step.c0) * rates.weights_run,
            rates.weights_setup);
    if (step.load_params)
      fetch(p, outputs * arch::kChannelParamBytes * rates.params_per_byte, rates.weights_setup);
    if (step.load_ifm)
      fetch(in, static_cast<double>(step.rows.size() * step.columns.size()) * channels *
                        rates.ifm_per_byte +
                    map_runs(step.rows.size(), step.columns.size(), step.c1 - step.c0, s.iw, s.ic) *
                        rates.ifm_run,
            rates.ifm_setup);
    dispatch += rates.command;
    const double start = std::max({compute, w.ready, p.ready, in.ready, out.free, dispatch});
    compute = start + static_cast<double>(
                          arch::compute_cost(window_instruction(s, step, {}, {}), npu).cycles);
    w.free = p.free = in.free = compute;
    if (!step.last_k) return;
    const std::int64_t rows = step.y1 - step.y0, columns = step.x1 - step.x0;
    const auto moved = [&](std::int64_t h, std::int64_t width) {
      return static_cast<double>(h * width) * outputs * rates.ofm_per_byte +
             map_runs(h, width, step.o1 - step.o0, s.epilogue.stored_columns(s.ow), s.oc) * rates.ofm_run;
    };
    for (std::int64_t map = 0; map < s.epilogue.maps; ++map) {
      // Its buffer is free when the tile that used it has been taken on.
      dispatch += 2 * rates.command;
      load = std::max({load, t.map_slots > 1 ? out.free : taken_on, dispatch}) + moved(rows, columns) + rates.ofm_setup;
      compute = std::max(compute, load);
    }
    compute += epilogue_cycles(s.epilogue, rows, columns, step.o1 - step.o0, npu);
    taken_on = compute;
    dispatch += rates.command;
    store = std::max({store, compute, dispatch}) + rates.ofm_setup +
            moved(s.epilogue.stored_rows(rows), s.epilogue.stored_columns(columns));
    out.free = store;
  });
  return store + dispatch * kCommandShare;
}

bool window_fits(const WindowShape& s, const arch::NpuConfig& npu) {
  Tiling smallest;
  smallest.w_slots = s.has_weights();
  if (s.epilogue.pools())
    smallest.toh = std::min(s.oh, s.epilogue.pool_h), smallest.tow = std::min(s.ow, s.epilogue.pool_w);
  return window_buffers(s, smallest).total() <= npu.spm.bytes && extents_fit(s, smallest);
}

std::optional<Tiling> choose_tiling(const WindowShape& s, const arch::NpuConfig& npu,
                                    const TransferRates& rates, std::vector<TimedTiling>* timed_out) {
  const Sizes heights = pooled_cuts(cuts(s.oh, 1, kMaxExtent), s.oh, s.epilogue.pool_h),
              widths = pooled_cuts(powers_of_two_cuts(s.ow, kMaxExtent), s.ow, s.epilogue.pool_w);
  const Sizes outputs = channel_cuts(s, npu);
  const Sizes inputs =
      s.kind == WindowKind::kConv ? cuts(s.ic, npu.mac.ic_lanes, kMaxExtent) : Sizes{1};
  std::vector<Candidate> candidates;
  for (const std::int64_t toh : heights)
    for (const std::int64_t tow : widths) {
      CutFacts facts{total_rows(s, toh), total_columns(s, tow)};
      for (const std::int64_t toc : outputs) {
        int sums =
            0;  // ways to split the input channels that fit; the largest parts are worth a look
        for (const std::int64_t tic : inputs) {
          Tiling t{toh, tow, toc, tic};
          if (!accumulators_fit(s, t, npu) || !extents_fit(s, t)) continue;
          t.w_slots = s.has_weights();
          if (window_buffers(s, t).total() > npu.spm.bytes) continue;
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
  const auto timed =
      candidates.begin() + static_cast<std::ptrdiff_t>(std::min(kTimed, candidates.size()));
  std::partial_sort(candidates.begin(), timed, candidates.end(),
                    [](const Candidate& a, const Candidate& b) {
                      return a.bound != b.bound ? a.bound < b.bound : a.order < b.order;
                    });
  Tiling best = candidates.front().tiling;
  double best_cycles = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < candidates.size() && i < kTimed; ++i) {
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
