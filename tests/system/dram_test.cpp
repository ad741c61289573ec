// The full DRAM model under a whole network: bytes, books, report.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/system/deputy_process.h"

using namespace deputy::test;
using Catch::Matchers::Contains;

TEST_CASE(
    "full dram: a network gives the same bytes, balanced books, and a report that says what the "
    "DRAM did") {
  TempFolder t;
  const std::string model = project_file("workloads/ecg/ecg_beats.tflite");
  nlohmann::json reports[4];
  const std::vector<std::vector<std::string>> variants = {
      {"--set", "dram.model=simple"},
      {"--set", "dram.model=full"},
      {"--set", "dram.model=full", "--timing-only"},
      {"--set", "dram.model=full", "--set", "dram.controller.power_down=100", "--set",
       "dram.controller.self_refresh=2000", "--set", "dram.controller.refresh=per_bank", "--set",
       "dram.controller.page_policy=timeout"}};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::string name = std::to_string(i);
    std::vector<std::string> arguments = {"run", model, "--report", t.file(name + ".json"),
                                          "--reproducible"};
    arguments.insert(arguments.end(), variants[i].begin(), variants[i].end());
    if (i != 2) arguments.insert(arguments.end(), {"--output-dir", t.file(name)});
    const auto r = run_deputy(arguments);
    INFO(r.err);
    REQUIRE(r.exit_code == 0);
    if (i > 0) CHECK_THAT(r.out, Contains("LPDDR4-3200"));
    reports[i] = nlohmann::json::parse(read_text(t.file(name + ".json")));
  }
  CHECK(read_text(t.file("0/output0.npy")) == read_text(t.file("1/output0.npy")));
  CHECK(read_text(t.file("0/output0.npy")) == read_text(t.file("3/output0.npy")));
  for (const char* key : {"latency_ns", "cycles", "energy_nj", "bytes", "counters", "ops", "dram"})
    CHECK(reports[1].at(key) == reports[2].at(key));
  CHECK(reports[0].at("bytes") == reports[1].at("bytes"));
  CHECK(reports[0].at("counters").at("dram.read_bursts") == 0);
  CHECK(reports[1].at("counters").at("dram.read_bursts") > 0);
  CHECK(reports[1].at("dram").at("utilisation") > 0);
  CHECK(reports[0].at("energy_nj").at("dram.static") !=
        reports[1].at("energy_nj").at("dram.static"));
  CHECK(reports[3].at("counters").at("dram.self_refreshes") > 0);
  CHECK(reports[3].at("counters").at("dram.bank_refreshes") > 0);
  CHECK(reports[3].at("energy_nj").at("dram.static") <
        reports[1].at("energy_nj").at("dram.static"));
  // The two models differ in what a controller adds, not in kind.
  CHECK(reports[1].at("latency_ns").get<double>() ==
        Approx(reports[0].at("latency_ns").get<double>()).epsilon(0.1));
}
