// An array that keeps a block of side x side output pixels and multiplies it with one block of
// input channels and one output channel at a time, weights bit by bit. The steps of such a pass do
// not overlap: load the inputs, correct the weights' offset, multiply; and, when a block's sums are
// complete, normalise and write. Steps and constants are those of DORY's model of NE16
// (pulp-platform/dory, dory/Hardware_targets/PULP/GAP9_NE16/Tiler/Ne16PerfModel.py), which knows
// 3x3 and 1x1 kernels with stride 1. Beyond it, without a source: another kernel is a sum of both
// kinds of passes into the same accumulators; bytes of a kernel row that lie together are the
// channels of one tap, as in the ordinary array; and with a stride a 3x3 pass leaves fewer outputs
// of the same inputs.
#include "arch/npu_timing_serial.h"

#include <algorithm>

namespace deputy::arch {
namespace {

using u64 = std::uint64_t;
u64 ceil_div(u64 a, u64 b) { return (a + b - 1) / b; }

constexpr u64 kFill = 6;        // of the queue before each step
constexpr u64 kLoadTap = 10;    // before the inputs of a single tap
constexpr u64 kNextPass = 2;    // updating the indices
constexpr u64 kNormalise = 17;  // before scaling (9) and adding the bias (8)
constexpr u64 kAddBias = 8;     // results a cycle
constexpr u64 kWrite = 4;       // before and after the results

struct Array {
  const NpuConfig& npu;
  u64 side = static_cast<u64>(npu.serial.side), port = static_cast<u64>(npu.serial.port_bytes);
  u64 inputs = static_cast<u64>(npu.mac.ic_lanes);

  u64 pixels(bool group) const { return group ? (side + 2) * (side + 2) : side * side; }
  // `correct`: cycles of the weights' offset.
  u64 pass(u64 outputs, bool group, u64 correct) const {
    const u64 load = (group ? kFill : kLoadTap) + pixels(group) * ceil_div(inputs, port);
    const u64 multiply = kFill + outputs * (group ? static_cast<u64>(npu.serial.weight_bits) : 1);
    return load + kFill + correct + multiply + kNextPass;
  }
  // One 32-bit scale a cycle.
  u64 drain(u64 outputs) const {
    return kNormalise + outputs + ceil_div(outputs, kAddBias) + kWrite +
           side * side * ceil_div(outputs, port);
  }
};

// Passes of one block of output pixels and channels over all inputs, and how many such blocks of
// pixels there are.
struct Mapping {
  u64 groups = 0, singles = 0, blocks = 0;
};

// Blocks of an output map: the inputs of a 3x3 pass span side + 2 pixels each way, of which a
// stride leaves fewer outputs.
u64 blocks_along(u64 outputs, u64 stride, u64 side) {
  return ceil_div(outputs, (side - 1) / stride + 1);
}

template <class Op>
u64 tap_blocks(const Op& op, u64 side) {
  return ceil_div(op.ofm_h, side) * ceil_div(op.ofm_w, side);
}
template <class Op>
u64 group_blocks(const Op& op, u64 side) {
  return blocks_along(op.ofm_h, op.stride_h, side) * blocks_along(op.ofm_w, op.stride_w, side);
}
template <class Op>
bool groups_fit(const Op& op, u64 side) {
  return op.dil_h == 1 && op.dil_w == 1 && op.k_h >= side && op.k_w >= side;
}

// Single taps for `taps` neighbours of a kernel row.
u64 row_passes(const Conv& c, u64 taps, const Array& array) {
  const bool dense = c.dil_w == 1 && c.ifm_px_stride == c.ifm_c;
  return dense ? ceil_div(taps * c.ifm_c, array.inputs) : taps * ceil_div(c.ifm_c, array.inputs);
}

Mapping by_taps(const Conv& c, const Array& array) {
  return {0, c.k_h * row_passes(c, c.k_w, array), tap_blocks(c, array.side)};
}

// As many 3x3 groups as the kernel holds; what is left of it on the right and below as single taps.
Mapping by_groups(const Conv& c, const Array& array) {
  const u64 down = c.k_h / array.side, across = c.k_w / array.side;
  Mapping m;
  m.groups = down * across * ceil_div(c.ifm_c, array.inputs);
  m.singles = down * array.side * row_passes(c, c.k_w % array.side, array) +
              c.k_h % array.side * row_passes(c, c.k_w, array);
  m.blocks = group_blocks(c, array.side);
  return m;
}

SerialCost cost_of(const Conv& c, const Mapping& m, const Array& array) {
  SerialCost cost;
  const u64 most = static_cast<u64>(array.npu.serial.outputs);
  for (u64 done = 0; done < c.ofm_c; done += most) {
    const u64 outputs = std::min<u64>(most, c.ofm_c - done);
    cost.cycles += m.blocks * (m.groups * array.pass(outputs, true, 0) +
                               m.singles * array.pass(outputs, false, 0) +
                               (c.acc_hold ? 0 : array.drain(outputs)));
    cost.spm_bytes +=
        m.blocks * (m.groups * array.pixels(true) + m.singles * array.pixels(false)) * array.inputs;
  }
  cost.spm_bytes += m.blocks * c.ofm_c * c.ifm_c * c.k_h *
                    c.k_w;  // weights pass by once for every block of pixels
  return cost;
}

}  // namespace

SerialCost serial_cost(const Conv& c, const NpuConfig& npu) {
  const Array array{npu};
  const SerialCost taps = cost_of(c, by_taps(c, array), array);
  if (!groups_fit(c, array.side)) return taps;
  const SerialCost groups = cost_of(c, by_groups(c, array), array);
  return groups.cycles < taps.cycles ? groups : taps;
}

SerialCost serial_cost(const Depthwise& d, const NpuConfig& npu) {
  const Array array{npu};
  const bool grouped = groups_fit(d, array.side);
  const u64 groups = grouped ? d.k_h / array.side * (d.k_w / array.side) : 0;
  const u64 singles = u64{d.k_h} * d.k_w - groups * array.side * array.side;
  const u64 blocks = grouped ? group_blocks(d, array.side) : tap_blocks(d, array.side);
  SerialCost cost;
  for (u64 done = 0; done < d.ofm_c; done += array.inputs) {
    const u64 channels = std::min<u64>(array.inputs, d.ofm_c - done);
    cost.cycles +=
        blocks * (groups * array.pass(channels, true, channels) +
                  singles * array.pass(channels, false, channels) + array.drain(channels));
    cost.spm_bytes +=
        blocks * (groups * array.pixels(true) + singles * array.pixels(false)) * array.inputs;
  }
  cost.spm_bytes += blocks * d.ofm_c * d.k_h * d.k_w;
  return cost;
}

}  // namespace deputy::arch
