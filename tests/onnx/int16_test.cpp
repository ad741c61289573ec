// int16 and uint16 maps, whose QuantizeLinear and DequantizeLinear are com.microsoft's below
// operator set 21. The oracle of values is the definition: the same model with every operator as an
// ONNX one on floats.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>

#include "tests/onnx/builder.h"

namespace deputy::tests {
namespace {

using arch::OpKind;

struct Compared {
  delegate::Graph graph;
  int worst = 0;  ///< steps between the two forms
};
Compared compared(const Builder& b) {
  const auto graph = b.graph(), defined = b.graph({.native = false});
  INFO((graph.ok() ? std::string() : graph.error().text()));
  REQUIRE((graph.ok() && defined.ok()));
  const auto inputs = pattern(*graph);
  const auto got = run(*graph, inputs), want = run(*defined, inputs);
  REQUIRE(got.size() == want.size());
  Compared out{*graph};
  for (std::size_t i = 0; i + 2 <= got.size(); i += 2) {
    std::int16_t a, c;
    std::memcpy(&a, &got[i], 2), std::memcpy(&c, &want[i], 2);
    out.worst = std::max(out.worst, std::abs(a - c));
  }
  return out;
}

/// DQ - Conv 1x1 of 3 to 4 channels - Relu - Q, the weights int8 with a scale for each channel.
Builder conv_model(DType type, int zero) {
  Builder b;
  b.input("x", type, {"1", "3", "4", "5"}).output("y", type).dq("x", "xf", 0.0005f, zero, type);
  b.constant("ws", floats({4}, {0.01f, 0.02f, 0.005f, 0.03f}));
  b.constant("wz", bytes8(DType::kInt8, {4}, {0, 0, 0, 0}));
  b.constant("w", bytes8(DType::kInt8, {4, 3, 1, 1},
                         {100, -37, 25, 88, 127, -90, 3, 14, -127, 60, -61, 7}));
  b.node("DequantizeLinear", {"w", "ws", "wz"}, {"wf"},
         {attr("axis", std::vector<std::int64_t>{0})});
  b.constant("bs", floats({4}, {5e-6f, 1e-5f, 2.5e-6f, 1.5e-5f}));
  b.constant("b", ints32({4}, {500000, -300000, 2000000000, 0}));
  b.node("DequantizeLinear", {"b", "bs"}, {"bf"}, {attr("axis", std::vector<std::int64_t>{0})});
  b.node("Conv", {"xf", "wf", "bf"}, {"c"}).node("Relu", {"c"}, {"r"});
  b.q("r", "y", 0.25f, zero, type);
  return b;
}

TEST_CASE("ONNX: DQ-Conv-Q on int16 is a 16x8 convolution") {
  // The multiplier has 16 bits there (TFLite's rule), the definition's is a float32.
  const Compared c = compared(conv_model(DType::kInt16, 0));
  CHECK(c.worst <= 1);
  REQUIRE(count(c.graph, OpKind::CONV_2D) == 1);
  CHECK(count(c.graph, OpKind::ONNX) == 0);
  for (const auto& op : c.graph.ops) {
    if (op.kind != OpKind::CONV_2D) continue;
    CHECK(c.graph.tensor(op.inputs[0]).desc.dtype == DType::kInt16);
    CHECK(c.graph.tensor(op.inputs[1]).desc.dtype == DType::kInt8);
    const auto& bias = c.graph.tensor(op.inputs[2]);
    CHECK(bias.desc.dtype == DType::kInt64);
    REQUIRE(bias.data.size() == 4 * sizeof(std::int64_t));
    std::int64_t q;
    std::memcpy(&q, &bias.data[2 * sizeof q], sizeof q);
    CHECK(q == 2000000000);
  }
}

TEST_CASE("ONNX: 16-bit maps with a zero point, and uint16, are floats between the operators") {
  for (const auto& [type, zero] : {std::pair{DType::kInt16, 700}, {DType::kUint16, 32768}}) {
    const Compared c = compared(conv_model(type, zero));
    CHECK(c.worst == 0);
    for (const auto& op : c.graph.ops)
      if (op.kind == OpKind::CONV_2D)
        CHECK(c.graph.tensor(op.inputs[0]).desc.dtype == DType::kFloat32);
  }
}

TEST_CASE("ONNX: operators on int16 stay on the integers where these have a form") {
  Builder b;
  b.input("x", DType::kInt16, {"1", "4", "6", "6"}).output("y", DType::kInt16);
  const auto type = DType::kInt16;
  b.dq("x", "xf", 0.001f, 0, type);
  b.node("MaxPool", {"xf"}, {"p"}, {attr("kernel_shape", {2, 2}), attr("strides", {2, 2})});
  b.node("Transpose", {"p"}, {"t"}, {attr("perm", {0, 2, 3, 1})}).q("t", "tq", 0.001f, 0, type);
  b.dq("tq", "td", 0.001f, 0, type).constant("two", floats({}, {2}));
  b.node("Mul", {"td", "two"}, {"m"}).q("m", "mq", 0.002f, 0, type).dq("mq", "md", 0.002f, 0, type);
  b.node("Add", {"md", "td"}, {"s"}).q("s", "y", 0.003f, 0, type);
  const Compared c = compared(b);
  CHECK(c.worst <= 2);
  CHECK(count(c.graph, OpKind::DEQUANTIZE) == 0);
  CHECK(count(c.graph, OpKind::ONNX) == 0);
  CHECK(count(c.graph, OpKind::MUL) == 1);
  CHECK(count(c.graph, OpKind::ADD) == 1);
}

TEST_CASE("ONNX: between int8 and int16 the numbers are the definition's") {
  Builder b;
  b.input("x", DType::kInt16, {"1", "40"}).output("y", DType::kInt16);
  b.dq("x", "xf", 0.0007f, 0, DType::kInt16).q("xf", "n", 0.17f, 3).dq("n", "nf", 0.17f, 3);
  b.q("nf", "w", 0.0009f, 0, DType::kInt16).dq("w", "wf", 0.0009f, 0, DType::kInt16);
  b.q("wf", "y", 0.0011f, 0, DType::kInt16);
  CHECK(compared(b).worst == 0);
}

TEST_CASE("ONNX: integers of 16 bits that are no quantised reals are left alone") {
  Builder b;
  b.input("x", DType::kInt16, {"2", "3"}).output("y", DType::kInt16);
  b.node("Transpose", {"x"}, {"t"}, {attr("perm", {1, 0})}).node("Identity", {"t"}, {"y"});
  CHECK(compared(b).worst == 0);
}

TEST_CASE("ONNX: QuantizeLinear of ONNX itself knows no 16 bits below operator set 21") {
  Builder q(17, 8);
  q.input("x", DType::kFloat32, {"4"}).output("y", DType::kInt16);
  q.constant("s", floats({}, {0.1f})).constant("z", ints16(DType::kInt16, {}, {0}));
  q.node("QuantizeLinear", {"x", "s", "z"}, {"y"});
  Builder dq(17, 8);
  dq.input("x", DType::kUint16, {"4"}).output("y", DType::kFloat32);
  dq.constant("s", floats({}, {0.1f})).node("DequantizeLinear", {"x", "s"}, {"y"});
  for (const Builder* b : {&q, &dq}) {
    const auto graph = b->graph();
    REQUIRE_FALSE(graph.ok());
    CHECK(graph.error().kind == base::ErrorKind::kUnsupported);
    CHECK(graph.error().text().find("com.microsoft") != std::string::npos);
  }
}

TEST_CASE("ONNX: Q and DQ without their operand or their result are refused") {
  for (const char* domain : {"", "com.microsoft"})
    for (const char* op : {"QuantizeLinear", "DequantizeLinear"})
      for (const bool operand : {false, true}) {
        INFO(domain << " " << op << (operand ? " without operand" : " without result"));
        const bool to_floats = op[0] == 'D';
        Builder b;
        b.input("x", to_floats ? DType::kInt8 : DType::kFloat32, {"4"});
        b.output("y", to_floats ? DType::kFloat32 : DType::kInt8);
        b.constant("s", floats({}, {0.1f})).constant("z", bytes8(DType::kInt8, {}, {0}));
        b.node(op, {operand ? "" : "x", "s", "z"},
               operand ? std::vector<std::string>{"y"} : std::vector<std::string>{"", "y"}, {},
               domain);
        const auto graph = b.graph();
        REQUIRE_FALSE(graph.ok());
        CHECK_FALSE(graph.error().message.empty());
        CHECK(graph.error().text().find(op) != std::string::npos);
      }
}

}  // namespace
}  // namespace deputy::tests
