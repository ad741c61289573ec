#include "delegate/codegen/tile_cost.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "arch/npu_timing.h"
#include "delegate/codegen/shared_port.h"

namespace deputy::delegate {
namespace {

// Commands are fetched beside the work, from the memory that the weights come from: an instruction
// costs a share of its fetch even when the queues hide its latency.
constexpr double kCommandShare = 0.4;

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

}  // namespace

CutFacts cut_facts(const WindowShape& s, std::int64_t toh, std::int64_t tow) {
  return {total_rows(s, toh), total_columns(s, tow), 0};
}

double full_tile_cycles(const WindowShape& s, const Tiling& t, const arch::NpuConfig& npu) {
  const std::int64_t nk = s.kind == WindowKind::kConv ? ceil_div(s.ic, t.tic) : 1;
  WindowStep full;
  full.y1 = t.toh, full.x1 = t.tow, full.o1 = t.toc;
  full.c1 = s.kind == WindowKind::kConv ? t.tic : input_channels(s, 0, t.toc);
  full.rows.end = std::min(s.ih, (t.toh - 1) * s.sh + (s.kh - 1) * s.dh + 1);
  full.columns.end = std::min(s.iw, (t.tow - 1) * s.sw + (s.kw - 1) * s.dw + 1);
  const double expanding =
      s.expand > 0
          ? static_cast<double>(arch::compute_cost(expand_instruction(s, full, {}, {}), npu).cycles)
          : 0;
  const auto cycles_of = [&](bool last) {
    full.last_k = last;
    return static_cast<double>(arch::compute_cost(window_instruction(s, full, {}, {}), npu).cycles);
  };
  return cycles_of(true) + (nk > 1 ? static_cast<double>(nk - 1) * cycles_of(false) : 0) +
         expanding + epilogue_cycles(s.epilogue, t.toh, t.tow, t.toc, npu);
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

  double ifm_bytes = static_cast<double>(s.n * facts.rows * facts.columns) *
                     static_cast<double>(s.loaded_channels());
  double ifm_loads = static_cast<double>(ns * nk);
  const bool whole_depth = s.kind == WindowKind::kConv || s.expand > 0;
  if (!whole_depth) ifm_loads *= static_cast<double>(no);
  double ifm_runs = ifm_loads;
  const bool channels_split = s.expand == 0 && (s.kind == WindowKind::kConv ? nk > 1 : no > 1);
  if (channels_split)
    ifm_runs = static_cast<double>(s.n * facts.rows * facts.columns *
                                   (s.kind == WindowKind::kConv ? nk : no));
  else if (nx > 1)
    ifm_runs = static_cast<double>(s.n * facts.rows * nx);
  const bool ifm_stays = t.spatial_outer ? t.ifm_slots >= nk : t.ifm_slots >= ns * nk;
  if (whole_depth && !ifm_stays)
    for (double* total : {&ifm_bytes, &ifm_loads, &ifm_runs}) *total *= static_cast<double>(no);

  double weight_bytes = 0, param_bytes = 0, weight_loads = 0, weight_stretches = 0;
  if (s.has_weights()) {
    weight_bytes = static_cast<double>(s.weight_bytes());
    weight_loads = static_cast<double>(no * nk);
    const bool weights_stay = t.w_slots >= (t.spatial_outer ? no * nk : nk);
    if (!weights_stay)
      weight_bytes *= static_cast<double>(ns), weight_loads *= static_cast<double>(ns);
    param_bytes = static_cast<double>(s.param_bytes());
    weight_stretches = weight_loads * weight_runs(s, t.toc, t.tic);
    weight_loads += static_cast<double>(no);
    if (s.expand > 0) weight_loads *= 2;
  }
  const double output_bytes = static_cast<double>(s.n * s.oh * s.ow * s.oc);
  const double output_runs = no > 1   ? static_cast<double>(s.n * s.oh * s.ow * no)
                             : nx > 1 ? static_cast<double>(s.n * s.oh * nx)
                                      : static_cast<double>(ns);
  const double maps = static_cast<double>(s.epilogue.maps);
  const double ifm_load = ifm_bytes * rates.ifm_per_byte + ifm_runs * rates.ifm_run;
  double weight_load = weight_bytes * rates.weights_per_byte + param_bytes * rates.params_per_byte +
                       weight_stretches * rates.weights_run;
  if (rates.ahead && weight_bytes > 0) {
    const auto once = static_cast<double>(s.weight_bytes());
    weight_load =
        weight_load * (1 - once / weight_bytes) + (once + param_bytes) * rates.ahead_per_byte;
  }
  const double map_loads = maps * static_cast<double>(ns * no);
  const double map_load = maps * (output_bytes * rates.ofm_per_byte + output_runs * rates.ofm_run);
  double ports[2] = {0, weight_load};  // SRAM, DRAM
  ports[!rates.ifm_in_sram] += ifm_load, ports[!rates.ofm_in_sram] += map_load;
  const double load =
      std::max({ports[0], ports[1], (ifm_loads + weight_loads + map_loads) * rates.issue});
  const double stored =
      static_cast<double>(s.epilogue.stored_rows(s.oh) * s.epilogue.stored_columns(s.ow)) /
      static_cast<double>(s.oh * s.ow);
  const double store = output_bytes * stored * rates.ofm_per_byte +
                       static_cast<double>(ns * no) * rates.issue +
                       output_runs * stored * rates.ofm_run;

  // Loads and stores of maps share the SRAM.
  const double sram =
      ports[0] + (rates.ofm_in_sram ? store - static_cast<double>(ns * no) * rates.issue : 0);

  const double share =
      output_bytes / (static_cast<double>(ns * no) * static_cast<double>(t.toh * t.tow * t.toc));
  const double compute = facts.tile_cycles * static_cast<double>(ns * no) * share;

  const double fill = static_cast<double>(b.ifm) * rates.ifm_per_byte +
                      static_cast<double>(b.weights + b.expand_weights) *
                          (rates.ahead ? rates.ahead_per_byte : rates.weights_per_byte);
  const double drain = static_cast<double>(b.ofm) * rates.ofm_per_byte;
  const double extra = static_cast<double>(2 * s.epilogue.maps + s.epilogue.vectors +
                                           s.epilogue.pools() + (s.expand > 0));
  const double commands =
      (ifm_loads + weight_loads + tiles + static_cast<double>(ns * no) * (1 + extra)) *
      rates.command;
  // What has one buffer for several blocks cannot come while another is computed.
  const double alone =
      std::max(t.ifm_slots == 1 && ifm_loads > 1 ? ifm_load + ifm_loads * rates.ifm_setup : 0,
               t.w_slots == 1 && weight_loads > 2 ? weight_load + weight_loads * rates.weights_setup
                                                  : 0) +
      (t.ofm_slots == 1 && ns * no > 1
           ? store + static_cast<double>(ns * no) * (rates.ofm_setup - rates.issue)
           : 0);
  const double queues =
      std::max({load + drain, fill + compute + drain, alone + compute, store + fill, sram});
  return std::max(queues, commands) + commands * kCommandShare;
}

TransferRates transfer_rates(const CompileOptions& options, bool ifm_in_sram, bool ofm_in_sram) {
  const MemoryEstimate& m = options.memory;
  TransferRates rates;
  rates.weights_per_byte = rates.params_per_byte = 1 / m.dram_bytes_per_cycle;
  rates.ifm_per_byte = 1 / (ifm_in_sram ? m.sram_bytes_per_cycle : m.dram_bytes_per_cycle);
  rates.ofm_per_byte = 1 / (ofm_in_sram ? m.sram_bytes_per_cycle : m.dram_bytes_per_cycle);
  constexpr double kCommandBytes = 36;  // about the mean of LOAD, CONV and STORE
  rates.command = options.npu.ctrl.decode_cycles + kCommandBytes / m.dram_bytes_per_cycle;
  const auto latency = [&](bool sram) {
    return sram ? m.sram_latency_cycles : m.dram_latency_cycles;
  };
  rates.issue = options.npu.dma.issue_cycles;
  rates.ifm_in_sram = ifm_in_sram, rates.ofm_in_sram = ofm_in_sram;
  rates.double_buffer = options.optimisations.double_buffer,
  rates.search = options.optimisations.tile_search;
  rates.fast = options.effort == Effort::kFast;
  const auto setup = [&](bool sram) { return options.npu.dma.issue_cycles + latency(sram); };
  rates.weights_setup = setup(false), rates.ifm_setup = setup(ifm_in_sram),
  rates.ofm_setup = setup(ofm_in_sram);
  // What the window cannot hide of the latency, the bursts of a DRAM that both neighbours in memory
  // share (a stretch of n bytes at any place touches n - 1 + burst bytes on average; constants are
  // aligned, so half of that), and a few cycles for the grant that every stretch takes from the
  // other queues: of two cuts that are equally fast, the one with fewer transactions wins.
  constexpr double kGrantCycles = 4;
  const double burst = (m.dram_burst_bytes - 1) / m.dram_bytes_per_cycle;
  const auto run = [&](bool sram) {
    return latency(sram) / options.npu.dma.outstanding + kGrantCycles + (sram ? 0 : burst);
  };
  rates.weights_run = run(false) - burst / 2, rates.ifm_run = run(ifm_in_sram),
  rates.ofm_run = run(ofm_in_sram);
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
  // The load queue's front end, its ports to SRAM and DRAM, the completion of its last load; the
  // store queue alike.
  double front = 0, dram = 0, landed = 0;
  SharedPort sram;  // loads and stores
  double compute = 0, store = 0, stored = 0, dispatch = 0, taken_on = 0;
  std::set<std::pair<std::int64_t, std::int64_t>> fetched;  // blocks of weights, with rates.ahead
  const auto load = [&](double free, bool in_sram, double cycles, double setup) {
    const double set_up = std::max({front, free, dispatch}) + rates.issue;
    if (in_sram) {
      front = sram.take(0, set_up, cycles, cycles);
      return landed = std::max(landed, front + setup - rates.issue);
    }
    front = std::max(set_up, dram);
    dram = front + cycles;
    return landed = std::max(landed, dram + setup - rates.issue);
  };
  const auto fetch = [&](Slot& slot, bool in_sram, double cycles, double setup) {
    dispatch += rates.command;
    slot.ready = load(slot.free, in_sram, cycles, setup);
  };
  walk(s, t, [&](const WindowStep& step) {
    const auto channels = static_cast<double>(step.c1 - step.c0),
               outputs = static_cast<double>(step.o1 - step.o0);
    Slot& w = weights[static_cast<std::size_t>(step.w_slot)];
    Slot& p = params[static_cast<std::size_t>(step.p_slot)];
    Slot& in = ifm[static_cast<std::size_t>(step.ifm_slot)];
    Slot& out = ofm[static_cast<std::size_t>(step.ofm_slot)];
    const double taps =
        static_cast<double>(s.kh * s.kw) * (s.kind == WindowKind::kConv ? channels : 1) +
        static_cast<double>(s.expand);
    const bool ahead = rates.ahead && (step.load_weights || step.load_params) &&
                       fetched.emplace(step.o0, step.load_weights ? step.c0 : -1).second;
    if (step.load_weights)
      fetch(w, false,
            ahead ? outputs * taps * rates.ahead_per_byte
                  : outputs * taps * rates.weights_per_byte +
                        weight_runs(s, step.o1 - step.o0, step.c1 - step.c0) * rates.weights_run,
            rates.weights_setup);
    if (step.load_params)
      fetch(p, false,
            outputs * static_cast<double>(s.param_bytes() / s.oc) *
                (ahead ? rates.ahead_per_byte : rates.params_per_byte),
            rates.weights_setup);
    // The expansion's own two loads: their bytes are counted above.
    if (s.expand > 0) {
      if (step.load_weights) fetch(w, false, 0, rates.weights_setup);
      if (step.load_params) fetch(p, false, 0, rates.weights_setup);
    }
    if (step.load_ifm)
      fetch(in, rates.ifm_in_sram,
            static_cast<double>(step.rows.size() * step.columns.size()) *
                    (s.expand > 0 ? static_cast<double>(s.expand) : channels) * rates.ifm_per_byte +
                map_runs(step.rows.size(), step.columns.size(),
                         s.expand > 0 ? s.expand : step.c1 - step.c0, s.iw, s.loaded_channels()) *
                    rates.ifm_run,
            rates.ifm_setup);
    dispatch += rates.command;
    double start = std::max({compute, w.ready, p.ready, in.ready, dispatch});
    if (s.expand > 0) {
      start +=
          static_cast<double>(arch::compute_cost(expand_instruction(s, step, {}, {}), npu).cycles);
      dispatch += rates.command;
      in.free = start;
    }
    start = std::max({start, out.free, dispatch});
    compute = start + static_cast<double>(
                          arch::compute_cost(window_instruction(s, step, {}, {}), npu).cycles);
    w.free = p.free = compute;
    if (s.expand == 0) in.free = compute;
    if (!step.last_k) return;
    const std::int64_t rows = step.y1 - step.y0, columns = step.x1 - step.x0;
    const auto moved = [&](std::int64_t h, std::int64_t width) {
      return static_cast<double>(h * width) * outputs * rates.ofm_per_byte +
             map_runs(h, width, step.o1 - step.o0, s.epilogue.stored_columns(s.ow), s.oc) *
                 rates.ofm_run;
    };
    for (std::int64_t map = 0; map < s.epilogue.maps; ++map) {
      // Its buffer is free when the tile that used it has been taken on.
      dispatch += 2 * rates.command;
      compute = std::max(compute, load(t.map_slots > 1 ? out.free : taken_on, rates.ofm_in_sram,
                                       moved(rows, columns), rates.ofm_setup));
    }
    compute += epilogue_cycles(s.epilogue, rows, columns, step.o1 - step.o0, npu);
    taken_on = compute;
    dispatch += rates.command;
    const double cycles = moved(s.epilogue.stored_rows(rows), s.epilogue.stored_columns(columns));
    store = std::max({store, compute, dispatch}) + rates.issue;
    store = rates.ofm_in_sram ? sram.take(1, store, cycles, cycles) : store + cycles;
    out.free = stored = store + rates.ofm_setup - rates.issue;
  });
  return stored + dispatch * kCommandShare;
}

}  // namespace deputy::delegate
