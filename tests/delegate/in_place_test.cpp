// Which results may lie over an operand: by hand, and the memory it saves.
#include "delegate/passes/in_place.h"

#include <catch2/catch.hpp>

#include "delegate/passes/place_buffers.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using Pairs = std::vector<std::pair<TensorId, TensorId>>;

Graph graph_of(const std::vector<Shape>& shapes, std::vector<Op> ops, std::vector<TensorId> inputs,
               std::vector<TensorId> outputs) {
  Graph g;
  for (const Shape& shape : shapes) {
    Tensor t;
    t.desc.shape = shape, t.desc.quant = {{0.5f}, {0}, 0};
    g.tensors.push_back(t);
  }
  g.ops = std::move(ops), g.inputs = std::move(inputs), g.outputs = std::move(outputs);
  return g;
}

Op op(OpKind kind, std::vector<TensorId> inputs, TensorId output) {
  return {kind, {}, std::move(inputs), {output}, 0};
}

std::vector<Action> one_by_one(const Graph& g) {
  std::vector<Action> out;
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    out.push_back({g.ops[i].inputs, g.ops[i].outputs, {{i}}, false});
  return out;
}

Pairs pairs(const Graph& g, const std::vector<Action>& actions, const StorageWishes& wishes = {}) {
  return in_place_pairs(g, Numerics::kTflite, actions, plan_storage(g, wishes));
}
Pairs pairs(const Graph& g) { return pairs(g, one_by_one(g)); }

const Shape kMap = {1, 4, 4, 8};

}  // namespace

TEST_CASE("a chain of element-wise operators stays in one buffer") {
  // 0 -> relu -> 1 -> tanh -> 2, 2 + 2 -> 3
  const Graph g = graph_of(
      {kMap, kMap, kMap, kMap},
      {op(OpKind::RELU, {0}, 1), op(OpKind::TANH, {1}, 2), op(OpKind::ADD, {2, 2}, 3)}, {0}, {3});
  CHECK(pairs(g) == Pairs{{1, 0}, {2, 1}, {3, 2}});
  CompileOptions options;
  const Placing placing = place_buffers(g, one_by_one(g), {}, options);
  CHECK(placing.plan.fast.bytes == 128);
  options.optimisations.in_place = false;
  CHECK(place_buffers(g, one_by_one(g), {}, options).plan.fast.bytes == 256);
}

TEST_CASE("an operand that is needed later, broadcast, or larger keeps its buffer") {
  // 0 is read again by the sum and is an output; the sum takes 1.
  const Graph again = graph_of({kMap, kMap, kMap},
                               {op(OpKind::RELU, {0}, 1), op(OpKind::ADD, {1, 0}, 2)}, {0}, {0, 2});
  CHECK(pairs(again) == Pairs{{2, 1}});
  const Graph broadcast =
      graph_of({{1, 1, 1, 8}, kMap, kMap}, {op(OpKind::ADD, {0, 1}, 2)}, {0, 1}, {2});
  CHECK(pairs(broadcast) == Pairs{{2, 1}});
  const Graph output = graph_of({kMap, kMap}, {op(OpKind::RELU, {0}, 1)}, {0}, {0, 1});
  CHECK(pairs(output).empty());
  Graph wide = graph_of({kMap, kMap}, {op(OpKind::RELU, {0}, 1)}, {0}, {1});
  wide.tensors[0].desc.dtype = wide.tensors[1].desc.dtype = DType::kFloat32;
  CHECK(pairs(wide).empty());
  Graph constant = again;
  constant.inputs = {}, constant.outputs = {2};
  constant.tensors[0].constant = true;
  CHECK(pairs(constant) == Pairs{{2, 1}});
}

TEST_CASE("windows, copies and the CPU never overwrite") {
  for (const OpKind kind : {OpKind::SOFTMAX, OpKind::MAX_POOL_2D, OpKind::PAD, OpKind::TRANSPOSE})
    CHECK(pairs(graph_of({kMap, kMap}, {op(kind, {0}, 1)}, {0}, {1})).empty());
  const Graph g = graph_of({kMap, kMap}, {op(OpKind::RELU, {0}, 1)}, {0}, {1});
  auto actions = one_by_one(g);
  actions[0].host = true;
  CHECK(pairs(g, actions).empty());
}

TEST_CASE("a residual fused behind a convolution is overwritten, the map under the window is not") {
  // 1 = conv(0), 3 = 1 + 2 in one kernel.
  Graph g = graph_of({kMap, kMap, kMap, kMap},
                     {op(OpKind::CONV_2D, {0}, 1), op(OpKind::ADD, {1, 2}, 3)}, {0, 2}, {3});
  const std::vector<Action> fused = {{{0, 2}, {3}, {{0, 1}}, false}};
  StorageWishes wishes;
  wishes.unstored = {1};
  CHECK(pairs(g, fused, wishes) == Pairs{{3, 2}});
  // The residual is the convolution's input: its halo is read later.
  g.ops[1].inputs = {1, 0};
  CHECK(pairs(g, {{{0}, {3}, {{0, 1}}, false}}, wishes).empty());
  // Two kernels interleaved stripe by stripe.
  g.ops[1].inputs = {1, 2};
  CHECK(pairs(g, {{{0, 2}, {3}, {{0}, {1}}, false}}, wishes).empty());
}

TEST_CASE("neither parts of another tensor nor tensors with parts are overwritten") {
  // 1 is half of 0; 2 = relu(1); 3 = relu(0)
  const Graph g = graph_of({{1, 4, 4, 16}, kMap, kMap, {1, 4, 4, 16}},
                           {op(OpKind::RELU, {0}, 3), op(OpKind::RELU, {1}, 2)}, {0}, {2, 3});
  StorageWishes wishes;
  wishes.parts = {slice_part(g, 1, 0, 3, 8)};
  CHECK(pairs(g, one_by_one(g), wishes).empty());
  Graph both = g;  // the sum reads the whole and, as another tensor, a part of it
  both.tensors[3].desc.shape = {1, 4, 4, 16};
  both.ops = {op(OpKind::ADD, {0, 1}, 3)};
  both.outputs = {3};
  CHECK(pairs(both, one_by_one(both), wishes).empty());
}

}  // namespace deputy::delegate
