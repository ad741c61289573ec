// The RTL against the naive NPU (tests/npu_core/oracle.h): whole scratchpad and accumulators
// compared after random instructions, on both shapes that are built.
#include <algorithm>
#include <catch2/catch.hpp>

#include "arch/instruction_check.h"
#include "npu_model/rtl/rtl_core.h"
#include "tests/npu_core/oracle.h"
#include "tests/npu_core/random_ops.h"
#include "tests/rtl/shapes.h"

namespace deputy::npu_test {
namespace {

using Program = std::vector<arch::Operation>;

std::vector<std::uint8_t> random_spm(Random& random, const arch::NpuConfig& config, bool extreme) {
  std::vector<std::uint8_t> spm(static_cast<std::size_t>(config.spm.bytes));
  for (auto& b : spm)
    b = static_cast<std::uint8_t>(extreme ? (random.chance(50) ? -128 : 127) : random.byte());
  return spm;
}

template <class Make>
void compare_many(std::uint64_t first_seed, int count, Make&& make) {
  for (const arch::NpuConfig& config : rtl_shapes()) {
    const auto rtl = npu_model::make_rtl_core(config);
    for (int n = 0; n < count; ++n) {
      const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(n);
      Random random(seed);
      Oracle oracle{random_spm(random, config, n % 10 == 0),
                    std::vector<std::int32_t>(static_cast<std::size_t>(config.mac.accumulators))};
      const Program program = make(random, oracle.spm, config);
      rtl->reset();
      std::ranges::copy(oracle.spm, rtl->spm().begin());
      for (const auto& op : program) {
        INFO("oc_lanes " << config.mac.oc_lanes << " seed " << seed << ": "
                         << arch::disassemble({.header = {}, .op = op}));
        REQUIRE(arch::check_instruction(op, config) == arch::NpuError::kNone);
        oracle.execute(op);
        rtl->execute(op);
        const auto spm = rtl->spm();
        const auto differ = std::ranges::mismatch(spm, oracle.spm).in1 - spm.begin();
        INFO("first difference at byte " << differ);
        REQUIRE(std::ranges::equal(spm, oracle.spm));
        REQUIRE(std::ranges::equal(rtl->accumulators(), oracle.accumulators));
      }
    }
  }
}

}  // namespace

TEST_CASE("RTL: random convolutions equal the naive NPU") {
  compare_many(1000, 60,
               [](Random& r, auto& spm, const auto&) { return Program{random_conv(r, spm)}; });
}

TEST_CASE("RTL: random depthwise convolutions equal the naive NPU") {
  compare_many(2000, 60,
               [](Random& r, auto& spm, const auto&) { return Program{random_depthwise(r, spm)}; });
}

TEST_CASE("RTL: random pooling equals the naive NPU") {
  compare_many(3000, 60,
               [](Random& r, auto& spm, const auto&) { return Program{random_pool(r, spm)}; });
}

TEST_CASE("RTL: random element-wise instructions equal the naive NPU") {
  compare_many(4000, 150,
               [](Random& r, auto& spm, const auto&) { return Program{random_eltwise(r, spm)}; });
}

TEST_CASE("RTL: random softmax equals the naive NPU") {
  compare_many(5000, 60,
               [](Random& r, auto& spm, const auto&) { return Program{random_softmax(r, spm)}; });
}

TEST_CASE("RTL: LUT and FILL equal the naive NPU") {
  compare_many(6000, 60, [](Random& r, auto& spm, const auto&) {
    Layout layout(r, spm.size());
    const auto count = static_cast<std::uint32_t>(r.range(1, 3000));
    arch::Lut lut;
    lut.ifm_addr = layout.take(count), lut.lut_addr = layout.take(256);
    lut.ofm_addr = r.chance(30) ? lut.ifm_addr : layout.take(count);
    lut.count = count;
    arch::Fill fill;
    fill.addr = static_cast<std::uint32_t>(r.range(0, 9000)),
    fill.count = static_cast<std::uint32_t>(r.range(1, 5000));
    fill.value = r.byte();
    return Program{lut, fill};
  });
}

}  // namespace deputy::npu_test
