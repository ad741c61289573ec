// Whole networks against outside runtimes: every output of every case, and every intermediate
// tensor that has a golden. Integer tensors byte for byte, float ones within 1e-4 relative
// (golden.h).
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "delegate/import/tflite.h"
#include "tests/support/golden.h"
#include "tests/support/interpreter.h"

namespace deputy::tests {
namespace {

constexpr double kFloatTolerance = 1e-4;

/// Counts of compared and of equal tensors.
struct Totals {
  int tensors = 0, equal = 0;
};

std::int32_t tensor_by_source(const delegate::Graph& graph, std::int32_t source) {
  for (std::size_t i = 0; i < graph.tensors.size(); ++i)
    if (graph.tensors[i].source_index == source) return static_cast<std::int32_t>(i);
  return -1;
}

void compare_tensor(const std::string& data, const GoldenTensor& golden,
                    const std::vector<std::uint8_t>& got, Totals& totals) {
  const Difference d = compare(golden.dtype, got, read_bytes(data + "/" + golden.file));
  const bool good =
      golden.dtype == DType::kFloat32 ? !d.size_mismatch && d.largest <= kFloatTolerance : d.none();
  ++totals.tensors;
  totals.equal += good;
  if (!good) FAIL_CHECK(golden.file << ": " << d.text());
}

void run_model(const std::string& data, const ModelGolden& model, Numerics mode, Totals& outputs,
               Totals& layers) {
  INFO(model.name << " in " << numerics_name(mode));
  const auto graph = delegate::import_tflite(read_bytes(data + "/" + model.model), model.name);
  REQUIRE(graph.ok());
  const bool tflm = mode == Numerics::kTflite;
  const auto& golden_layers = tflm ? model.tflm_layers : model.xnnpack_layers;
  for (std::size_t i = 0; i < model.cases.size(); ++i) {
    const auto& golden = tflm ? model.cases[i].tflm : model.cases[i].xnnpack;
    if (golden.empty() && (i > 0 || golden_layers.empty())) continue;
    std::vector<std::vector<std::uint8_t>> inputs;
    for (const auto& file : model.cases[i].inputs) inputs.push_back(read_bytes(data + "/" + file));
    const auto values = run_graph(*graph, inputs, mode);
    INFO((values.ok() ? "" : values.error().text()));
    REQUIRE(values.ok());
    for (const GoldenTensor& t : golden)
      compare_tensor(data, t,
                     values->tensors[static_cast<std::size_t>(
                         graph->outputs[static_cast<std::size_t>(t.index)])],
                     outputs);
    if (i > 0) continue;
    for (const GoldenTensor& t : golden_layers) {
      const std::int32_t id = tensor_by_source(*graph, t.index);
      REQUIRE(id >= 0);
      compare_tensor(data, t, values->tensors[static_cast<std::size_t>(id)], layers);
    }
  }
}

void run_all(Numerics mode, int expected_outputs, int expected_layers) {
  const auto data = shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  Totals outputs, layers;
  for (const ModelGolden& model : load_models(*data))
    run_model(*data, model, mode, outputs, layers);
  CHECK(outputs.tensors == expected_outputs);
  CHECK(outputs.equal == outputs.tensors);
  CHECK(layers.tensors == expected_layers);
  CHECK(layers.equal == layers.tensors);
}

TEST_CASE("network goldens: tflite numerics equal TFLite Micro") {
  run_all(Numerics::kTflite, 100, 213);
}
TEST_CASE("network goldens: fp32 numerics equal TFLite with XNNPACK") {
  run_all(Numerics::kFp32, 99, 195);
}

}  // namespace
}  // namespace deputy::tests
