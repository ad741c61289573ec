// Calibration data and what is kept of them; bias correction; pads; metrics.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "delegate/import/explicit_pads.h"
#include "delegate/import/tflite.h"
#include "delegate/import/tflite_export.h"
#include "tests/quantize/net.h"

namespace deputy::tests {
namespace {

using arch::Activation;
using arch::OpKind;
using namespace quantize;
using Catch::Matchers::Contains;

TEST_CASE("calibration data that say nothing or nonsense are told") {
  Net net({1, 4, 4, 2});
  net.conv(4, 1);
  const delegate::Graph graph = net.done();
  const Options options;
  SECTION("no sample") {
    const auto q = quantise(calibrated(graph, options, 0), options);
    REQUIRE_FALSE(q.ok());
    CHECK(q.error().kind == base::ErrorKind::kInput);
  }
  SECTION("not a number, infinity") {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      Calibration c = calibrated(graph, options, 3);
      Bytes bytes = sample(graph, 1);
      std::memcpy(&bytes[8], &bad, 4);
      const auto status = c.add(std::vector<Bytes>{bytes});
      REQUIRE_FALSE(status.ok());
      CHECK_THAT(status.error().text(), Contains("x: ") && Contains("sample 3"));
    }
  }
  SECTION("few samples, constants") {
    Calibration c = calibrated(graph, options, 0);
    REQUIRE(c.add(std::vector<Bytes>{bytes_of(std::vector<float>(32, 0.5f))}).ok());
    const Quantised q = quantised(c, options);
    CHECK_THAT(q.warnings.at(0), Contains("1 samples are few"));
    CHECK_THAT(q.warnings.at(1), Contains("'x' was always 0.5"));
  }
  SECTION("outliers") {
    Calibration c = calibrated(graph, options, 40);
    std::vector<float> values(32, 0.1f);
    values[3] = 900;
    REQUIRE(c.add(std::vector<Bytes>{bytes_of(values)}).ok());
    const Quantised q = quantised(c, options);
    CHECK_THAT(q.warnings.at(0), Contains("'x' has outliers"));
  }
  SECTION("a sample of the wrong size") {
    Calibration c = calibrated(graph, options, 1);
    CHECK_FALSE(c.add(std::vector<Bytes>{Bytes(12)}).ok());
  }
}

TEST_CASE("an integer model is not quantised again") {
  Net net({1, 4, 4, 2});
  net.conv(4, 1);
  const Options options;
  const Quantised q = quantised(calibrated(net.done(), options), options);
  const auto again = Calibration::begin(q.graph, options);
  REQUIRE_FALSE(again.ok());
  CHECK_THAT(again.error().text(), Contains("quantised already"));
}

TEST_CASE("a calibration goes on where it was saved, and refuses what is not its own") {
  Net net({1, 4, 4, 2});
  net.conv(4, 3).conv(2, 1);
  const delegate::Graph graph = net.done();
  const Options options;
  const Calibration whole = calibrated(graph, options, 12);
  const auto half = calibrated(graph, options, 5).save("key");
  Calibration resumed = calibrated(graph, options, 0);
  REQUIRE(resumed.restore(half, "key"));
  CHECK(resumed.samples() == 5);
  for (unsigned i = 5; i < 12; ++i) REQUIRE(resumed.add(std::vector<Bytes>{sample(graph, i)}).ok());
  CHECK(resumed.save("key") == whole.save("key"));
  CHECK_FALSE(resumed.restore(half, "another key"));
  for (const std::size_t cut : {std::size_t{0}, half.size() / 2, half.size() - 1})
    CHECK_FALSE(resumed.restore(std::span(half).first(cut), "key"));
  CHECK(resumed.samples() == 12);
}

TEST_CASE("statistics of values beyond any integer are saved and taken up again") {
  Net net({1, 4});
  net.op(OpKind::RELU, {net.newest()}, {1, 4});
  const delegate::Graph graph = net.done();
  const Options options;
  Calibration c = calibrated(graph, options, 0);
  REQUIRE(c.add(std::vector<Bytes>{bytes_of({0, 0, 0, 0})}).ok());
  REQUIRE(c.add(std::vector<Bytes>{bytes_of({-3e38f, 1, 3e38f, 1e20f})}).ok());
  Calibration again = calibrated(graph, options, 0);
  REQUIRE(again.restore(c.save("key"), "key"));
  CHECK(again.save("key") == c.save("key"));
}

TEST_CASE("bias correction takes the mean shift of rounded weights away") {
  // Four bits' worth of weights: rounding shifts the outputs of one-sided inputs visibly.
  Net net({1, 8, 8, 16});
  net.conv(32, 3, Activation::kNone);
  std::vector<double> shift;
  for (const bool correct : {false, true}) {
    Options options;
    options.weights.correct_bias = correct, options.weights.per_channel = false;
    options.equalise = Equalise::kOff;
    auto c = Calibration::begin(net.done(), options);
    REQUIRE(c.ok());
    const auto positive = [&](unsigned seed) {
      Bytes bytes = sample(net.graph(), seed);
      auto v = reals(net.graph().tensor(0).desc, bytes);
      for (float& x : v) x = std::fabs(x) + 0.5f;
      return bytes_of(v);
    };
    for (unsigned i = 0; i < 16; ++i) REQUIRE(c->add(std::vector<Bytes>{positive(i)}).ok());
    const Quantised q = quantised(*c, options);
    double sum = 0;
    for (unsigned i = 50; i < 54; ++i) {
      const std::vector<Bytes> inputs = {positive(i)};
      const auto a = Executor(c->graph(), Numerics::kFp32).run(inputs),
                 b = Executor(q.graph, Numerics::kTflite).run(inputs);
      const auto x = reals(c->graph().tensor(c->graph().outputs[0]).desc, (*a)[0]),
                 y = reals(q.graph.tensor(q.graph.outputs[0]).desc, (*b)[0]);
      std::vector<double> mean(32, 0);
      for (std::size_t k = 0; k < x.size(); ++k)
        mean[k % 32] += static_cast<double>(y[k] - x[k]) / static_cast<double>(x.size() / 32);
      for (const double m : mean) sum += std::fabs(m);
    }
    shift.push_back(sum);
  }
  INFO(shift[0] << " uncorrected, " << shift[1] << " corrected");
  CHECK(shift[1] < 0.5 * shift[0]);
}

TEST_CASE("pads that TFLite has no words for become operators") {
  Net net({1, 7, 7, 2});
  arch::OpAttrs attrs;
  attrs.padding = static_cast<std::uint8_t>(arch::Padding::kExplicit),
  attrs.stride_h = attrs.stride_w = 2;
  attrs.pad_top = attrs.pad_left = 2, attrs.pad_bottom = attrs.pad_right = 0;
  net.op(OpKind::CONV_2D, {net.newest(), net.random({3, 3, 3, 2}, 0.5f), net.random({3}, 0.1f)},
         {1, 4, 4, 3}, attrs);
  attrs.filter_h = attrs.filter_w = 2, attrs.stride_h = attrs.stride_w = 1,
  attrs.pad_top = attrs.pad_left = 1, attrs.pad_bottom = attrs.pad_right = 1;
  net.op(OpKind::MAX_POOL_2D, {net.newest()}, {1, 5, 5, 3}, attrs);
  const delegate::Graph graph = net.done();
  CHECK_FALSE(delegate::export_tflite(graph).ok());
  const Options options;
  const Quantised q = quantised(calibrated(graph, options), options);
  for (const delegate::Graph* g : {&graph, &q.graph}) {
    const auto padded = delegate::with_pad_operators(*g);
    REQUIRE(padded.ok());
    const auto file = delegate::export_tflite(*padded);
    REQUIRE(file.ok());
    const auto again = delegate::import_tflite(*file, "again");
    REQUIRE(again.ok());
    const std::vector<Bytes> inputs = {sample(graph, 9)};
    const auto a = Executor(*g, Numerics::kTflite).run(inputs),
               b = Executor(*again, Numerics::kTflite).run(inputs);
    REQUIRE((a.ok() && b.ok()));
    CHECK(*a == *b);
  }
}

TEST_CASE("metrics") {
  const auto value = [](Metric metric, const std::vector<std::vector<float>>& outputs,
                        const std::vector<std::vector<double>>& labels) {
    Meter meter(metric);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      REQUIRE(meter.add(outputs[i], outputs[i], labels[i]).ok());
    const auto v = meter.value();
    REQUIRE(v.ok());
    return *v;
  };
  CHECK(value(Metric::kTop1, {{1, 2}, {3, 2}, {0, 1}}, {{1}, {0}, {0}}) == Approx(2.0 / 3));
  // scikit-learn's roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) of its documentation
  CHECK(value(Metric::kAuc, {{0.1f}, {0.4f}, {0.35f}, {0.8f}}, {{0}, {0}, {1}, {1}}) ==
        Approx(0.75));
  CHECK(value(Metric::kAuc, {{0.5f}, {0.5f}}, {{0}, {1}}) == Approx(0.5));
  CHECK(value(Metric::kMae, {{1, 2}, {3, 4}}, {{1, 1}, {1, 1}}) == Approx(1.5));
  CHECK(value(Metric::kDice, {{0, 1, 1, 0}}, {{0, 1, 0, 0}}) == Approx(2.0 / 3));
  Meter one(Metric::kAuc);
  REQUIRE(one.add(std::vector<float>{1}, {}, std::vector<double>{1}).ok());
  CHECK_FALSE(one.value().ok());
  CHECK_FALSE(Meter(Metric::kMae).add(std::vector<float>{1, 2}, {}, std::vector<double>{1}).ok());
  CHECK_FALSE(Meter(Metric::kTop1).add(std::vector<float>{1, 2}, {}, std::vector<double>{}).ok());
  // Numbers that are none are refused, not cast.
  const double no = std::numeric_limits<double>::quiet_NaN();
  for (const double label : {no, 1e300, -1.0, 2.0})
    CHECK_FALSE(
        Meter(Metric::kDice).add(std::vector<float>{1, 2}, {}, std::vector<double>{label}).ok());
  CHECK_FALSE(Meter(Metric::kMae)
                  .add(std::vector<float>{std::numeric_limits<float>::infinity()}, {},
                       std::vector<double>{1})
                  .ok());
}

TEST_CASE("what is no number becomes the lowest integer, as the kernels have it") {
  Net net({1, 2});
  delegate::Graph graph = net.graph();
  auto& desc = graph.tensor(0).desc;
  desc.dtype = DType::kInt8, desc.quant = {{0.5f}, {3}, 0};
  const Bytes bytes =
      integer_input(graph, 0, bytes_of({std::numeric_limits<float>::quiet_NaN(), HUGE_VALF}));
  CHECK(bytes == Bytes{0x80, 0x7f});
}

}  // namespace
}  // namespace deputy::tests
