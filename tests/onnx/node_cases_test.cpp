// ONNX's node tests on the CPU's kernels, without the simulator (`deputy check-onnx` runs them on
// it).
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "api/onnx_cases.h"
#include "tests/support/interpreter.h"

namespace deputy::tests {
namespace {

constexpr const char* kFolder = "/usr/share/libonnx-testdata/data/node";

base::Result<std::vector<std::vector<std::uint8_t>>> interpret(
    const delegate::Graph& graph, const std::vector<std::vector<std::uint8_t>>& inputs) {
  DEPUTY_ASSIGN(auto values, run_graph(graph, inputs, Numerics::kFp32));
  std::vector<std::vector<std::uint8_t>> out;
  for (const auto id : graph.outputs) out.push_back(values.tensors[static_cast<std::size_t>(id)]);
  return out;
}

struct Counts {
  int pass = 0, refused = 0, wrong = 0;
};
Counts run_all(const std::string& filter, int every) {
  Counts counts;
  const auto folders = api::onnx_case_folders(kFolder, filter);
  for (std::size_t i = 0; i < folders.size(); i += static_cast<std::size_t>(every)) {
    const auto result = api::run_onnx_case(folders[i], interpret);
    counts.pass += result.outcome == api::OnnxOutcome::kPass;
    counts.refused += result.outcome == api::OnnxOutcome::kRefused;
    counts.wrong += result.outcome == api::OnnxOutcome::kWrong;
    if (std::getenv("DEPUTY_VERBOSE") &&
        (result.outcome != api::OnnxOutcome::kPass || !result.detail.empty()))
      fmt::print("{} {}: {}\n", result.name,
                 result.outcome == api::OnnxOutcome::kPass    ? "pass"
                 : result.outcome == api::OnnxOutcome::kWrong ? "WRONG"
                                                              : "refused",
                 result.detail);
    INFO(result.name << ": " << result.detail);
    CHECK(result.outcome != api::OnnxOutcome::kWrong);
    if (result.outcome == api::OnnxOutcome::kRefused) CHECK(!result.detail.empty());
  }
  return counts;
}

TEST_CASE("ONNX node tests: every fifth passes or is refused with a reason") {
  if (!std::filesystem::exists(kFolder)) {
    WARN("skipped: libonnx-testdata is not installed");
    return;
  }
  const Counts counts = run_all("", 5);
  CHECK(counts.pass >= 140);
  CHECK(counts.wrong == 0);
}

TEST_CASE("ONNX node tests: all of them", "[.slow]") {
  if (!std::filesystem::exists(kFolder)) {
    WARN("skipped: libonnx-testdata is not installed");
    return;
  }
  const Counts counts = run_all("", 1);
  fmt::print("{} pass, {} refused, {} wrong\n", counts.pass, counts.refused, counts.wrong);
  CHECK(counts.pass >= 700);
  CHECK(counts.wrong == 0);
}

}  // namespace
}  // namespace deputy::tests
