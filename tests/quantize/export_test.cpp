// The exporters: what is written reads back as the same function, and both formats give the same
// bytes on the NPU.
#include <algorithm>
#include <catch2/catch.hpp>

#include "api/import_model.h"
#include "delegate/import/explicit_pads.h"
#include "delegate/import/onnx/onnx_export.h"
#include "delegate/import/tflite.h"
#include "delegate/import/tflite_export.h"
#include "quantize/evaluate.h"
#include "tests/quantize/net.h"
#include "tests/support/graphs/agreement.h"

namespace deputy::tests {
namespace {

using arch::Activation;
using arch::OpKind;
using namespace quantize;

delegate::Graph through_onnx(const delegate::Graph& graph) {
  const auto file = delegate::export_onnx(graph);
  INFO((file.ok() ? std::string() : file.error().text()));
  REQUIRE(file.ok());
  std::vector<std::string> notes;
  const auto again = api::import_model(*file, "again.onnx", "", {}, &notes);
  INFO((again.ok() ? std::string() : again.error().text()));
  REQUIRE(again.ok());
  for (const auto& note : notes) FAIL_CHECK(note);
  return *again;
}
delegate::Graph through_tflite(const delegate::Graph& graph) {
  const auto padded = delegate::with_pad_operators(graph);
  REQUIRE(padded.ok());
  const auto file = delegate::export_tflite(*padded);
  INFO((file.ok() ? std::string() : file.error().text()));
  REQUIRE(file.ok());
  const auto again = delegate::import_tflite(*file, "again");
  REQUIRE(again.ok());
  return *again;
}
/// Residual, depthwise, pools, pads, concatenation, slices, matrix, softmax.
delegate::Graph everything() {
  Net net({1, 9, 9, 3});
  net.conv(8, 3);
  const auto a = net.newest();
  net.depthwise(3).conv(8, 1, Activation::kNone);
  net.op(OpKind::ADD, {net.newest(), a}, {1, 9, 9, 8}, [] {
    arch::OpAttrs r;
    r.activation = static_cast<std::uint8_t>(Activation::kRelu);
    return r;
  }());
  net.op(OpKind::PAD, {net.newest(), net.ints({4, 2}, {0, 0, 1, 0, 0, 1, 0, 0})}, {1, 10, 10, 8});
  arch::OpAttrs pool;
  pool.filter_h = pool.filter_w = pool.stride_h = pool.stride_w = 2;
  const auto b = net.newest();
  const auto max = net.op(OpKind::MAX_POOL_2D, {b}, {1, 5, 5, 8}, pool),
             avg = net.op(OpKind::AVERAGE_POOL_2D, {b}, {1, 5, 5, 8}, pool);
  net.op(OpKind::CONCATENATION, {max, avg}, {1, 5, 5, 16}, [] {
    arch::OpAttrs c;
    c.axis = 3;
    return c;
  }());
  net.op(OpKind::SLICE, {net.newest(), net.ints({4}, {0, 1, 0, 2}), net.ints({4}, {1, 4, 4, 12})},
         {1, 4, 4, 12});
  net.op(OpKind::MUL, {net.newest(), net.random({12}, 1)}, {1, 4, 4, 12});
  net.op(OpKind::HARD_SWISH, {net.newest()}, {1, 4, 4, 12});
  net.op(OpKind::RESHAPE, {net.newest(), net.ints({2}, {1, 192})}, {1, 192});
  net.op(OpKind::FULLY_CONNECTED, {net.newest(), net.random({6, 192}, 0.2f), net.random({6}, 0.1f)},
         {1, 6});
  net.op(OpKind::SOFTMAX, {net.newest()}, {1, 6});
  return net.done();
}

TEST_CASE("a float graph written as ONNX computes the same") {
  const delegate::Graph graph = everything(), again = through_onnx(graph);
  CHECK(count(again, OpKind::ONNX) == 0);
  const std::vector<Bytes> inputs = {sample(graph, 4)};
  const auto a = Executor(graph, Numerics::kFp32).run(inputs),
             b = Executor(again, Numerics::kFp32).run(inputs);
  REQUIRE((a.ok() && b.ok()));
  const auto x = reals(graph.tensor(graph.outputs[0]).desc, (*a)[0]),
             y = reals(again.tensor(again.outputs[0]).desc, (*b)[0]);
  REQUIRE(x.size() == y.size());
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(y[i]).epsilon(1e-4).margin(1e-6));
  CHECK(again.tensor(again.inputs[0]).desc.name == "x");
  CHECK(again.tensor(again.outputs[0]).desc.name == graph.tensor(graph.outputs[0]).desc.name);
}

TEST_CASE("an int8 graph gives the same bytes as TFLite, as QDQ ONNX, and on the NPU") {
  for (const bool float_io : {false, true}) {
    Options options;
    options.float_io = float_io;
    options.engine.numerics = Numerics::kFp32;
    const auto q = quantise(calibrated(everything(), options), options);
    REQUIRE(q.ok());
    const delegate::Graph tflite = through_tflite(q->graph), onnx = through_onnx(q->graph);
    CHECK(count(onnx, OpKind::ONNX) == (float_io ? 1 : 0));  // QuantizeLinear of the input
    for (unsigned seed = 0; seed < 4; ++seed) {
      std::vector<Bytes> inputs = {integer_input(q->graph, 0, sample(q->graph, seed))};
      const auto a = Executor(q->graph, Numerics::kFp32).run(inputs),
                 b = Executor(tflite, Numerics::kFp32).run(inputs),
                 c = Executor(onnx, Numerics::kFp32).run(inputs);
      REQUIRE((a.ok() && b.ok() && c.ok()));
      CHECK(*a == *b);
      CHECK(*a == *c);
    }
    if (float_io) continue;
    graphs::Setting setting;
    setting.options.numerics = Numerics::kFp32;
    setting.options.engine = delegate::EnginePolicy::kNpu;
    setting.options.effort = delegate::Effort::kFast;
    for (const delegate::Graph* g : {&tflite, &onnx})
      CHECK(graphs::disagreement(*g, setting, 1).value_or("") == "");
  }
}

TEST_CASE("equal graphs give equal files") {
  const delegate::Graph graph = everything();
  CHECK(*delegate::export_onnx(graph) == *delegate::export_onnx(graph));
}

TEST_CASE(
    "int8 outputs that a transpose makes, or that are an input or a constant, keep their type") {
  Net net({1, 2, 3, 4});
  const auto x = net.newest();
  net.conv(4, 1, Activation::kNone);
  const auto turned =
      net.op(OpKind::TRANSPOSE, {net.newest(), net.ints({4}, {0, 3, 1, 2})}, {1, 4, 2, 3});
  const auto moved = net.op(OpKind::TRANSPOSE, {x, net.ints({4}, {0, 2, 3, 1})}, {1, 3, 4, 2});
  net.newest(turned);
  delegate::Graph graph = net.done();
  graph.outputs = {turned, moved};
  Options options;
  options.float_io = false, options.engine.numerics = Numerics::kFp32;
  const Quantised q = quantised(calibrated(graph, options), options);
  const delegate::Graph again = through_onnx(q.graph);
  const std::vector<Bytes> inputs = {integer_input(q.graph, 0, sample(q.graph, 1))};
  const auto a = Executor(q.graph, Numerics::kFp32).run(inputs),
             b = Executor(again, Numerics::kFp32).run(inputs);
  REQUIRE((a.ok() && b.ok()));
  CHECK(*a == *b);
  for (const auto id : again.outputs)
    CHECK(again.tensor(id).desc.dtype == q.graph.tensor(q.graph.outputs[0]).desc.dtype);
}

TEST_CASE("Pad of integers that are no reals is written in their type") {
  for (const DType type : {DType::kInt32, DType::kInt64}) {
    Net net({2, 3});
    const auto pads = net.ints({2, 2}, {1, 0, 0, 2});
    delegate::Graph& g = net.graph();
    net.op(OpKind::PAD, {net.newest(), pads}, {3, 5});
    const auto padded = net.newest();
    const auto value = net.ints({}, {7});
    net.newest(0);
    g.tensor(0).desc.dtype = g.tensor(padded).desc.dtype = type;
    if (type == DType::kInt64)
      g.tensor(value).desc.dtype = type, g.tensor(value).data = {7, 0, 0, 0, 0, 0, 0, 0};
    const auto with = net.tensor("with", {3, 5});
    g.tensor(with).desc.dtype = type;
    delegate::Op op;
    op.kind = OpKind::PADV2, op.inputs = {0, pads, value}, op.outputs = {with};
    g.ops.push_back(op);
    g.outputs = {padded, with};
    const delegate::Graph again = through_onnx(g);
    Bytes x(6 * dtype_size(type));
    for (std::size_t i = 0; i < 6; ++i) x[i * dtype_size(type)] = static_cast<std::uint8_t>(i + 1);
    const std::vector<Bytes> inputs = {x};
    const auto a = Executor(g, Numerics::kFp32).run(inputs),
               b = Executor(again, Numerics::kFp32).run(inputs);
    INFO((a.ok() ? std::string() : a.error().text()));
    REQUIRE((a.ok() && b.ok()));
    CHECK(*a == *b);
    CHECK((*a)[1][0] == 7);
  }
}

TEST_CASE("an operator that ONNX has no words for is named") {
  Net net({1, 4, 4, 2});
  arch::OpAttrs attrs;
  attrs.beta = 2;
  net.op(OpKind::SOFTMAX, {net.newest()}, {1, 4, 4, 2}, attrs);
  const auto file = delegate::export_onnx(net.done());
  REQUIRE_FALSE(file.ok());
  CHECK(file.error().kind == base::ErrorKind::kUnsupported);
  CHECK_THAT(file.error().text(), Catch::Matchers::Contains("SOFTMAX"));
}

TEST_CASE("int16 activations: RELU cuts at the zero point, in either format") {
  Net net({1, 8});
  net.op(OpKind::RELU, {net.newest()}, {1, 8});
  delegate::Graph graph = net.done();
  for (const auto id : {graph.inputs[0], graph.outputs[0]}) {
    graph.tensor(id).desc.dtype = DType::kInt16;
    graph.tensor(id).desc.quant = {{id == graph.inputs[0] ? 0.5f : 0.25f}, {0}, 0};
  }
  const std::int16_t in[8] = {-32768, -3, -1, 0, 1, 3, 16000, 32767};
  const std::int16_t expected[8] = {0, 0, 0, 0, 2, 6, 32000, 32767};
  Bytes bytes(sizeof in);
  std::memcpy(bytes.data(), in, sizeof in);
  const auto out = Executor(graph, Numerics::kTflite).run(std::vector<Bytes>{bytes});
  REQUIRE(out.ok());
  CHECK(std::memcmp((*out)[0].data(), expected, sizeof expected) == 0);
  for (const delegate::Graph& again : {through_tflite(graph), through_onnx(graph)}) {
    CHECK(again.tensor(again.outputs[0]).desc.dtype == DType::kInt16);
    CHECK(count(again, OpKind::ONNX) == 0);
    const auto read = Executor(again, Numerics::kTflite).run(std::vector<Bytes>{bytes});
    REQUIRE(read.ok());
    CHECK(*read == *out);
  }
}

TEST_CASE(
    "the int64 bias of a 16x8 operator is written as int32, or as floats where that is short") {
  for (const std::int64_t large : {std::int64_t{1} << 30, std::int64_t{1} << 33}) {
    Net net({1, 8});
    net.op(OpKind::FULLY_CONNECTED, {net.newest(), net.random({2, 8}, 1), net.random({2}, 1)},
           {1, 2});
    delegate::Graph graph = net.done();
    for (const auto id : {graph.inputs[0], graph.outputs[0]})
      graph.tensor(id).desc.dtype = DType::kInt16, graph.tensor(id).desc.quant = {{0.5f}, {0}, 0};
    const auto& op = graph.ops[0];
    delegate::Tensor &w = graph.tensor(op.inputs[1]), &b = graph.tensor(op.inputs[2]);
    w.desc.dtype = DType::kInt8, w.desc.quant = {{0x1p-20f}, {0}, 0}, w.data.resize(16);
    b.desc.dtype = DType::kInt64, b.desc.quant = {{0x1p-21f}, {0}, 0};
    const std::int64_t bias[2] = {large, -7};
    b.data.resize(sizeof bias), std::memcpy(b.data.data(), bias, sizeof bias);
    const delegate::Graph again = through_onnx(graph);
    REQUIRE(count(again, OpKind::FULLY_CONNECTED) == 1);
    const auto& made = first(again, OpKind::FULLY_CONNECTED);
    CHECK(again.tensor(made.inputs[2]).desc.dtype == DType::kInt64);
    CHECK(again.tensor(made.inputs[2]).data == b.data);
  }
}

}  // namespace
}  // namespace deputy::tests
