// `deputy report`: what an earlier run printed, from its JSON alone.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/system/deputy_process.h"
#include "tools/report.h"

using namespace deputy;
using namespace deputy::test;
using Catch::Matchers::Contains;

TEST_CASE("a saved run's tables, JSON and page are those of the run") {
  TempFolder folder;
  const auto in = [&](const char* name) { return folder.file(name); };
  const std::string model = in("ecg.tflite");
  REQUIRE(run_deputy({"network", "ecg_tcn", "-o", model}).exit_code == 0);
  write_text(in("faults.yaml"), "faults:\n  - {kind: engine_hang, target: npu, nth: 1}\n");
  // Each of the report's parts that is not always there: battery, full DRAM, cache, frames, faults,
  // recovery, DSP.
  const std::vector<std::vector<std::string>> runs = {
      {"--soc", "patch", "--force", "SOFTMAX=dsp"},
      {"--soc", "imaging", "--battery-mah", "100", "--period", "1000", "--cache", in("cache")},
      {"--timing-only", "--frames", "6", "--frame-period", "900", "--frame-jitter", "100"},
      {"--faults", in("faults.yaml"), "--recover", "full"}};
  for (std::vector<std::string> run : runs) {
    INFO(run[0] << " " << run[1]);
    run.insert(run.begin(), {"run", model});
    run.insert(run.end(),
               {"--report", in("run.json"), "--page-data", "--html", in("run.html"), "--top", "4"});
    const auto ran = run_deputy(run);
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    const auto again =
        run_deputy({"report", in("run.json"), "--html", in("again.html"), "--top", "4"});
    INFO(again.err);
    REQUIRE(again.exit_code == 0);
    CHECK(again.out == ran.out);
    CHECK(read_text(in("again.html")) == read_text(in("run.html")));
    // And the JSON comes back byte for byte, so nothing of it was left unread.
    auto json = nlohmann::ordered_json::parse(read_text(in("run.json")));
    json.erase("page");
    const auto report = tools::report_of_json(json, "run.json");
    REQUIRE(report.ok());
    CHECK(tools::report_json(*report, false) == json.dump(1) + "\n");
  }
}

TEST_CASE("a saved run that lacks something is refused with what it lacks") {
  TempFolder folder;
  const std::string model = folder.file("ecg.tflite"), json = folder.file("run.json"),
                    html = folder.file("run.html");
  REQUIRE(run_deputy({"network", "ecg_tcn", "-o", model}).exit_code == 0);
  REQUIRE(run_deputy({"run", model, "--timing-only", "--quiet", "--report", json}).exit_code == 0);
  const auto page = run_deputy({"report", json, "--html", html});
  CHECK(page.exit_code == 9);
  CHECK_THAT(page.err, Contains("has no timeline") && Contains("--page-data"));
  CHECK(page.out.empty());
  auto cut = nlohmann::ordered_json::parse(read_text(json));
  cut.erase("counters");
  write_text(json, cut.dump());
  const auto text = run_deputy({"report", json});
  CHECK(text.exit_code == 9);
  CHECK_THAT(text.err, Contains("counters"));
  write_text(json, "no json");
  CHECK(run_deputy({"report", json}).exit_code == 9);
  CHECK(run_deputy({"report", folder.file("missing.json")}).exit_code == 7);
  CHECK(run_deputy({"run", model, "--page-data"}).exit_code == 2);
}
