#include "arch/npu_timing.h"

#include <algorithm>

namespace deputy::arch {
namespace {

using u64 = std::uint64_t;
u64 ceil_div(u64 a, u64 b) { return (a + b - 1) / b; }

void finish(ComputeCost& cost, const NpuConfig& npu) {
  cost.spm_cycles = ceil_div(cost.spm_bytes, npu.spm.bytes_per_cycle);
  cost.cycles = std::max({cost.mac_cycles, cost.vec_cycles, cost.spm_cycles}) + npu.ctrl.start_cycles;
}

// Output-stationary: for each block of oc_lanes output channels and each group of `pixels` output pixels,
// the taps stream through. Along a kernel row the bytes kx*ifm_c + c are contiguous when pixels are dense
// and the row is not dilated, so ic_lanes of them are taken at a time whatever the split into kx and c
// (a 3-channel image does not waste 5 of 8 lanes); otherwise each tap is rounded up on its own.
// Weights of a block are read once for as many pixels as the accumulators hold.
ComputeCost cost_of(const Conv& c, const NpuConfig& npu) {
  const MacConfig& mac = npu.mac;
  ComputeCost cost;
  cost.macs = c.macs();
  const bool dense_row = c.dil_w == 1 && c.ifm_px_stride == c.ifm_c;
  const u64 steps = dense_row ? u64{c.k_h} * ceil_div(u64{c.k_w} * c.ifm_c, mac.ic_lanes)
                              : u64{c.k_h} * c.k_w * ceil_div(c.ifm_c, mac.ic_lanes);
  const u64 pixels = u64{c.ofm_h} * c.ofm_w;
  const u64 oc_blocks = ceil_div(c.ofm_c, mac.oc_lanes);
  cost.mac_cycles = ceil_div(pixels, mac.pixels) * oc_blocks * steps;
  cost.vec_results = c.acc_hold ? 0 : pixels * c.ofm_c;
  cost.vec_cycles = ceil_div(cost.vec_results, npu.vec.out_lanes);
  const u64 taps = u64{c.k_h} * c.k_w * c.ifm_c;
  const u64 held_pixels = std::max<u64>(1, mac.accumulators / mac.oc_lanes);
  cost.spm_bytes = pixels * taps * oc_blocks + u64{c.ofm_c} * taps * ceil_div(pixels, held_pixels) +
                   (c.acc_hold ? 0 : pixels * c.ofm_c + u64{c.ofm_c} * kChannelParamBytes);
  finish(cost, npu);
  return cost;
}

// Depthwise has no sum over channels: the input-channel lanes take kernel taps instead, at most dw_taps.
ComputeCost cost_of(const Depthwise& d, const NpuConfig& npu) {
  const MacConfig& mac = npu.mac;
  ComputeCost cost;
  cost.macs = d.macs();
  const u64 pixels = u64{d.ofm_h} * d.ofm_w;
  const u64 taps = u64{d.k_h} * d.k_w;
  cost.mac_cycles = ceil_div(pixels, mac.pixels) * ceil_div(d.ofm_c, mac.oc_lanes) *
                    ceil_div(taps, std::min(mac.dw_taps, mac.ic_lanes));
  cost.vec_results = pixels * d.ofm_c;
  cost.vec_cycles = ceil_div(cost.vec_results, npu.vec.out_lanes);
  cost.spm_bytes = pixels * taps * d.ofm_c + taps * d.ofm_c + pixels * d.ofm_c + u64{d.ofm_c} * kChannelParamBytes;
  finish(cost, npu);
  return cost;
}

ComputeCost cost_of(const Pool& p, const NpuConfig& npu) {
  ComputeCost cost;
  const u64 outputs = u64{p.ofm_h} * p.ofm_w * p.ofm_c;
  const u64 inputs = outputs * p.k_h * p.k_w;
  cost.vec_results = outputs;
  cost.vec_cycles = std::max(ceil_div(inputs, npu.vec.pool_lanes), ceil_div(outputs, npu.vec.out_lanes));
  cost.spm_bytes = inputs + outputs;
  finish(cost, npu);
  return cost;
}

ComputeCost cost_of(const Eltwise& e, const NpuConfig& npu) {
  ComputeCost cost;
  const u64 outputs = u64{e.ofm_h} * e.ofm_w * e.ofm_c;
  cost.vec_results = outputs;
  cost.vec_cycles = ceil_div(outputs, npu.vec.ew_lanes);
  cost.spm_bytes = 3 * outputs;
  finish(cost, npu);
  return cost;
}

ComputeCost cost_of(const Lut& l, const NpuConfig& npu) {
  ComputeCost cost;
  cost.vec_results = l.count;
  cost.vec_cycles = ceil_div(l.count, npu.vec.ew_lanes);
  cost.spm_bytes = 2 * u64{l.count} + 256;
  finish(cost, npu);
  return cost;
}

// Three passes over each row (largest value, sum of exponentials, scaling), one result a lane each,
// and between the last two the reciprocal of the sum: three Newton-Raphson steps of two multiplications.
// The table is read into the unit once.
constexpr u64 kReciprocalCycles = 16;
ComputeCost cost_of(const Softmax& m, const NpuConfig& npu) {
  ComputeCost cost;
  cost.vec_results = 3 * u64{m.rows} * m.length;
  cost.vec_cycles = m.rows * (3 * ceil_div(m.length, npu.vec.ew_lanes) + kReciprocalCycles);
  cost.spm_bytes = 4 * u64{m.rows} * m.length + kExpTableBytes;
  finish(cost, npu);
  return cost;
}

ComputeCost cost_of(const Fill& f, const NpuConfig& npu) {
  ComputeCost cost;
  cost.spm_bytes = f.count;
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
