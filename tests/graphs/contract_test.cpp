// The quantisation contract: what a model breaks is found tensor by tensor, and what can be
// converted then runs on the NPU with the values that the formats' own definitions give.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "delegate/contract/convert.h"
#include "delegate/ops/constraints.h"
#include "tests/support/graphs/agreement.h"
#include "tests/support/interpreter.h"
#include "workloads/selftest/legal_ops.h"

namespace deputy::graphs {
namespace {

using delegate::ContractPolicy;
using delegate::Mismatch;
using delegate::Rule;
using Bytes = std::vector<std::uint8_t>;

Op& only(Graph& g) { return g.ops.at(0); }
Tensor& in(Graph& g, std::size_t i) { return g.tensor(only(g).inputs.at(i)); }
Tensor& out(Graph& g) { return g.tensor(only(g).outputs.at(0)); }

bool has(const std::vector<Mismatch>& list, Rule rule, bool convertible) {
  return std::any_of(list.begin(), list.end(), [&](const Mismatch& m) {
    return m.rule == rule && m.convertible == convertible && !m.found.empty() && !m.remedy.empty();
  });
}

Bytes pattern(const Tensor& t, std::uint32_t seed) {
  Bytes bytes(static_cast<std::size_t>(t.desc.bytes()));
  for (std::uint8_t& b : bytes)
    seed = seed * 1664525 + 1013904223, b = static_cast<std::uint8_t>(seed >> 24);
  return bytes;
}
std::vector<Bytes> inputs_of(const Graph& g) {
  std::vector<Bytes> list;
  for (const TensorId id : g.inputs)
    list.push_back(pattern(g.tensor(id), 77 + static_cast<std::uint32_t>(id)));
  return list;
}
/// In the rounding that is nearest: `tflite` rounds twice, and `fp32` has XNNPACK's shorter
/// multipliers.
Bytes run(const Graph& g, const std::vector<Bytes>& inputs) {
  const auto values = tests::run_graph(g, inputs, Numerics::kSingle);
  INFO((values.ok() ? std::string() : values.error().text()));
  REQUIRE(values.ok());
  return values->tensors[static_cast<std::size_t>(g.outputs[0])];
}

/// Converts, demands that all of it then runs on the NPU with the CPU's bytes, and returns the
/// graph.
Graph converted(const Graph& g) {
  const auto result = delegate::convert_to_contract(g, {});
  REQUIRE(!result.conversions.empty());
  for (std::size_t i = 0; i < result.graph.ops.size(); ++i) {
    INFO(op_label(result.graph, result.graph.ops[i]));
    CHECK(delegate::npu_refusal(result.graph, result.graph.ops[i], {}).value_or("") == "");
  }
  CHECK(delegate::check_contract(result.graph, {}).empty());
  REQUIRE(validate(result.graph).ok());
  Setting setting;
  setting.options.engine = delegate::EnginePolicy::kNpu;
  CHECK(disagreement(result.graph, setting, 5).value_or("") == "");
  // The same by the compiler's own policy.
  setting.options.contract = ContractPolicy::kConvert;
  const auto executable = delegate::compile(g, setting.options);
  REQUIRE(executable.ok());
  for (const auto& op : executable->ops) CHECK(op.on_npu);
  setting.options.contract = ContractPolicy::kReject;
  const auto rejected = delegate::compile(g, setting.options);
  REQUIRE(!rejected.ok());
  CHECK(rejected.error().kind == base::ErrorKind::kUnsupported);
  CHECK(!rejected.error().remedy.empty());
  return result.graph;
}

/// The number that a byte stands for.
double real(const Tensor& t, std::uint8_t byte) {
  const int q = t.desc.dtype == DType::kUint8 ? byte : static_cast<std::int8_t>(byte);
  return static_cast<double>(t.desc.quant.scale[0]) * (q - t.desc.quant.zero_point[0]);
}

TEST_CASE("contract: a legal operator keeps it") {
  for (const OpKind kind : arch::all_ops()) {
    if (!delegate::constraint_row(kind, delegate::TableEngine::kNpu)) continue;
    INFO(arch::op_name(kind));
    const Graph g = legal_op(kind);
    CHECK(delegate::check_contract(g, {}).empty());
    CHECK(delegate::convert_to_contract(g, {}).conversions.empty());
  }
}

TEST_CASE("contract: int8 and uint8 meet in an exact exchange") {
  for (const OpKind kind : {OpKind::ADD, OpKind::MUL, OpKind::CONCATENATION}) {
    INFO(arch::op_name(kind));
    const Graph plain = legal_op(kind);
    Graph mixed = plain;  // the first operand's bytes stand for the same numbers, as uint8
    in(mixed, 0).desc.dtype = DType::kUint8, in(mixed, 0).desc.quant.zero_point[0] += 128;
    CHECK(has(delegate::check_contract(mixed, {}), Rule::kOneType, true));
    const Graph g = converted(mixed);
    std::vector<Bytes> inputs = inputs_of(plain);
    const Bytes want = run(plain, inputs);
    for (std::uint8_t& b : inputs[0]) b ^= 0x80;
    CHECK(run(g, inputs) == want);
  }
}

TEST_CASE("contract: different scales are aligned before operators of several inputs") {
  for (const OpKind kind : {OpKind::MAXIMUM, OpKind::MINIMUM}) {
    INFO(arch::op_name(kind));
    Graph g = legal_op(kind);
    REQUIRE(in(g, 0).desc.shape == out(g).desc.shape);
    in(g, 1).desc.shape = in(g, 0).desc.shape;
    in(g, 0).desc.quant = {{0.05f}, {3}, 0}, in(g, 1).desc.quant = {{0.02f}, {-7}, 0},
          out(g).desc.quant = {{0.06f}, {1}, 0};
    CHECK(has(delegate::check_contract(g, {}), Rule::kSameQuantisation, true));
    CHECK(!tests::check_graph(g).ok());  // nor do the CPU's kernels take it
    const Graph c = converted(g);
    const auto inputs = inputs_of(g);
    const Bytes got = run(c, inputs);
    // The definition in real numbers: rounding is monotone, so the larger of the rounded is the
    // rounded larger.
    REQUIRE(got.size() == inputs[0].size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double a = real(in(g, 0), inputs[0][i]), b = real(in(g, 1), inputs[1][i]);
      INFO(i << ": " << a << " and " << b);
      const double want = kind == OpKind::MAXIMUM ? std::max(a, b) : std::min(a, b);
      const double top = real(out(g), 127), low = real(out(g), 0x80);
      CHECK(std::fabs(real(out(g), got[i]) - std::clamp(want, low, top)) <= 0.5001 * 0.06);
    }
  }
}

TEST_CASE("contract: different scales are changed behind operators of one input") {
  for (const OpKind kind :
       {OpKind::MAX_POOL_2D, OpKind::TRANSPOSE, OpKind::RESHAPE, OpKind::SPLIT}) {
    INFO(arch::op_name(kind));
    const Graph plain = legal_op(kind);
    Graph g = plain;
    for (const TensorId id : only(g).outputs)
      g.tensor(id).desc.quant.scale[0] *= 1.7f, g.tensor(id).desc.quant.zero_point[0] = 5;
    const Graph c = converted(g);
    const auto inputs = inputs_of(g);
    const Bytes before = run(plain, inputs), after = run(c, inputs);
    REQUIRE(before.size() == after.size());
    const double top = real(out(g), 127), low = real(out(g), 0x80),
                 step = static_cast<double>(out(g).desc.quant.scale[0]);
    Graph p = plain;
    for (std::size_t i = 0; i < after.size(); ++i)
      CHECK(std::fabs(real(out(g), after[i]) - std::clamp(real(out(p), before[i]), low, top)) <=
            0.5001 * step);
  }
}

TEST_CASE("contract: a softmax in other steps is made in 1/256") {
  Graph g = legal_op(OpKind::SOFTMAX);
  out(g).desc.quant = {{1.0f / 128}, {-64}, 0};
  CHECK(has(delegate::check_contract(g, {}), Rule::kSoftmaxOutput, true));
  converted(g);
}

TEST_CASE("contract: a bias in other steps is rounded anew, on either engine") {
  const Graph plain = legal_op(OpKind::CONV_2D);
  Graph g = plain;
  Tensor& b = in(g, 2);
  in(g, 1).desc.quant = {{0.004f}, {0}, 0};
  b.desc.quant = {
      {in(g, 0).desc.quant.scale[0] * 0.004f * 4}, {0}, 0};  // every number counts four times
  CHECK(has(delegate::check_contract(g, {}), Rule::kBiasScale, true));
  const auto as_it_is = delegate::compile(g, {});
  REQUIRE(
      !as_it_is.ok());  // the CPU's kernels would take the numbers for a fourth of what they are
  CHECK(as_it_is.error().kind == base::ErrorKind::kUnsupported);
  const Graph c = converted(g);
  Graph four = plain;
  in(four, 1).desc.quant = {{0.004f}, {0}, 0};
  Tensor& bias = in(four, 2);
  bias.desc.quant = {};
  for (std::size_t i = 0; i < bias.data.size(); i += 4) {
    std::int32_t value;
    std::memcpy(&value, &bias.data[i], 4);
    value *= 4;
    std::memcpy(&bias.data[i], &value, 4);
  }
  CHECK(run(c, inputs_of(g)) == run(four, inputs_of(g)));
}

TEST_CASE("contract: weights of the other signedness are rewritten") {
  const Graph plain = legal_op(OpKind::FULLY_CONNECTED);
  Graph g = plain;
  Tensor& w = in(g, 1);
  w.desc.dtype = DType::kUint8;
  for (std::uint8_t& byte : w.data) byte ^= 0x80;
  for (std::int32_t& z : w.desc.quant.zero_point) z += 128;
  CHECK(has(delegate::check_contract(g, {}), Rule::kWeights, true));
  CHECK(run(converted(g), inputs_of(g)) == run(plain, inputs_of(g)));
}

TEST_CASE("contract: what cannot be converted is named with its remedy and stays as it is") {
  Graph zeros = legal_op(OpKind::CONV_2D);  // a zero point for each channel
  const auto channels = static_cast<std::size_t>(in(zeros, 1).desc.shape[0]);
  in(zeros, 1).desc.quant = {std::vector<float>(channels, 0.003f),
                             std::vector<std::int32_t>(channels, 0), 0};
  in(zeros, 1).desc.quant.zero_point.back() = 4;
  CHECK(has(delegate::check_contract(zeros, {}), Rule::kWeightScales, false));
  Graph floats = legal_op(OpKind::ADD);
  for (Tensor& t : floats.tensors) t.desc.dtype = DType::kFloat32, t.desc.quant = {};
  const auto found = delegate::check_contract(floats, {});
  CHECK(found.size() == 3);  // both operands and the result, once each
  CHECK(has(found, Rule::kTypes, false));
  CHECK(found[0].remedy.find("deputy quantize") != std::string::npos);
  for (const Graph& g : {zeros, floats})
    CHECK(delegate::convert_to_contract(g, {}).conversions.empty());
  delegate::CompileOptions options;
  const auto executable =
      delegate::compile(floats, options);  // the default: the CPU, with the reason
  REQUIRE(executable.ok());
  CHECK(!executable->ops[0].on_npu);
  CHECK(executable->ops[0].reason.find("float32") != std::string::npos);
}

}  // namespace
}  // namespace deputy::graphs
