// Damaged command streams: whatever the bits, a job ends, faults or can be reset, and the engine
// then runs a good job. Run it under a sanitizer to see that no access leaves the scratchpad.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>

#include "tests/npu_model/bench.h"

namespace deputy::npu_test {
namespace {

namespace reg = arch::npu_reg;

std::uint64_t next(std::uint64_t& state) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

std::vector<arch::Instruction> varied_program() {
  const std::uint32_t ifm = 0, weights = 4096, params = 8192, out = 16384;
  arch::Conv conv{.ifm_addr = ifm,
                  .ifm_row_stride = 64,
                  .ifm_px_stride = 8,
                  .ifm_h = 8,
                  .ifm_w = 8,
                  .ifm_c = 8,
                  .ofm_addr = out,
                  .ofm_row_stride = 128,
                  .ofm_px_stride = 16,
                  .ofm_h = 8,
                  .ofm_w = 8,
                  .ofm_c = 16,
                  .w_addr = weights,
                  .w_oc_stride = 72,
                  .prm_addr = params,
                  .k_h = 3,
                  .k_w = 3,
                  .pad_top = 1,
                  .pad_left = 1,
                  .w_zp = 5,
                  .u8 = 1};
  arch::Depthwise dw{.ifm_addr = ifm,
                     .ifm_row_stride = 64,
                     .ifm_px_stride = 8,
                     .ifm_h = 8,
                     .ifm_w = 8,
                     .ifm_c = 8,
                     .ofm_addr = out,
                     .ofm_row_stride = 64,
                     .ofm_px_stride = 8,
                     .ofm_h = 8,
                     .ofm_w = 8,
                     .ofm_c = 8,
                     .w_addr = weights,
                     .w_tap_stride = 8,
                     .prm_addr = params,
                     .k_h = 3,
                     .k_w = 3,
                     .pad_top = 1,
                     .pad_left = 1,
                     .w_zp = -7,
                     .rounding = 1};
  arch::Pool pool{.mode = 1,
                  .ifm_row_stride = 64,
                  .ifm_px_stride = 8,
                  .ifm_h = 8,
                  .ifm_w = 8,
                  .ofm_addr = out,
                  .ofm_row_stride = 32,
                  .ofm_px_stride = 8,
                  .ofm_h = 4,
                  .ofm_w = 4,
                  .ofm_c = 8,
                  .k_h = 2,
                  .k_w = 2,
                  .stride_h = 2,
                  .stride_w = 2,
                  .u8 = 1};
  arch::Softmax softmax{.ifm_row_stride = 100,
                        .ofm_addr = out,
                        .ofm_row_stride = 100,
                        .rows = 5,
                        .length = 100,
                        .exp_addr = weights,
                        .rounding = 2,
                        .scale = std::bit_cast<std::int32_t>(1.0f / 256)};
  arch::Eltwise add{.a_row_stride = 64,
                    .a_px_stride = 8,
                    .b_addr = 1024,
                    .b_row_stride = 64,
                    .b_px_stride = 8,
                    .ofm_addr = out,
                    .ofm_row_stride = 64,
                    .ofm_px_stride = 8,
                    .ofm_h = 8,
                    .ofm_w = 8,
                    .ofm_c = 8,
                    .left_shift = 20,
                    .a_mult = 1 << 30,
                    .b_mult = 1 << 30,
                    .o_mult = 1 << 30,
                    .o_shift = -18};
  return {make(load(ifm, 0x4000, 2048)),
          make(load(weights, 0x8000, 6000)),
          make(conv, 2),
          make(dw, 2),
          make(pool, 1),
          make(add, 1),
          make(softmax, 2),
          make(arch::Lut{.ifm_addr = 0, .ofm_addr = out, .count = 500, .lut_addr = 4096}, 2),
          make(arch::Fill{.addr = 30000, .count = 100, .value = 3}),
          make(store(out, 0xC000, 1024), 0, 7),
          make(arch::End{})};
}

}  // namespace

TEST_CASE("damaged command streams never hang or crash the engine") {
  std::vector<std::uint32_t> good;
  for (const auto& instruction : varied_program()) arch::encode(instruction, good);
  int done = 0, failed = 0, reset = 0;
  simulate({}, [&](Bench& b) {
    CHECK(b.run(varied_program()) == arch::kStatusDone);
    CHECK(b.npu.jobs().back().hazards == 0);
    std::uint64_t seed = 88172645463325252u;
    for (int n = 0; n < 3000; ++n) {
      b.write(reg::kReset, 1);
      std::vector<std::uint32_t> words = good;
      for (std::uint64_t k = next(seed) % 4; k < 4; ++k) {
        std::uint32_t& word = words[next(seed) % words.size()];
        if (next(seed) % 4 == 0)
          word = static_cast<std::uint32_t>(next(seed));
        else
          word ^= 1u << next(seed) % 32;
      }
      b.write_stream(words);
      b.write(reg::kCmd, 1);
      if (!b.interrupt) b.wait_interrupt(20000);
      const std::uint32_t status = b.read(reg::kStatus) & 7;
      CHECK(b.interrupt == (status != arch::kStatusRunning));
      done += status == arch::kStatusDone, failed += status == arch::kStatusError,
          reset += status == arch::kStatusRunning;
    }
    b.write(reg::kReset, 1);
    CHECK(b.run(varied_program()) == arch::kStatusDone);
  });
  CHECK(done + failed + reset == 3000);
  CHECK(done > 100);
  CHECK(failed > 1000);
}

}  // namespace deputy::npu_test
