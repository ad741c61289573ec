// The formulas are those of the RTL (rtl/, docs/rtl.md): what each counts is a loop of rtl/fetch or
// a queue of the datapath, and tests/rtl holds them to the RTL's own cycles.
#include "arch/npu_timing.h"

#include <algorithm>

#include "arch/npu_timing_serial.h"

namespace deputy::arch {
namespace {

using u64 = std::uint64_t;
u64 ceil_div(u64 a, u64 b) { return (a + b - 1) / b; }
u64 round_up(u64 a, u64 b) { return ceil_div(a, b) * b; }

// The scratchpad's read port gives one window of spm.bytes_per_cycle consecutive bytes a cycle,
// from any word of 8 on; so many bytes of it are there at any alignment.
u64 usable(const NpuConfig& npu) {
  return static_cast<u64>(std::max(npu.spm.bytes_per_cycle - 7, 1));
}

// How many of `n` pieces of `bytes`, `stride` apart, one window holds.
u64 pieces_per_window(u64 n, u64 bytes, u64 stride, const NpuConfig& npu) {
  if (bytes >= usable(npu) || stride == 0) return stride == 0 ? n : 1;
  return std::min(n, (usable(npu) - bytes) / stride + 1);
}

// `after`: cycles from the last step to the end that start_cycles does not cover. `before`: steps
// before the output stage has its first results.
void finish(ComputeCost& cost, const NpuConfig& npu, u64 after = 0, u64 before = 0) {
  cost.spm_cycles = std::max(cost.spm_cycles,
                             ceil_div(cost.spm_bytes, static_cast<u64>(npu.spm.bytes_per_cycle)));
  cost.cycles =
      std::max({cost.mac_cycles + after, cost.vec_cycles + before, cost.spm_cycles + after}) +
      static_cast<u64>(npu.ctrl.start_cycles);
}

constexpr u64 kOutputStages = 3;  // scale, clamp, write (rtl/output_stage)

// The steps of a bit-serial array follow one another, the output stage among them.
void finish(ComputeCost& cost, const SerialCost& serial, const NpuConfig& npu) {
  cost.mac_cycles = serial.cycles;
  cost.spm_bytes = serial.spm_bytes + cost.vec_results;
  finish(cost, npu);
}

// The output stage takes a pixel's channels in blocks of the MAC array's, out_lanes a cycle.
u64 output_cycles(u64 pixels, u64 channels, const NpuConfig& npu) {
  const auto lanes = static_cast<u64>(npu.vec.out_lanes),
             block = static_cast<u64>(npu.mac.oc_lanes);
  if (lanes > block) return ceil_div(pixels * round_up(channels, block), lanes);
  return pixels * (channels / block * ceil_div(block, lanes) + ceil_div(channels % block, lanes));
}

// Of the last group of pixels, those after the first leave one a cycle for each block of channels.
u64 last_group(u64 pixels, u64 blocks, const NpuConfig& npu) {
  return blocks * ((pixels - 1) % static_cast<u64>(npu.mac.pixels));
}

// Output-stationary: for each block of oc_lanes output channels and each group of `pixels` output
// pixels, the taps stream through. Along a kernel row the bytes kx*ifm_c + c are contiguous when
// pixels are dense and the row is not dilated, so ic_lanes of them are taken at a time whatever the
// split into kx and c (a 3-channel image does not waste 5 of 8 lanes); otherwise each tap is
// rounded up on its own. Weights of a block are read once for as many pixels as the accumulators
// hold, a part of the kernel that fits a window at a time: a phase. There is room for the weights
// of two phases, so those of the third are read when the first is over. Where a phase's windows
// take longer than its steps, each phase but the first and the last takes as long as those.
ComputeCost cost_of(const Conv& c, const NpuConfig& npu) {
  const MacConfig& mac = npu.mac;
  const auto lanes = static_cast<u64>(mac.oc_lanes), ic = static_cast<u64>(mac.ic_lanes),
             group = static_cast<u64>(mac.pixels);
  ComputeCost cost;
  cost.macs = c.macs();
  const u64 pixels = u64{c.ofm_h} * c.ofm_w;
  cost.vec_results = c.acc_hold ? 0 : pixels * c.ofm_c;
  if (npu.serial.outputs > 0) {
    finish(cost, serial_cost(c, npu), npu);
    return cost;
  }
  const bool dense_row = c.dil_w == 1 && c.ifm_px_stride == c.ifm_c;
  const u64 segments = dense_row ? c.k_h : u64{c.k_h} * c.k_w;
  const u64 bytes = dense_row ? u64{c.k_w} * c.ifm_c : c.ifm_c;
  const u64 steps = segments * ceil_div(bytes, ic);
  const u64 oc_blocks = ceil_div(c.ofm_c, lanes);
  cost.mac_cycles = ceil_div(pixels, group) * oc_blocks * steps;
  cost.vec_cycles = output_cycles(pixels, c.ofm_c, npu);
  const u64 taps = u64{c.k_h} * c.k_w * c.ifm_c;
  const u64 held_pixels = std::max<u64>(1, static_cast<u64>(mac.accumulators) / lanes);
  cost.spm_bytes = pixels * taps * oc_blocks + u64{c.ofm_c} * taps * ceil_div(pixels, held_pixels) +
                   (c.acc_hold ? 0 : pixels * c.ofm_c + u64{c.ofm_c} * kChannelParamBytes);

  const u64 fits = std::max(usable(npu) / ic * ic, ic);  // whole steps
  const u64 parts = ceil_div(bytes, fits), line_bytes = std::min(bytes, fits);
  const u64 kernel_blocks = parts > 1 ? segments * parts : ceil_div(segments, fits / bytes);
  const u64 block_bytes = parts > 1 ? line_bytes : ceil_div(segments, kernel_blocks) * bytes;
  const u64 weights = ceil_div(std::min<u64>(lanes, c.ofm_c),
                               pieces_per_window(lanes, block_bytes, c.w_oc_stride, npu));
  const u64 phases = oc_blocks * ceil_div(pixels, held_pixels) * kernel_blocks;
  const u64 pixel_step = u64{c.stride_w} * c.ifm_px_stride;
  const u64 line_windows = ceil_div(group, pieces_per_window(group, line_bytes, pixel_step, npu));
  const u64 lines = oc_blocks * ceil_div(pixels, group) * segments * parts * line_windows;
  const u64 reads = lines + phases * (1 + weights) + oc_blocks;  // those of parameters last
  const u64 ends = std::max(cost.mac_cycles, lines);
  cost.spm_cycles = phases > 2 ? (2 * ends + (phases - 2) * reads) / phases : ends;
  finish(cost, npu, last_group(pixels, 1, npu), steps - 1);
  // Sums that are held end in the accumulators: start_cycles covers the output stage behind them,
  // too.
  if (c.acc_hold) cost.cycles -= std::min(kOutputStages, static_cast<u64>(npu.ctrl.start_cycles));
  return cost;
}

// Depthwise has no sum over channels: the input-channel lanes take kernel taps instead, at most
// dw_taps. A window holds a pixel's channels under one tap. More than 2 * oc_lanes taps come in
// parts, more channels than a window holds in passes, between which the buffer of weights is filled
// anew.
ComputeCost cost_of(const Depthwise& d, const NpuConfig& npu) {
  const MacConfig& mac = npu.mac;
  const auto lanes = static_cast<u64>(mac.oc_lanes), group = static_cast<u64>(mac.pixels);
  ComputeCost cost;
  cost.macs = d.macs();
  const u64 pixels = u64{d.ofm_h} * d.ofm_w;
  cost.vec_results = pixels * d.ofm_c;
  if (npu.serial.outputs > 0) {
    finish(cost, serial_cost(d, npu), npu);
    return cost;
  }
  const u64 taps = u64{d.k_h} * d.k_w;
  const u64 blocks = ceil_div(d.ofm_c, lanes);
  cost.mac_cycles = ceil_div(pixels, group) * blocks *
                    ceil_div(taps, static_cast<u64>(std::min(mac.dw_taps, mac.ic_lanes)));
  cost.vec_cycles = output_cycles(pixels, d.ofm_c, npu);
  cost.spm_bytes = pixels * taps * d.ofm_c + taps * d.ofm_c + pixels * d.ofm_c +
                   u64{d.ofm_c} * kChannelParamBytes;

  const u64 passes = ceil_div(blocks, std::max<u64>(usable(npu) / lanes, 1)),
            pass_blocks = ceil_div(blocks, passes);
  const u64 pixel_step = u64{d.stride_w} * d.ifm_px_stride;
  const u64 channels = std::min<u64>(d.ifm_c, pass_blocks * lanes);
  cost.spm_cycles = passes * ceil_div(pixels, group) * taps *
                    ceil_div(group, pieces_per_window(group, channels, pixel_step, npu));
  u64 refills = 0;
  if (taps > 2 * lanes) {
    const u64 parts = ceil_div(taps, lanes);
    const u64 chunk =
        std::max<u64>(static_cast<u64>(mac.accumulators) / (lanes * group) / pass_blocks, 1);
    const u64 fills = passes * ceil_div(ceil_div(pixels, group), chunk);
    cost.spm_cycles += fills * (parts + taps) - ceil_div(taps, parts);
  } else {
    // From the last step of a pass to the first of the next: its results leave, then weights are
    // read.
    constexpr u64 kRefill = 5;
    refills = (passes - 1) * (taps + kRefill + last_group(pixels, pass_blocks, npu));
  }
  finish(cost, npu, refills + last_group(pixels, pass_blocks, npu), (taps - 1) * pass_blocks);
  return cost;
}

// One tap of one pixel a step, its channels in blocks.
ComputeCost cost_of(const Pool& p, const NpuConfig& npu) {
  ComputeCost cost;
  const u64 pixels = u64{p.ofm_h} * p.ofm_w, taps = u64{p.k_h} * p.k_w;
  const u64 outputs = pixels * p.ofm_c, inputs = outputs * taps;
  const auto lanes = static_cast<u64>(npu.vec.pool_lanes);
  const u64 block = std::min(lanes, static_cast<u64>(npu.mac.oc_lanes));
  cost.vec_results = outputs;
  cost.vec_cycles = std::max(ceil_div(pixels * taps * round_up(p.ofm_c, block), lanes),
                             output_cycles(pixels, p.ofm_c, npu));
  cost.spm_bytes = inputs + outputs;
  finish(cost, npu);
  return cost;
}

// Runs of contiguous results: rows where all three tiles are dense, else pixels. Each has two
// windows or more.
ComputeCost cost_of(const Eltwise& e, const NpuConfig& npu) {
  ComputeCost cost;
  const u64 outputs = u64{e.ofm_h} * e.ofm_w * e.ofm_c;
  const bool dense = e.a_ch_stride && e.b_ch_stride && e.a_px_stride == e.ofm_c &&
                     e.b_px_stride == e.ofm_c && e.ofm_px_stride == e.ofm_c;
  const u64 runs = dense ? e.ofm_h : u64{e.ofm_h} * e.ofm_w,
            length = dense ? u64{e.ofm_w} * e.ofm_c : e.ofm_c;
  cost.vec_results = outputs;
  cost.vec_cycles = runs * ceil_div(length, static_cast<u64>(npu.vec.ew_lanes));
  cost.spm_bytes = 3 * outputs;
  cost.spm_cycles = 2 * runs * ceil_div(length, usable(npu));
  finish(cost, npu);
  return cost;
}

// The table is read before the first step.
ComputeCost cost_of(const Lut& l, const NpuConfig& npu) {
  ComputeCost cost;
  cost.vec_results = l.count;
  cost.vec_cycles = ceil_div(l.count, static_cast<u64>(npu.vec.ew_lanes));
  cost.spm_bytes = 2 * u64{l.count};
  finish(cost, npu);
  cost.spm_bytes += 256;
  return cost;
}

// Three passes over each row (largest value, sum of exponentials, scaling), one result a lane each,
// and between the last two the reciprocal of the sum: three Newton-Raphson steps of two
// multiplications. The table is read into the unit once, before the first step.
constexpr u64 kReciprocalCycles = 16;
ComputeCost cost_of(const Softmax& m, const NpuConfig& npu) {
  ComputeCost cost;
  cost.vec_results = 3 * u64{m.rows} * m.length;
  cost.vec_cycles =
      m.rows * (3 * ceil_div(m.length, static_cast<u64>(npu.vec.ew_lanes)) + kReciprocalCycles);
  cost.spm_bytes = 4 * u64{m.rows} * m.length;
  finish(cost, npu);
  cost.spm_bytes += kExpTableBytes;
  return cost;
}

// Windows are written from word to word.
ComputeCost cost_of(const Fill& f, const NpuConfig& npu) {
  ComputeCost cost;
  cost.spm_bytes = f.count;
  cost.spm_cycles = ceil_div(f.addr % 8 + u64{f.count}, static_cast<u64>(npu.spm.bytes_per_cycle));
  finish(cost, npu);
  return cost;
}

// Control and transfer instructions do not occupy the compute queue.
ComputeCost cost_of(const End&, const NpuConfig&) { return {}; }
ComputeCost cost_of(const Transfer&, const NpuConfig&) { return {}; }
ComputeCost cost_of(const LoadWeights&, const NpuConfig&) { return {}; }

}  // namespace

ComputeCost compute_cost(const Operation& op, const NpuConfig& npu) {
  return std::visit([&](const auto& o) { return cost_of(o, npu); }, op);
}
}  // namespace deputy::arch
