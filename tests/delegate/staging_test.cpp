// Staging: where copies of constants lie, and that programs with copies compute the same in every
// legal order.
#include <catch2/catch.hpp>
#include <random>

#include "delegate/compile.h"
#include "delegate/schedule/fast_room.h"
#include "tests/delegate/random_layers.h"
#include "tests/support/run_executable.h"
#include "workloads/builder.h"

namespace deputy::delegate {
namespace {

// Convolutions whose weights take the DRAM longer than their computation, between some that are the
// other way round.
Graph uneven_chain(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  workloads::Builder b("uneven", seed);
  TensorId x = b.input({1, pick(8, 14), pick(8, 14), 8}, -1.0f, 1.5f);
  for (int i = 0; i < 4; ++i) {
    const std::string name = "layer" + std::to_string(i);
    x = b.conv(name + "a", x, pick(8, 16), {.kernel_h = 3, .kernel_w = 3});
    x = b.conv(
        name + "b", x, pick(40, 80),
        {.kernel_h = 3, .kernel_w = 3, .stride_h = i % 2 ? 2 : 1, .stride_w = i % 2 ? 2 : 1});
  }
  return b.finish({x});
}

struct Copies {
  int stores = 0, loads = 0, decoded = 0;
};
Copies copies_of(const arch::Executable& executable) {
  constexpr auto kMap = static_cast<std::uint8_t>(arch::Traffic::kFeatureMap);
  constexpr auto kFast = static_cast<std::uint8_t>(arch::Region::kFastArena);
  Copies out;
  for (const arch::Program& program : executable.programs)
    for (const arch::Instruction& i : test::decode_program(program.words)) {
      if (const auto* store = std::get_if<arch::Store>(&i.op)) out.stores += store->traffic != kMap;
      if (const auto* load = std::get_if<arch::Load>(&i.op))
        out.loads += load->traffic != kMap && load->region == kFast;
      if (const auto* load = std::get_if<arch::LoadWeights>(&i.op))
        out.decoded += load->region == kFast;
    }
  return out;
}

}  // namespace

TEST_CASE("copies get the lowest room that is free while they are needed") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    constexpr std::uint64_t kBytes = 2048;
    std::vector<TakenRoom> taken;
    for (int i = 0; i < 6; ++i) {
      const std::size_t begin = random() % 20;
      const std::uint64_t low = random() % 30 * 64;
      taken.push_back({begin, begin + random() % 8, low, low + 64 + random() % 64});
    }
    FastRoom room(taken, kBytes);
    for (int i = 0; i < 12; ++i) {
      const std::size_t begin = random() % 20, end = begin + random() % 8;
      const std::uint64_t bytes = 1 + random() % 700;
      const auto free_at = [&](std::uint64_t low) {
        for (const TakenRoom& t : taken)
          if (t.begin <= end && begin <= t.end && t.low < low + (bytes + 63) / 64 * 64 &&
              low < (t.high + 63) / 64 * 64)
            return false;
        return low + (bytes + 63) / 64 * 64 <= kBytes;
      };
      std::optional<std::uint64_t> lowest;
      for (std::uint64_t low = 0; low < kBytes && !lowest; low += 64)
        if (free_at(low)) lowest = low;
      REQUIRE(room.take(begin, end, bytes) == lowest);
      if (lowest) taken.push_back({begin, end, *lowest, *lowest + (bytes + 63) / 64 * 64});
    }
  }
}

TEST_CASE(
    "programs that copy constants give the same bytes in every legal order, and stay within the "
    "SRAM") {
  Copies sum;
  for (unsigned seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    const Graph graph = uneven_chain(seed);
    CompileOptions options;
    options.npu.spm.bytes = seed % 2 ? 8192 : 16384;
    options.npu.dma.chunk_bytes = 128;
    options.sram_bytes = 12288u << seed % 3;
    options.memory.dram_bytes_per_cycle = 1;
    options.effort = seed % 2 ? Effort::kFast : Effort::kFull;
    options.optimisations.compression = seed % 4 < 2;
    options.engine = EnginePolicy::kNpu;
    const auto staged = compile(graph, options);
    options.optimisations.staging = false;
    const auto plain = compile(graph, options);
    REQUIRE((staged.ok() && plain.ok()));
    const Copies copies = copies_of(*staged), none = copies_of(*plain);
    CHECK(none.stores + none.loads + none.decoded == 0);
    sum.stores += copies.stores, sum.loads += copies.loads, sum.decoded += copies.decoded;
    CHECK(staged->fast_arena_bytes <= options.sram_bytes);
    const auto inputs = testing::random_inputs(graph, seed);
    const auto expected = test::ExecutableRunner(*plain).run(inputs);
    REQUIRE(test::ExecutableRunner(*staged).run(inputs) == expected);
    for (int order = 1; order <= 4; ++order)
      REQUIRE(test::ExecutableRunner(*staged).run(inputs, static_cast<test::Order>(order), seed) ==
              expected);
  }
  CHECK(sum.stores > 20);
  CHECK(sum.loads > 5);
  CHECK(sum.decoded > 5);
}

}  // namespace deputy::delegate
