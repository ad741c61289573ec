// Which inputs and outputs get external regions: by hand; whole networks give the same bytes.
#include "delegate/passes/external_io.h"

#include <catch2/catch.hpp>

#include "delegate/import/tflite.h"
#include "delegate/partition/engine_cost.h"
#include "delegate/passes/in_place.h"
#include "delegate/program_summary.h"
#include "tests/delegate/layer_graph.h"
#include "tests/support/golden.h"
#include "tests/support/graphs/random_graph.h"
#include "tests/support/run_executable.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using arch::Region;
using test::Bytes;
using testing::LayerGraph;

constexpr IoPlacement kExternal[] = {IoPlacement::kSram, IoPlacement::kDram};
const Shape kMap = {1, 4, 4, 8};

struct Compiled {
  arch::Executable executable;
  std::string notes;  // of the memory plan
};
Compiled compiled(const Graph& graph, IoPlacement io, bool fusion = true) {
  CompileTrace trace;
  CompileOptions options;
  options.engine = EnginePolicy::kNpu, options.io = io, options.trace = &trace;
  options.optimisations.fusion = fusion;
  auto executable = compile(graph, options);
  REQUIRE(executable.ok());
  REQUIRE_NOTHROW(test::check_loadable(*executable));
  std::string notes;
  for (const TraceNote& note : trace.notes)
    if (note.topic == "memory") notes += note.text + "\n";
  return {std::move(executable).value(), notes};
}

// Runs the graph in its arenas and in external regions; all outputs must be equal.
Compiled agreeing(const Graph& graph, IoPlacement io) {
  const auto inputs = graphs::random_inputs(graph, 5);
  Compiled out = compiled(graph, io);
  const auto expected =
      test::ExecutableRunner(compiled(graph, IoPlacement::kArena).executable).run(inputs);
  CHECK(test::ExecutableRunner(out.executable).run(inputs) == expected);
  return out;
}

Region region_of(const Compiled& c, TensorId id) {
  return c.executable.tensors[static_cast<std::size_t>(id)].region;
}

}  // namespace

TEST_CASE("inputs and outputs get regions of their own and leave the arenas") {
  LayerGraph g;
  const TensorId a = g.input(kMap), b = g.input(kMap);
  const TensorId mid = g.conv(a, 8, 3, {}, 1, true), sum = g.op(OpKind::ADD, {mid, b}, kMap);
  const TensorId last = g.pool(OpKind::MAX_POOL_2D, sum, 2, 2);
  const Graph graph = g.finish({last, sum});
  for (const IoPlacement io : kExternal) {
    const Compiled c = agreeing(graph, io);
    const arch::Executable& e = c.executable;
    REQUIRE(e.externals.size() == 4);
    const TensorId tensors[] = {a, b, last, sum};
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(e.externals[i].tensor == static_cast<std::uint32_t>(tensors[i]));
      CHECK(e.externals[i].bytes == (i == 2 ? 32 : 128));
      CHECK(e.externals[i].written == (i >= 2));
      CHECK(e.externals[i].align == arch::kExternalAlign);
      CHECK((e.externals[i].memory == arch::ExternalMemory::kSram) == (io == IoPlacement::kSram));
      CHECK(region_of(c, tensors[i]) == arch::external_region(static_cast<int>(i)));
    }
    CHECK(e.fast_arena_bytes == 0);  // `mid` lives inside a kernel
    CHECK(e.slow_arena_bytes == 0);
    CHECK(c.notes.find("has no external region") == std::string::npos);
    // What the command streams move counts as the memory that was asked for.
    std::uint64_t dram = 0;
    for (const KernelSummary& k : summarise_programs(e)) dram += k.dram_map_bytes;
    CHECK((dram == 0) == (io == IoPlacement::kSram));
  }
  CHECK(compiled(graph, IoPlacement::kArena).executable.externals.empty());
}

TEST_CASE("what cannot have a region of its own stays in the arenas, and the trace says why") {
  LayerGraph both;
  const TensorId x = both.input(kMap), y = both.unary(OpKind::RELU, x, {});
  Compiled c = agreeing(both.finish({y, x}), IoPlacement::kDram);
  CHECK(c.executable.externals.size() == 1);
  CHECK(region_of(c, x) == Region::kFastArena);
  CHECK(c.notes.find("input 't0' has no external region: it is input and output at once") !=
        std::string::npos);

  LayerGraph alias;  // an output that is the input in another shape
  const TensorId in = alias.input(kMap),
                 out = alias.op(OpKind::RESHAPE, {in, alias.ints({1, 128}, {2})}, {1, 128});
  c = agreeing(alias.finish({out}), IoPlacement::kSram);
  CHECK(c.executable.externals.empty());
  CHECK(c.notes.find("input 't0' has no external region: it shares its memory with") !=
        std::string::npos);

  LayerGraph parts;  // two outputs that a SPLIT finds in its input
  const TensorId whole = parts.unary(OpKind::RELU, parts.input(kMap), {});
  const auto halves = parts.op_many(OpKind::SPLIT, {parts.ints({3}, {1}), whole},
                                    {{1, 4, 4, 4}, {1, 4, 4, 4}}, {}, {});
  agreeing(parts.finish(halves), IoPlacement::kDram);

  LayerGraph many;
  std::vector<TensorId> outputs;
  for (int i = 0; i < 4; ++i) outputs.push_back(many.unary(OpKind::RELU, many.input(kMap), {}));
  c = agreeing(many.finish(outputs), IoPlacement::kDram);
  CHECK(c.executable.externals.size() == 5);
  CHECK(c.notes.find("output 't3' has no external region: all 5 are taken") != std::string::npos);
  CHECK(region_of(c, outputs[1]) == Region::kFastArena);
}

TEST_CASE("an output that is an alias of the last result is external, whole and dense") {
  LayerGraph g;
  const TensorId x = g.conv(g.input(kMap), 8, 3, {}, 1, true);
  const TensorId out = g.op(OpKind::RESHAPE, {x, g.ints({1, 128}, {2})}, {1, 128});
  for (const IoPlacement io : kExternal) {
    const Compiled c = agreeing(g.finish({out}), io);
    REQUIRE(c.executable.externals.size() == 2);
    CHECK(c.executable.externals[1].tensor == static_cast<std::uint32_t>(out));
    CHECK(region_of(c, x) == Region::kExternal1);
  }
}

TEST_CASE("external inputs are never written over, external outputs only in SRAM") {
  // x -> relu -> tanh -> out, each alone
  LayerGraph g;
  const TensorId x = g.input(kMap), r = g.unary(OpKind::RELU, x, {}),
                 t = g.unary(OpKind::TANH, r, {1.f / 128, 0});
  const TensorId out = g.unary(OpKind::RELU, t, {1.f / 128, 0});
  const Graph graph = g.finish({out});
  std::vector<Action> actions;
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    actions.push_back({graph.ops[i].inputs, graph.ops[i].outputs, {{i}}, false});
  const StorageMap storage = plan_storage(graph, {});
  using Pairs = std::vector<std::pair<TensorId, TensorId>>;
  const auto pairs = [&](IoPlacement io) {
    return in_place_pairs(graph, Numerics::kTflite, actions, storage, io);
  };
  CHECK(pairs(IoPlacement::kArena) == Pairs{{r, x}, {t, r}, {out, t}});
  CHECK(pairs(IoPlacement::kSram) == Pairs{{t, r}, {out, t}});
  CHECK(pairs(IoPlacement::kDram) == Pairs{{t, r}});
  for (const IoPlacement io : kExternal) {
    const Compiled c = compiled(graph, io, false);
    const auto inputs = graphs::random_inputs(graph, 1);
    CHECK(
        test::ExecutableRunner(c.executable).run(inputs) ==
        test::ExecutableRunner(compiled(graph, IoPlacement::kArena, false).executable).run(inputs));
    CHECK(c.executable.externals.size() == 2);
    CHECK(c.executable.fast_arena_bytes == (io == IoPlacement::kSram ? 0 : 128));
  }
}

TEST_CASE("the estimates take external inputs and outputs for the memory that was asked for") {
  LayerGraph g;
  const TensorId x = g.input({1, 64, 64, 8}), y = g.unary(OpKind::TANH, x, {1.f / 128, 0});
  const Graph graph = g.finish({y});
  const auto cost = [&](IoPlacement io, std::uint64_t sram_bytes) {
    CompileOptions options;
    options.io = io, options.sram_bytes = sram_bytes;
    options.memory.dram_bytes_per_cycle = 0.5;
    TilingCache tilings;
    return std::pair(npu_cost(graph, graph.ops[0], options, tilings),
                     cpu_cost(graph, graph.ops[0], options));
  };
  const auto fast = cost(IoPlacement::kArena, 1 << 20), slow = cost(IoPlacement::kArena, 1024);
  CHECK(fast.first < slow.first);
  CHECK(cost(IoPlacement::kSram, 1 << 20) == fast);
  CHECK(cost(IoPlacement::kSram, 1024) == fast);  // no arena holds them
  CHECK(cost(IoPlacement::kDram, 1 << 20) == slow);
}

TEST_CASE("every network gives the same bytes wherever its inputs and outputs lie") {
  const auto data = tests::shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  std::size_t external = 0;
  for (const tests::ModelGolden& model : tests::load_models(*data)) {
    INFO(model.name);
    const auto graph = import_tflite(tests::read_bytes(*data + "/" + model.model), model.name);
    REQUIRE(graph.ok());
    const auto inputs = graphs::random_inputs(*graph, 9);
    CompileOptions options;
    options.effort = Effort::kFast, options.sram_bytes = 128 << 10;
    std::optional<std::vector<Bytes>> expected;
    for (const IoPlacement io : {IoPlacement::kArena, IoPlacement::kSram, IoPlacement::kDram}) {
      INFO("io " << static_cast<int>(io));
      options.io = io;
      const auto executable = compile(*graph, options);
      REQUIRE(executable.ok());
      REQUIRE_NOTHROW(test::check_loadable(*executable));
      const auto got = test::ExecutableRunner(*executable, true).run(inputs);
      if (!expected) expected = got;
      CHECK(got == *expected);
      external += executable->externals.size();
    }
  }
  CHECK(external >= 40);
}

}  // namespace deputy::delegate
