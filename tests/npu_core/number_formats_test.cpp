// Weight zero points, unsigned maps and SOFTMAX: instructions whose results are worked out by hand.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "arch/npu_timing.h"
#include "npu_model/core/executor.h"

namespace deputy::npu_model {
namespace {

std::vector<Isa> isas() {
  std::vector<Isa> out;
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512Vnni})
    if (kernels_for(isa)) out.push_back(isa);
  return out;
}

void put(Executor& e, std::size_t at, std::initializer_list<int> bytes) {
  for (const int b : bytes) e.spm()[at++] = static_cast<std::uint8_t>(b);
}
void put_words(Executor& e, std::size_t at, std::initializer_list<std::int32_t> words) {
  for (const std::int32_t w : words) std::memcpy(&e.spm()[at], &w, 4), at += 4;
}
// The multiplier 1: 2^30 * 2^(1 - 31), rounding mode tflite.
void put_unit_params(Executor& e, std::size_t at, std::int32_t bias) {
  put_words(e, at, {bias, 1 << 30, 1});
}

}  // namespace

TEST_CASE("a convolution takes the weight zero point from every weight, inside the image only") {
  // Row 5 7 9, zero point 4; weights 10 -20 30 less 3 are 7 -23 27; one column of padding each
  // side.
  //   x=0: 1*-23 + 3*27 = 58;  x=1: 1*7 + 3*-23 + 5*27 = 73;  x=2: 3*7 + 5*-23 = -94; bias 2
  for (const Isa isa : isas())
    for (const std::uint32_t rows : {1u, 3u}) {  // three pixels take the dot kernel, nine the other
      Executor e({}, isa);
      for (std::uint32_t y = 0; y < rows; ++y) put(e, 8 * y, {5, 7, 9});
      put(e, 100, {10, -20, 30});
      put_unit_params(e, 200, 2);
      arch::Conv c{.ifm_row_stride = 8, .ifm_px_stride = 1, .ifm_h = rows, .ifm_w = 3};
      c.ofm_addr = 300, c.ofm_row_stride = 8, c.ofm_px_stride = 1, c.ofm_h = rows, c.ofm_w = 3;
      c.w_addr = 100, c.w_oc_stride = 3, c.prm_addr = 200, c.k_w = 3, c.pad_left = 1;
      c.ifm_zp = 4, c.w_zp = 3;
      REQUIRE(check_instruction(c, {}) == arch::NpuError::kNone);
      e.execute(c);
      for (std::uint32_t y = 0; y < rows; ++y) {
        CHECK(int(std::int8_t(e.spm()[300 + 8 * y])) == 60);
        CHECK(int(std::int8_t(e.spm()[301 + 8 * y])) == 75);
        CHECK(int(std::int8_t(e.spm()[302 + 8 * y])) == -92);
      }
      // The depthwise unit computes the same.
      arch::Depthwise d{.ifm_row_stride = 8, .ifm_px_stride = 1, .ifm_h = rows, .ifm_w = 3};
      d.ofm_addr = 400, d.ofm_row_stride = 8, d.ofm_px_stride = 1, d.ofm_h = rows, d.ofm_w = 3;
      d.w_addr = 100, d.w_tap_stride = 1, d.prm_addr = 200, d.k_w = 3, d.pad_left = 1;
      d.ifm_zp = 4, d.w_zp = 3;
      e.execute(d);
      for (std::size_t i = 0; i < 24; ++i)
        if (i % 8 < 3 && i / 8 < rows) CHECK(int(e.spm()[400 + i]) == int(e.spm()[300 + i]));
    }
}

TEST_CASE("an unsigned convolution: bytes and zero points less 128") {
  // 200 and 17 with zero point 130: 70 and -113; weights 255 and 0 (stored 127 and -128) with zero
  // point 128 (stored 0): 127 and -128. 70*127 + 113*128 = 23354; less 23300 is 54; + 100 is 154.
  for (const Isa isa : isas()) {
    Executor e({}, isa);
    put(e, 0, {200, 17});
    put(e, 100, {127, -128});
    put_unit_params(e, 200, -23300);
    arch::Conv c{.ifm_row_stride = 2, .ifm_px_stride = 2, .ifm_c = 2, .ofm_addr = 300};
    c.ofm_row_stride = 1, c.ofm_px_stride = 1, c.w_addr = 100, c.w_oc_stride = 2, c.prm_addr = 200;
    c.ifm_zp = 130 - 128, c.w_zp = 0, c.ofm_zp = 100 - 128, c.u8 = 1;
    e.execute(c);
    CHECK(int(e.spm()[300]) == 154);
    c.ofm_zp = 127;  // 54 + 255 saturates
    e.execute(c);
    CHECK(int(e.spm()[300]) == 255);
  }
}

TEST_CASE("unsigned averages round halves up, signed ones away from zero") {
  // 126 and 127 unsigned: 126.5 -> 127. As signed differences -2, -1: -1.5 -> -2, which is 126.
  Executor e({});
  put(e, 0, {126, 127});
  put(e, 10, {-2, -1});
  arch::Pool p{.mode = 1, .ifm_row_stride = 2, .ifm_px_stride = 1, .ifm_w = 2, .ofm_addr = 20};
  p.ofm_row_stride = 1, p.ofm_px_stride = 1, p.k_w = 2, p.u8 = 1;
  e.execute(p);
  CHECK(int(e.spm()[20]) == 127);
  p.ifm_addr = 10, p.u8 = 0;
  e.execute(p);
  CHECK(int(std::int8_t(e.spm()[20])) == -2);
  // The largest of 126 and 200 is 200 unsigned (and would be 126 signed).
  put(e, 0, {126, 200});
  p.ifm_addr = 0, p.mode = 0, p.u8 = 1;
  e.execute(p);
  CHECK(int(e.spm()[20]) == 200);
}

TEST_CASE("a softmax row of three equal values and one that is far below") {
  // Differences 0 0 100 0: exp 1 1 0 1. A third of 256 is 85.33: 85 above the lowest byte.
  for (const std::uint32_t rounding : {0u, 1u, 2u})
    for (const std::uint32_t u8 : {0u, 1u}) {
      Executor e({});
      put(e, 0, {60, 60, -40 + (u8 ? 40 : 0), 60});
      for (std::size_t d = 0; d < 256; ++d)
        put_words(e, 1024 + 4 * d,
                  {d != 0          ? 0
                   : rounding == 2 ? std::bit_cast<std::int32_t>(1.0f)
                                   : INT32_MAX});
      const arch::Softmax m{.ofm_addr = 16,
                            .length = 4,
                            .exp_addr = 1024,
                            .rounding = rounding,
                            .u8 = u8,
                            .scale = std::bit_cast<std::int32_t>(1.0f / 256)};
      REQUIRE(check_instruction(m, {}) == arch::NpuError::kNone);
      e.execute(m);
      const int lowest = u8 ? 0 : -128;
      for (const std::size_t i : {0, 1, 3})
        CHECK((u8 ? int(e.spm()[16 + i]) : int(std::int8_t(e.spm()[16 + i]))) == lowest + 85);
      CHECK((u8 ? int(e.spm()[18]) : int(std::int8_t(e.spm()[18]))) == lowest);
    }
}

TEST_CASE("a softmax of one value saturates; of a thousand equal ones it is the lowest byte") {
  Executor e({});
  for (std::size_t d = 0; d < 256; ++d) put_words(e, 4096 + 4 * d, {d == 0 ? INT32_MAX : 0});
  arch::Softmax m{.ofm_addr = 2000, .length = 1, .exp_addr = 4096};
  e.execute(m);
  CHECK(int(std::int8_t(e.spm()[2000])) == 127);  // 256 - 128, clamped
  m.length = 1000;                                // 256 / 1000 rounds to 0
  e.execute(m);
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE(int(std::int8_t(e.spm()[2000 + i])) == -128);
}

TEST_CASE("a softmax takes three passes a row and a reciprocal") {
  arch::NpuConfig npu;
  npu.vec.ew_lanes = 4, npu.ctrl.start_cycles = 32, npu.spm.bytes_per_cycle = 256;
  // 5 rows of 10 bytes: 5 * (3 * ceil(10 / 4) + 16) = 125 cycles. 4 * 50 bytes in one; the 1024
  // before the first step.
  const auto cost = arch::compute_cost(arch::Softmax{.rows = 5, .length = 10}, npu);
  CHECK(cost.vec_cycles == 125);
  CHECK(cost.vec_results == 150);
  CHECK(cost.spm_bytes == 1224);
  CHECK(cost.spm_cycles == 1);
  CHECK(cost.cycles == 125 + 32);
}

}  // namespace deputy::npu_model
