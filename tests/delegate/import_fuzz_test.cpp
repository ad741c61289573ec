// Mutated models: whatever the bytes, the importer answers with a graph that keeps its invariants
// or with an error that has a message. Memory errors show under the asan preset.
//
// DEPUTY_FUZZ_MODELS sets how many mutated models each test tries (10000 for a thorough run by
// hand).
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>

#include "delegate/import/tflite.h"
#include "delegate/import/tflite_export.h"
#include "delegate/ir/op_rules.h"
#include "tests/delegate/graph_compare.h"
#include "tests/delegate/mutate.h"
#include "tests/delegate/shared_data.h"
#include "tests/delegate/small_network.h"
#include "workloads/networks.h"

using namespace deputy;
using namespace deputy::delegate;

namespace {

using Bytes = std::vector<std::uint8_t>;

int mutations(int usual) {
  const char* text = std::getenv("DEPUTY_FUZZ_MODELS");
  return text ? std::max(1, std::atoi(text)) : usual;
}

/// Imports; what is wrong with the answer, in words.
std::string judge(const Bytes& bytes, int& accepted) {
  const auto graph = import_tflite(bytes, "fuzz");
  if (!graph.ok()) {
    const bool kind_ok = graph.error().kind == base::ErrorKind::kModel ||
                         graph.error().kind == base::ErrorKind::kUnsupported;
    return kind_ok && !graph.error().message.empty() ? "" : "an error without kind or message";
  }
  ++accepted;
  if (const auto status = validate(*graph); !status.ok())
    return "accepted, but " + status.error().text();
  for (const Op& op : graph->ops) {
    op_macs(*graph, op);
    op_label(*graph, op);
  }
  const auto written = export_tflite(*graph);
  if (!written.ok()) return "accepted, but cannot be written: " + written.error().text();
  const auto again = import_tflite(*written, "again");
  if (!again.ok()) return "accepted, but not when written again: " + again.error().text();
  return testing::difference(*graph, *again);
}

/// Every failure is reported with the seed that repeats it.
void run(const std::vector<Bytes>& seeds, int count, std::uint64_t seed) {
  std::string failures;
  int accepted = 0;
  for (int i = 0; i < count; ++i) {
    workloads::Random random(seed + static_cast<std::uint64_t>(i));
    const Bytes& original = seeds[random.below(static_cast<std::uint32_t>(seeds.size()))];
    if (const auto text = judge(testing::mutated(original, random), accepted); !text.empty())
      failures += fmt::format("seed {}: {}\n", seed + static_cast<std::uint64_t>(i), text);
  }
  INFO(failures);
  CHECK(failures.empty());
  // Both answers must occur, or the mutations test nothing.
  CHECK(accepted > 0);
  CHECK(accepted < count);
}

}  // namespace

TEST_CASE("mutations of our own networks are answered") {
  std::vector<Bytes> seeds;
  for (int i = 0; i < 4; ++i) seeds.push_back(export_tflite(testing::small_network()).value());
  for (const char* name : {"ecg_tcn", "eegnet", "ds_cnn"})
    seeds.push_back(export_tflite(workloads::build_network(name).value()).value());
  run(seeds, mutations(2000), 1);
}

TEST_CASE("mutations of the shared operator cases and models are answered") {
  auto files = testing::tflite_files(testing::shared_data() / "ops");
  for (const auto& file : testing::tflite_files(testing::shared_data() / "models"))
    if (std::filesystem::file_size(file) < 100000) files.push_back(file);
  if (files.empty()) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  std::vector<Bytes> seeds;
  for (const auto& file : files) seeds.push_back(testing::read_file(file));
  run(seeds, mutations(3000), 1000000);
}
