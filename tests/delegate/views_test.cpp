// CONCATENATION, SPLIT and their like without copies: equal bytes with and without, and no work
// left where the view is legal.
#include <catch2/catch.hpp>

#include "delegate/dump.h"
#include "tests/delegate/layer_graph.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using test::Order;
using testing::LayerGraph;
using testing::Quant;

constexpr Quant kQ{0.2f, 3};

std::vector<std::size_t> without_work(const arch::Executable& e) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < e.ops.size(); ++i)
    if (e.ops[i].aliased && e.ops[i].kind != OpKind::RESHAPE) out.push_back(i);
  return out;
}

// Compares with the CPU and with every setting of the two switches; `expected`: operators without
// work.
void check(const Graph& graph, const std::vector<std::size_t>& expected,
           std::uint64_t sram = 1 << 20) {
  REQUIRE(validate(graph).ok());
  const auto inputs = testing::ramp_inputs(graph);
  CompileOptions options;
  options.engine = EnginePolicy::kCpu;
  const auto cpu = compile(graph, options);
  REQUIRE(cpu.ok());
  const auto want = test::ExecutableRunner(*cpu).run(inputs);
  options.engine = EnginePolicy::kNpu;
  for (const std::int32_t spm : {131072, 4096})
    for (const bool fusion : {true, false})
      for (const bool views : {true, false}) {
        options.npu.spm.bytes = spm, options.sram_bytes = sram;
        options.optimisations.fusion = fusion, options.optimisations.views = views;
        INFO(dump_graph(graph) << "scratchpad " << spm << " fusion " << fusion << " views "
                               << views);
        const auto e = compile(graph, options);
        REQUIRE(e.ok());
        REQUIRE_NOTHROW(test::check_loadable(*e));
        if (views && fusion) CHECK(without_work(*e) == expected);
        if (!views) CHECK(without_work(*e).empty());
        for (const Order order : {Order::kStream, static_cast<Order>(1), static_cast<Order>(3)})
          CHECK(test::ExecutableRunner(*e).run(inputs, order, 7) == want);
      }
}

arch::OpAttrs along(std::int32_t axis, std::int32_t num = 0) {
  arch::OpAttrs a;
  a.axis = axis, a.num = num;
  return a;
}

std::vector<TensorId> split(LayerGraph& g, TensorId x, std::int32_t axis, std::int32_t parts) {
  Shape s = g.shape(x);
  s[static_cast<std::size_t>(axis)] /= parts;
  return g.op_many(OpKind::SPLIT, {g.ints({axis}, {}), x},
                   std::vector<Shape>(static_cast<std::size_t>(parts), s), kQ, along(0, parts));
}

}  // namespace

TEST_CASE("convolutions write their part of a concatenation, along every axis") {
  for (const std::int32_t axis : {1, 2, 3}) {
    LayerGraph g;
    const TensorId x = g.input({1, 9, 9, 6}, {0.05f, 1});
    const TensorId a = g.conv(x, 32, 3, kQ, 1, true), b = g.conv(x, 32, 1, kQ),
                   p = g.pool(OpKind::MAX_POOL_2D, a, 3, 1, true);
    Shape s = g.shape(a);
    s[static_cast<std::size_t>(axis)] *= 3;
    const TensorId c = g.op(OpKind::CONCATENATION, {a, p, b}, s, kQ, along(axis));
    const TensorId d = g.conv(c, 5, 3, {0.3f, 0});
    check(g.finish({d}), {3});
  }
}

TEST_CASE("fused kernels, sums, tables and paddings write and read parts") {
  LayerGraph g;
  const TensorId x = g.input({1, 8, 8, 128}, kQ), y = g.input({1, 8, 8, 32}, kQ);
  const std::vector<TensorId> parts = split(g, x, 3, 4);                       // 0
  const TensorId a = g.op(OpKind::ADD, {parts[0], parts[1]}, g.shape(y), kQ);  // 1
  const TensorId b = g.unary(OpKind::LEAKY_RELU, parts[2], kQ);                // 2
  const TensorId r =
      g.op(OpKind::ADD, {g.conv(parts[3], 32, 3, kQ, 1, true), parts[3]}, g.shape(y), kQ);  // 3, 4
  const TensorId p = g.pad(parts[1], 1, 1, 0, 0);                                           // 5
  const TensorId q = g.conv(p, 32, 3, kQ);                       // 6: folded
  const TensorId u = g.pad(q, 0, 0, 1, 1);                       // 7: not folded
  const TensorId m = g.op(OpKind::ADD, {r, y}, g.shape(y), kQ);  // 8
  const TensorId c =
      g.op(OpKind::CONCATENATION, {a, b, r, u, m}, {1, 8, 8, 160}, kQ, along(3));  // 9
  check(g.finish({g.conv(c, 6, 1, {0.3f, 1}), g.unary(OpKind::TANH, c, {1.0f / 128, 0})}), {0, 9});
}

TEST_CASE("a concatenation of concatenations is written once") {
  LayerGraph g;
  const TensorId x = g.input({2, 7, 7, 5}, {0.05f, 1});
  const TensorId a = g.conv(x, 4, 1, kQ), b = g.conv(x, 8, 3, kQ, 1, true),
                 c = g.conv(x, 12, 1, kQ);
  const TensorId inner = g.op(OpKind::CONCATENATION, {a, b}, {2, 7, 7, 12}, kQ, along(3));
  const TensorId outer = g.op(OpKind::CONCATENATION, {c, inner}, {2, 7, 7, 24}, kQ, along(3));
  check(g.finish({outer}), {3, 4});
}

TEST_CASE("slices are read where they lie") {
  LayerGraph g;
  const TensorId x = g.input({1, 10, 12, 16}, kQ);
  const TensorId s = g.op(OpKind::SLICE, {x, g.ints({0, 2, 1, 4}, {4}), g.ints({1, 6, 9, 8}, {4})},
                          {1, 6, 9, 8}, kQ);
  const TensorId t =
      g.op(OpKind::STRIDED_SLICE,
           {x, g.ints({0, 1, 0, 8}, {4}), g.ints({1, 10, 12, 16}, {4}), g.ints({1, 3, 2, 1}, {4})},
           {1, 3, 6, 8}, kQ);
  const TensorId stepped =
      g.op(OpKind::STRIDED_SLICE,
           {x, g.ints({0, 0, 0, 0}, {4}), g.ints({1, 2, 12, 16}, {4}), g.ints({1, 1, 1, 2}, {4})},
           {1, 2, 12, 8}, kQ);
  check(g.finish({g.conv(s, 4, 3, {0.3f, 0}), g.unary(OpKind::TANH, t, {1.0f / 128, 0}),
                  g.unary(OpKind::TANH, stepped, {1.0f / 128, 0})}),
        {0, 1});
}

TEST_CASE("packed and unpacked tensors lie in their whole") {
  LayerGraph g;
  const TensorId x = g.input({3, 5, 16}, kQ);
  const auto rows = g.op_many(OpKind::UNPACK, {x}, {{3, 16}, {3, 16}, {3, 16}, {3, 16}, {3, 16}},
                              kQ, along(1, 5));
  const TensorId a = g.op(OpKind::ADD, {rows[0], rows[4]}, {3, 16}, kQ);
  const TensorId b = g.op(OpKind::MUL, {rows[1], rows[2]}, {3, 16}, kQ);
  const TensorId p = g.op(OpKind::PACK, {a, b}, {3, 2, 16}, kQ, along(1, 2));
  check(g.finish({p}), {0, 3});
}

TEST_CASE("what the caller, the CPU or another whole needs is copied, and only that") {
  LayerGraph g;
  const TensorId x = g.input({1, 8, 8, 8}, kQ);
  const TensorId a = g.conv(x, 8, 1, kQ), b = g.conv(x, 8, 3, kQ, 1, true), d = g.conv(x, 8, 1, kQ);
  const TensorId k = g.random_constant({1, 8, 8, 8}, kQ);
  // x is the caller's, k a constant, b twice, d an output of the graph: those are copied.
  const TensorId c = g.op(OpKind::CONCATENATION, {x, a, b, b, k, d}, {1, 8, 8, 48}, kQ, along(3));
  const TensorId e = g.op(OpKind::CONCATENATION, {a, b}, {1, 8, 8, 16}, kQ, along(3));
  check(g.finish({c, d, g.conv(e, 4, 1, {0.3f, 0})}), {});
}

TEST_CASE("parts without gaps need nothing of their users") {
  LayerGraph g;
  const TensorId x = g.input({1, 12, 8, 8}, kQ);
  const auto parts = split(g, x, 1, 3);
  const TensorId flat = g.op(OpKind::RESHAPE, {parts[0], g.ints({1, 256}, {2})}, {1, 256}, kQ);
  const TensorId w = g.random_constant({10, 256}, {0.02f, 0});
  const TensorId f = g.op(OpKind::FULLY_CONNECTED, {flat, w, kNoTensor}, {1, 10}, {0.5f, 0});
  check(g.finish({f, parts[1], g.unary(OpKind::TANH, parts[2], {1.0f / 128, 0})}), {0});
}

TEST_CASE("narrow parts with many readers are copied") {
  LayerGraph g;
  const TensorId x = g.input({1, 16, 16, 64}, kQ);
  const auto parts = split(g, x, 3, 16);
  std::vector<TensorId> out;
  for (int i = 0; i < 24; ++i)
    out.push_back(g.conv(parts[0], 4, 1, {0.1f + 0.01f * static_cast<float>(i), 0}));
  for (std::size_t i = 1; i < 16; ++i) out.push_back(g.conv(parts[i], 4, 1, {0.3f, 0}));
  check(g.finish(out), {});
}

TEST_CASE("slow memory holds views too") {
  LayerGraph g;
  const TensorId x = g.input({1, 9, 9, 6}, {0.05f, 1});
  const TensorId a = g.conv(x, 8, 3, kQ, 1, true), b = g.conv(x, 8, 1, kQ);
  const TensorId c = g.op(OpKind::CONCATENATION, {a, b}, {1, 9, 9, 16}, kQ, along(3));
  check(g.finish({g.conv(c, 5, 3, {0.3f, 0})}), {2}, 1024);
}

}  // namespace deputy::delegate
