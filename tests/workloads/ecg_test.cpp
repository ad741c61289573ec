// The ECG beat classifier on the CPU's kernels, over all its held-out beats. The expected bytes
// come from outside: a public runtime (TFLite with XNNPACK) for the fp32 mode, an independent
// integer model in Python for the tflite mode. Both read the same committed file
// (workloads/ecg/README.md).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "delegate/import/tflite.h"
#include "delegate/ir/graph.h"
#include "tests/support/golden.h"
#include "tests/support/interpreter.h"
#include "tests/support/source_dir.h"

namespace {

using namespace deputy;

const std::string kFolder = tests::source_dir() + "/workloads/ecg/";
constexpr std::size_t kBeats = 1600, kWindow = 256, kClasses = 5;
// Held-out beats that the int8 network gets right: heldout.int8.correct in results.json.
constexpr int kCorrect = 1578;

/// The elements of a version 1 .npy file of one-byte elements.
std::vector<std::uint8_t> read_npy(const std::string& name, std::size_t elements) {
  const std::vector<std::uint8_t> bytes = tests::read_bytes(kFolder + name);
  REQUIRE(bytes.size() > 10);
  const std::size_t start = 10 + bytes[8] + 256u * bytes[9];
  REQUIRE(bytes.size() == start + elements);
  return {bytes.begin() + static_cast<std::ptrdiff_t>(start), bytes.end()};
}

/// Outputs of all held-out beats, [kBeats, kClasses].
std::vector<std::uint8_t> run_heldout(Numerics mode) {
  const auto graph =
      delegate::import_tflite(tests::read_bytes(kFolder + "ecg_beats.tflite"), "ecg_beats");
  REQUIRE(graph.ok());
  REQUIRE(graph->outputs.size() == 1);
  const std::vector<std::uint8_t> beats = read_npy("heldout_x.npy", kBeats * kWindow);
  std::vector<std::uint8_t> results;
  for (std::size_t beat = 0; beat < kBeats; ++beat) {
    const auto window = std::span(beats).subspan(beat * kWindow, kWindow);
    const std::vector<std::vector<std::uint8_t>> inputs = {{window.begin(), window.end()}};
    const auto values = tests::run_graph(graph.value(), inputs, mode);
    REQUIRE(values.ok());
    const auto& output = values->tensors[static_cast<std::size_t>(graph->outputs[0])];
    results.insert(results.end(), output.begin(), output.end());
  }
  REQUIRE(results.size() == kBeats * kClasses);
  return results;
}

/// "" when equal.
std::string difference(const std::vector<std::uint8_t>& got, const std::string& golden) {
  const auto d = tests::compare(DType::kInt8, got, read_npy(golden, kBeats * kClasses));
  return d.none() ? "" : d.text();
}

TEST_CASE("ECG classifier, tflite mode: the integer model's bytes and the recorded accuracy") {
  const std::vector<std::uint8_t> results = run_heldout(Numerics::kTflite);
  CHECK(difference(results, "golden/heldout_tflite.npy") == "");

  const std::vector<std::uint8_t> labels = read_npy("heldout_y.npy", kBeats);
  int correct = 0;
  for (std::size_t beat = 0; beat < kBeats; ++beat) {
    const auto* row = reinterpret_cast<const std::int8_t*>(&results[beat * kClasses]);
    correct += std::max_element(row, row + kClasses) - row == labels[beat];
  }
  CHECK(correct == kCorrect);
}

TEST_CASE("ECG classifier, fp32 mode: the outside runtime's bytes") {
  CHECK(difference(run_heldout(Numerics::kFp32), "golden/heldout_xnnpack.npy") == "");
}

}  // namespace
