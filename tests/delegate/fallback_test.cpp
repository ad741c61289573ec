// Fallback programs: the graph cut out for them, what they ask of the programs, and that they give
// the same bytes.
#include "delegate/fallback.h"

#include <catch2/catch.hpp>

#include "delegate/import/tflite.h"
#include "tests/delegate/layer_graph.h"
#include "tests/support/golden.h"
#include "tests/support/graphs/random_graph.h"
#include "tests/support/run_executable.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using test::Bytes;
using testing::LayerGraph;
using testing::Quant;

const Shape kMap = {1, 4, 4, 8};

arch::Executable with_fallbacks(const Graph& graph, CompileOptions options) {
  options.fallback = true;
  auto executable = compile(graph, options);
  REQUIRE(executable.ok());
  REQUIRE_NOTHROW(test::check_loadable(*executable));
  REQUIRE(executable->fallbacks.size() == executable->programs.size());
  return std::move(executable).value();
}

// The outputs are those without fallbacks, and each program's are its fallback's.
arch::Executable agreeing(const Graph& graph, const CompileOptions& options) {
  const auto inputs = graphs::random_inputs(graph, 3);
  const auto plain = compile(graph, options);
  REQUIRE(plain.ok());
  CHECK(plain->fallbacks.empty());
  arch::Executable out = with_fallbacks(graph, options);
  test::ExecutableRunner runner(out, true);
  runner.check_fallbacks();
  std::vector<Bytes> got;
  REQUIRE_NOTHROW(got = runner.run(inputs));
  CHECK(got == test::ExecutableRunner(*plain, true).run(inputs));
  return out;
}

CompileOptions on_npu(const std::vector<std::string>& on_cpu = {}) {
  CompileOptions options;
  options.engine = EnginePolicy::kNpu;
  for (const std::string& name : on_cpu) {
    auto rule = parse_force(name + "=cpu");
    REQUIRE(rule.ok());
    options.placement.rules.push_back(std::move(rule).value());
  }
  return options;
}

}  // namespace

TEST_CASE("a graph is cut out between its inputs and outputs, in their order") {
  LayerGraph g;
  const TensorId a = g.input(kMap), b = g.unary(OpKind::RELU, a, {}),
                 w = g.random_constant({1, 1, 1, 8});
  const TensorId c = g.op(OpKind::ADD, {b, w}, kMap), d = g.unary(OpKind::RELU6, b, {}),
                 e = g.op(OpKind::ADD, {c, d}, kMap);
  const Graph graph = g.finish({e});
  const Graph cut = subgraph(graph, {b}, {d, c}, {1, 2});
  REQUIRE(validate(cut).ok());
  REQUIRE(cut.ops.size() == 2);
  CHECK(cut.ops[0].kind == OpKind::ADD);
  CHECK(cut.ops[1].kind == OpKind::RELU6);
  REQUIRE(cut.inputs.size() == 1);
  REQUIRE(cut.outputs.size() == 2);
  const auto same = [&](TensorId ours, TensorId theirs) {
    const Tensor &x = graph.tensor(ours), &y = cut.tensor(theirs);
    return x.desc.name == y.desc.name && x.desc.quant == y.desc.quant && x.data == y.data &&
           x.source_index == y.source_index;
  };
  CHECK(same(b, cut.inputs[0]));
  CHECK(same(d, cut.outputs[0]));
  CHECK(same(c, cut.outputs[1]));
  CHECK(same(w, cut.ops[0].inputs[1]));
  CHECK(cut.tensors.size() == 4);
}

TEST_CASE("a program with a fallback leaves its operands as they are") {
  // Two programs with a CPU operator between; each would write over its operand otherwise.
  LayerGraph g;
  const TensorId x = g.input(kMap), r = g.unary(OpKind::RELU, x, {});
  const TensorId cpu = g.unary(OpKind::ABS, r, {}), t = g.unary(OpKind::TANH, cpu, {1.f / 128, 0});
  const Graph graph = g.finish({t});
  const CompileOptions options = on_npu({"ABS"});
  const auto plain = compile(graph, options);
  REQUIRE(plain.ok());
  CHECK(plain->tensors[static_cast<std::size_t>(x)].offset ==
        plain->tensors[static_cast<std::size_t>(r)].offset);
  const arch::Executable e = agreeing(graph, options);
  CHECK(e.programs.size() == 2);
  for (const auto& [operand, result] : {std::pair(x, r), std::pair(cpu, t)})
    CHECK(e.tensors[static_cast<std::size_t>(operand)].offset !=
          e.tensors[static_cast<std::size_t>(result)].offset);
  const auto fallback = arch::read_executable(e.fallbacks[1], "x");
  REQUIRE(fallback.ok());
  CHECK(fallback->model_name == "layers, program 1");
  CHECK(fallback->fast_arena_bytes == 0);
  REQUIRE(fallback->steps.size() == 1);
  CHECK(fallback->steps[0].kind == arch::StepKind::kHost);
}

TEST_CASE("views and aliases between programs are known by dense tensors") {
  const CompileOptions options = on_npu({"ABS"});
  LayerGraph gather;  // both halves of a CONCATENATION are read elsewhere, one after a CPU operator
  const TensorId x = gather.input(kMap), a = gather.conv(x, 8, 1), b = gather.conv(x, 8, 1);
  arch::OpAttrs axis;
  axis.axis = 3;
  const TensorId whole = gather.op(OpKind::CONCATENATION, {a, b}, {1, 4, 4, 16}, {}, axis);
  const TensorId abs = gather.unary(OpKind::ABS, whole, {});
  const TensorId sum = gather.op(
      OpKind::ADD,
      {gather.pool(OpKind::MAX_POOL_2D, abs, 2, 2), gather.pool(OpKind::MAX_POOL_2D, whole, 2, 2)},
      {1, 2, 2, 16});
  agreeing(gather.finish({sum, gather.pool(OpKind::MAX_POOL_2D, a, 2, 2)}), options);

  LayerGraph scatter;  // a half of a SPLIT is read by the next program
  const TensorId base = scatter.unary(OpKind::RELU, scatter.input({1, 4, 4, 16}), {});
  const auto halves =
      scatter.op_many(OpKind::SPLIT, {scatter.ints({3}, {1}), base}, {kMap, kMap}, {}, {});
  const TensorId first = scatter.conv(halves[0], 8, 1), mid = scatter.unary(OpKind::ABS, first, {});
  agreeing(scatter.finish({scatter.op(OpKind::ADD, {mid, halves[1]}, kMap)}), options);

  LayerGraph alias;  // the next program reads a tensor and its alias
  const TensorId y = alias.unary(OpKind::RELU, alias.input(kMap), {});
  const TensorId z = alias.op(OpKind::RESHAPE, {y, alias.ints({1, 128}, {2})}, {1, 128});
  const TensorId stop = alias.unary(OpKind::ABS, y, {});
  agreeing(alias.finish({alias.op(OpKind::ADD, {stop, y}, kMap),
                         alias.unary(OpKind::TANH, z, {1.f / 128, 0})}),
           options);
}

TEST_CASE("a result that a later one lies over is none of the step's") {
  // sigmoid -> a part of the whole, in its place; the product lies over the whole.
  LayerGraph g;
  const Quant unit = {1.f / 256, -128};
  const TensorId x = g.input({1, 1, 1, 10}), rest = g.input({1, 1, 1, 26}, unit),
                 factor = g.input({1, 1, 1, 36}, unit);
  arch::OpAttrs axis;
  axis.axis = 3;
  const TensorId part = g.unary(OpKind::LOGISTIC, x, unit);
  const TensorId whole = g.op(OpKind::CONCATENATION, {rest, part}, {1, 1, 1, 36}, unit, axis);
  const TensorId product = g.op(OpKind::MUL, {whole, factor}, {1, 1, 1, 36}, unit);
  const arch::Executable e = agreeing(g.finish({product}), on_npu());
  const auto& tensors = e.tensors;
  const auto at = [&](TensorId id) { return tensors[static_cast<std::size_t>(id)].offset; };
  CHECK(at(whole) == at(product));
  CHECK(at(part) == at(whole) + 26);
  REQUIRE(e.steps.size() == 1);
  CHECK(e.steps[0].outputs == std::vector<std::uint32_t>{static_cast<std::uint32_t>(product)});
}

TEST_CASE("every network's programs and their fallbacks give the same bytes") {
  const auto data = tests::shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  std::size_t programs = 0;
  for (const tests::ModelGolden& model : tests::load_models(*data)) {
    INFO(model.name);
    const auto graph = import_tflite(tests::read_bytes(*data + "/" + model.model), model.name);
    REQUIRE(graph.ok());
    CompileOptions options = on_npu();
    options.effort = Effort::kFast, options.sram_bytes = 128 << 10;
    options.numerics =
        model.cases.empty() || model.cases[0].tflm.empty() ? Numerics::kFp32 : Numerics::kTflite;
    programs += agreeing(*graph, options).programs.size();
  }
  CHECK(programs >= 10);
}

}  // namespace deputy::delegate
