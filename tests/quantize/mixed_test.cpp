// Mixed int8 and int16: what is chosen within a budget, and that the result computes the same
// everywhere.
#include "quantize/mixed.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "api/import_model.h"
#include "delegate/import/onnx/onnx_export.h"
#include "delegate/import/tflite.h"
#include "delegate/import/tflite_export.h"
#include "tests/quantize/net.h"
#include "tests/support/graphs/agreement.h"

namespace deputy::tests {
namespace {

using arch::Activation;
using arch::OpKind;
using namespace quantize;
using Catch::Matchers::Contains;

/// Convolutions, a sum, a pool, a matrix, softmax.
delegate::Graph network() {
  Net net({1, 8, 8, 3});
  net.conv(8, 3);
  const auto a = net.newest();
  net.depthwise(3).conv(8, 1, Activation::kNone);
  net.op(OpKind::ADD, {net.newest(), a}, {1, 8, 8, 8});
  arch::OpAttrs pool;
  pool.filter_h = pool.filter_w = pool.stride_h = pool.stride_w = 2;
  net.op(OpKind::MAX_POOL_2D, {net.newest()}, {1, 4, 4, 8}, pool);
  net.conv(4, 3);
  net.op(OpKind::RESHAPE, {net.newest(), net.ints({2}, {1, 64})}, {1, 64});
  net.op(OpKind::FULLY_CONNECTED, {net.newest(), net.random({6, 64}, 0.4f), net.random({6}, 0.1f)},
         {1, 6});
  net.op(OpKind::SOFTMAX, {net.newest()}, {1, 6});
  return net.done();
}
std::vector<std::vector<Bytes>> samples(const delegate::Graph& graph) {
  std::vector<std::vector<Bytes>> out;
  for (unsigned i = 0; i < 6; ++i) out.push_back({sample(graph, i)});
  return out;
}
struct Made {
  Calibration calibration;
  Options options;
  MixedChoice choice;
  Quantised quantised;
};
Made made(const delegate::Graph& graph, const Budget& budget, bool float_io = true) {
  Options options;
  options.float_io = float_io, options.weights.matrix_per_channel = true;
  Calibration c = calibrated(graph, options);
  auto choice = choose_mixed(c, options, budget, samples(graph));
  INFO((choice.ok() ? std::string() : choice.error().text()));
  REQUIRE(choice.ok());
  options.wide = choice->wide;
  Quantised q = quantised(c, options);
  return {std::move(c), options, std::move(*choice), std::move(q)};
}
int wide_count(const Quantised& q) {
  return static_cast<int>(
      std::count_if(q.layers.begin(), q.layers.end(), [](const auto& row) { return row.wide; }));
}

TEST_CASE("more budget buys more signal, and none of it is exceeded") {
  const delegate::Graph graph = network();
  double last = 0;
  for (const double percent : {0.0, 10.0, 40.0, 1000.0}) {
    Budget budget;
    budget.bytes_percent = percent;
    const Made m = made(graph, budget);
    INFO(percent << " %: " << m.choice.int8_db << " to " << m.choice.mixed_db << " dB");
    CHECK(m.choice.bytes_percent <= percent);
    CHECK(m.choice.mixed_db >= last);
    CHECK((wide_count(m.quantised) == 0) == m.choice.wide.empty());
    if (percent == 0) CHECK(m.choice.wide.empty());
    if (percent >= 1000) {
      CHECK(m.choice.mixed_db > m.choice.int8_db + 3);
      CHECK(sqnr(m.calibration, m.quantised) > m.choice.int8_db + 3);
    }
    last = m.choice.mixed_db;
  }
}

TEST_CASE("a target ends the search, cycles are a budget too") {
  const delegate::Graph graph = network();
  Budget all;
  all.bytes_percent = 1000;
  const double most = made(graph, all).choice.mixed_db, least = made(graph, all).choice.int8_db;
  Budget target;
  target.target_db = (most + least) / 2;
  const Made m = made(graph, target);
  CHECK(m.choice.mixed_db >= target.target_db);
  CHECK(m.choice.wide.size() < made(graph, all).choice.wide.size());
  CHECK(std::any_of(m.choice.rows.begin(), m.choice.rows.end(), [](const auto& row) {
    return row.verdict == "the target is reached without";
  }));
  Budget cycles;
  cycles.cycles_percent = 30;
  const Made c = made(graph, cycles);
  CHECK(c.choice.cycles_percent <= 30);
  CHECK_FALSE(choose_mixed(m.calibration, m.options, {}, samples(graph)).ok());
}

TEST_CASE("mixed networks give the same bytes as a file and on the SoC") {
  for (const bool float_io : {false, true}) {
    Budget budget;
    budget.bytes_percent = 40;
    const Made m = made(network(), budget, float_io);
    const delegate::Graph& graph = m.quantised.graph;
    REQUIRE(wide_count(m.quantised) > 0);
    REQUIRE(wide_count(m.quantised) < static_cast<int>(m.quantised.layers.size()));
    // Types change at boundaries only, by an operator of their own.
    for (const auto& op : graph.ops)
      if (op.kind != OpKind::QUANTIZE && op.kind != OpKind::DEQUANTIZE)
        CHECK(graph.tensor(op.inputs[0]).desc.dtype == graph.tensor(op.outputs[0]).desc.dtype);
    for (const auto id : {graph.inputs[0], graph.outputs[0]})
      CHECK(graph.tensor(id).desc.dtype == (float_io ? DType::kFloat32 : DType::kInt8));
    const auto file = delegate::export_tflite(graph);
    REQUIRE(file.ok());
    const auto again = delegate::import_tflite(*file, "again");
    REQUIRE(again.ok());
    const std::vector<Bytes> inputs = {integer_input(graph, 0, sample(graph, 3))};
    const auto a = Executor(graph, Numerics::kTflite).run(inputs),
               b = Executor(*again, Numerics::kTflite).run(inputs);
    REQUIRE((a.ok() && b.ok()));
    CHECK(*a == *b);
    for (const auto engine : {delegate::EnginePolicy::kAuto, delegate::EnginePolicy::kNpu}) {
      graphs::Setting setting;
      setting.options.engine = engine;
      setting.options.effort = delegate::Effort::kFast;
      CHECK(graphs::disagreement(*again, setting, 1).value_or("") == "");
    }
  }
}

TEST_CASE("a mixed network is the same network as QDQ ONNX") {
  for (const double percent : {40.0, 1000.0}) {
    Budget budget;
    budget.bytes_percent = percent;
    const Made m = made(network(), budget);
    const auto file = delegate::export_onnx(m.quantised.graph);
    INFO((file.ok() ? std::string() : file.error().text()));
    REQUIRE(file.ok());
    std::vector<std::string> notes;
    const auto again = api::import_model(*file, "again.onnx", "", {}, &notes);
    INFO((again.ok() ? std::string() : again.error().text()));
    REQUIRE(again.ok());
    for (const auto& note : notes) FAIL_CHECK(note);
    // Weighted operators are on the types that the quantiser chose.
    for (const auto kind : {OpKind::CONV_2D, OpKind::DEPTHWISE_CONV_2D, OpKind::FULLY_CONNECTED})
      for (const auto type : {DType::kInt8, DType::kInt16}) {
        const auto of_type = [&](const delegate::Graph& g) {
          return std::count_if(g.ops.begin(), g.ops.end(), [&](const auto& op) {
            return op.kind == kind && g.tensor(op.inputs[0]).desc.dtype == type;
          });
        };
        CHECK(of_type(*again) == of_type(m.quantised.graph));
      }
    for (unsigned seed = 0; seed < 4; ++seed) {
      const std::vector<Bytes> inputs = {sample(m.quantised.graph, seed)};
      const auto a = Executor(m.quantised.graph, Numerics::kFp32).run(inputs),
                 b = Executor(*again, Numerics::kFp32).run(inputs);
      REQUIRE((a.ok() && b.ok()));
      CHECK(*a == *b);
    }
    graphs::Setting setting;
    setting.options.numerics = Numerics::kFp32;
    setting.options.effort = delegate::Effort::kFast;
    CHECK(graphs::disagreement(*again, setting, 1).value_or("") == "");
  }
}

TEST_CASE("an operator that no engine takes on int16 says so and stays int8") {
  Net net({1, 6, 6, 3});
  net.conv(4, 3, Activation::kNone);
  net.op(OpKind::HARD_SWISH, {net.newest()}, {1, 6, 6, 4});
  net.conv(4, 1, Activation::kNone);
  Budget budget;
  budget.bytes_percent = 1000;
  const Made m = made(net.done(), budget);
  REQUIRE(m.choice.rows.size() == 3);
  CHECK_FALSE(m.choice.rows[1].output_db.has_value());
  CHECK_THAT(m.choice.rows[1].verdict, Contains("int16"));
  CHECK_FALSE(m.quantised.layers[1].wide);
  CHECK(m.quantised.layers[2].wide);
}

TEST_CASE("a budget is read or refused") {
  Budget budget;
  REQUIRE(add_to_budget("bytes=12.5", budget).ok());
  REQUIRE(add_to_budget("cycles=0", budget).ok());
  REQUIRE(add_to_budget("sqnr=40", budget).ok());
  CHECK(budget.bytes_percent == 12.5);
  CHECK(budget.cycles_percent == 0);
  CHECK(budget.target_db == 40);
  for (const char* bad :
       {"", "bytes", "bytes=", "bytes=x", "bytes=-1", "bytes=5%", "time=3", "sqnr=nan"})
    CHECK_FALSE(add_to_budget(bad, budget).ok());
}

}  // namespace
}  // namespace deputy::tests
