// Golden data from outside runtimes, through the whole stack: compiler, driver, NPU, memories.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "tests/system/deputy_process.h"
#include "tools/check_data.h"
#include "tools/cli/common.h"

using namespace deputy;
using tools::CaseOutcome;

namespace {

struct Expectation {
  int at_least_equal = 0;
  int at_most_refused = 0;
};

std::vector<tools::CaseResult> run(const std::string& manifest, const std::string& engine,
                                   const std::string& numerics, bool layers) {
  tools::CommonOptions common;
  common.soc = test::project_file("configs/soc/wearable.yaml");
  common.engine = engine;
  common.numerics = numerics;
  tools::CheckDataOptions options;
  auto simulate = tools::simulate_options(common);
  REQUIRE(simulate.ok());
  options.simulate = *simulate;
  options.layers = layers;
  auto results =
      tools::check_data(manifest, options, [](std::size_t, std::size_t, const std::string&) {});
  REQUIRE(results.ok());
  return *results;
}

std::string problems(const std::vector<tools::CaseResult>& results, CaseOutcome outcome) {
  std::string text;
  for (const auto& r : results)
    if (r.outcome == outcome) text += r.name + ": " + r.detail + "\n";
  return text;
}

int count(const std::vector<tools::CaseResult>& results, CaseOutcome outcome) {
  return static_cast<int>(std::count_if(results.begin(), results.end(),
                                        [&](const auto& r) { return r.outcome == outcome; }));
}

}  // namespace

TEST_CASE("operator and graph cases equal the reference kernels' bytes on both engines") {
  const std::string manifest = test::shared_data("ops/manifest.json");
  if (manifest.empty()) return;
  for (const char* engine : {"npu", "cpu"}) {
    const auto results = run(manifest, engine, "tflite", false);
    INFO(engine << " refused:\n" << problems(results, CaseOutcome::kRefused));
    CHECK(problems(results, CaseOutcome::kDiffers) == "");
    CHECK(count(results, CaseOutcome::kEqual) >= 329);  // 95 % of 346
  }
}

TEST_CASE("operator and graph cases equal XNNPACK's bytes on both engines") {
  const std::string manifest = test::shared_data("ops/manifest.json");
  if (manifest.empty()) return;
  for (const char* engine : {"npu", "cpu"}) {
    const auto results = run(manifest, engine, "fp32", false);
    INFO(engine << " refused:\n" << problems(results, CaseOutcome::kRefused));
    CHECK(problems(results, CaseOutcome::kDiffers) == "");
  }
}

TEST_CASE("models equal the reference kernels in every output and intermediate tensor") {
  const std::string manifest = test::shared_data("manifest.json");
  if (manifest.empty()) return;
  for (const char* engine : {"npu", "cpu"}) {
    const auto results = run(manifest, engine, "tflite", true);
    INFO(engine);
    CHECK(problems(results, CaseOutcome::kDiffers) == "");
    CHECK(problems(results, CaseOutcome::kRefused) == "");
  }
}

TEST_CASE("models equal XNNPACK in every output and intermediate tensor") {
  const std::string manifest = test::shared_data("manifest.json");
  if (manifest.empty()) return;
  for (const char* engine : {"npu", "cpu"}) {
    const auto results = run(manifest, engine, "fp32", true);
    INFO(engine);
    CHECK(problems(results, CaseOutcome::kDiffers) == "");
    CHECK(problems(results, CaseOutcome::kRefused) == "");
  }
}
