// What the importer takes and refuses, and what becomes of the order of dimensions.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/onnx/builder.h"
#include "tests/support/golden.h"
#include "tests/support/source_dir.h"

namespace deputy::tests {
namespace {

using arch::OpKind;
namespace fs = std::filesystem;

std::string refusal(const Builder& b, const api::Bindings& bindings = {},
                    const std::string& folder = "") {
  const auto graph = b.graph(bindings, folder);
  REQUIRE(!graph.ok());
  return graph.error().text();
}
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Data weights(Shape shape) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < element_count(shape); ++i)
    values.push_back(static_cast<float>(i * 7 % 13 - 6) * 0.1f);
  return floats(std::move(shape), values);
}

/// Both forms of the import give the same floats.
delegate::Graph same_floats(const Builder& b) {
  const auto graph = b.graph(), defined = b.graph({.native = false});
  INFO((graph.ok() ? std::string() : graph.error().text()));
  REQUIRE(graph.ok());
  REQUIRE(defined.ok());
  const auto inputs = pattern(*graph);
  const auto got = run(*graph, inputs), want = run(*defined, inputs);
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i + 4 <= got.size(); i += 4) {
    float a, c;
    std::memcpy(&a, &got[i], 4), std::memcpy(&c, &want[i], 4);
    CHECK(a == Approx(c).epsilon(1e-4).margin(1e-4));
  }
  return *graph;
}

TEST_CASE("ONNX: a model file is known by how it begins, whatever it is called") {
  Builder b;
  b.input("x", DType::kFloat32, {"1", "4"}).output("y", DType::kFloat32).node("Relu", {"x"}, {"y"});
  const auto bytes = b.bytes();
  CHECK(api::is_onnx(bytes));
  CHECK_FALSE(api::is_tflite(bytes));
  const auto named = api::import_model(bytes, "relu.onnx", ""),
             nameless = api::import_model(bytes, "a buffer", "");
  REQUIRE(named.ok());
  REQUIRE(nameless.ok());
  CHECK(nameless->ops.size() == named->ops.size());
  const auto tflite = read_bytes(source_dir() + "/workloads/ecg/ecg_beats.tflite");
  CHECK_FALSE(api::is_onnx(tflite));
  CHECK(api::import_model(tflite, "misnamed.onnx", "").ok());
  for (const char* name : {"junk", "junk.onnx"}) {
    const auto junk = api::import_model(std::vector<std::uint8_t>(40, 0x55), name, "");
    REQUIRE(!junk.ok());
    CHECK(junk.error().kind == base::ErrorKind::kModel);
    CHECK(contains(junk.error().text(), name));
  }
}

TEST_CASE("ONNX: an image network has one transpose, at its input") {
  Builder b;
  b.input("x", DType::kFloat32, {"1", "3", "8", "8"}).output("y", DType::kFloat32);
  b.constant("w1", weights({4, 3, 3, 3}))
      .constant("b1", weights({4}))
      .constant("w2", weights({4, 1, 3, 3}))
      .constant("w3", weights({6, 4, 1, 1}))
      .constant("scale", weights({1, 6, 1, 1}));
  b.constant("fc", weights({5, 6 * 4 * 4})).constant("fb", weights({5}));
  b.node("Conv", {"x", "w1", "b1"}, {"c1"}, {attr("pads", {1, 1, 1, 1})})
      .node("Relu", {"c1"}, {"r1"});
  b.node("Conv", {"r1", "w2"}, {"c2"},
         {attr("pads", {1, 1, 1, 1}), attr("group", std::vector<std::int64_t>{4})})
      .node("Add", {"c2", "r1"}, {"a"});
  b.node("Conv", {"a", "w3"}, {"c3"})
      .node("Mul", {"c3", "scale"}, {"m"})
      .node("MaxPool", {"m"}, {"p"}, {attr("kernel_shape", {2, 2}), attr("strides", {2, 2})});
  b.node("Flatten", {"p"}, {"f"})
      .node("Gemm", {"f", "fc", "fb"}, {"y"}, {attr("transB", std::vector<std::int64_t>{1})});
  const auto graph = same_floats(b);
  CHECK(count(graph, OpKind::TRANSPOSE) == 1);  // the flattened image's order went into the weights
  CHECK(count(graph, OpKind::ONNX) == 0);
  CHECK(count(graph, OpKind::DEPTHWISE_CONV_2D) == 1);
}

TEST_CASE("ONNX: transposes of a model in NHWC cancel") {
  Builder b;
  b.input("x", DType::kFloat32, {"1", "8", "8", "3"})
      .output("y", DType::kFloat32)
      .constant("w", weights({4, 3, 3, 3}));
  b.node("Transpose", {"x"}, {"t"}, {attr("perm", {0, 3, 1, 2})})
      .node("Conv", {"t", "w"}, {"c"})
      .node("Relu", {"c"}, {"r"});
  b.node("Transpose", {"r"}, {"y"}, {attr("perm", {0, 2, 3, 1})});
  CHECK(count(same_floats(b), OpKind::TRANSPOSE) == 0);
}

TEST_CASE("ONNX: convolutions over one dimension in a row need no transposes between them") {
  Builder b;
  b.input("x", DType::kFloat32, {"1", "3", "20"})
      .output("y", DType::kFloat32)
      .constant("w1", weights({4, 3, 3}))
      .constant("w2", weights({4, 4, 3}));
  b.node("Conv", {"x", "w1"}, {"c"}, {attr("pads", {2, 0})})
      .node("Relu", {"c"}, {"r"})
      .node("Conv", {"r", "w2"}, {"d"}, {attr("dilations", {2}), attr("pads", {4, 0})});
  b.node("Add", {"d", "r"}, {"a"})
      .node("GlobalAveragePool", {"a"}, {"g"})
      .node("Flatten", {"g"}, {"y"});
  const auto graph = same_floats(b);
  CHECK(count(graph, OpKind::TRANSPOSE) == 1);
  CHECK(count(graph, OpKind::CONV_2D) == 2);
}

TEST_CASE("ONNX: pads of nothing do nothing") {
  Builder b;
  b.input("x", DType::kFloat32, {"1", "3", "8", "8"}).output("y", DType::kFloat32);
  b.constant("w", weights({4, 3, 3, 3})).constant("none", ints64({0, 0, 0, 0, 0, 0, 0, 0}));
  b.node("Conv", {"x", "w"}, {"c"}).node("Pad", {"c", "none"}, {"p"});
  b.node("AveragePool", {"p"}, {"y"}, {attr("kernel_shape", {2, 2}), attr("strides", {2, 2})});
  const auto graph = same_floats(b);
  CHECK(count(graph, OpKind::PAD) == 0);
  CHECK(count(graph, OpKind::AVERAGE_POOL_2D) == 1);
}

TEST_CASE("ONNX: a decoder with transposed convolution, skip connection and crop") {
  Builder b;
  b.input("x", DType::kFloat32, {"1", "3", "8", "8"})
      .output("y", DType::kFloat32)
      .constant("w1", weights({4, 3, 3, 3}))
      .constant("up", weights({4, 2, 2, 2}))
      .constant("w2", weights({1, 5, 1, 1}));
  b.node("Conv", {"x", "w1"}, {"c"}, {attr("pads", {1, 1, 1, 1}), attr("strides", {2, 2})})
      .node("Relu", {"c"}, {"r"});
  b.node("ConvTranspose", {"r", "up"}, {"u"}, {attr("strides", {2, 2})})
      .node("Concat", {"u", "x"}, {"k"}, {attr("axis", std::vector<std::int64_t>{1})});
  b.node("Conv", {"k", "w2"}, {"m"}).node("Sigmoid", {"m"}, {"y"});
  const auto graph = same_floats(b);
  CHECK(count(graph, OpKind::ONNX) == 0);
  CHECK(count(graph, OpKind::TRANSPOSE_CONV) == 1);
}

TEST_CASE("ONNX: a batch normalisation goes into its convolution") {
  Builder b;
  b.input("x", DType::kFloat32, {"1", "3", "6", "6"})
      .output("y", DType::kFloat32)
      .constant("w", weights({4, 3, 3, 3}));
  b.constant("s", floats({4}, {1, 2, 0.5f, 1.5f}))
      .constant("o", weights({4}))
      .constant("m", weights({4}))
      .constant("v", floats({4}, {1, 0.5f, 2, 0.1f}));
  b.node("Conv", {"x", "w"}, {"c"})
      .node("BatchNormalization", {"c", "s", "o", "m", "v"}, {"n"})
      .node("Relu", {"n"}, {"y"});
  CHECK(count(same_floats(b), OpKind::ONNX) == 0);
}

TEST_CASE(
    "ONNX: a batch normalisation without a convolution before becomes operators that engines "
    "know") {
  const auto norm = [](const std::vector<std::string>& dims) {
    Builder b;
    b.input("x", DType::kFloat32, dims).output("y", DType::kFloat32);
    b.constant("s", floats({4}, {1, 2, -0.5f, 1.5f}))
        .constant("o", weights({4}))
        .constant("m", weights({4}))
        .constant("v", floats({4}, {1, 0.5f, 2, 0.1f}));
    b.node("Relu", {"x"}, {"r"})
        .node("BatchNormalization", {"r", "s", "o", "m", "v"}, {"n"})
        .node("Relu", {"n"}, {"y"});
    const auto graph = same_floats(b);
    CHECK(count(graph, OpKind::ONNX) == 0);
    return graph;
  };
  CHECK(count(norm({"1", "4", "5", "6"}), OpKind::DEPTHWISE_CONV_2D) == 1);
  CHECK(count(norm({"2", "4", "7"}), OpKind::DEPTHWISE_CONV_2D) == 1);
  const auto rows = norm({"3", "4"});
  CHECK(count(rows, OpKind::MUL) == 1);
  CHECK(count(rows, OpKind::ADD) == 1);
}

TEST_CASE("ONNX: open dimensions are bound by name or by shape, and named when they are not") {
  Builder b;
  b.input("x", DType::kFloat32, {"batch", "3", "height", "height"})
      .output("y", DType::kFloat32)
      .node("Relu", {"x"}, {"y"});
  CHECK(contains(refusal(b), "'batch'"));
  CHECK(contains(refusal(b, {.dims = {{"batch", 2}}}), "'height'"));
  CHECK(contains(refusal(b, {.dims = {{"batch", 2}, {"height", 4}, {"width", 1}}}), "'width'"));
  const auto named = b.graph({.dims = {{"batch", 2}, {"height", 4}}});
  REQUIRE(named.ok());
  CHECK(named->tensor(named->outputs[0]).desc.shape == Shape{2, 3, 4, 4});
  const auto shaped = b.graph({.shapes = {{"x", {1, 3, 5, 5}}}});
  REQUIRE(shaped.ok());
  CHECK(shaped->tensor(shaped->outputs[0]).desc.shape == Shape{1, 3, 5, 5});
  CHECK(contains(refusal(b, {.shapes = {{"x", {1, 3, 5, 6}}}}), "'height'"));
  CHECK(contains(refusal(b, {.shapes = {{"x", {1, 3, 5, 5}}, {"z", {1}}}}), "'z'"));
}

TEST_CASE("ONNX: control flow, unknown operators and other versions are refused by name") {
  Builder flow;
  flow.input("c", DType::kBool, {"1"}).output("y", DType::kFloat32).control_flow("If", {"c"}, "y");
  CHECK(contains(refusal(flow), "control flow"));
  Builder unknown;
  unknown.input("x", DType::kFloat32, {"4"})
      .output("y", DType::kFloat32)
      .node("Frobnicate", {"x"}, {"y"}, {}, "com.example");
  CHECK(contains(refusal(unknown), "com.example"));
  Builder old(6, 3);
  old.input("x", DType::kFloat32, {"4"}).output("y", DType::kFloat32).node("Relu", {"x"}, {"y"});
  CHECK(contains(refusal(old), "operator set 6"));
  Builder newer(13, 9);
  newer.input("x", DType::kFloat32, {"4"}).output("y", DType::kFloat32).node("Relu", {"x"}, {"y"});
  CHECK(contains(refusal(newer), "IR version 9"));
  Builder random;
  random.input("x", DType::kFloat32, {"4"})
      .output("y", DType::kFloat32)
      .node("RandomNormalLike", {"x"}, {"y"});
  CHECK(contains(refusal(random), "RandomNormalLike"));
}

TEST_CASE("ONNX: external data stay in the model's folder") {
  const fs::path folder = fs::temp_directory_path() / ("deputy_onnx_" + std::to_string(::getpid()));
  fs::create_directories(folder / "model" / "sub");
  const auto write = [](const fs::path& path, std::size_t bytes) {
    std::ofstream(path, std::ios::binary) << std::string(bytes, '\0');
  };
  write(folder / "model" / "w.bin", 64), write(folder / "secret.bin", 64),
      write(folder / "model" / "sub" / "w.bin", 64);
  fs::create_symlink(folder / "secret.bin", folder / "model" / "link.bin");
  fs::create_directory_symlink(folder, folder / "model" / "up");
  const std::string at = (folder / "model").string();
  const auto model = [&](const std::string& location, const std::string& offset = "",
                         const std::string& length = "") {
    Builder b;
    b.input("x", DType::kFloat32, {"1", "4"})
        .output("y", DType::kFloat32)
        .external("w", {4, 4}, location, offset, length)
        .node("MatMul", {"x", "w"}, {"y"});
    return b.graph({}, at);
  };
  CHECK(model("w.bin").ok());
  CHECK(model("sub/w.bin", "0", "64").ok());
  const auto text = [&](const auto& graph) {
    REQUIRE(!graph.ok());
    return graph.error().text();
  };
  CHECK(contains(text(model((folder / "secret.bin").string())), "absolute"));
  CHECK(contains(text(model("../secret.bin")), "leaves the model's folder"));
  CHECK(contains(text(model("sub/../../secret.bin")), "leaves the model's folder"));
  CHECK(contains(text(model("link.bin")), "link leads out"));
  CHECK(contains(text(model("up/secret.bin")), "link leads out"));
  CHECK(contains(text(model("none.bin")), "no such file"));
  CHECK(contains(text(model("sub")), "not a regular file"));
  CHECK(contains(text(model("")), "not a file name"));
  CHECK(contains(text(model(std::string("w.bin\0x", 7))), "not a file name"));
  CHECK(contains(text(model("w.bin", "65")), "beyond"));
  CHECK(contains(text(model("w.bin", "0", "65")), "beyond"));
  CHECK(contains(text(model("w.bin", "0", "60")), "needs 64"));
  CHECK(contains(text(model("w.bin", "-4")), "offset '-4'"));
  CHECK(contains(text(model("w.bin", "99999999999999999999")), "offset"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace deputy::tests
