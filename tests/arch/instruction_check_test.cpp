// check_instruction: one case per fault and per edge of the scratchpad, worked out by hand.
#include "arch/instruction_check.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <limits>

namespace deputy::arch {
namespace {

constexpr std::uint32_t kSpm = 4096;

NpuConfig small_config() {
  NpuConfig c;
  c.spm.bytes = kSpm;
  c.mac.accumulators = 64;
  return c;
}
NpuError verdict(const Operation& op) { return check_instruction(op, small_config()); }

// 4x4x8 in at 0..127, 3x3 weights 16x72 at 1024..2175, params 16x12 at 512..703, out 2x2x16 at
// 256..319.
Conv legal_conv() {
  return {.ifm_addr = 0,
          .ifm_row_stride = 32,
          .ifm_px_stride = 8,
          .ifm_h = 4,
          .ifm_w = 4,
          .ifm_c = 8,
          .ofm_addr = 256,
          .ofm_row_stride = 32,
          .ofm_px_stride = 16,
          .ofm_h = 2,
          .ofm_w = 2,
          .ofm_c = 16,
          .w_addr = 1024,
          .w_oc_stride = 72,
          .prm_addr = 512,
          .k_h = 3,
          .k_w = 3,
          .lut_addr = 3000};
}
Pool legal_pool() {
  return {.ifm_row_stride = 32,
          .ifm_px_stride = 8,
          .ifm_h = 4,
          .ifm_w = 4,
          .ofm_addr = 256,
          .ofm_row_stride = 16,
          .ofm_px_stride = 8,
          .ofm_h = 2,
          .ofm_w = 2,
          .ofm_c = 8,
          .k_h = 2,
          .k_w = 2,
          .stride_h = 2,
          .stride_w = 2};
}
Eltwise legal_add() {
  return {.a_addr = 0,
          .a_row_stride = 32,
          .a_px_stride = 8,
          .b_addr = 128,
          .b_row_stride = 32,
          .b_px_stride = 8,
          .ofm_addr = 256,
          .ofm_row_stride = 32,
          .ofm_px_stride = 8,
          .ofm_h = 4,
          .ofm_w = 4,
          .ofm_c = 8,
          .left_shift = 20};
}
template <class T, class F>
NpuError with(T op, F&& change) {
  change(op);
  return verdict(op);
}

}  // namespace

TEST_CASE("legal instructions pass") {
  CHECK(verdict(legal_conv()) == NpuError::kNone);
  CHECK(verdict(legal_pool()) == NpuError::kNone);
  CHECK(verdict(legal_add()) == NpuError::kNone);
  CHECK(verdict(End{}) == NpuError::kNone);
}

TEST_CASE("operands end exactly at the scratchpad's end or fault") {
  const auto conv = [](auto change) { return with(legal_conv(), change); };
  CHECK(conv([](auto& c) { c.ifm_addr = kSpm - 128; }) == NpuError::kNone);
  CHECK(conv([](auto& c) { c.ifm_addr = kSpm - 127; }) == NpuError::kSpmBounds);
  CHECK(conv([](auto& c) { c.ofm_addr = kSpm - 64; }) == NpuError::kNone);
  CHECK(conv([](auto& c) { c.ofm_addr = kSpm - 63; }) == NpuError::kSpmBounds);
  CHECK(conv([](auto& c) { c.w_addr = kSpm - 16 * 72; }) == NpuError::kNone);
  CHECK(conv([](auto& c) { c.w_addr = kSpm - 16 * 72 + 1; }) == NpuError::kSpmBounds);
  CHECK(conv([](auto& c) { c.prm_addr = kSpm - 192; }) == NpuError::kNone);
  CHECK(conv([](auto& c) { c.prm_addr = kSpm - 191; }) == NpuError::kSpmBounds);
  CHECK(conv([](auto& c) { c.lut_en = 1, c.lut_addr = kSpm - 256; }) == NpuError::kNone);
  CHECK(conv([](auto& c) { c.lut_en = 1, c.lut_addr = kSpm - 255; }) == NpuError::kSpmBounds);
  CHECK(conv([](auto& c) { c.lut_en = 0, c.lut_addr = kSpm; }) == NpuError::kNone);
  // Products of the largest fields do not wrap around 64 bits.
  CHECK(conv([](auto& c) {
          c.ifm_h = c.ifm_w = 65535, c.ifm_row_stride = c.ifm_px_stride = (1u << 26) - 1;
        }) == NpuError::kSpmBounds);
  CHECK(verdict(Fill{.addr = kSpm - 1, .count = 1}) == NpuError::kNone);
  CHECK(verdict(Fill{.addr = kSpm - 1, .count = 2}) == NpuError::kSpmBounds);
  CHECK(verdict(Lut{.ifm_addr = kSpm - 8, .ofm_addr = 0, .count = 8, .lut_addr = 256}) ==
        NpuError::kNone);
  CHECK(verdict(Lut{.ifm_addr = kSpm - 7, .ofm_addr = 0, .count = 8, .lut_addr = 256}) ==
        NpuError::kSpmBounds);

  Load load;
  load.row_bytes = 16, load.rows = 4, load.planes = 2, load.spm_row_stride = 32,
  load.spm_plane_stride = 128;
  load.spm_addr = kSpm - (128 + 96 + 16);
  CHECK(verdict(load) == NpuError::kNone);
  ++load.spm_addr;
  CHECK(verdict(load) == NpuError::kSpmBounds);
  Store store;
  static_cast<Transfer&>(store) = load;
  CHECK(verdict(store) == NpuError::kSpmBounds);

  const auto loadw = [](auto change) {
    return with(LoadWeights{.bytes = 16, .table_addr = 512}, change);
  };
  CHECK(loadw([](auto&) {}) == NpuError::kNone);
  CHECK(loadw([](auto& l) { l.spm_addr = kSpm - 16; }) == NpuError::kNone);
  CHECK(loadw([](auto& l) { l.spm_addr = kSpm - 15; }) == NpuError::kSpmBounds);
  CHECK(loadw([](auto& l) { l.table_addr = kSpm - 145; }) == NpuError::kNone);
  CHECK(loadw([](auto& l) { l.table_addr = kSpm - 144; }) == NpuError::kSpmBounds);
  CHECK(loadw([](auto& l) { l.fixed_code = 1, l.table_addr = kSpm; }) == NpuError::kNone);
  CHECK(loadw([](auto& l) { l.bytes = (1u << 26) - 1; }) == NpuError::kSpmBounds);
}

TEST_CASE("accumulators: 2x2x16 = 64 sums fit, one pixel more does not") {
  const auto conv = [](auto change) { return with(legal_conv(), change); };
  CHECK(conv([](auto& c) { c.acc_hold = 1; }) == NpuError::kNone);
  CHECK(conv([](auto& c) { c.acc_hold = 1, c.ofm_w = 3; }) == NpuError::kAccumulators);
  CHECK(conv([](auto& c) { c.acc_keep = 1, c.ofm_w = 3; }) ==
        NpuError::kAccumulators);  // though rows overlap too
  CHECK(conv([](auto& c) { c.acc_keep = 1, c.ofm_w = 3, c.ofm_row_stride = 48; }) ==
        NpuError::kAccumulators);
  // Held sums need neither an output tile nor, when they start from held sums, parameters.
  CHECK(conv([](auto& c) { c.acc_hold = 1, c.ofm_addr = kSpm; }) == NpuError::kNone);
  CHECK(conv([](auto& c) { c.acc_hold = 1, c.prm_addr = kSpm; }) == NpuError::kSpmBounds);
  CHECK(conv([](auto& c) { c.acc_hold = c.acc_keep = 1, c.prm_addr = kSpm; }) == NpuError::kNone);
}

TEST_CASE("what the weight decoder cannot do") {
  const auto loadw = [](auto change) {
    return with(LoadWeights{.bytes = 24, .table_addr = 512}, change);
  };
  CHECK(loadw([](auto& l) { l.planes = 12; }) == NpuError::kNone);
  CHECK(loadw([](auto& l) { l.planes = 5; }) == NpuError::kUnsupported);
  CHECK(loadw([](auto& l) { l.spm_addr = 656; }) ==
        NpuError::kUnsupported);  // the table's last byte
  CHECK(loadw([](auto& l) { l.spm_addr = 657; }) == NpuError::kNone);
  CHECK(loadw([](auto& l) { l.spm_addr = 656, l.fixed_code = 1; }) == NpuError::kNone);
}

TEST_CASE("what the datapath has no circuit for") {
  const auto conv = [](auto change) { return with(legal_conv(), change); };
  CHECK(conv([](auto& c) { c.act_min = 1, c.act_max = 0; }) == NpuError::kUnsupported);
  CHECK(conv([](auto& c) { c.ofm_px_stride = 15; }) == NpuError::kUnsupported);
  CHECK(conv([](auto& c) { c.ofm_row_stride = 31; }) == NpuError::kUnsupported);
  CHECK(conv([](auto& c) { c.ofm_row_stride = 16, c.ofm_px_stride = 32; }) ==
        NpuError::kNone);  // column by column
  CHECK(conv([](auto& c) { c.ofm_row_stride = 0; }) == NpuError::kUnsupported);

  Depthwise d{.ifm_row_stride = 32,
              .ifm_px_stride = 8,
              .ifm_h = 4,
              .ifm_w = 4,
              .ifm_c = 8,
              .ofm_addr = 256,
              .ofm_row_stride = 32,
              .ofm_px_stride = 16,
              .ofm_h = 2,
              .ofm_w = 2,
              .ofm_c = 16,
              .w_addr = 1024,
              .w_tap_stride = 16,
              .prm_addr = 512,
              .depth_mult = 2,
              .k_h = 3,
              .k_w = 3};
  CHECK(verdict(d) == NpuError::kNone);
  CHECK(with(d, [](auto& o) { o.depth_mult = 1; }) == NpuError::kUnsupported);
  CHECK(with(d, [](auto& o) { o.w_tap_stride = 15; }) == NpuError::kUnsupported);

  const auto pool = [](auto change) { return with(legal_pool(), change); };
  CHECK(pool([](auto& p) { p.pad_top = 2; }) == NpuError::kUnsupported);  // row 0 sees rows -2, -1
  CHECK(pool([](auto& p) { p.pad_top = 1; }) == NpuError::kNone);
  CHECK(pool([](auto& p) { p.pad_left = -1; }) == NpuError::kNone);  // columns 3, 4: 3 is inside
  CHECK(pool([](auto& p) { p.pad_left = -2; }) == NpuError::kUnsupported);  // columns 4, 5
  CHECK(pool([](auto& p) { p.pad_top = 1, p.dil_h = 9; }) == NpuError::kUnsupported);  // rows -1, 8
  CHECK(pool([](auto& p) { p.k_h = 4096, p.k_w = 1025; }) == NpuError::kUnsupported);
  CHECK(pool([](auto& p) { p.mode = 2, p.shift = -32; }) == NpuError::kUnsupported);
  CHECK(pool([](auto& p) { p.mode = 2, p.shift = 31; }) == NpuError::kUnsupported);
  CHECK(pool([](auto& p) { p.mode = 1, p.shift = 31; }) == NpuError::kNone);
  const auto bits = [](float f) { return std::bit_cast<std::int32_t>(f); };
  CHECK(pool([&](auto& p) { p.mode = 2, p.rounding = 2, p.multiplier = bits(0.5f); }) ==
        NpuError::kNone);
  CHECK(pool([&](auto& p) {
          p.mode = 2, p.rounding = 2, p.multiplier = bits(std::numeric_limits<float>::infinity());
        }) == NpuError::kUnsupported);

  const Softmax softmax{.ifm_row_stride = 10,
                        .ofm_addr = 200,
                        .ofm_row_stride = 10,
                        .rows = 4,
                        .length = 10,
                        .exp_addr = 1024,
                        .rounding = 2,
                        .scale = bits(1.0f / 256)};
  CHECK(verdict(softmax) == NpuError::kNone);
  for (const float scale : {0.0f, -1.0f, std::numeric_limits<float>::infinity(), 1e-40f}) {
    CHECK(with(softmax, [&](auto& m) { m.scale = bits(scale); }) == NpuError::kUnsupported);
    CHECK(with(softmax, [&](auto& m) { m.scale = bits(scale), m.rounding = 1; }) ==
          NpuError::kNone);
  }
  CHECK(with(softmax, [](auto& m) { m.ofm_row_stride = 9; }) == NpuError::kUnsupported);
  CHECK(with(softmax, [](auto& m) { m.exp_addr = kSpm - 1024; }) == NpuError::kNone);
  CHECK(with(softmax, [](auto& m) { m.exp_addr = kSpm - 1023; }) == NpuError::kSpmBounds);
  CHECK(with(softmax, [](auto& m) { m.ifm_addr = kSpm - 39; }) == NpuError::kSpmBounds);
  CHECK(with(softmax, [](auto& m) { m.ofm_addr = 39; }) == NpuError::kUnsupported);
  CHECK(with(softmax, [](auto& m) { m.ofm_addr = 0; }) == NpuError::kNone);  // in place
  CHECK(with(softmax, [](auto& m) { m.ofm_addr = 0, m.ofm_row_stride = 11; }) ==
        NpuError::kUnsupported);
  CHECK(with(softmax, [](auto& m) { m.ofm_addr = 1024 - 39; }) == NpuError::kUnsupported);

  const auto add = [](auto change) { return with(legal_add(), change); };
  CHECK(add([](auto& e) { e.left_shift = 23; }) == NpuError::kUnsupported);
  CHECK(add([](auto& e) { e.a_shift = 1; }) == NpuError::kUnsupported);
  CHECK(add([](auto& e) { e.b_shift = -32; }) == NpuError::kUnsupported);
  CHECK(add([](auto& e) { e.o_shift = 31; }) == NpuError::kUnsupported);
  CHECK(add([](auto& e) { e.rounding = 2, e.o_shift = 20; }) == NpuError::kNone);
  CHECK(add([](auto& e) { e.rounding = 2, e.o_shift = 0; }) == NpuError::kUnsupported);
  CHECK(add([](auto& e) { e.rounding = 2, e.o_shift = 20, e.b_mult = (1 << 22) + 1; }) ==
        NpuError::kUnsupported);
  CHECK(add([](auto& e) { e.mode = 2, e.o_shift = 31; }) == NpuError::kUnsupported);
  CHECK(add([](auto& e) { e.mode = 3, e.o_shift = 31, e.left_shift = 31; }) == NpuError::kNone);
}

TEST_CASE("outputs may not overlap operands, except in place") {
  const auto conv = [](auto change) { return with(legal_conv(), change); };
  CHECK(conv([](auto& c) { c.ofm_addr = 127; }) == NpuError::kUnsupported);  // last input byte
  CHECK(conv([](auto& c) { c.ofm_addr = 128; }) == NpuError::kNone);
  CHECK(conv([](auto& c) { c.ofm_addr = 512 - 63; }) == NpuError::kUnsupported);   // parameters
  CHECK(conv([](auto& c) { c.ofm_addr = 1024 - 63; }) == NpuError::kUnsupported);  // weights
  CHECK(conv([](auto& c) { c.lut_en = 1, c.lut_addr = 300; }) == NpuError::kUnsupported);
  // Input and output as channel slices (8 and 16 of 24) of one concatenated 4x4 map.
  CHECK(conv([](auto& c) {
          c.ifm_px_stride = c.ofm_px_stride = 24, c.ifm_row_stride = c.ofm_row_stride = 96;
          c.ofm_addr = 8;
        }) == NpuError::kNone);
  CHECK(conv([](auto& c) {
          c.ifm_px_stride = c.ofm_px_stride = 24, c.ifm_row_stride = c.ofm_row_stride = 96;
          c.ofm_addr = 7;
        }) == NpuError::kUnsupported);
  // Left and right halves of the columns of one map.
  CHECK(with(legal_pool(), [](auto& p) {
          p.ifm_row_stride = p.ofm_row_stride = 48, p.ofm_addr = 32;
        }) == NpuError::kNone);

  const auto add = [](auto change) { return with(legal_add(), change); };
  CHECK(add([](auto& e) { e.ofm_addr = e.a_addr; }) == NpuError::kNone);
  CHECK(add([](auto& e) { e.ofm_addr = e.b_addr; }) == NpuError::kNone);
  CHECK(add([](auto& e) { e.ofm_addr = e.b_addr + 1; }) == NpuError::kUnsupported);
  CHECK(add([](auto& e) { e.ofm_addr = e.a_addr, e.a_ch_stride = 0; }) == NpuError::kUnsupported);
  CHECK(add([](auto& e) { e.ofm_addr = e.a_addr, e.a_row_stride = 0; }) == NpuError::kUnsupported);

  CHECK(verdict(Lut{.ifm_addr = 300, .ofm_addr = 300, .count = 100, .lut_addr = 0}) ==
        NpuError::kNone);
  CHECK(verdict(Lut{.ifm_addr = 300, .ofm_addr = 301, .count = 100, .lut_addr = 0}) ==
        NpuError::kUnsupported);
  CHECK(verdict(Lut{.ifm_addr = 300, .ofm_addr = 255, .count = 10, .lut_addr = 0}) ==
        NpuError::kUnsupported);
}

}  // namespace deputy::arch
