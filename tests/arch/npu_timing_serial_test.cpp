// Cycles of the bit-serial array beside DORY's model of NE16: expected numbers are worked out from
// its steps.
#include <catch2/catch.hpp>

#include "arch/npu_timing.h"

using namespace deputy::arch;

namespace {

NpuConfig ne16() {
  NpuConfig npu;
  npu.mac.oc_lanes = 1, npu.mac.ic_lanes = 16, npu.mac.pixels = 9;
  npu.serial.outputs = 32;
  npu.spm.bytes_per_cycle = 8192;
  npu.ctrl.start_cycles = 0;
  return npu;
}

template <class Op>
Op window(std::uint32_t h, std::uint32_t w, std::uint32_t inputs, std::uint32_t outputs,
          std::uint32_t kernel_h, std::uint32_t kernel_w, std::uint32_t stride = 1) {
  Op op;
  op.ofm_h = h, op.ofm_w = w, op.ofm_c = outputs, op.ifm_c = inputs, op.ifm_px_stride = inputs;
  op.k_h = kernel_h, op.k_w = kernel_w, op.stride_h = op.stride_w = stride;
  return op;
}

std::uint64_t cycles(const Operation& op) { return compute_cost(op, ne16()).cycles; }

// A pass of single taps over 32 outputs: 10+9 load, 6 offset, 6+32 multiply, 2 next. After the last
// 9+32 scale, 8+4 bias, 3+9+1 out.
constexpr std::uint64_t kTap = 19 + 6 + 38 + 2, kOut = 41 + 12 + 13;

}  // namespace

TEST_CASE("serial array: 1x1") {
  // DORY's own example, a layer of 18 x 51 x 32 from 32 channels: 6 x 17 blocks, two passes.
  CHECK(cycles(window<Conv>(18, 51, 32, 32, 1, 1)) == 102 * (2 * kTap + kOut));
  // 40 outputs: a pass of 32 and one of 8.
  CHECK(cycles(window<Conv>(3, 3, 16, 40, 1, 1)) ==
        kTap + kOut + (19 + 6 + 14 + 2 + 9 + 8 + 8 + 1 + 13));
}

TEST_CASE("serial array: 3x3") {
  // 11 x 11 blocks; 6+25 load, 6 offset, 6+16*8 multiply, 2 next; 9+16 scale, 8+2 bias, 13 out.
  CHECK(cycles(window<Conv>(32, 32, 16, 16, 3, 3)) == 121 * (31 + 6 + 134 + 2 + 25 + 10 + 13));
  // A stride of two leaves 2 x 2 outputs of a block's inputs.
  CHECK(cycles(window<Conv>(16, 16, 16, 16, 3, 3, 2)) == 64 * (31 + 6 + 134 + 2 + 25 + 10 + 13));
}

TEST_CASE("serial array: depthwise 3x3") {
  // 9 x 2 blocks of four times 16 channels; 31 load, 6+16 offset, 6+16*8 multiply, 2, 25 + 10, 13.
  CHECK(cycles(window<Depthwise>(25, 5, 64, 64, 3, 3)) ==
        18 * 4 * (31 + 22 + 134 + 2 + 25 + 10 + 13));
}

TEST_CASE("serial array: other kernels are groups of 3x3 and single taps into the same sums") {
  constexpr std::uint64_t kGroup = 31 + 6 + 6 + 32 * 8 + 2;
  CHECK(cycles(window<Conv>(6, 6, 16, 32, 6, 6)) == 4 * (4 * kGroup + kOut));
  // Four rows of one tap on the right of a group, in a kernel of 4 x 4: three of them, and a row of
  // four.
  CHECK(cycles(window<Conv>(6, 6, 16, 32, 4, 4)) == 4 * (kGroup + 7 * kTap + kOut));
  // The bytes of a kernel row are channels: ten rows of four bytes are ten passes.
  CHECK(cycles(window<Conv>(24, 6, 1, 32, 10, 4, 2)) == 16 * (10 * kTap + kOut));
  Conv apart = window<Conv>(24, 6, 1, 32, 10, 4, 2);
  apart.ifm_px_stride = 4;
  CHECK(cycles(apart) > cycles(window<Conv>(24, 6, 1, 32, 10, 4, 2)));
}

TEST_CASE("serial array: sums that are held are not written") {
  Conv conv = window<Conv>(3, 3, 16, 32, 1, 1);
  conv.acc_hold = 1;
  CHECK(cycles(conv) == kTap);
}

TEST_CASE("serial array: fewer weight bits take fewer cycles, and only there") {
  NpuConfig four = ne16();
  four.serial.weight_bits = 4;
  const Conv conv = window<Conv>(3, 3, 16, 32, 3, 3);
  CHECK(compute_cost(conv, ne16()).cycles - compute_cost(conv, four).cycles == 32 * 4);
  four.serial.outputs = 0;
  NpuConfig plain = ne16();
  plain.serial.outputs = 0;
  CHECK(compute_cost(conv, four).cycles == compute_cost(conv, plain).cycles);
}
