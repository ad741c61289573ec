// The quantiser on small networks: what becomes integer, what shares scales, and what is refused.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "delegate/import/explicit_pads.h"
#include "delegate/import/tflite.h"
#include "delegate/import/tflite_export.h"
#include "delegate/ops/constraints.h"
#include "quantize/choose.h"
#include "quantize/equalise.h"
#include "quantize/evaluate.h"
#include "tests/quantize/net.h"

namespace deputy::tests {
namespace {

using arch::Activation;
using arch::OpKind;
using namespace quantize;
using Catch::Matchers::Contains;

TEST_CASE("a convolutional network becomes integer from end to end, and the NPU takes all of it") {
  Net net({1, 12, 12, 3});
  net.conv(8, 3).depthwise(3).conv(16, 1);
  arch::OpAttrs pool;
  pool.filter_h = pool.filter_w = pool.stride_h = pool.stride_w = 2;
  net.op(OpKind::MAX_POOL_2D, {net.newest()}, {1, 6, 6, 16}, pool);
  arch::OpAttrs mean;
  net.op(OpKind::MEAN, {net.newest(), net.ints({2}, {1, 2})}, {1, 16}, mean);
  net.op(OpKind::FULLY_CONNECTED, {net.newest(), net.random({5, 16}, 0.5f), net.random({5}, 0.1f)},
         {1, 5});
  net.op(OpKind::SOFTMAX, {net.newest()}, {1, 5});
  for (const bool float_io : {true, false})
    for (const RangeMethod method :
         {RangeMethod::kMinMax, RangeMethod::kMovingAverage, RangeMethod::kPercentile,
          RangeMethod::kEntropy, RangeMethod::kMse}) {
      Options options;
      options.method = method, options.float_io = float_io;
      const Calibration c = calibrated(net.done(), options);
      const Quantised q = quantised(c, options);
      INFO(range_method_name(method));
      CHECK(q.graph.ops.size() == 7u + (float_io ? 2 : 0));
      for (const auto& op : q.graph.ops) {
        if (op.kind == OpKind::QUANTIZE || op.kind == OpKind::DEQUANTIZE) continue;
        CHECK(delegate::npu_refusal(q.graph, op, options.engine).value_or("") == "");
      }
      CHECK(sqnr(c, q) > 15);
      CHECK(q.weight_bytes_after * 4 == q.weight_bytes_before);
      // The pool's operands share a scale; the softmax has the one that TFLite fixes.
      const auto& max = first(q.graph, OpKind::MAX_POOL_2D);
      CHECK(q.graph.tensor(max.inputs[0]).desc.quant == q.graph.tensor(max.outputs[0]).desc.quant);
      CHECK(q.graph.tensor(first(q.graph, OpKind::SOFTMAX).outputs[0]).desc.quant ==
            Quantisation{{1.0f / 256}, {-128}, 0});
      REQUIRE(delegate::export_tflite(q.graph).ok());
    }
}

TEST_CASE("activations are fused before ranges are measured") {
  Net net({1, 6, 6, 4});
  net.conv(4, 3, Activation::kNone);
  net.op(OpKind::RELU, {net.newest()}, {1, 6, 6, 4});
  const Options options;
  const Quantised q = quantised(calibrated(net.done(), options), options);
  CHECK(count(q.graph, OpKind::RELU) == 0);
  const auto& conv = first(q.graph, OpKind::CONV_2D);
  CHECK(conv.attrs.activation == static_cast<std::uint8_t>(Activation::kRelu));
  CHECK(q.graph.tensor(conv.outputs[0]).desc.quant.zero_point[0] == -128);
}

TEST_CASE("a factor and an offset by channel go into the layer before") {
  Net net({1, 5, 5, 3});
  net.conv(4, 3, Activation::kNone);
  net.op(OpKind::MUL, {net.newest(), net.floats({4}, {2, -1, 0.5f, 3})}, {1, 5, 5, 4});
  net.op(OpKind::ADD, {net.floats({4}, {1, 2, 3, 4}), net.newest()}, {1, 5, 5, 4});
  net.op(OpKind::RELU, {net.newest()}, {1, 5, 5, 4});
  const delegate::Graph graph = net.done();
  const Options options;
  const Calibration c = calibrated(graph, options);
  CHECK(c.folded() == 2);
  CHECK(c.graph().ops.size() == 1);
  const std::vector<Bytes> inputs = {sample(graph, 5)};
  const auto before = Executor(graph, Numerics::kFp32).run(inputs),
             after = Executor(c.graph(), Numerics::kFp32).run(inputs);
  const auto a = reals(graph.tensor(graph.outputs[0]).desc, (*before)[0]),
             b = reals(graph.tensor(graph.outputs[0]).desc, (*after)[0]);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-5));
}

/// A depthwise network whose channels have very different weights, though what it computes is
/// harmless: some channels are scaled up in one layer and down in the next, as folded
/// normalisations do.
delegate::Graph unbalanced() {
  Net net({1, 10, 10, 3});
  net.conv(16, 3).depthwise(3).conv(16, 1).depthwise(3).conv(8, 1);
  delegate::Graph& g = net.graph();
  for (std::size_t i = 0; i + 1 < g.ops.size(); ++i) {
    auto w = floats_of(g.tensor(g.ops[i].inputs[1])), b = floats_of(g.tensor(g.ops[i].inputs[2])),
         next = floats_of(g.tensor(g.ops[i + 1].inputs[1]));
    const auto factor = [](std::size_t c) { return std::pow(2.0f, static_cast<float>(c % 9) - 4); };
    for (std::size_t k = 0; k < w.size(); ++k) w[k] *= factor(weight_channel(g, g.ops[i], k));
    for (std::size_t k = 0; k < b.size(); ++k) b[k] *= factor(k);
    for (std::size_t k = 0; k < next.size(); ++k) next[k] /= factor(k % 16);
    set_floats(g.tensor(g.ops[i].inputs[1]), w), set_floats(g.tensor(g.ops[i].inputs[2]), b),
        set_floats(g.tensor(g.ops[i + 1].inputs[1]), next);
  }
  return net.done();
}

TEST_CASE("equalisation keeps the function") {
  delegate::Graph graph = unbalanced(), balanced = graph;
  CHECK(equalise(balanced, {}) == 4);
  const std::vector<Bytes> inputs = {sample(graph, 3)};
  const auto a = Executor(graph, Numerics::kFp32).run(inputs),
             b = Executor(balanced, Numerics::kFp32).run(inputs);
  const auto& desc = graph.tensor(graph.outputs[0]).desc;
  const auto x = reals(desc, (*a)[0]), y = reals(desc, (*b)[0]);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(y[i]).epsilon(1e-4).margin(1e-5));
}

TEST_CASE("one scale a tensor ruins an unbalanced depthwise network; equalisation rescues it") {
  Options options;
  options.weights.per_channel = false;
  options.equalise = Equalise::kOff;
  const Calibration plain = calibrated(unbalanced(), options);
  const double ruined = sqnr(plain, quantised(plain, options));
  options.equalise = Equalise::kOn;
  const Calibration balanced = calibrated(unbalanced(), options);
  CHECK(balanced.equalised() == 4);
  const double rescued = sqnr(balanced, quantised(balanced, options));
  INFO(ruined << " dB, equalised " << rescued << " dB");
  CHECK(ruined < 12);
  CHECK(rescued > 22);
}

TEST_CASE("equalisation is chosen where it gains") {
  Net even({1, 8, 8, 3});
  even.conv(8, 3).depthwise(3).conv(8, 1);
  const auto chosen = [](const delegate::Graph& graph, Equalise asked) {
    Options options;
    options.equalise = asked;
    std::vector<std::vector<Bytes>> first;
    for (unsigned i = 0; i < 4; ++i) first.push_back({sample(graph, i)});
    const auto out = choose_equalise(graph, options, first);
    REQUIRE(out.ok());
    return *out;
  };
  CHECK(chosen(unbalanced(), Equalise::kAuto) == Equalise::kOn);
  CHECK(chosen(unbalanced(), Equalise::kOff) == Equalise::kOff);
  CHECK(chosen(even.done(), Equalise::kOn) == Equalise::kOn);
}

TEST_CASE("a constant that an unweighted operator reads too stays what it was for that one") {
  Net net({1, 4, 4, 4});
  net.conv(4, 1, Activation::kNone, 8).conv(4, 1, Activation::kNone, 0.1f);
  delegate::Graph& g = net.graph();
  const auto bias = g.ops[0].inputs[2];
  net.op(OpKind::MUL, {net.newest(), bias}, {1, 4, 4, 4});
  net.op(OpKind::RELU, {net.newest()}, {1, 4, 4, 4});
  Options options;
  options.equalise = Equalise::kOn;
  const delegate::Graph graph = net.done();
  const Calibration c = calibrated(graph, options);
  CHECK(c.equalised() == 1);
  const std::vector<Bytes> inputs = {sample(graph, 3)};
  const auto a = Executor(graph, Numerics::kFp32).run(inputs),
             b = Executor(c.graph(), Numerics::kFp32).run(inputs);
  REQUIRE((a.ok() && b.ok()));
  const auto& desc = graph.tensor(graph.outputs[0]).desc;
  const auto x = reals(desc, (*a)[0]), y = reals(desc, (*b)[0]);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(y[i]).epsilon(1e-4).margin(1e-6));
}

TEST_CASE("nothing is tried where nothing can be equalised") {
  Net net({1, 8, 8, 3});
  net.conv(8, 3);
  Options options;
  options.keep_float = {"nobody"};  // a trial would end with an error
  const std::vector<std::vector<Bytes>> samples = {{sample(net.done(), 1)}};
  const auto chosen = choose_equalise(net.done(), options, samples);
  REQUIRE(chosen.ok());
  CHECK(*chosen == Equalise::kOff);
}

TEST_CASE(
    "a method is chosen on the calibration's samples: all that was seen unless much is gained") {
  Net net({1, 8, 8, 3});
  net.conv(8, 3).conv(4, 3, Activation::kNone);
  const delegate::Graph graph = net.done();
  const auto chosen = [&](const std::vector<Bytes>& data) {
    const Options options;
    auto c = Calibration::begin(graph, options);
    REQUIRE(c.ok());
    std::vector<std::vector<Bytes>> samples;
    for (const Bytes& bytes : data) {
      samples.push_back({bytes});
      REQUIRE(c->add(samples.back()).ok());
    }
    samples.resize(std::min<std::size_t>(samples.size(), 8));
    const auto method = choose_method(*c, options, samples);
    REQUIRE(method.ok());
    return *method;
  };
  std::vector<Bytes> even, outliers;
  for (unsigned i = 0; i < 16; ++i) even.push_back(sample(graph, i));
  outliers = even;
  auto values = reals(graph.tensor(graph.inputs[0]).desc, even[15]);
  values[7] = 40;  // a hundred times the others, in a sample that is not looked at
  outliers[15] = bytes_of(values);
  CHECK(chosen(even) == RangeMethod::kMinMax);
  CHECK(chosen(outliers) != RangeMethod::kMinMax);
}

TEST_CASE("equalisation lets no channel outgrow the others") {
  // Small weights on a large bias: balancing the weights alone would make its channel a thousand
  // times wider.
  Net net({1, 6, 6, 2});
  const auto w = net.floats({2, 1, 1, 2}, {1e-3f, -1e-3f, 0.5f, 0.7f}),
             b = net.floats({2}, {1, 0.1f});
  net.op(OpKind::CONV_2D, {net.newest(), w, b}, {1, 6, 6, 2});
  net.conv(4, 3, Activation::kNone);
  const delegate::Graph graph = net.done();
  const std::vector<std::vector<Bytes>> samples = {{sample(graph, 1)}, {sample(graph, 2)}};
  const auto widest = [&](const delegate::Graph& g) {
    const auto maxima = channel_maxima(g, samples);
    REQUIRE(maxima.ok());
    const auto& m = (*maxima)[static_cast<std::size_t>(g.ops[0].outputs[0])];
    return *std::max_element(m.begin(), m.end());
  };
  delegate::Graph bounded = graph, unbounded = graph;
  CHECK(equalise(bounded, *channel_maxima(graph, samples)) == 1);
  equalise(unbounded, {});
  CHECK(widest(bounded) <= 1.001f * widest(graph));
  CHECK(widest(unbounded) > 5 * widest(graph));
}

TEST_CASE("tiny weights with a large bias: the scale is raised, nothing overflows") {
  for (const bool per_channel : {true, false}) {
    Net net({1, 4, 4, 2});
    const auto w = net.floats({2, 1, 1, 2}, {1e-9f, -2e-9f, 0.5f, 0.25f}),
               b = net.floats({2}, {4.0f, 0.1f});
    net.op(OpKind::CONV_2D, {net.newest(), w, b}, {1, 4, 4, 2});
    Options options;
    options.weights.per_channel = per_channel;
    const Calibration c = calibrated(net.done(), options);
    const Quantised q = quantised(c, options);
    const auto& conv = first(q.graph, OpKind::CONV_2D);
    std::int32_t bias = 0;
    std::memcpy(&bias, q.graph.tensor(conv.inputs[2]).data.data(), 4);
    const auto& steps = q.graph.tensor(conv.inputs[2]).desc.quant.scale;
    CHECK(static_cast<double>(bias) * static_cast<double>(steps[0]) == Approx(4).epsilon(1e-3));
    CHECK(sqnr(c, q) > 35);
    CHECK(q.layers[0].note.empty() != per_channel);
  }
}

TEST_CASE("a layer of zeros is quantised") {
  Net net({1, 4, 4, 2});
  net.op(OpKind::CONV_2D, {net.newest(), net.floats({1, 1, 1, 2}, {0, 0}), net.floats({1}, {0})},
         {1, 4, 4, 1});
  net.conv(2, 1, Activation::kNone);
  const Options options;
  const Quantised q = quantised(calibrated(net.done(), options), options);
  CHECK_THAT(q.warnings.at(0), Contains("was always 0"));
  REQUIRE(delegate::export_tflite(q.graph).ok());
}

TEST_CASE("a concatenation of different scales") {
  // A small and a large operand; the small one is also read elsewhere in the second case.
  for (const bool shared : {false, true}) {
    Net net({1, 4, 4, 2});
    const auto x = net.newest();
    net.conv(2, 1, Activation::kNone, 0.05f);
    const auto small = net.newest();
    net.newest(x);
    net.conv(2, 1, Activation::kNone, 50);
    const auto joined = net.op(OpKind::CONCATENATION, {small, net.newest()}, {1, 4, 4, 4}, [] {
      arch::OpAttrs a;
      a.axis = 3;
      return a;
    }());
    net.newest(joined);
    net.conv(2, 1, Activation::kNone);
    if (shared) {
      const auto main = net.newest();
      net.newest(small);
      net.conv(2, 3, Activation::kNone);
      net.op(OpKind::ADD, {main, net.newest()}, {1, 4, 4, 2});
    }
    const Options options;
    const Calibration c = calibrated(net.done(), options);
    const Quantised q = quantised(c, options);
    const auto& concat = first(q.graph, OpKind::CONCATENATION);
    const auto quant_of = [&](delegate::TensorId id) { return q.graph.tensor(id).desc.quant; };
    CHECK(quant_of(concat.inputs[0]) == quant_of(concat.outputs[0]));
    CHECK(quant_of(concat.inputs[1]) == quant_of(concat.outputs[0]));
    CHECK(count(q.graph, OpKind::QUANTIZE) == (shared ? 2 : 1));  // one is the input's
    CHECK(sqnr(c, q) > 25);
  }
}

TEST_CASE("sigmoids that are concatenated keep their fixed scale, others do not take it") {
  Net net({1, 4});
  const auto x = net.newest();
  const auto dense = [&](OpKind kind) {
    net.op(OpKind::FULLY_CONNECTED, {x, net.random({3, 4}, 2), net.random({3}, 0.1f)}, {1, 3});
    return kind == OpKind::RESHAPE ? net.newest() : net.op(kind, {net.newest()}, {1, 3});
  };
  arch::OpAttrs axis;
  axis.axis = 1;
  const auto a = dense(OpKind::LOGISTIC), b = dense(OpKind::LOGISTIC), c = dense(OpKind::RESHAPE);
  const auto both = net.op(OpKind::CONCATENATION, {a, b}, {1, 6}, axis),
             mixed = net.op(OpKind::CONCATENATION, {both, c}, {1, 9}, axis);
  net.newest(mixed);
  const Options options;
  const Calibration calibration = calibrated(net.done(), options);
  const Quantised q = quantised(calibration, options);
  for (const auto& op : q.graph.ops)
    if (op.kind == OpKind::LOGISTIC)
      CHECK(q.graph.tensor(op.outputs[0]).desc.quant == Quantisation{{1.0f / 256}, {-128}, 0});
  CHECK(sqnr(calibration, q) > 30);
}

TEST_CASE("operators without an integer form stay floats, between conversions, with their reason") {
  Net net({1, 4, 4, 2});
  net.conv(4, 1);
  net.op(OpKind::SIN, {net.newest()}, {1, 4, 4, 4});
  net.conv(2, 1);
  const Options options;
  const Calibration c = calibrated(net.done(), options);
  const Quantised q = quantised(c, options);
  CHECK(count(q.graph, OpKind::QUANTIZE) == 2);
  CHECK(count(q.graph, OpKind::DEQUANTIZE) == 2);
  CHECK_FALSE(q.layers[1].integer);
  CHECK_THAT(q.layers[1].reason, Contains("no int8 form"));
  CHECK(sqnr(c, q) > 25);
}

TEST_CASE("what the user keeps in floats stays there; a name of nothing is an error") {
  Net net({1, 4, 4, 2});
  net.conv(4, 1).conv(2, 1);
  Options options;
  options.keep_float = {"t1"};
  const Quantised q = quantised(calibrated(net.done(), options), options);
  CHECK(q.layers[0].integer);
  CHECK_FALSE(q.layers[1].integer);
  options.keep_float = {"nothing*"};
  const auto none = quantise(calibrated(net.done(), options), options);
  REQUIRE_FALSE(none.ok());
  CHECK_THAT(none.error().text(), Contains("nothing*") && Contains("CONV_2D, t0, t1"));
  // As the file calls them: a kind, a name.
  delegate::Graph graph = net.done();
  graph.ops[0].source_index = 0, graph.ops[1].source_index = 2;
  options.sources = {{"Conv", "first"}, {"Relu", ""}, {"Conv", "second"}};
  for (const char* name : {"second", "sec*"}) {
    options.keep_float = {name};
    const Quantised named = quantised(calibrated(graph, options), options);
    CHECK(named.layers[0].integer);
    CHECK_FALSE(named.layers[1].integer);
  }
  options.keep_float = {"Conv"};
  const auto all = quantise(calibrated(graph, options), options);
  REQUIRE_FALSE(all.ok());
  CHECK(all.error().kind == base::ErrorKind::kUnsupported);
  options.keep_float = {"Relu"};  // fused: no operator is left of it
  const auto fused = quantise(calibrated(graph, options), options);
  REQUIRE_FALSE(fused.ok());
  CHECK_THAT(fused.error().text(), Contains("one of: CONV_2D, Conv, first, t0, second, t1"));
}

TEST_CASE("tensors without elements stay floats") {
  Net net({1, 4, 4, 2});
  net.conv(4, 1);
  arch::OpAttrs attrs;
  const auto begin = net.ints({4}, {0, 0, 0, 0}), size = net.ints({4}, {1, 0, 4, 4});
  net.op(OpKind::SLICE, {net.newest(), begin, size}, {1, 0, 4, 4}, attrs);
  const Options options;
  const Quantised q = quantised(calibrated(net.done(), options), options);
  CHECK(q.layers[0].integer);
  CHECK_FALSE(q.layers[1].integer);
  const auto out =
      Executor(q.graph, Numerics::kTflite).run(std::vector<Bytes>{sample(net.graph(), 1)});
  REQUIRE(out.ok());
  CHECK((*out)[0].empty());
}

}  // namespace
}  // namespace deputy::tests
