// The executor, with every kernel set this host can run, against the naive oracle: whole scratchpad
// and accumulators compared after each of several hundred random instructions.
#include <algorithm>
#include <catch2/catch.hpp>

#include "npu_model/core/executor.h"
#include "tests/npu_core/oracle.h"
#include "tests/npu_core/random_ops.h"

namespace deputy::npu_test {
namespace {

using npu_model::Executor, npu_model::Isa;

arch::NpuConfig config() {
  arch::NpuConfig c;
  c.spm.bytes = 200000;
  c.mac.accumulators = 16384;
  return c;
}

std::vector<Isa> host_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512Vnni}) {
    if (npu_model::kernels_for(isa))
      isas.push_back(isa);
    else
      WARN("this host cannot run kernel set " << static_cast<int>(isa) << "; not tested");
  }
  return isas;
}

std::vector<std::uint8_t> random_spm(Random& random, bool extreme) {
  std::vector<std::uint8_t> spm(config().spm.bytes);
  for (auto& b : spm)
    b = static_cast<std::uint8_t>(extreme ? (random.chance(50) ? -128 : 127) : random.byte());
  return spm;
}

// Runs `make` for many seeds and compares after each.
template <class Make>
void compare_many(std::uint64_t first_seed, int count, Make&& make) {
  const auto isas = host_isas();
  for (int n = 0; n < count; ++n) {
    const std::uint64_t seed = first_seed + n;
    Random random(seed);
    Oracle oracle{random_spm(random, n % 10 == 0),
                  std::vector<std::int32_t>(config().mac.accumulators)};
    const std::vector<arch::Operation> program = make(random, oracle.spm);
    const std::vector<std::uint8_t> before = oracle.spm;
    for (const auto& op : program) {
      INFO("seed " << seed << ": " << arch::disassemble({.header = {}, .op = op}));
      REQUIRE(npu_model::check_instruction(op, config()) == arch::NpuError::kNone);
      oracle.execute(op);
    }
    for (const Isa isa : isas) {
      Executor executor(config(), isa);
      std::ranges::copy(before, executor.spm().begin());
      for (const auto& op : program) executor.execute(op);
      if (!std::ranges::equal(executor.spm(), oracle.spm)) {
        const auto at =
            std::ranges::mismatch(executor.spm(), oracle.spm).in1 - executor.spm().begin();
        FAIL("seed " << seed << " kernels " << npu_model::kernels_for(isa)->name
                     << " differ at byte " << at << ": " << int(executor.spm()[at]) << " not "
                     << int(oracle.spm[at]) << "\n"
                     << arch::disassemble({.header = {}, .op = program.back()}));
      }
    }
  }
}

}  // namespace

TEST_CASE("random convolutions equal the naive NPU") {
  compare_many(1000, 400, [](Random& r, auto& spm) {
    return std::vector<arch::Operation>{random_conv(r, spm)};
  });
}

TEST_CASE("a convolution split over input channels into held accumulators equals the naive NPU") {
  compare_many(2000, 60, [](Random& r, auto& spm) {
    arch::Conv c;
    do c = random_conv(r, spm);
    while (c.ofm_h * c.ofm_w * c.ofm_c > 16384u || c.ifm_c < 2);
    // Each part reads a slice of the input channels; the weights of a part are simply the next
    // bytes.
    std::vector<arch::Operation> program;
    const std::uint32_t cut = c.ifm_c / 2;
    arch::Conv first = c, middle = c, last = c;
    first.ifm_c = middle.ifm_c = cut;
    last.ifm_addr += cut, last.ifm_c -= cut;
    first.acc_hold = middle.acc_hold = middle.acc_keep = last.acc_keep = 1;
    return std::vector<arch::Operation>{first, middle, last};
  });
}

TEST_CASE("random depthwise convolutions equal the naive NPU") {
  compare_many(3000, 300, [](Random& r, auto& spm) {
    return std::vector<arch::Operation>{random_depthwise(r, spm)};
  });
}

TEST_CASE("random pooling equals the naive NPU") {
  compare_many(4000, 300, [](Random& r, auto& spm) {
    return std::vector<arch::Operation>{random_pool(r, spm)};
  });
}

TEST_CASE("random element-wise instructions equal the naive NPU") {
  compare_many(5000, 400, [](Random& r, auto& spm) {
    return std::vector<arch::Operation>{random_eltwise(r, spm)};
  });
}

TEST_CASE("random softmax instructions equal the naive NPU") {
  compare_many(5500, 300, [](Random& r, auto& spm) {
    return std::vector<arch::Operation>{random_softmax(r, spm)};
  });
}

TEST_CASE("tables and fills equal the naive NPU") {
  compare_many(6000, 50, [](Random& r, auto&) {
    arch::Lut apart{.ifm_addr = 1000,
                    .ofm_addr = 5000,
                    .count = static_cast<std::uint32_t>(r.range(1, 4000)),
                    .lut_addr = 0};
    arch::Lut in_place{.ifm_addr = 700,
                       .ofm_addr = 700,
                       .count = static_cast<std::uint32_t>(r.range(1, 300)),
                       .lut_addr = 300};
    arch::Fill fill{.addr = static_cast<std::uint32_t>(r.range(0, 199000)),
                    .count = static_cast<std::uint32_t>(r.range(1, 1000)),
                    .value = r.byte()};
    return std::vector<arch::Operation>{apart, in_place, fill};
  });
}

TEST_CASE("repeated convolutions notice that weights changed in place") {
  compare_many(7000, 20, [](Random& r, auto& spm) {
    arch::Conv c;
    do c = random_conv(r, spm);
    while (c.ofm_h * c.ofm_w <= 4);
    const arch::Fill change{.addr = c.w_addr, .count = 1, .value = r.byte()};
    return std::vector<arch::Operation>{c, c, change, c};
  });
}

}  // namespace deputy::npu_test
