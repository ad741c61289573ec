// TRANSPOSEs that undo each other leave no work and no change.
#include "delegate/fusion/cancel_transposes.h"

#include <catch2/catch.hpp>

#include "delegate/dump.h"
#include "tests/delegate/layer_graph.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using testing::LayerGraph;
using testing::Quant;

constexpr Quant kQ{0.2f, 3};

TensorId transpose(LayerGraph& g, TensorId x, const std::vector<std::int32_t>& axes) {
  Shape shape;
  for (const std::int32_t axis : axes) shape.push_back(g.shape(x)[static_cast<std::size_t>(axis)]);
  return g.op(OpKind::TRANSPOSE, {x, g.ints(axes, {static_cast<std::int32_t>(axes.size())})}, shape,
              kQ);
}
TensorId reshape(LayerGraph& g, TensorId x, const Shape& shape) {
  return g.op(OpKind::RESHAPE,
              {x, g.ints({shape.begin(), shape.end()}, {static_cast<std::int32_t>(shape.size())})},
              shape, kQ);
}

// `expected`: for each operator whether work is left.
void check(const Graph& graph, const std::vector<bool>& expected) {
  REQUIRE(validate(graph).ok());
  const auto inputs = testing::ramp_inputs(graph);
  CompileOptions options;
  options.engine = EnginePolicy::kCpu;
  const auto cpu = compile(graph, options);
  options.engine = EnginePolicy::kNpu;
  const auto npu = compile(graph, options);
  REQUIRE((cpu.ok() && npu.ok()));
  INFO(dump_graph(graph));
  REQUIRE_NOTHROW(test::check_loadable(*npu));
  std::vector<bool> work;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    CHECK(npu->ops[i].kind == graph.ops[i].kind);
    work.push_back(!npu->ops[i].aliased);
  }
  CHECK(work == expected);
  CHECK(test::ExecutableRunner(*npu).run(inputs) == test::ExecutableRunner(*cpu).run(inputs));
}

}  // namespace

TEST_CASE("a pair of transposes cancels; what one of them has for others is still computed") {
  LayerGraph g;
  const TensorId x = g.input({1, 5, 6, 7}, kQ);
  const TensorId a = transpose(g, x, {0, 3, 1, 2}), b = transpose(g, a, {0, 2, 3, 1});
  const TensorId y = g.conv(b, 4, 1, kQ);
  const TensorId c = transpose(g, y, {0, 3, 1, 2}), d = transpose(g, c, {0, 2, 3, 1});
  check(g.finish({c, g.conv(d, 3, 1, kQ)}), {false, false, true, true, false, true});
}

TEST_CASE("three transposes that go round, and reshapes between, are seen through") {
  LayerGraph g;
  const TensorId x = g.unary(OpKind::RELU, g.input({1, 4, 6, 5}, kQ), kQ);
  TensorId t = x;
  for (int i = 0; i < 3; ++i) t = transpose(g, t, {0, 2, 3, 1});
  const TensorId s = transpose(g, x, {0, 3, 1, 2});
  const TensorId r = reshape(g, reshape(g, s, {5, 24}), {5, 4, 6});
  const TensorId u = transpose(g, r, {1, 2, 0});
  check(g.finish({g.unary(OpKind::RELU, t, kQ), g.unary(OpKind::RELU, u, kQ)}),
        {true, false, false, false, false, false, false, false, true, true});
}

TEST_CASE("dimensions of one move for nothing") {
  LayerGraph g;
  const TensorId x = g.input({1, 8, 1, 6}, kQ);
  check(g.finish({g.unary(OpKind::RELU, transpose(g, x, {2, 1, 0, 3}), kQ),
                  g.unary(OpKind::RELU, transpose(g, x, {0, 2, 1, 3}), kQ)}),
        {false, true, false, true});
}

TEST_CASE("transposes that do not go back are computed") {
  LayerGraph g;
  const TensorId x = g.input({1, 4, 4, 4}, kQ);
  const TensorId a = transpose(g, transpose(g, x, {0, 2, 3, 1}), {0, 2, 3, 1});
  // As many elements in each dimension, but in another order: a reshape of the transposed is no
  // transpose back.
  const TensorId b =
      transpose(g, reshape(g, transpose(g, g.input({6, 4}, kQ), {1, 0}), {6, 4}), {1, 0});
  const Graph graph = g.finish({a, b});
  CHECK(!cancel_transposes(graph));
  check(graph, {true, true, true, false, true});
}

}  // namespace deputy::delegate
