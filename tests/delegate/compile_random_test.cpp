// Random layers on random NPUs in every rounding mode: compiled programs against the CPU kernels,
// and in hostile orders against themselves.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "delegate/compile.h"
#include "delegate/dump.h"
#include "tests/delegate/random_layers.h"
#include "tests/support/run_executable.h"

namespace deputy::delegate {
namespace {

using test::Order;

CompileOptions random_npu(unsigned seed) {
  std::mt19937 random(seed);
  const auto one_of = [&](std::initializer_list<std::int32_t> values) {
    return values.begin()[random() % values.size()];
  };
  CompileOptions o;
  o.npu.spm.bytes = one_of({4096, 8192, 16384, 20000, 65536, 131072, 1048576});
  o.npu.mac.oc_lanes = one_of({1, 3, 8, 16, 64}), o.npu.mac.ic_lanes = one_of({1, 5, 8, 32});
  o.npu.mac.pixels = one_of({1, 2, 7}), o.npu.mac.accumulators = one_of({64, 500, 2048});
  o.numerics = static_cast<Numerics>(random() % 3);
  o.sram_bytes = random() % 2 ? 1 << 20 : 1024;
  o.memory.dram_bytes_per_cycle = random() % 2 ? 0.5 : 16;
  return o;
}

// Every wait removed: what a compiler that forgot them would emit.
std::vector<std::uint32_t> without_waits(std::span<const std::uint32_t> words) {
  std::vector<std::uint32_t> out;
  for (arch::Instruction i : test::decode_program(words)) {
    i.header.wait_load = i.header.wait_compute = i.header.wait_store = 0;
    arch::encode(i, out);
  }
  return out;
}

}  // namespace

TEST_CASE("random layers give the CPU kernels' bytes in every legal order") {
  std::map<arch::OpKind, int> on_npu;
  int refused = 0;
  for (unsigned seed = 0; seed < 1200; ++seed) {
    INFO("seed " << seed);
    const Graph graph = testing::random_layer(seed);
    REQUIRE(validate(graph).ok());
    CompileOptions options = random_npu(seed);
    options.engine = EnginePolicy::kCpu;
    const auto reference = compile(graph, options);
    options.engine = EnginePolicy::kNpu;
    const auto executable = compile(graph, options);
    REQUIRE((reference.ok() && executable.ok()));
    INFO(dump_graph(graph) << dump_placement(*executable) << "scratchpad " << options.npu.spm.bytes
                           << " accumulators " << options.npu.mac.accumulators << " "
                           << numerics_name(options.numerics));
    executable->ops[0].on_npu ? ++on_npu[graph.ops[0].kind] : ++refused;
    REQUIRE_NOTHROW(test::check_loadable(*executable));
    const auto inputs = testing::random_inputs(graph, seed);
    const auto expected = test::ExecutableRunner(*reference).run(inputs);
    REQUIRE(test::ExecutableRunner(*executable).run(inputs) == expected);
    const auto order = static_cast<Order>(1 + seed % 4);
    REQUIRE(test::ExecutableRunner(*executable).run(inputs, order, seed) == expected);
  }
  for (const auto kind :
       {arch::OpKind::CONV_2D, arch::OpKind::DEPTHWISE_CONV_2D, arch::OpKind::FULLY_CONNECTED,
        arch::OpKind::SOFTMAX, arch::OpKind::TRANSPOSE})
    CHECK(on_npu[kind] > 60);
  CHECK(on_npu[arch::OpKind::MEAN] > 40);
  CHECK(refused < 60);  // scattered slices
}

TEST_CASE("the hostile orders notice missing waits") {
  int noticed = 0, tried = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Graph graph = testing::random_layer(seed);
    CompileOptions options = random_npu(seed);
    options.engine = EnginePolicy::kNpu;
    auto executable = compile(graph, options);
    REQUIRE(executable.ok());
    if (!executable->ops[0].on_npu || executable->programs.empty()) continue;  // views need none
    const auto inputs = testing::random_inputs(graph, seed);
    const auto expected = test::ExecutableRunner(*executable).run(inputs);
    const auto& bytes = expected[0];
    if (std::count(bytes.begin(), bytes.end(), bytes[0]) == std::ssize(bytes))
      continue;  // a clamped or averaged output may be right by chance
    ++tried;
    executable->programs[0].words = without_waits(executable->programs[0].words);
    noticed += test::ExecutableRunner(*executable).run(inputs, Order::kLateLoads, seed) != expected;
  }
  CHECK(tried > 40);
  CHECK(noticed == tried);
}

TEST_CASE("compiling twice gives the same executable") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Graph graph = testing::random_layer(seed);
    const auto a = compile(graph, random_npu(seed)), b = compile(graph, random_npu(seed));
    REQUIRE((a.ok() && b.ok()));
    CHECK(a->constants == b->constants);
    CHECK(dump_executable(*a) + dump_programs(*a) == dump_executable(*b) + dump_programs(*b));
  }
}

}  // namespace deputy::delegate
