// Networks as PyTorch exports them (recurrent in both directions, attention, U-Net, dilated in one
// dimension, ...) run whole and give ONNX Runtime's outputs. scripts/goldens/export_networks.py
// makes them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "api/import_model.h"
#include "tests/onnx/builder.h"
#include "tests/support/golden.h"
#include "tests/support/interpreter.h"
#include "tests/support/source_dir.h"

namespace deputy::tests {
namespace {

using arch::OpKind;

const std::string& folder() {
  static const std::string path = source_dir() + "/tests/goldens/exported/";
  return path;
}

delegate::Graph network(const std::string& name, const api::Bindings& bindings) {
  const auto graph =
      api::import_model(read_bytes(folder() + name + ".onnx"), name + ".onnx", "", bindings);
  INFO((graph.ok() ? std::string() : graph.error().text()));
  REQUIRE(graph.ok());
  return *graph;
}

std::vector<float> floats_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

/// Sums are added in another order than ONNX Runtime's, so floats may differ in their last bits.
void check_outputs(const std::string& name, const delegate::Graph& graph) {
  std::vector<std::vector<std::uint8_t>> inputs;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    inputs.push_back(read_bytes(folder() + name + ".in" + std::to_string(i) + ".bin"));
  const auto values = run_graph(graph, inputs, Numerics::kFp32);
  INFO((values.ok() ? std::string() : values.error().text()));
  REQUIRE(values.ok());
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const auto got = floats_of(values->tensors[static_cast<std::size_t>(graph.outputs[i])]);
    const auto want = floats_of(read_bytes(folder() + name + ".out" + std::to_string(i) + ".bin"));
    REQUIRE(got.size() == want.size());
    float largest = 0, error = 0;
    for (std::size_t k = 0; k < got.size(); ++k) {
      largest = std::max(largest, std::fabs(want[k]));
      // Written so that a NaN counts.
      if (!(std::fabs(got[k] - want[k]) <= error)) error = std::fabs(got[k] - want[k]);
    }
    INFO("output " << i << ": off by " << error << " where the largest number is " << largest);
    CHECK(error <= 2e-6f * largest);
  }
}

TEST_CASE("ONNX: networks exported from PyTorch give ONNX Runtime's outputs") {
  int networks = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder())) {
    if (file.path().extension() != ".onnx") continue;
    const std::string name = file.path().stem();
    INFO(name);
    check_outputs(name, network(name, {}));
    check_outputs(name, network(name, {.native = false}));  // as the ONNX specification has them
    ++networks;
  }
  CHECK(networks == 15);
}

TEST_CASE("ONNX: pads between convolutions over one dimension need no transposes") {
  const auto graph = network("tcn", {});
  CHECK(count(graph, OpKind::PAD) == 3);
  CHECK(count(graph, OpKind::TRANSPOSE) == 1);  // of the input
}

TEST_CASE("ONNX: a pixel shuffle behind a convolution is the DEPTH_TO_SPACE that engines know") {
  const auto graph = network("super_resolution", {});
  CHECK(count(graph, OpKind::DEPTH_TO_SPACE) == 1);
  CHECK(count(graph, OpKind::ONNX) == 0);
}

}  // namespace
}  // namespace deputy::tests
