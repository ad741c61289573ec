// Shapes and types at the edge of what an operator takes: a scalar where a vector is usual, nothing
// to work on.
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/onnx/builder.h"

namespace deputy::tests {
namespace {

template <class T>
std::vector<T> values(const Builder& b) {
  const auto graph = b.graph();
  INFO((graph.ok() ? std::string() : graph.error().text()));
  REQUIRE(graph.ok());
  const auto bytes = run(*graph, pattern(*graph));
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

TEST_CASE("ONNX: a Gemm of one column takes a scalar as its bias") {
  Builder b;
  b.input("x", DType::kFloat32, {"2", "3"}).output("y", DType::kFloat32);
  b.constant("w", floats({3, 1}, {0, 0, 0})).constant("c", floats({}, {2.5f}));
  b.node("Gemm", {"x", "w", "c"}, {"y"});
  CHECK(values<float>(b) == std::vector<float>{2.5f, 2.5f});
}

TEST_CASE("ONNX: a product of matrices without rows has no zero points to read") {
  Builder b;
  b.input("x", DType::kInt8, {"0", "3"}).output("y", DType::kInt32);
  b.constant("w", bytes8(DType::kInt8, {3, 2}, {1, 2, 3, 4, 5, 6}));
  b.constant("za", bytes8(DType::kInt8, {0}, {})).constant("zb", bytes8(DType::kInt8, {}, {1}));
  b.node("MatMulInteger", {"x", "w", "za", "zb"}, {"y"});
  CHECK(values<std::int32_t>(b).empty());
}

TEST_CASE("ONNX: Mod of floats of any width needs fmod") {
  for (const DType type : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    Builder b;
    b.input("x", type, {"2"}).output("y", type).node("Mod", {"x", "x"}, {"y"});
    CHECK(!b.graph().ok());
  }
  Builder wide;
  wide.input("x", DType::kInt64, {"2"}).output("y", DType::kInt64).node("Mod", {"x", "x"}, {"y"});
  const auto graph = wide.graph();
  INFO((graph.ok() ? std::string() : graph.error().text()));
  CHECK(graph.ok());
}

TEST_CASE("ONNX: a slice of nothing is nothing, in either direction") {
  for (const std::int64_t step : {1, -1}) {
    Builder b;
    b.input("x", DType::kFloat32, {"0", "2"}).output("y", DType::kFloat32);
    b.constant("s", ints64({-1}))
        .constant("e", ints64({-9}))
        .constant("a", ints64({0}))
        .constant("k", ints64({step}));
    b.node("Slice", {"x", "s", "e", "a", "k"}, {"y"});
    CHECK(values<float>(b).empty());
  }
}

TEST_CASE("ONNX: NonZero counts a scalar as a vector of one") {
  Builder b;
  b.input("x", DType::kFloat32, {"1"}).output("y", DType::kInt64);
  b.constant("c", floats({}, {3})).node("NonZero", {"c"}, {"n"});
  b.node("Shape", {"x"}, {"one"}).node("Add", {"n", "one"}, {"y"});
  CHECK(values<std::int64_t>(b) == std::vector<std::int64_t>{1});
}

TEST_CASE("ONNX: weights that are not of one byte stay in floats") {
  Builder b;
  b.input("x", DType::kInt8, {"1", "2", "3", "3"}).output("y", DType::kInt8).dq("x", "xf", 0.1f, 0);
  b.constant("w", ints32({2, 2, 1, 1}, {100, -300, 500, 70000}))
      .constant("ws", floats({}, {0.001f}));
  b.node("DequantizeLinear", {"w", "ws"}, {"wf"})
      .node("Conv", {"xf", "wf"}, {"c"})
      .q("c", "y", 0.5f, 0);
  const auto graph = b.graph();
  REQUIRE(graph.ok());
  const auto defined = b.graph({.native = false});
  REQUIRE(defined.ok());
  CHECK(run(*graph, pattern(*graph)) == run(*defined, pattern(*defined)));
}

}  // namespace
}  // namespace deputy::tests
