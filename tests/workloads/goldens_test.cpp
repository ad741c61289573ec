// The project's own networks on the CPU kernels, against an outside runtime
// (tests/goldens/README.md): every operator's output and the network's, byte for byte in the fp32
// rounding.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "delegate/import/tflite_export.h"
#include "tests/support/golden.h"
#include "tests/support/interpreter.h"
#include "tests/support/source_dir.h"
#include "workloads/networks.h"
#include "workloads/random.h"

using namespace deputy;

namespace {

const std::string kFolder = tests::source_dir() + "/tests/goldens/";
using Bytes = std::vector<std::uint8_t>;

std::string fnv1a64(const Bytes& bytes) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const auto byte : bytes) h = (h ^ byte) * 0x100000001b3u;
  return fmt::format("{:016x}", h);
}

nlohmann::json golden(const std::string& network) {
  std::ifstream in(kFolder + network + "/golden.json");
  REQUIRE(in);
  return nlohmann::json::parse(in);
}

/// The operators, in order, whose output differs from the golden's.
std::string differing_ops(const delegate::Graph& graph, const tests::GraphValues& values,
                          const nlohmann::json& tensors) {
  std::map<int, std::string> expected;
  for (const auto& tensor : tensors) expected[tensor["index"]] = tensor["hash"];
  std::string report;
  for (const auto& op : graph.ops) {
    const auto it = expected.find(op.outputs[0]);
    if (it == expected.end())
      report += delegate::op_label(graph, op) + " has no golden\n";
    else if (fnv1a64(values.tensors[static_cast<std::size_t>(op.outputs[0])]) != it->second)
      report += delegate::op_label(graph, op) + " differs\n";
  }
  return report;
}

/// "" when the values of an int8 tensor make use of its range: many of them, and few at the upper
/// end (the lower end is where RELU's zeros are).
std::string spread(const Bytes& bytes) {
  std::array<int, 256> count{};
  for (const auto byte : bytes) ++count[byte];
  int distinct = 0;
  for (const int n : count) distinct += n > 0;
  const double at_top = count[127] / static_cast<double>(bytes.size());
  if (bytes.size() >= 1000 && distinct < 60)
    return fmt::format("only {} distinct values", distinct);
  if (bytes.size() >= 1000 && at_top > 0.2) return fmt::format("{} of the values are 127", at_top);
  return "";
}

}  // namespace

TEST_CASE("own networks give the outside runtime's bytes") {
  for (const auto& info : workloads::networks()) {
    INFO(info.name);
    auto built = workloads::build_network(info.name);
    REQUIRE(built.ok());
    const delegate::Graph& graph = *built;
    const auto file = delegate::export_tflite(graph);
    REQUIRE(file.ok());
    const auto expected = golden(info.name);
    INFO("if the network was changed on purpose, run scripts/remake_goldens");
    REQUIRE(expected["model_bytes"] == file->size());
    REQUIRE(expected["model_hash"] == fnv1a64(*file));
    for (const auto& one : expected["cases"]) {
      const Bytes input = workloads::seeded_input(graph.tensor(graph.inputs[0]).desc, one["seed"]);
      REQUIRE(one["input_hash"] == fnv1a64(input));
      const std::vector<Bytes> inputs = {input};
      const auto values = tests::run_graph(graph, inputs, Numerics::kFp32);
      REQUIRE(values.ok());
      CHECK(differing_ops(graph, *values, one["tensors"]) == "");
      const auto output =
          tests::read_bytes(kFolder + info.name + "/" + one["output"].get<std::string>());
      CHECK(values->tensors[static_cast<std::size_t>(graph.outputs[0])] == output);
    }
  }
}

TEST_CASE("own networks use the int8 range without saturating") {
  for (const auto& info : workloads::networks()) {
    const auto graph = workloads::build_network(info.name);
    REQUIRE(graph.ok());
    const std::vector<Bytes> inputs = {
        workloads::seeded_input(graph->tensor(graph->inputs[0]).desc, 4)};
    const auto values = tests::run_graph(*graph, inputs, Numerics::kTflite);
    REQUIRE(values.ok());
    for (const auto& op : graph->ops) {
      INFO(info.name << " " << delegate::op_label(*graph, op));
      CHECK(spread(values->tensors[static_cast<std::size_t>(op.outputs[0])]) == "");
    }
  }
}
