// The tiling that the compiler takes with and without its search, and with and without double
// buffers.
#include "delegate/codegen/tile_search.h"

#include <catch2/catch.hpp>

namespace deputy::delegate {
namespace {

WindowShape conv(std::int64_t size, std::int64_t in, std::int64_t out, std::int64_t kernel) {
  WindowShape s;
  s.ih = s.iw = s.oh = s.ow = size, s.ic = in, s.oc = out, s.kh = s.kw = kernel;
  s.pad_top = s.pad_left = kernel / 2;
  return s;
}

}  // namespace

TEST_CASE("without the search, the first tile that fits is taken, rows cut first") {
  arch::NpuConfig npu;
  TransferRates rates;
  rates.search = false;
  const WindowShape s = conv(16, 8, 16, 3);
  // Two buffers each of input 2048, output 4096 and weights 1152 bytes, and one of parameters, 192
  // bytes: 14784 together.
  npu.spm.bytes = 14784;
  auto t = choose_tiling(s, npu, rates);
  REQUIRE(t);
  CHECK((t->toh == 16 && t->tow == 16 && t->toc == 16 && t->tic == 8));
  CHECK((t->w_slots == 2 && t->ifm_slots == 2 && t->ofm_slots == 2));
  npu.spm.bytes = 14768;  // cut in two: ten rows of input, eight of output
  t = choose_tiling(s, npu, rates);
  REQUIRE(t);
  CHECK((t->toh == 8 && t->tow == 16 && t->toc == 16 && t->tic == 8));
  // No room for two buffers of even one output: one each.
  const WindowShape deep = conv(1, 2000, 1, 1);
  npu.spm.bytes = 4096, npu.mac.accumulators = 64;
  t = choose_tiling(deep, npu, rates);
  REQUIRE(t);
  CHECK(window_buffers(deep, *t).total() <= npu.spm.bytes);
}

TEST_CASE("without double buffers every operand has one") {
  arch::NpuConfig npu;
  npu.spm.bytes = 24576;
  for (const bool search : {true, false})
    for (const WindowShape& s : {conv(56, 24, 64, 3), conv(7, 320, 96, 1), conv(112, 3, 32, 3)}) {
      TransferRates rates;
      rates.search = search;
      const auto twice = choose_tiling(s, npu, rates);
      rates.double_buffer = false;
      const auto once = choose_tiling(s, npu, rates);
      REQUIRE((twice && once));
      CHECK((once->w_slots == 1 && once->ifm_slots == 1 && once->ofm_slots == 1 &&
             once->map_slots == 1));
      if (search)
        CHECK(estimate_cycles(s, *twice, npu, rates) < estimate_cycles(s, *once, npu, rates));
    }
}

}  // namespace deputy::delegate
