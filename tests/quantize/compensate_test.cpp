// Rounding that makes up for its own errors: against every way of rounding where there are few, the
// moments against what the operators compute, and whole networks.
#include "quantize/compensate.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/quantize/net.h"

namespace deputy::tests {
namespace {

using arch::Activation;
using arch::OpKind;
using namespace quantize;

/// Patches of `taps` numbers that resemble each other, in one group.
LayerMoments resembling(std::size_t taps, unsigned seed, int count = 200) {
  LayerMoments out;
  out.taps = taps;
  std::minstd_rand random(seed * 31 + 7);
  const auto uniform = [&] { return static_cast<double>(random() >> 8) * 0x1p-22 - 1; };
  for (MomentSum* sum : {&out.fit, &out.held}) {
    sum->first.assign(taps, 0), sum->second.assign(taps * taps, 0);
    for (int n = 0; n < count; ++n) {
      const double shared = uniform();
      std::vector<double> x;
      for (std::size_t t = 0; t < taps; ++t) x.push_back(0.4 + shared + 0.3 * uniform());
      for (std::size_t i = 0; i < taps; ++i) {
        sum->first[i] += x[i];
        for (std::size_t j = 0; j <= i; ++j) sum->second[i * taps + j] += x[i] * x[j];
      }
      sum->count += 1;
    }
  }
  return out;
}
struct Case {
  std::vector<double> weights, steps, nearest;
};
Case random_case(std::size_t channels, std::size_t taps, unsigned seed) {
  Case out;
  std::minstd_rand random(seed * 17 + 3);
  for (std::size_t c = 0; c < channels; ++c)
    out.steps.push_back(0.5 + 0.1 * static_cast<double>(c));
  for (std::size_t k = 0; k < channels * taps; ++k) {
    out.weights.push_back(static_cast<double>(random() >> 8) * 0x1p-19 - 8);
    out.nearest.push_back(std::nearbyint(out.weights[k] / out.steps[k / taps]));
  }
  return out;
}

TEST_CASE("compensated rounding is between the nearest integers and the best of all") {
  double nearest = 0, compensated = 0, best = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    constexpr std::size_t kTaps = 5;
    const LayerMoments moments = resembling(kTaps, seed);
    const Case c = random_case(1, kTaps, seed);
    const RoundingTask task{moments, 1, c.weights, c.steps, 127, 1e-4, seed % 2 == 0};
    const double before = rounding_error(task, moments.fit, c.nearest);
    double least = before;
    std::vector<double> trial = c.nearest;
    for (int n = 0; n < 3125; ++n) {  // up to two steps either way
      for (std::size_t t = 0, rest = static_cast<std::size_t>(n); t < kTaps; ++t, rest /= 5)
        trial[t] = c.nearest[t] + static_cast<double>(rest % 5) - 2;
      least = std::min(least, rounding_error(task, moments.fit, trial));
    }
    const auto made = compensate(task, c.nearest);
    const double after = made ? rounding_error(task, moments.fit, made->integers) : before;
    CHECK(after <= before);
    CHECK(after >= least * (1 - 1e-9));
    nearest += before, compensated += after, best += least;
  }
  INFO(nearest << " nearest, " << compensated << " compensated, " << best << " at best");
  CHECK(compensated - best < 0.25 * (nearest - best));
}

TEST_CASE("weights that other samples are worse off with stay at the nearest integers") {
  LayerMoments moments = resembling(6, 3);
  const Case c = random_case(2, 6, 5);
  const RoundingTask task{moments, 2, c.weights, c.steps, 127, 0, false};
  const auto made = compensate(task, c.nearest);
  REQUIRE(made);
  CHECK(made->gain_db > 0);
  CHECK(made->integers == compensate(task, c.nearest)->integers);
  // Held samples whose inputs are opposites of each other where those of the others are alike.
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if ((i + j) % 2) moments.held.second[i * 6 + j] *= -1;
  CHECK_FALSE(compensate(task, c.nearest));
}

TEST_CASE("integers stay in their range and moments without variance do no harm") {
  LayerMoments moments = resembling(4, 9);
  const Case c = random_case(1, 4, 2);
  const RoundingTask tight{moments, 1, c.weights, c.steps, 3, 0, true};
  std::vector<double> nearest;
  for (const double q : c.nearest) nearest.push_back(std::clamp(q, -3.0, 3.0));
  if (const auto made = compensate(tight, nearest))
    for (const double q : made->integers) CHECK(std::fabs(q) <= 3);
  for (MomentSum* sum : {&moments.fit, &moments.held})
    std::fill(sum->second.begin(), sum->second.end(), 0),
        std::fill(sum->first.begin(), sum->first.end(), 0);
  CHECK_FALSE(compensate(tight, nearest));
}

/// Strided, dilated, padded, grouped, depthwise and a matrix; one after the other.
delegate::Graph operators() {
  Net net({1, 7, 6, 4});
  const auto conv = [&](Shape weights, Shape out, OpKind kind, int stride, int dilation) {
    arch::OpAttrs a;
    a.padding = static_cast<std::uint8_t>(arch::Padding::kSame);
    a.stride_h = a.stride_w = stride, a.dilation_h = a.dilation_w = dilation;
    if (kind == OpKind::DEPTHWISE_CONV_2D) a.depth_multiplier = weights[3] / 4;
    const auto w = net.random(std::move(weights), 0.5f);
    net.op(kind, {net.newest(), w}, std::move(out), a);
  };
  conv({4, 3, 3, 4}, {1, 4, 3, 4}, OpKind::CONV_2D, 2, 1);
  conv({4, 3, 2, 4}, {1, 4, 3, 4}, OpKind::CONV_2D, 1, 2);
  conv({4, 1, 1, 2}, {1, 4, 3, 4}, OpKind::CONV_2D, 1, 1);
  conv({1, 3, 3, 8}, {1, 4, 3, 8}, OpKind::DEPTHWISE_CONV_2D, 1, 1);
  net.op(OpKind::RESHAPE, {net.newest(), net.ints({2}, {4, 24})}, {4, 24});
  net.op(OpKind::FULLY_CONNECTED, {net.newest(), net.random({3, 24}, 0.3f)}, {4, 3});
  return net.done();
}

TEST_CASE("the error that moments tell is the error that the operators make") {
  const delegate::Graph graph = operators();
  InputMoments moments(graph);
  std::vector<std::vector<Bytes>> inputs;
  for (unsigned i = 0; i < 3; ++i) inputs.push_back({sample(graph, i)});
  for (const auto& x : inputs) REQUIRE(moments.add(graph, x, false).ok());
  int weighted = 0;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (!is_weighted(graph, graph.ops[i])) continue;
    const LayerMoments* layer = moments.find(i);
    REQUIRE(layer);
    ++weighted;
    // All others as they are, this one with the integers' errors as weights: what it puts out then
    // is the error.
    const delegate::Op& op = graph.ops[i];
    const std::size_t channels = weight_channels(graph, op), taps = layer->taps;
    delegate::Graph wrong = graph;
    auto values = floats_of(graph.tensor(op.inputs[1]));
    std::vector<double> reals(values.size()), nearest(values.size());
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t t = 0; t < taps; ++t) {
        const bool depthwise = op.kind == OpKind::DEPTHWISE_CONV_2D;
        float& w = values[depthwise ? t * channels + c : c * taps + t];
        reals[c * taps + t] = static_cast<double>(w);
        nearest[c * taps + t] = std::nearbyint(static_cast<double>(w) / 0.125);
        w = static_cast<float>(nearest[c * taps + t] * 0.125 - static_cast<double>(w));
      }
    set_floats(wrong.tensor(op.inputs[1]), values);
    wrong.outputs = {op.outputs[0]};
    double squares = 0, count = 0;
    for (const auto& x : inputs) {
      const auto out = Executor(wrong, Numerics::kFp32).run(x);
      REQUIRE(out.ok());
      for (const float v : quantize::reals(wrong.tensor(wrong.outputs[0]).desc, (*out)[0]))
        squares += static_cast<double>(v) * static_cast<double>(v), count += 1;
    }
    const std::vector<double> steps(channels, 0.125);
    const RoundingTask task{*layer, channels, reals, steps, 127, 0, false};
    INFO("operator " << i);
    CHECK(rounding_error(task, layer->fit, nearest) == Approx(squares / count).epsilon(1e-4));
  }
  CHECK(weighted == 5);
}

/// Samples like images: neighbours resemble each other.
std::vector<Bytes> smooth(const delegate::Graph& graph, unsigned seed) {
  std::minstd_rand random(seed * 7 + 1);
  const float a = 0.1f + static_cast<float>(random() % 100) * 0.004f,
              b = static_cast<float>(random() % 60) * 0.1f;
  std::vector<float> values(
      static_cast<std::size_t>(graph.tensor(graph.inputs[0]).desc.elements()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(a * static_cast<float>(i) + b);
  return {bytes_of(values)};
}

TEST_CASE("a network with compensated weights is closer to the float one, the same each time") {
  Net net({1, 8, 8, 3});
  net.conv(8, 3).depthwise(3).conv(12, 1).conv(6, 3);
  net.op(OpKind::RESHAPE, {net.newest(), net.ints({2}, {1, 384})}, {1, 384});
  net.op(OpKind::FULLY_CONNECTED, {net.newest(), net.random({5, 384}, 0.2f), net.random({5}, 0.1f)},
         {1, 5});
  const delegate::Graph graph = net.done();
  Options options;
  options.equalise = Equalise::kOff;
  auto c = Calibration::begin(graph, options);
  REQUIRE(c.ok());
  for (unsigned i = 0; i < 48; ++i) REQUIRE(c->add(smooth(graph, i)).ok());
  const Quantised before = quantised(*c, options);
  for (unsigned i = 0; i < 48; ++i) REQUIRE(c->add_moments(smooth(graph, i), i % 4 == 3).ok());
  // Moments alone change nothing.
  CHECK(quantised(*c, options).graph.tensors.size() == before.graph.tensors.size());
  options.weights.rounding = Rounding::kCompensated;
  const Quantised after = quantised(*c, options), again = quantised(*c, options);
  LayerNoise a(*c, before, Numerics::kFp32), b(*c, after, Numerics::kFp32);
  for (unsigned i = 100; i < 116; ++i) {
    REQUIRE(a.add(smooth(graph, i)).ok());
    REQUIRE(b.add(smooth(graph, i)).ok());
  }
  const auto output = c->graph().outputs[0];
  INFO(*a.sqnr_db(output) << " dB nearest, " << *b.sqnr_db(output) << " compensated");
  CHECK(*b.sqnr_db(output) > *a.sqnr_db(output));
  CHECK(std::any_of(after.layers.begin(), after.layers.end(),
                    [](const auto& row) { return row.compensated_db.value_or(0) > 0; }));
  for (std::size_t t = 0; t < after.graph.tensors.size(); ++t)
    CHECK(after.graph.tensors[t].data == again.graph.tensors[t].data);
}

}  // namespace
}  // namespace deputy::tests
