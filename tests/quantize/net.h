// Small float networks for the quantiser's tests, layer after layer, and samples for them.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "delegate/ir/graph.h"
#include "delegate/ir/op_rules.h"
#include "quantize/evaluate.h"
#include "quantize/prepare.h"
#include "quantize/quantize.h"

namespace deputy::tests {

class Net {
 public:
  explicit Net(Shape input) { at_ = tensor("x", std::move(input)), graph_.inputs = {at_}; }

  delegate::TensorId tensor(const std::string& name, Shape shape) {
    delegate::Tensor t;
    t.desc.name = name, t.desc.dtype = DType::kFloat32, t.desc.shape = std::move(shape);
    graph_.tensors.push_back(std::move(t));
    return static_cast<delegate::TensorId>(graph_.tensors.size() - 1);
  }
  delegate::TensorId floats(Shape shape, const std::vector<float>& values) {
    return quantize::add_floats(graph_, "c" + std::to_string(graph_.tensors.size()),
                                std::move(shape), values);
  }
  delegate::TensorId ints(Shape shape, const std::vector<std::int32_t>& values) {
    const auto id = floats(std::move(shape), std::vector<float>(values.size()));
    graph_.tensor(id).desc.dtype = DType::kInt32;
    if (!values.empty())
      std::memcpy(graph_.tensor(id).data.data(), values.data(), values.size() * 4);
    return id;
  }
  /// An operator with a result of `shape`, which is the newest tensor then.
  delegate::TensorId op(arch::OpKind kind, std::vector<delegate::TensorId> inputs, Shape shape,
                        arch::OpAttrs attrs = {}) {
    delegate::Op made;
    made.kind = kind, made.attrs = std::move(attrs), made.inputs = std::move(inputs);
    at_ = tensor("t" + std::to_string(graph_.ops.size()), std::move(shape));
    made.outputs = {at_};
    REQUIRE(delegate::normalise_op(graph_, made).ok());
    graph_.ops.push_back(std::move(made));
    return at_;
  }
  Net& conv(std::int32_t filters, std::int32_t kernel,
            arch::Activation activation = arch::Activation::kRelu, float spread = 1) {
    const Shape in = graph_.tensor(at_).desc.shape;
    arch::OpAttrs attrs;
    attrs.padding = static_cast<std::uint8_t>(arch::Padding::kSame),
    attrs.activation = static_cast<std::uint8_t>(activation);
    const auto w = random({filters, kernel, kernel, in[3]}, spread / static_cast<float>(kernel)),
               b = random({filters}, 0.1f);
    op(arch::OpKind::CONV_2D, {at_, w, b}, {in[0], in[1], in[2], filters}, attrs);
    return *this;
  }
  Net& depthwise(std::int32_t kernel) {
    const Shape in = graph_.tensor(at_).desc.shape;
    arch::OpAttrs attrs;
    attrs.padding = static_cast<std::uint8_t>(arch::Padding::kSame),
    attrs.activation = static_cast<std::uint8_t>(arch::Activation::kRelu);
    const auto w = random({1, kernel, kernel, in[3]}, 0.6f), b = random({in[3]}, 0.1f);
    op(arch::OpKind::DEPTHWISE_CONV_2D, {at_, w, b}, in, attrs);
    return *this;
  }
  delegate::TensorId random(Shape shape, float spread) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& v : values) v = spread * uniform();
    return floats(std::move(shape), values);
  }
  float uniform() { return static_cast<float>(random_() >> 8) * 0x1p-22f - 1; }

  delegate::TensorId newest() const { return at_; }
  void newest(delegate::TensorId id) { at_ = id; }
  delegate::Graph& graph() { return graph_; }
  delegate::Graph done() {
    graph_.outputs = {at_};
    const auto status = delegate::validate(graph_);
    INFO((status.ok() ? std::string() : status.error().text()));
    REQUIRE(status.ok());
    return graph_;
  }

 private:
  delegate::Graph graph_;
  delegate::TensorId at_ = delegate::kNoTensor;
  std::minstd_rand random_{17};
};

inline quantize::Bytes bytes_of(const std::vector<float>& values) {
  quantize::Bytes out(values.size() * 4);
  if (!out.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}
/// For the graph's only input: uniform in [-gain/2, gain/2), another for each seed.
inline quantize::Bytes sample(const delegate::Graph& graph, unsigned seed, float gain = 1) {
  std::minstd_rand random(seed * 77 + 1);
  std::vector<float> values(
      static_cast<std::size_t>(graph.tensor(graph.inputs[0]).desc.elements()));
  for (float& v : values) v = gain * (static_cast<float>(random() >> 8) * 0x1p-23f * 2 - 1) * 0.5f;
  return bytes_of(values);
}

inline quantize::Calibration calibrated(const delegate::Graph& graph,
                                        const quantize::Options& options, int samples = 16,
                                        float gain = 1) {
  std::vector<std::vector<quantize::Bytes>> first;
  for (int i = 0; i < std::min(samples, 8); ++i)
    first.push_back({sample(graph, static_cast<unsigned>(i), gain)});
  auto c = quantize::Calibration::begin(graph, options, first);
  INFO((c.ok() ? std::string() : c.error().text()));
  REQUIRE(c.ok());
  for (int i = 0; i < samples; ++i) {
    const std::vector<quantize::Bytes> inputs = {sample(graph, static_cast<unsigned>(i), gain)};
    REQUIRE(c->add(inputs).ok());
  }
  return *c;
}

inline quantize::Quantised quantised(const quantize::Calibration& c,
                                     const quantize::Options& options) {
  auto q = quantize::quantise(c, options);
  INFO((q.ok() ? std::string() : q.error().text()));
  REQUIRE(q.ok());
  return *q;
}
/// Decibels of the only output against the float graph's, on samples that calibration did not see.
inline double sqnr(const quantize::Calibration& c, const quantize::Quantised& q, float gain = 1) {
  quantize::LayerNoise noise(c, q, Numerics::kTflite);
  for (unsigned i = 100; i < 104; ++i)
    REQUIRE(noise.add(std::vector<quantize::Bytes>{sample(c.graph(), i, gain)}).ok());
  const auto db = noise.sqnr_db(c.graph().outputs[0]);
  REQUIRE(db.has_value());
  return *db;
}
inline int count(const delegate::Graph& graph, arch::OpKind kind) {
  return static_cast<int>(std::count_if(graph.ops.begin(), graph.ops.end(),
                                        [&](const auto& op) { return op.kind == kind; }));
}
inline const delegate::Op& first(const delegate::Graph& graph, arch::OpKind kind) {
  return *std::find_if(graph.ops.begin(), graph.ops.end(),
                       [&](const auto& op) { return op.kind == kind; });
}

}  // namespace deputy::tests
