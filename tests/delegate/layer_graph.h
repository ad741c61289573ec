// Small int8 graphs written by hand, and running one every way the compiler offers.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "delegate/compile.h"
#include "delegate/ir/graph.h"
#include "tests/support/run_executable.h"

namespace deputy::delegate::testing {

using test::Bytes;

struct Quant {
  float scale = 0.05f;
  std::int32_t zero = 0;
};

class LayerGraph {
 public:
  explicit LayerGraph(unsigned seed = 1) : random_(seed) { graph_.name = "layers"; }

  TensorId map(const Shape& shape, Quant q = {}) {
    return add(shape, DType::kInt8, {{q.scale}, {q.zero}, 0});
  }
  TensorId input(const Shape& shape, Quant q = {}) {
    graph_.inputs.push_back(map(shape, q));
    return graph_.inputs.back();
  }
  TensorId constant(const Shape& shape, const std::vector<std::int8_t>& values, Quant q = {}) {
    const TensorId id = map(shape, q);
    graph_.tensor(id).constant = true;
    graph_.tensor(id).data.assign(values.begin(), values.end());
    return id;
  }
  TensorId random_constant(const Shape& shape, Quant q = {}) {
    std::vector<std::int8_t> values(static_cast<std::size_t>(element_count(shape)));
    for (std::int8_t& v : values)
      v = static_cast<std::int8_t>(static_cast<int>(random_() % 255) - 127);
    return constant(shape, values, q);
  }
  TensorId ints(const std::vector<std::int32_t>& values, const Shape& shape) {
    const TensorId id = add(shape, DType::kInt32, {});
    graph_.tensor(id).constant = true;
    graph_.tensor(id).data.resize(4 * values.size());
    std::memcpy(graph_.tensor(id).data.data(), values.data(), 4 * values.size());
    return id;
  }

  TensorId op(arch::OpKind kind, const std::vector<TensorId>& inputs, const Shape& shape,
              Quant q = {}, const arch::OpAttrs& attrs = {}) {
    const TensorId out = map(shape, q);
    graph_.ops.push_back(
        {kind, attrs, inputs, {out}, static_cast<std::int32_t>(graph_.ops.size())});
    return out;
  }
  std::vector<TensorId> op_many(arch::OpKind kind, const std::vector<TensorId>& inputs,
                                const std::vector<Shape>& shapes, Quant q,
                                const arch::OpAttrs& attrs) {
    std::vector<TensorId> out;
    for (const Shape& shape : shapes) out.push_back(map(shape, q));
    graph_.ops.push_back({kind, attrs, inputs, out, static_cast<std::int32_t>(graph_.ops.size())});
    return out;
  }
  /// A one-operand operator.
  TensorId unary(arch::OpKind kind, TensorId x, Quant q, const arch::OpAttrs& attrs = {}) {
    return op(kind, {x}, shape(x), q, attrs);
  }
  /// VALID convolution unless `same`.
  TensorId conv(TensorId x, std::int32_t filters, std::int32_t k, Quant q = {},
                std::int32_t stride = 1, bool same = false) {
    const Shape in = shape(x);
    arch::OpAttrs a;
    a.stride_h = a.stride_w = stride;
    a.padding = static_cast<std::uint8_t>(arch::Padding::kValid);
    Shape out = {in[0], 0, 0, filters};
    for (int d : {1, 2}) {
      out[static_cast<std::size_t>(d)] =
          same ? (in[static_cast<std::size_t>(d)] + stride - 1) / stride
               : (in[static_cast<std::size_t>(d)] - k) / stride + 1;
    }
    if (same) set_same(a, in, out, k, stride);
    const TensorId w = random_constant({filters, k, k, in[3]}, {0.02f, 0});
    return op(arch::OpKind::CONV_2D, {x, w, kNoTensor}, out, q, a);
  }
  TensorId pool(arch::OpKind kind, TensorId x, std::int32_t k, std::int32_t stride,
                bool same = false) {
    const Shape in = shape(x);
    arch::OpAttrs a;
    a.stride_h = a.stride_w = stride, a.filter_h = a.filter_w = k;
    a.padding = static_cast<std::uint8_t>(arch::Padding::kValid);
    Shape out = in;
    for (const std::size_t d : {1u, 2u})
      out[d] = same ? (in[d] + stride - 1) / stride : (in[d] - k) / stride + 1;
    if (same) set_same(a, in, out, k, stride);
    const auto& q = graph_.tensor(x).desc.quant;
    return op(kind, {x}, out, {q.scale[0], q.zero_point[0]}, a);
  }
  TensorId pad(TensorId x, std::int32_t top, std::int32_t bottom, std::int32_t left,
               std::int32_t right, std::int32_t channels = 0) {
    const Shape in = shape(x);
    const auto& q = graph_.tensor(x).desc.quant;
    return op(arch::OpKind::PAD, {x, ints({0, 0, top, bottom, left, right, 0, channels}, {4, 2})},
              {in[0], in[1] + top + bottom, in[2] + left + right, in[3] + channels},
              {q.scale[0], q.zero_point[0]});
  }

  const Shape& shape(TensorId id) const { return graph_.tensor(id).desc.shape; }
  Graph finish(const std::vector<TensorId>& outputs) {
    graph_.outputs = outputs;
    return graph_;
  }

 private:
  static void set_same(arch::OpAttrs& a, const Shape& in, const Shape& out, std::int32_t k,
                       std::int32_t stride) {
    const auto total = [&](std::size_t d) {
      return std::max(0, (out[d] - 1) * stride + k - in[d]);
    };
    a.padding = static_cast<std::uint8_t>(arch::Padding::kSame);
    a.pad_top = total(1) / 2, a.pad_bottom = total(1) - total(1) / 2;
    a.pad_left = total(2) / 2, a.pad_right = total(2) - total(2) / 2;
  }
  TensorId add(const Shape& shape, DType dtype, const Quantisation& quant) {
    Tensor t;
    t.desc.name = "t" + std::to_string(graph_.tensors.size());
    t.desc.shape = shape, t.desc.dtype = dtype, t.desc.quant = quant;
    t.source_index = static_cast<std::int32_t>(graph_.tensors.size());
    graph_.tensors.push_back(std::move(t));
    return static_cast<TensorId>(graph_.tensors.size() - 1);
  }

  Graph graph_;
  std::mt19937 random_;
};

/// Every value of a byte in turn, from a start that differs from input to input.
inline std::vector<Bytes> ramp_inputs(const Graph& graph) {
  std::vector<Bytes> out;
  unsigned next = 0;
  for (const TensorId id : graph.inputs) {
    Bytes bytes(static_cast<std::size_t>(graph.tensor(id).desc.bytes()));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::uint8_t>(next + i * (1 + 22 * out.size()));
    out.push_back(std::move(bytes));
    next += 101;
  }
  return out;
}

}  // namespace deputy::delegate::testing
