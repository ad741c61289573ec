// Fused against unfused against the CPU's kernels: equal bytes, and fused exactly where it is
// legal.
#include <catch2/catch.hpp>

#include "delegate/codegen/tile_search.h"
#include "delegate/dump.h"
#include "delegate/fusion/kernel.h"
#include "tests/delegate/layer_graph.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using test::Order;
using testing::Bytes;
using testing::LayerGraph;
using testing::Quant;

CompileOptions npu(Numerics numerics, std::int32_t spm = 131072) {
  CompileOptions o;
  o.engine = EnginePolicy::kNpu;
  o.numerics = numerics;
  o.npu.spm.bytes = spm;
  o.sram_bytes = 4096;
  return o;
}

// For every operator of the model the one it is fused into; -1: none.
std::vector<std::int32_t> fused_into(const arch::Executable& e) {
  std::vector<std::int32_t> out;
  for (const arch::SourceOp& op : e.ops) out.push_back(op.fused_into);
  return out;
}

// Compiles in every rounding mode for a roomy and a cramped scratchpad, compares with the CPU and
// with the unfused program, and checks what was fused (in the roomy one).
void check(const Graph& graph, const std::vector<std::int32_t>& expected,
           std::initializer_list<Numerics> modes = {Numerics::kTflite, Numerics::kSingle,
                                                    Numerics::kFp32}) {
  REQUIRE(validate(graph).ok());
  const auto inputs = testing::ramp_inputs(graph);
  for (const Numerics mode : modes)
    for (const std::int32_t spm : {131072, 4096}) {
      INFO(dump_graph(graph) << numerics_name(mode) << " scratchpad " << spm);
      CompileOptions options = npu(mode, spm);
      const auto fused = compile(graph, options);
      options.optimisations.fusion = false;
      const auto plain = compile(graph, options);
      options.engine = EnginePolicy::kCpu;
      const auto cpu = compile(graph, options);
      REQUIRE((fused.ok() && plain.ok() && cpu.ok()));
      if (spm == 131072) CHECK(fused_into(*fused) == expected);
      for (const arch::SourceOp& op : fused->ops) CHECK(op.on_npu);
      CHECK(fused_into(*plain) == std::vector<std::int32_t>(graph.ops.size(), -1));
      REQUIRE_NOTHROW(test::check_loadable(*fused));
      const auto want = test::ExecutableRunner(*cpu).run(inputs);
      CHECK(test::ExecutableRunner(*plain).run(inputs) == want);
      for (const Order order : {Order::kStream, static_cast<Order>(1), static_cast<Order>(3)})
        CHECK(test::ExecutableRunner(*fused).run(inputs, order, 5) == want);
    }
}

// A 1x1 convolution of one channel whose results over all input bytes are all bytes.
TensorId every_byte(LayerGraph& g, Quant q) {
  const TensorId x = g.input({1, 16, 16, 1}, {1.0f, 0});
  const TensorId w = g.constant({1, 1, 1, 1}, {64}, {q.scale / 64, 0});
  return g.op(OpKind::CONV_2D, {x, w, kNoTensor}, {1, 16, 16, 1}, q);
}

}  // namespace

TEST_CASE("one-operand operators behind a convolution are its table, over all 256 bytes") {
  struct Case {
    OpKind kind;
    Quant in, out;
    float alpha = 0;
  };
  const Case cases[] = {{OpKind::RELU, {0.05f, 3}, {0.05f, 3}},
                        {OpKind::RELU, {0.05f, 3}, {0.031f, -100}},
                        {OpKind::RELU6, {0.05f, -8}, {0.024f, -128}},
                        {OpKind::RELU_N1_TO_1, {0.02f, 4}, {0.02f, 4}},
                        {OpKind::LOGISTIC, {0.06f, 5}, {1.0f / 256, -128}},
                        {OpKind::TANH, {0.03f, -7}, {1.0f / 128, 0}},
                        {OpKind::HARD_SWISH, {0.05f, 2}, {0.04f, -50}},
                        {OpKind::LEAKY_RELU, {0.05f, 1}, {0.06f, -20}, 0.1f},
                        {OpKind::ELU, {0.05f, 9}, {0.04f, -60}},
                        {OpKind::GELU, {0.04f, 0}, {0.03f, -60}},
                        {OpKind::ABS, {0.05f, 0}, {0.05f, 0}},
                        {OpKind::NEG, {0.05f, 0}, {0.05f, 0}},
                        {OpKind::EXP, {0.02f, 10}, {0.05f, -128}},
                        {OpKind::QUANTIZE, {0.05f, 3}, {0.07f, -11}}};
  for (const Case& c : cases) {
    LayerGraph g;
    arch::OpAttrs attrs;
    attrs.alpha = c.alpha;
    const TensorId y = g.unary(c.kind, every_byte(g, c.in), c.out, attrs);
    check(g.finish({y}), {-1, 0});
  }
}

TEST_CASE("element-wise with a scalar constant or with itself is a table, over all 256 bytes") {
  for (const OpKind kind :
       {OpKind::ADD, OpKind::SUB, OpKind::MUL, OpKind::MINIMUM, OpKind::MAXIMUM})
    for (int form = 0; form < 3; ++form) {
      LayerGraph g;
      const bool same = kind == OpKind::MINIMUM || kind == OpKind::MAXIMUM;
      const Quant in{0.05f, 3}, other = same ? in : Quant{0.02f, -5},
                                out = same ? in : Quant{0.06f, 7};
      const TensorId x = every_byte(g, in);
      const TensorId s = form == 2 ? x : g.constant({1}, {77}, other);
      const std::vector<TensorId> operands = form == 1 ? std::vector{s, x} : std::vector{x, s};
      const TensorId y = g.op(kind, operands, g.shape(x), out);
      check(g.finish({y}), {-1, 0});
    }
}

TEST_CASE("a chain of tables is one table, on every kind of main operator") {
  LayerGraph g;
  const TensorId x = g.input({1, 16, 16, 2}, {0.04f, 0}), y = g.input({1, 16, 16, 2}, {0.05f, 2});
  const auto chain = [&](TensorId t) {
    t = g.unary(OpKind::HARD_SWISH, t, {0.04f, -50});
    t = g.op(OpKind::MUL, {t, g.constant({1}, {33}, {0.1f, 0})}, g.shape(t), {0.05f, 4});
    return g.unary(OpKind::LOGISTIC, t, {1.0f / 256, -128});
  };
  std::vector<TensorId> outputs;
  outputs.push_back(chain(g.conv(x, 5, 3, {0.3f, 2})));
  outputs.push_back(chain(g.pool(OpKind::MAX_POOL_2D, x, 3, 2)));
  outputs.push_back(chain(g.op(OpKind::ADD, {x, y}, g.shape(x), {0.08f, 1})));
  outputs.push_back(chain(g.unary(OpKind::TANH, x, {1.0f / 128, 0})));
  const TensorId flat = g.input({4, 64}, {0.04f, 0});
  const TensorId w = g.random_constant({10, 64}, {0.02f, 0});
  outputs.push_back(chain(g.op(OpKind::FULLY_CONNECTED, {flat, w, kNoTensor}, {4, 10}, {0.2f, 0})));
  const TensorId axes = g.ints({1, 2}, {2});
  outputs.push_back(chain(g.op(OpKind::MEAN, {x, axes}, {1, 2}, {0.02f, 3})));
  check(g.finish(outputs),
        {-1, 0, 0, 0, -1, 4, 4, 4, -1, 8, 8, 8, -1, 12, 12, 12, -1, 16, 16, 16, -1, 20, 20, 20});
}

TEST_CASE("residual operators work on the convolution's tile") {
  for (const OpKind kind :
       {OpKind::ADD, OpKind::SUB, OpKind::MUL, OpKind::MINIMUM, OpKind::MAXIMUM})
    for (const bool first : {true, false}) {
      LayerGraph g;
      const bool same = kind == OpKind::MINIMUM || kind == OpKind::MAXIMUM;
      const Quant q{0.3f, 2}, other = same ? q : Quant{0.2f, -9}, out = same ? q : Quant{0.4f, 5};
      const TensorId x = g.input({2, 13, 9, 7}, {0.04f, -3}), skip = g.input({2, 13, 9, 17}, other);
      const TensorId y = g.conv(x, 17, 3, q, 1, true);
      const TensorId z =
          g.op(kind, first ? std::vector{y, skip} : std::vector{skip, y}, g.shape(y), out);
      check(g.finish({g.unary(OpKind::RELU, z, out)}), {-1, 0, 0});
    }
}

TEST_CASE("one value a channel stays in the scratchpad") {
  for (const OpKind kind : {OpKind::MUL, OpKind::ADD, OpKind::SUB})
    for (const bool constant : {true, false}) {
      LayerGraph g;
      const TensorId x = g.input({1, 12, 11, 6}, {0.04f, -3});
      const TensorId v =
          constant ? g.random_constant({20}, {0.02f, 3}) : g.input({1, 1, 1, 20}, {0.02f, 3});
      const TensorId y = g.conv(x, 20, 2, {0.3f, 2});
      const TensorId z = g.op(kind, {v, y}, g.shape(y), {0.4f, 5});
      check(g.finish({z}), {-1, 0});
    }
}

TEST_CASE("the later of two convolutions takes the sum, wherever the other one is") {
  LayerGraph g;
  const TensorId x = g.input({1, 12, 12, 8}, {0.04f, -3});
  const TensorId a = g.conv(x, 16, 3, {0.2f, 1}, 2, true), b = g.conv(x, 16, 1, {0.3f, 0}, 2, true);
  const TensorId sum = g.op(OpKind::ADD, {a, b}, g.shape(a), {0.4f, 5});
  const TensorId c = g.conv(sum, 4, 3, {0.3f, 0});
  check(g.finish({c}), {-1, -1, 1, -1});
}

TEST_CASE("explicit padding becomes the window's") {
  LayerGraph g;
  const TensorId x = g.input({1, 11, 9, 5}, {0.04f, -17});
  const TensorId a = g.conv(g.pad(x, 1, 2, 0, 3), 8, 3, {0.2f, 1}, 2);
  const TensorId p = g.pad(a, 2, 2, 4, 1);
  arch::OpAttrs attrs;
  attrs.depth_multiplier = 1, attrs.padding = static_cast<std::uint8_t>(arch::Padding::kValid);
  const TensorId w = g.random_constant({1, 3, 3, 8}, {0.02f, 0});
  const Shape s = g.shape(p);
  const TensorId d = g.op(OpKind::DEPTHWISE_CONV_2D, {p, w, kNoTensor}, {1, s[1] - 2, s[2] - 2, 8},
                          {0.2f, 3}, attrs);
  const TensorId far = g.conv(g.pad(d, 6, 6, 6, 6), 4, 3, {0.3f, 1});  // windows of padding only
  check(g.finish({far}), {1, -1, 3, -1, 5, -1});
}

TEST_CASE("padding that is not the zero point, of channels, or in front of an average stays") {
  const auto padv2 = [](LayerGraph& g, TensorId x, std::int8_t value, Quant q) {
    const Shape in = g.shape(x);
    return g.op(OpKind::PADV2,
                {x, g.ints({0, 0, 1, 1, 1, 1, 0, 0}, {4, 2}), g.constant({1}, {value}, q)},
                {in[0], in[1] + 2, in[2] + 2, in[3]}, q);
  };
  const Quant q{0.04f, -17};
  LayerGraph g;
  const TensorId x = g.input({1, 11, 9, 5}, q);
  std::vector<TensorId> out;
  out.push_back(g.conv(padv2(g, x, -17, q), 4, 3, {0.2f, 1}));
  out.push_back(g.conv(padv2(g, x, -16, q), 4, 3, {0.2f, 1}));
  out.push_back(g.conv(g.pad(x, 0, 0, 0, 0, 3), 4, 3, {0.2f, 1}));
  out.push_back(g.pool(OpKind::AVERAGE_POOL_2D, g.pad(x, 1, 1, 1, 1), 3, 1));
  out.push_back(g.pool(OpKind::MAX_POOL_2D, g.pad(x, 1, 1, 1, 1), 3, 1));
  out.push_back(g.pool(OpKind::MAX_POOL_2D, padv2(g, x, -128, q), 3, 1));
  out.push_back(
      g.pool(OpKind::MAX_POOL_2D, padv2(g, x, -128, q), 1, 1));  // windows of padding only
  check(g.finish(out), {1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 11, -1, -1, -1});
}

TEST_CASE("pools whose windows lie end to end work on the tile") {
  for (const OpKind kind : {OpKind::MAX_POOL_2D, OpKind::AVERAGE_POOL_2D})
    for (const std::int32_t k : {2, 3, 9}) {
      LayerGraph g;
      const TensorId x = g.input({2, 13, 11, 7}, {0.04f, -3}),
                     skip = g.input({2, 13, 11, 6}, {0.2f, 4});
      const TensorId y = g.conv(x, 6, 3, {0.3f, 2}, 1, true);
      const TensorId z = g.op(OpKind::ADD, {y, skip}, g.shape(y), {0.4f, 5});
      const TensorId p = g.pool(kind, z, k, k);
      check(g.finish({g.unary(OpKind::LOGISTIC, p, {1.0f / 256, -128})}), {-1, 0, 0, 0});
    }
  LayerGraph g;  // the last windows hang over the map
  const TensorId x = g.input({1, 13, 11, 7}, {0.04f, -3});
  std::vector<TensorId> out;
  for (const OpKind kind : {OpKind::MAX_POOL_2D, OpKind::AVERAGE_POOL_2D})
    out.push_back(g.pool(kind, g.conv(x, 6, 3, {0.3f, 2}, 1, true), 2, 2, true));
  const TensorId y = g.conv(x, 5, 3, {0.3f, 2});
  out.push_back(g.op(OpKind::MEAN, {y, g.ints({1, 2}, {2})}, {1, 5}, {0.1f, 3}));
  check(g.finish(out), {-1, 0, -1, 2, -1, 4});
}

TEST_CASE("pools whose windows overlap or start outside stay") {
  LayerGraph g;
  const TensorId x = g.input({1, 13, 13, 7}, {0.04f, -3});
  std::vector<TensorId> out;
  out.push_back(g.pool(OpKind::MAX_POOL_2D, g.conv(x, 6, 3, {0.3f, 2}, 1, true), 3, 2));
  out.push_back(g.pool(OpKind::MAX_POOL_2D, g.conv(x, 6, 3, {0.3f, 2}, 1, true), 2, 3));
  out.push_back(g.pool(OpKind::MAX_POOL_2D, g.conv(x, 6, 3, {0.3f, 2}, 1, true), 3, 3, true));
  check(g.finish(out), {-1, -1, -1, -1, -1, -1});
}

TEST_CASE("what others read is not fused away, and what comes behind it still is") {
  LayerGraph g;
  const TensorId x = g.input({1, 10, 10, 4}, {0.04f, -3});
  const TensorId a = g.conv(x, 4, 3, {0.2f, 1}, 1, true);               // 0: read twice
  const TensorId b = g.unary(OpKind::LOGISTIC, a, {1.0f / 256, -128});  // 1
  const TensorId c = g.op(OpKind::MUL, {a, b}, g.shape(a), {0.2f, 0});  // 2
  const TensorId d = g.unary(OpKind::TANH, c, {1.0f / 128, 0});         // 3: into 2
  const TensorId e = g.conv(d, 6, 3, {0.2f, 1});                        // 4: an output of the graph
  const TensorId f = g.unary(OpKind::HARD_SWISH, e, {0.1f, -50});       // 5
  const TensorId h = g.unary(OpKind::QUANTIZE, f, {0.2f, -50});         // 6: into 5
  check(g.finish({e, h}), {-1, -1, -1, 2, -1, -1, 5});
}

// A depthwise layer of 3x3 taps, its padding explicit or its own.
TensorId depthwise(LayerGraph& g, TensorId x, std::int32_t stride, std::int32_t mult,
                   bool explicit_pad) {
  if (explicit_pad) x = g.pad(x, 1, 1, 1, 1);
  const Shape in = g.shape(x);
  arch::OpAttrs a;
  a.stride_h = a.stride_w = stride, a.depth_multiplier = mult;
  a.padding =
      static_cast<std::uint8_t>(explicit_pad ? arch::Padding::kValid : arch::Padding::kSame);
  if (!explicit_pad) a.pad_top = a.pad_bottom = a.pad_left = a.pad_right = 1;
  const std::int32_t around = explicit_pad ? 0 : 2;
  const Shape out = {in[0], (in[1] + around - 3) / stride + 1, (in[2] + around - 3) / stride + 1,
                     in[3] * mult};
  const TensorId w = g.random_constant({1, 3, 3, out[3]}, {0.02f, 0});
  return g.op(OpKind::DEPTHWISE_CONV_2D, {x, w, kNoTensor}, out, {0.3f, 3}, a);
}

TEST_CASE("a 1x1 convolution makes a depthwise layer's input in the scratchpad") {
  for (const std::int32_t stride : {1, 2})
    for (const bool padded : {false, true}) {
      LayerGraph g;
      const TensorId x = g.input({2, 21, 19, 6}, {0.04f, -3});
      const TensorId d = depthwise(g, g.conv(x, 40, 1, {0.2f, 5}), stride, 1, padded);
      const TensorId y = g.unary(OpKind::LOGISTIC, d, {1.0f / 256, -128});  // on its tiles
      const std::int32_t main = padded ? 2 : 1;
      // With a stride of 1 two of three rows would be made twice: dearer than storing them.
      const std::int32_t made = stride == 2 ? main : -1;
      const auto expected = padded ? std::vector<std::int32_t>{made, main, -1, main}
                                   : std::vector<std::int32_t>{made, -1, main};
      check(g.finish({y}), expected);
    }
}

TEST_CASE(
    "a depthwise layer's input that others read, or that is no 1x1 convolution of its own, is "
    "stored") {
  LayerGraph g;
  const TensorId x = g.input({1, 20, 20, 6}, {0.04f, -3});
  std::vector<TensorId> out;
  const TensorId shared = g.conv(x, 24, 1, {0.2f, 5});                             // 0
  out.push_back(shared), out.push_back(depthwise(g, shared, 1, 1, false));         // 1
  out.push_back(depthwise(g, g.conv(x, 24, 3, {0.2f, 5}, 1, true), 1, 1, false));  // 2, 3
  out.push_back(depthwise(g, g.conv(x, 24, 1, {0.2f, 5}, 2), 1, 1, false));        // 4, 5
  out.push_back(depthwise(g, g.conv(x, 24, 1, {0.2f, 5}), 1, 2, false));           // 6, 7
  const TensorId table =
      g.unary(OpKind::LOGISTIC, g.conv(x, 24, 1, {0.2f, 5}), {1.0f / 256, -128});  // 8, 9
  out.push_back(depthwise(g, table, 1, 1, false));                                 // 10
  check(g.finish(out), {-1, -1, -1, -1, -1, -1, -1, -1, -1, 8, -1});
}

TEST_CASE("inspecting every tensor turns fusion off") {
  LayerGraph g;
  const TensorId y = g.unary(OpKind::LOGISTIC, every_byte(g, {0.05f, 1}), {1.0f / 256, -128});
  CompileOptions options = npu(Numerics::kTflite);
  options.keep_all_tensors = true;
  const auto e = compile(g.finish({y}), options);
  REQUIRE(e.ok());
  CHECK(fused_into(*e) == std::vector<std::int32_t>{-1, -1});
}

TEST_CASE("every fusion done or refused is explained") {
  LayerGraph g;
  const TensorId x = g.input({1, 10, 10, 4}, {0.04f, -3});
  const TensorId a = g.conv(g.pad(x, 1, 1, 1, 1), 4, 3, {0.2f, 1});
  const TensorId b = g.unary(OpKind::LOGISTIC, a, {1.0f / 256, -128});
  const Graph graph = g.finish({a, b});
  std::vector<FusionNote> notes;
  TilingCache tilings;
  plan_kernels(graph, {Engine::kNpu, {0, 1, 2}}, npu(Numerics::kTflite), tilings, &notes);
  REQUIRE(notes.size() == 2);
  CHECK((notes[0].op == 0 && notes[0].into == 1 && notes[0].done));
  CHECK((notes[1].op == 2 && notes[1].into == 1 && !notes[1].done));
  CHECK(notes[1].text == "what is between them is an output of the graph");
}

}  // namespace deputy::delegate
