// What models quantised by others look like. The oracle of values is ONNX's definition: the same
// model with every operator as an ONNX one (dequantise, compute in floats, quantise), whose kernels
// the node tests check.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>

#include "tests/onnx/builder.h"

namespace deputy::tests {
namespace {

using arch::OpKind;

std::vector<int> steps(std::size_t n, int factor, int zero = 0) {
  std::vector<int> out;
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(static_cast<int>(i * static_cast<std::size_t>(factor) % 251) - 125 + zero);
  return out;
}

/// Runs both forms; the bytes may differ by `most`.
delegate::Graph same_as_defined(const Builder& b, int most) {
  std::vector<std::string> notes;
  const auto graph = b.graph({}, "", &notes);
  INFO((graph.ok() ? std::string() : graph.error().text()));
  REQUIRE(graph.ok());
  const auto defined = b.graph({.native = false});
  REQUIRE(defined.ok());
  const auto inputs = pattern(*graph);
  const auto got = run(*graph, inputs), want = run(*defined, inputs);
  REQUIRE(got.size() == want.size());
  const bool is_signed = graph->tensor(graph->outputs[0]).desc.dtype == DType::kInt8;
  int worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const int a = is_signed ? static_cast<std::int8_t>(got[i]) : got[i],
              c = is_signed ? static_cast<std::int8_t>(want[i]) : want[i];
    worst = std::max(worst, std::abs(a - c));
  }
  CHECK(worst <= most);
  return *graph;
}

/// DQ - Conv 1x1 of 3 to 4 channels - Q, with what a test varies.
struct ConvModel {
  int opset = 13;
  DType type = DType::kInt8, weight_type = DType::kInt8;
  int bias_zero = 0;
  bool per_channel = false, transposed = false;
  bool float_bias = false;
  Builder build() const {
    Builder b(opset);
    b.input("x", type, {"1", "3", "4", "5"}).output("y", type);
    b.dq("x", "xf", 0.05f, type == DType::kUint8 ? 120 : 3, type);
    const std::size_t channels = per_channel ? 4 : 1;
    const std::vector<float> scales =
        per_channel ? std::vector<float>{0.01f, 0.02f, 0.005f, 0.03f} : std::vector<float>{0.01f};
    const Shape each = per_channel ? Shape{4} : Shape{};
    b.constant("ws", floats(each, scales))
        .constant("wz", bytes8(weight_type, each,
                               std::vector<int>(channels, weight_type == DType::kUint8 ? 128 : 0)));
    // Transposed: stored as [3, 4, 1, 1] with the channels on axis 1, put in order by a Transpose
    // after the DQ.
    b.constant("w", bytes8(weight_type, transposed ? Shape{3, 4, 1, 1} : Shape{4, 3, 1, 1},
                           steps(12, 37, weight_type == DType::kUint8 ? 125 : 0)));
    b.node("DequantizeLinear", {"w", "ws", "wz"}, {"wf"},
           {attr("axis", std::vector<std::int64_t>{transposed ? 1 : 0})});
    if (transposed) b.node("Transpose", {"wf"}, {"wt"}, {attr("perm", {1, 0, 2, 3})});
    std::vector<float> bias_scale;
    for (const float s : scales) bias_scale.push_back(s * 0.05f);
    if (float_bias) {
      b.constant("bf", floats({4}, {0.5f, -0.25f, 1.0f, 0.01f}));
    } else {
      b.constant("bs", floats(each, bias_scale))
          .constant("bz", ints32(each, std::vector<std::int32_t>(channels, bias_zero)));
      b.constant("b", ints32({4}, {500 + bias_zero, -300 + bias_zero, 70 + bias_zero, bias_zero}));
      b.node("DequantizeLinear", {"b", "bs", "bz"}, {"bf"},
             {attr("axis", std::vector<std::int64_t>{0})});
    }
    b.node("Conv", {"xf", transposed ? "wt" : "wf", "bf"}, {"yf"});
    b.q("yf", "y", 0.04f, type == DType::kUint8 ? 100 : -7, type);
    return b;
  }
};

TEST_CASE("ONNX: DQ-Conv-Q becomes one integer convolution") {
  const auto graph = same_as_defined(ConvModel{}.build(), 1);
  CHECK(count(graph, OpKind::CONV_2D) == 1);
  CHECK(count(graph, OpKind::ONNX) == 0);
  CHECK(count(graph, OpKind::DEQUANTIZE) == 0);
}

TEST_CASE("ONNX: a DQ of an int32 bias with a zero point") {
  const auto graph = same_as_defined(ConvModel{.bias_zero = 11}.build(), 1);
  CHECK(count(graph, OpKind::CONV_2D) == 1);
  CHECK(count(graph, OpKind::ONNX) == 0);
}

TEST_CASE("ONNX: a float bias of an integer convolution is quantised") {
  const auto graph = same_as_defined(ConvModel{.float_bias = true}.build(), 1);
  CHECK(count(graph, OpKind::ONNX) == 0);
}

TEST_CASE("ONNX: scales per channel keep their axis through a Transpose") {
  for (const bool transposed : {false, true}) {
    const auto graph =
        same_as_defined(ConvModel{.per_channel = true, .transposed = transposed}.build(), 1);
    REQUIRE(count(graph, OpKind::CONV_2D) == 1);
    for (const auto& op : graph.ops) {
      if (op.kind != OpKind::CONV_2D) continue;
      const auto& quant = graph.tensor(op.inputs[1]).desc.quant;
      CHECK(quant.scale.size() == 4);
      CHECK(quant.axis == 0);
      CHECK(quant.scale[2] == 0.005f);
    }
  }
}

TEST_CASE("ONNX: weights of the other signedness") {
  // uint8 weights with 128 for int8 activations, and int8 weights for uint8 ones: common in files
  // of ONNX Runtime's quantiser.
  CHECK(count(same_as_defined(ConvModel{.weight_type = DType::kUint8}.build(), 1),
              OpKind::CONV_2D) == 1);
  CHECK(count(same_as_defined(ConvModel{.type = DType::kUint8}.build(), 1), OpKind::CONV_2D) == 1);
}

TEST_CASE("ONNX: one DQ, and one quantised tensor, used by two operators") {
  Builder b;
  b.input("x", DType::kInt8, {"1", "3", "4", "4"}).output("y", DType::kInt8);
  b.dq("x", "xf", 0.05f, 3);
  b.node("Relu", {"xf"}, {"a"}).q("a", "aq", 0.05f, 3).dq("aq", "ad", 0.05f, 3);
  b.node("Sigmoid", {"xf"}, {"s"}).q("s", "sq", 1.0f / 256, -128).dq("sq", "sd", 1.0f / 256, -128);
  b.node("Mul", {"ad", "sd"}, {"m"}).q("m", "mq", 0.04f, 0).dq("mq", "md", 0.04f, 0);
  b.node("Add", {"ad", "md"}, {"z"}).q("z", "y", 0.08f, -4);
  const auto graph = same_as_defined(b, 1);
  CHECK(count(graph, OpKind::ONNX) == 0);
  CHECK(count(graph, OpKind::DEQUANTIZE) == 0);
  CHECK(count(graph, OpKind::ADD) == 1);
}

TEST_CASE("ONNX: duplicated DQ nodes of one tensor") {
  Builder b;
  b.input("x", DType::kInt8, {"1", "3", "4", "4"}).output("y", DType::kInt8);
  b.dq("x", "x1", 0.05f, 3).dq("x", "x2", 0.05f, 3);
  b.node("Add", {"x1", "x2"}, {"z"}).q("z", "y", 0.1f, 3);
  const auto graph = same_as_defined(b, 1);
  CHECK(count(graph, OpKind::ADD) == 1);
  CHECK(count(graph, OpKind::DEQUANTIZE) == 0);
}

TEST_CASE("ONNX: a DQ with another scale than the Q before it reads the numbers anew") {
  Builder b;
  b.input("x", DType::kFloat32, {"1", "8"}).output("y", DType::kInt8);
  b.q("x", "q", 0.05f, 3).dq("q", "f", 0.1f, 0);
  b.node("Relu", {"f"}, {"r"}).q("r", "y", 0.1f, 0);
  same_as_defined(b, 0);
}

TEST_CASE("ONNX: types that do not meet at a boundary") {
  Builder mixed;  // an int8 operand, a uint8 result: floats in between
  mixed.input("x", DType::kInt8, {"1", "3", "4", "4"}).output("y", DType::kUint8);
  mixed.dq("x", "xf", 0.05f, 3).node("Relu", {"xf"}, {"r"}).q("r", "y", 0.05f, 10, DType::kUint8);
  same_as_defined(mixed, 1);
  Builder wrong;  // a zero point of another type than its tensor is no model
  wrong.input("x", DType::kInt8, {"4"}).output("y", DType::kFloat32);
  wrong.dq("x", "y", 0.05f, 3, DType::kUint8);
  const auto graph = wrong.graph();
  REQUIRE(!graph.ok());
  CHECK(graph.error().text().find("zero point") != std::string::npos);
}

TEST_CASE("ONNX: a Concat of tensors of different scales") {
  Builder b;
  b.input("x", DType::kInt8, {"1", "3", "4", "4"})
      .input("w", DType::kInt8, {"1", "2", "4", "4"})
      .output("y", DType::kInt8);
  b.dq("x", "xf", 0.05f, 3).dq("w", "wf", 0.02f, -10);
  b.node("Concat", {"xf", "wf"}, {"c"}, {attr("axis", std::vector<std::int64_t>{1})})
      .q("c", "y", 0.06f, 1);
  const auto graph = same_as_defined(b, 1);
  CHECK(count(graph, OpKind::CONCATENATION) == 1);
  CHECK(count(graph, OpKind::QUANTIZE) == 2);
}

TEST_CASE("ONNX: movement between DQ and Q stays on the integers") {
  Builder b;
  b.input("x", DType::kInt8, {"1", "4", "6", "6"}).output("y", DType::kInt8);
  b.dq("x", "xf", 0.05f, 3);
  b.node("MaxPool", {"xf"}, {"p"}, {attr("kernel_shape", {2, 2}), attr("strides", {2, 2})});
  b.node("Transpose", {"p"}, {"t"}, {attr("perm", {0, 2, 3, 1})})
      .node("Flatten", {"t"}, {"f"})
      .q("f", "y", 0.05f, 3);
  const auto graph = same_as_defined(b, 0);
  CHECK(count(graph, OpKind::DEQUANTIZE) == 0);
  CHECK(count(graph, OpKind::ONNX) == 0);
}

TEST_CASE("ONNX: tensors without elements") {
  Builder b;
  b.input("x", DType::kFloat32, {"0", "4"})
      .input("w", DType::kFloat32, {"2", "4"})
      .output("y", DType::kFloat32);
  b.node("Concat", {"x", "w"}, {"c"}, {attr("axis", std::vector<std::int64_t>{0})})
      .node("Relu", {"c"}, {"y"});
  const auto graph = b.graph();
  REQUIRE(graph.ok());
  const auto inputs = pattern(*graph);
  CHECK(run(*graph, inputs).size() == 32);
  Builder empty;
  empty.input("x", DType::kFloat32, {"0", "4"})
      .output("y", DType::kFloat32)
      .node("Relu", {"x"}, {"y"});
  const auto nothing = empty.graph();
  REQUIRE(nothing.ok());
  CHECK(run(*nothing, pattern(*nothing)).empty());
}

TEST_CASE("ONNX: QLinearConv becomes an integer convolution") {
  Builder b(10, 5);
  b.input("x", DType::kUint8, {"1", "3", "4", "5"}).output("y", DType::kUint8);
  b.constant("xs", floats({}, {0.05f})).constant("xz", bytes8(DType::kUint8, {}, {120}));
  b.constant("w", bytes8(DType::kUint8, {4, 3, 1, 1}, steps(12, 37, 125)))
      .constant("ws", floats({}, {0.01f}))
      .constant("wz", bytes8(DType::kUint8, {}, {128}));
  b.constant("ys", floats({}, {0.04f}))
      .constant("yz", bytes8(DType::kUint8, {}, {100}))
      .constant("b", ints32({4}, {500, -300, 70, 0}));
  b.node("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"}, {"y"});
  const auto graph = same_as_defined(b, 1);
  CHECK(count(graph, OpKind::CONV_2D) == 1);
  CHECK(count(graph, OpKind::ONNX) == 0);
}

TEST_CASE("ONNX: Resize modes take Deputy's kernels where the positions are the same") {
  struct Row {
    const char *mode, *transform, *nearest;
    std::vector<float> scales;
    bool native;
  };
  const Row rows[] = {{"nearest", "asymmetric", "floor", {1, 1, 2, 2}, true},
                      {"nearest", "half_pixel", "round_prefer_floor", {1, 1, 2, 3}, true},
                      {"nearest", "half_pixel", "round_prefer_floor", {1, 1, 0.6f, 1.7f}, false},
                      {"nearest", "align_corners", "round_prefer_ceil", {1, 1, 2, 2}, false},
                      {"linear", "half_pixel", "floor", {1, 1, 2, 2}, true},
                      {"linear", "align_corners", "floor", {1, 1, 2, 3}, true},
                      {"linear", "asymmetric", "floor", {1, 1, 2, 2}, true},
                      {"linear", "pytorch_half_pixel", "floor", {1, 1, 3, 2}, true},
                      {"cubic", "half_pixel", "floor", {1, 1, 2, 2}, false},
                      {"nearest", "asymmetric", "floor", {1, 2, 2, 2}, false}};
  for (const Row& row : rows) {
    INFO(row.mode << " " << row.transform << " " << row.nearest);
    Builder b;
    b.input("x", DType::kFloat32, {"1", "2", "5", "5"})
        .output("y", DType::kFloat32)
        .constant("s", floats({4}, row.scales));
    b.node("Resize", {"x", "", "s"}, {"y"},
           {attr_s("mode", row.mode), attr_s("coordinate_transformation_mode", row.transform),
            attr_s("nearest_mode", row.nearest)});
    const auto graph = b.graph();
    INFO((graph.ok() ? std::string() : graph.error().text()));
    REQUIRE(graph.ok());
    CHECK((count(*graph, OpKind::ONNX) == 0) == row.native);
    const auto defined = b.graph({.native = false});
    REQUIRE(defined.ok());
    const auto inputs = pattern(*graph);
    const auto got = run(*graph, inputs), want = run(*defined, inputs);
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); i += 4) {
      float a, c;
      std::memcpy(&a, &got[i], 4), std::memcpy(&c, &want[i], 4);
      CHECK(a == Approx(c).margin(1e-5));
    }
  }
}

}  // namespace
}  // namespace deputy::tests
