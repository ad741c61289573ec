// ONNX models for tests, built without a file. protobuf stays in builder.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/import_model.h"
#include "arch/onnx_node.h"

namespace deputy::tests {

/// An initialiser.
struct Data {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<std::uint8_t> bytes;
};
Data floats(Shape shape, const std::vector<float>& values);
Data ints64(const std::vector<std::int64_t>& values);
Data bytes8(DType dtype, Shape shape, const std::vector<int>& values);
Data ints16(DType dtype, Shape shape, const std::vector<int>& values);
Data ints32(Shape shape, const std::vector<std::int32_t>& values);

class Builder {
 public:
  explicit Builder(int opset = 13, int ir = 7);
  ~Builder();
  Builder(Builder&&) noexcept;
  /// Dimensions: numbers, or names of open ones.
  Builder& input(const std::string& name, DType dtype, const std::vector<std::string>& dims);
  Builder& output(const std::string& name, DType dtype);
  Builder& constant(const std::string& name, const Data& data);
  Builder& external(const std::string& name, const Shape& shape, const std::string& location,
                    const std::string& offset, const std::string& length);
  Builder& node(const std::string& op, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs,
                const std::vector<arch::OnnxAttr>& attrs = {}, const std::string& domain = "");
  /// A node with a graph as attribute.
  Builder& control_flow(const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& output);
  /// Q and DQ with one scale; those of 16 bits are com.microsoft's.
  Builder& q(const std::string& in, const std::string& out, float scale, int zero,
             DType dtype = DType::kInt8);
  Builder& dq(const std::string& in, const std::string& out, float scale, int zero,
              DType dtype = DType::kInt8);
  std::vector<std::uint8_t> bytes() const;
  base::Result<delegate::Graph> graph(const api::Bindings& bindings = {},
                                      const std::string& folder = "",
                                      std::vector<std::string>* notes = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

arch::OnnxAttr attr(const std::string& name, std::vector<std::int64_t> ints);
arch::OnnxAttr attr_s(const std::string& name, const std::string& text);
arch::OnnxAttr attr_f(const std::string& name, float value);

/// How many operators of a kind a graph has.
int count(const delegate::Graph& graph, arch::OpKind kind);
/// The only output of a graph on the CPU's kernels, in fp32 rounding.
std::vector<std::uint8_t> run(const delegate::Graph& graph,
                              const std::vector<std::vector<std::uint8_t>>& inputs);
/// Float inputs of a seeded pattern, integers too.
std::vector<std::vector<std::uint8_t>> pattern(const delegate::Graph& graph);

}  // namespace deputy::tests
