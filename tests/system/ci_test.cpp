// `deputy ci`: the shipped suite, and whether what should be caught is.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/system/deputy_process.h"
#include "tools/ci/verdict.h"

using namespace deputy;
using namespace deputy::test;
using Catch::Matchers::Contains;

namespace {

const char* const kSuite =
    "cases:\n  - {network: ecg_tcn}\n  - {network: autoencoder, effort: fast}\ntolerances: "
    "{energy_nj: 0.0001}\n";

}  // namespace

TEST_CASE("a cycle more a tile is caught, and the layers are named") {
  TempFolder folder;
  const std::string suite = folder.file("s.yaml"), junit = folder.file("j.xml"),
                    markdown = folder.file("m.md");
  write_text(suite, kSuite);
  REQUIRE(run_deputy({"ci", suite, "--update-baseline"}).exit_code == 0);
  const auto unchanged = run_deputy({"ci", suite, "--junit", junit, "--jobs", "1"});
  CHECK(unchanged.exit_code == 0);
  CHECK_THAT(unchanged.out, Contains("2 of 2 cases"));
  CHECK_THAT(read_text(junit), Contains("tests=\"20\" failures=\"0\" errors=\"0\""));

  const std::vector<std::string> slow = {
      "ci",      suite, "--set",      "silicon.defect=slow-compute",
      "--junit", junit, "--markdown", markdown};
  const auto caught = run_deputy(slow);
  CHECK(caught.exit_code == 1);
  CHECK_THAT(caught.out, Contains("npu_cycles") && Contains("layer ") && Contains("CONV_2D") &&
                             Contains("0 of 2 cases"));
  CHECK_THAT(read_text(junit), Contains("<failure message=\"npu_cycles: ") && Contains("CONV_2D"));
  CHECK_THAT(read_text(markdown),
             Contains("**failed**") && Contains("* layer ") && Contains("CONV_2D"));
  // Cycles moved, bytes did not; only operators that the NPU computes became slower, each at least
  // by a cycle.
  auto as_json = slow;
  as_json.push_back("--json");
  const auto verdict = nlohmann::json::parse(run_deputy(as_json).out);
  for (const auto& c : verdict["cases"]) {
    INFO(c["case"]);
    CHECK(c["outputs"].empty());
    CHECK(c["metrics"]["npu_cycles"]["moved"] == true);
    CHECK(c["metrics"]["dram_bytes"]["moved"] == false);
    CHECK(c["metrics"]["macs_on_npu"]["moved"] == false);
    REQUIRE_FALSE(c["layers"].empty());
    CHECK(c["layers"][0]["cycles"][1].get<double>() >=
          c["layers"][0]["cycles"][0].get<double>() + 1);
  }
  // Within a tolerance that is wide enough it passes.
  write_text(suite,
             "cases:\n  - {network: ecg_tcn}\n  - {network: autoencoder, effort: fast}\n"
             "tolerances: {energy_nj: 50, npu_cycles: 50, latency_ns: 50, host_cycles: 50}\n");
  CHECK(run_deputy(slow).exit_code == 0);
}

TEST_CASE("other bytes, missing cases and cases that fail are 1; what cannot be used is 2") {
  TempFolder folder;
  const std::string suite = folder.file("s.yaml"), baseline = folder.file("s.baseline.json");
  write_text(suite, "cases: [{network: ecg_tcn, effort: fast}]\n");
  CHECK(run_deputy({"ci", suite}).exit_code == 2);  // no baseline
  REQUIRE(run_deputy({"ci", suite, "--update-baseline"}).exit_code == 0);
  auto json = nlohmann::json::parse(read_text(baseline));
  auto& hash = json["cases"]["ecg_tcn-wearable"]["outputs"][0];
  hash = std::string(64, '0');
  write_text(baseline, json.dump());
  const auto bytes = run_deputy({"ci", suite});
  CHECK(bytes.exit_code == 1);
  CHECK_THAT(bytes.out, Contains("output 0 has other bytes") && Contains("000000000000"));

  write_text(suite, "cases: [{network: ecg_tcn, effort: fast, soc: implant}]\n");
  const auto cases = run_deputy({"ci", suite});
  CHECK(cases.exit_code == 1);
  CHECK_THAT(cases.out, Contains("the baseline does not have it") &&
                            Contains("is in the baseline, not in the suite"));

  write_text(suite, "cases: [{network: nothing}]\n");
  CHECK(run_deputy({"ci", suite, "--update-baseline"}).exit_code == 1);
  CHECK(read_text(baseline) == json.dump());  // as it was
  write_text(baseline, "{}");
  CHECK(run_deputy({"ci", suite}).exit_code == 2);
  write_text(suite, "cases: [{network: ecg_tcn, speed: 1}]\n");
  CHECK(run_deputy({"ci", suite}).exit_code == 2);
  for (const char* words : {"effort: fats", "engine: gpu", "numerics: fp33"}) {
    INFO(words);
    write_text(suite, std::string("cases: [{network: ecg_tcn, ") + words + "}]\n");
    const auto r = run_deputy({"ci", suite, "--update-baseline"});
    CHECK(r.exit_code == 2);
    CHECK_THAT(r.err, Contains("cases.0") && Contains("there is no") && Contains("use one of"));
  }
  CHECK(run_deputy({"ci", folder.file("none.yaml")}).exit_code == 2);
  CHECK(run_deputy({"ci"}).exit_code == 2);
}

TEST_CASE("a verdict: tolerances count in both directions, layers by the change of their cycles") {
  tools::CiSuite suite;
  suite.cases.resize(1);
  suite.cases[0].name = "c";
  suite.tolerances["npu_cycles"] = 1;
  tools::CiResult before;
  for (const auto& m : tools::ci_metrics()) before.metrics[m.name] = 1000;
  before.outputs = {"a"};
  before.layers = {{"x", "CONV_2D", "npu", 100, 1, 8},
                   {"y", "ADD", "npu", 500, 1, 8},
                   {"z", "ADD", "cpu", 7, 1, 8}};
  const auto judged = [&](const tools::CiResult& now) {
    return tools::judge(suite, {{"c", now}}, {{"c", before}}).at(0);
  };
  CHECK(judged(before).good());
  for (const auto& [cycles, good] :
       {std::pair{1010.0, true}, {1011.0, false}, {990.0, true}, {989.0, false}}) {
    tools::CiResult now = before;
    now.metrics["npu_cycles"] = cycles;
    CHECK(judged(now).good() == good);
  }
  tools::CiResult now = before;
  now.metrics["dram_bytes"] = 1000.001;
  now.layers[0].cycles = 110, now.layers[1].cycles = 400, now.layers[2].engine = "npu";
  const auto verdict = judged(now);
  CHECK_FALSE(verdict.good());
  REQUIRE(verdict.layers.size() == 3);
  CHECK(verdict.layers[0].what == "1 y (ADD)");
  CHECK(verdict.layers[1].what == "0 x (CONV_2D)");
  now = before;
  now.layers.pop_back();
  CHECK_FALSE(judged(now).good());
  // A baseline file says the same as what was written.
  const auto again = tools::parse_ci_results(tools::ci_results_json({{"c", before}}), "f");
  REQUIRE(again.ok());
  CHECK(again->at("c").metrics == before.metrics);
  CHECK(again->at("c").layers == before.layers);
  CHECK_FALSE(tools::parse_ci_results("[1", "f").ok());
}
