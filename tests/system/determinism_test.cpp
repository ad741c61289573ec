// The same run gives the same bytes; a run with time alone takes the same simulated time.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/system/deputy_process.h"

using namespace deputy::test;

TEST_CASE("two runs write byte-equal reports, outputs and configurations") {
  TempFolder t;
  const std::string model = project_file("workloads/ecg/ecg_beats.tflite");
  for (const std::string run : {"a", "b"}) {
    const auto r = run_deputy({"run", model, "--report", t.file(run + ".json"), "--output-dir",
                               t.file(run), "--reproducible", "--all-tensors"});
    REQUIRE(r.exit_code == 0);
  }
  CHECK(read_text(t.file("a.json")).size() > 1000);
  CHECK(read_text(t.file("a.json")) == read_text(t.file("b.json")));
  CHECK(read_text(t.file("a.soc.yaml")).size() > 100);
  CHECK(read_text(t.file("a.soc.yaml")) == read_text(t.file("b.soc.yaml")));
  CHECK(read_text(t.file("a/output0.npy")).size() > 64);
  CHECK(read_text(t.file("a/output0.npy")) == read_text(t.file("b/output0.npy")));
}

TEST_CASE("without --reproducible only sim_wall_ms may differ") {
  TempFolder t;
  const std::string model = project_file("workloads/ecg/ecg_beats.tflite");
  nlohmann::json reports[2];
  for (int i = 0; i < 2; ++i) {
    REQUIRE(run_deputy({"run", model, "--report", t.file("r.json")}).exit_code == 0);
    reports[i] = nlohmann::json::parse(read_text(t.file("r.json")));
    REQUIRE(reports[i].contains("sim_wall_ms"));
    reports[i].erase("sim_wall_ms");
  }
  CHECK(reports[0] == reports[1]);
}

TEST_CASE("the effective configuration reproduces the run") {
  TempFolder t;
  const std::string model = project_file("workloads/ecg/ecg_beats.tflite");
  REQUIRE(run_deputy({"run", model, "--set", "npu.mac.oc_lanes=16", "--report", t.file("a.json"),
                      "--reproducible"})
              .exit_code == 0);
  REQUIRE(run_deputy({"run", model, "--soc", t.file("a.soc.yaml"), "--report", t.file("b.json"),
                      "--reproducible"})
              .exit_code == 0);
  CHECK(read_text(t.file("a.json")) == read_text(t.file("b.json")));
}

TEST_CASE("timing-only takes the same simulated time, traffic and energy") {
  TempFolder t;
  const std::string model = project_file("workloads/ecg/ecg_beats.tflite");
  REQUIRE(run_deputy({"run", model, "--report", t.file("full.json")}).exit_code == 0);
  REQUIRE(run_deputy({"run", model, "--timing-only", "--report", t.file("time.json")}).exit_code ==
          0);
  const auto full = nlohmann::json::parse(read_text(t.file("full.json")));
  const auto time = nlohmann::json::parse(read_text(t.file("time.json")));
  for (const char* key :
       {"latency_ns", "cycles", "energy_nj", "bytes", "macs", "counters", "ops"}) {
    INFO(key);
    CHECK(full.at(key) == time.at(key));
  }
}
