// Requantisation of every kernel set, lane by lane, against definitions in wide integers; sums that
// wrap.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "npu_model/core/executor.h"
#include "tests/npu_core/oracle.h"
#include "tests/npu_core/random_ops.h"

namespace deputy::npu_test {

TEST_CASE("requantisation equals its definition for ordinary, tied and extreme operands") {
  constexpr int kLanes = 64;
  const std::int32_t edges[] = {INT32_MIN, INT32_MIN + 1, -(1 << 30), -1,       0,
                                1,         1 << 30,       INT32_MAX,  16777217, -16777217};
  for (const auto isa :
       {npu_model::Isa::kPortable, npu_model::Isa::kAvx2, npu_model::Isa::kAvx512Vnni}) {
    const npu_model::Kernels* kernels = npu_model::kernels_for(isa);
    if (!kernels) continue;
    Random random(42);
    for (int round = 0; round < 6000; ++round) {
      const std::uint32_t mode = round % 3;
      std::int32_t acc[kLanes], multiplier[kLanes], shift[kLanes];
      for (int i = 0; i < kLanes; ++i) {
        acc[i] = random.chance(20) ? edges[random.range(0, 9)]
                                   : static_cast<std::int32_t>(random.range(-300000, 300000));
        if (random.chance(80)) {
          random_scale(random, mode, 300000, multiplier[i], shift[i]);
        } else {
          multiplier[i] = random.chance(50) ? edges[random.range(0, 9)]
                                            : static_cast<std::int32_t>(random.next());
          shift[i] = static_cast<std::int32_t>(random.range(-31, 30));
        }
      }
      const npu_model::OutputStage stage{
          static_cast<Numerics>(mode), multiplier, shift, random.byte(), -128, 127};
      const int n = static_cast<int>(random.range(1, 48));
      std::int8_t out[kLanes];
      std::fill_n(out, kLanes, std::int8_t{99});
      kernels->requantize(acc, n, stage, 16, out);
      for (int i = 0; i < n; ++i) {
        const std::int64_t want =
            naive_requantize(acc[i], multiplier[16 + i], shift[16 + i], mode) + stage.zero_point;
        INFO(kernels->name << " mode " << mode << " acc " << acc[i] << " multiplier "
                           << multiplier[16 + i] << " shift " << shift[16 + i]);
        REQUIRE(int(out[i]) == std::clamp<std::int64_t>(want, -128, 127));
      }
      for (int i = n; i < kLanes; ++i) REQUIRE(int(out[i]) == 99);
    }
  }
}

TEST_CASE("sums wrap around like 32-bit registers") {
  // 1x1 convolution of one pixel: 200 x 127 added to a bias 25399 below the top wraps to just above
  // the bottom.
  for (const auto isa :
       {npu_model::Isa::kPortable, npu_model::Isa::kAvx2, npu_model::Isa::kAvx512Vnni}) {
    if (!npu_model::kernels_for(isa)) continue;
    for (const std::uint32_t pixels : {1u, 8u}) {
      npu_model::Executor executor({}, isa);
      auto spm = executor.spm();
      for (std::uint32_t i = 0; i < pixels; ++i) spm[i] = 100;
      spm[100] = 127;
      const std::int32_t params[3] = {INT32_MAX - 25399, 1 << 30, -23};  // sum * 2^-24
      std::memcpy(&spm[104], params, sizeof params);
      arch::Conv c{.ifm_row_stride = 8,
                   .ifm_px_stride = 1,
                   .ifm_w = pixels,
                   .ofm_addr = 200,
                   .ofm_row_stride = 8,
                   .ofm_px_stride = 1,
                   .ofm_w = pixels,
                   .w_addr = 100,
                   .w_oc_stride = 1,
                   .prm_addr = 104,
                   .ifm_zp = -100};
      executor.execute(c);
      CHECK(int(static_cast<std::int8_t>(spm[200])) == -128);  // INT32_MIN / 2^24
      const std::int32_t below = params[0] - 1;
      std::memcpy(&spm[104], &below, sizeof below);
      executor.execute(c);
      CHECK(int(static_cast<std::int8_t>(spm[200])) ==
            127);  // INT32_MAX / 2^24 rounds to 128, clamped
    }
  }
}

}  // namespace deputy::npu_test
