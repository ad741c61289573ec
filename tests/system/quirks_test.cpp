// Faulty silicon, found by the probe and avoided with what it wrote; the compiled cache and other
// shapes from outside.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/probe.h"
#include "delegate/import/tflite_export.h"
#include "tests/delegate/layer_graph.h"
#include "tests/system/deputy_process.h"
#include "tools/npy.h"
#include "tools/simulate.h"
#include "workloads/selftest/cases.h"

using namespace deputy::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

std::string network(const TempFolder& t, const std::string& name) {
  const std::string file = t.file(name + ".tflite");
  REQUIRE(run_deputy({"network", name, "-o", file}).exit_code == 0);
  return file;
}

// The first output's bytes.
std::string output_of(const TempFolder& t, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--output-dir", t.file("out"), "--quiet"});
  const auto r = run_deputy(arguments);
  INFO(r.err);
  REQUIRE(r.exit_code == 0);
  return read_text(t.file("out") + "/output0.npy");
}

}  // namespace

TEST_CASE("the probe finds nothing on sound silicon", "[.slow]") {
  TempFolder t;
  const auto r = run_deputy({"probe", "--json", "--out", t.file("q.yaml")});
  INFO(r.err);
  CHECK(r.exit_code == 0);
  const Json report = Json::parse(r.out);
  CHECK(report["failed"] == 0);
  CHECK(report["passed"] > 150);
  CHECK(report["findings"].empty());
  CHECK_THAT(read_text(t.file("q.yaml")), Contains("quirks: []"));
  CHECK(run_deputy({"inspect", project_file("workloads/ecg/ecg_beats.tflite"), "--quirks",
                    t.file("q.yaml")})
            .exit_code == 0);
}

TEST_CASE(
    "the probe finds exactly the fault that the silicon has, and its file makes runs right again",
    "[.slow]") {
  const struct {
    const char *defect, *op, *number, *range;
  } cases[] = {{"dw-stride2", "DEPTHWISE_CONV_2D", "stride", "2"},
               {"conv-dilation", "CONV_2D", "dilation", "2.."},
               {"max-pool-wide", "MAX_POOL_2D", "kernel", "5.."}};
  for (const auto& c : cases) {
    TempFolder t;
    const std::string file = t.file("found.yaml"), set = std::string("silicon.defect=") + c.defect;
    const auto r = run_deputy(
        {"probe", "--set", set, "--set", "silicon.revision=1.10", "--json", "--out", file});
    INFO(c.defect << ": " << r.err);
    CHECK(r.exit_code == 8);
    const Json report = Json::parse(r.out);
    CHECK(report["hardware"] == "1.10");
    REQUIRE(report["findings"].size() == 1);
    CHECK(report["findings"][0]["op"] == c.op);
    CHECK(report["findings"][0]["types"].empty());
    CHECK(report["findings"][0]["when"] == Json{{c.number, c.range}});
    if (std::string(c.defect) != "dw-stride2") continue;

    const std::string model = network(t, "mobilenet_v1_025_96");
    const auto run = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {"run", model, "--effort", "fast"});
      return output_of(t, more);
    };
    const std::string sound = run({});
    CHECK(run({"--set", set}) != sound);
    CHECK(run({"--set", set, "--set", "silicon.revision=1.10", "--quirks", file}) == sound);
    CHECK(run({"--set", set, "--set", "silicon.revision=1.9", "--quirks", file}) !=
          sound);  // not its version
    const auto inspected = run_deputy(
        {"inspect", model, "--quirks", file, "--set", "silicon.revision=1.10", "--effort", "fast"});
    CHECK_THAT(inspected.out, Contains("quirk probe-1.10-DEPTHWISE_CONV_2D of " + file));
  }
}

// Of one operator, so that it is quick; the command line's whole probe is above.
TEST_CASE(
    "a probe of depthwise convolutions finds a stride that is wrong, and nothing where nothing "
    "is") {
  namespace api = deputy::api;
  std::vector<api::ProbeCase> cases;
  for (auto& c : deputy::graphs::selftest_cases())
    if (c.graph.ops[0].kind == deputy::arch::OpKind::DEPTHWISE_CONV_2D)
      cases.push_back({c.name, std::move(c.graph), c.numerics, std::move(c.inputs)});
  REQUIRE(cases.size() > 30);
  for (const std::string defect : {"none", "dw-stride2"}) {
    auto soc = deputy::soc::load_soc_config(project_file("configs/soc/wearable.yaml"),
                                            {"silicon.defect=" + defect, "silicon.revision=2.10"});
    REQUIRE(soc.ok());
    deputy::tools::SimulateOptions options;
    options.soc = *soc;
    api::ProbeReport report;
    deputy::soc::Platform platform(*soc, {});
    const auto record = platform.run([&](deputy::HwPort& port) -> deputy::base::Status {
      DEPUTY_ASSIGN(report, api::probe(port, cases, deputy::tools::compile_options(options),
                                       [](std::size_t) {}));
      return {};
    });
    REQUIRE(record.ok());
    CHECK(report.outcomes.size() == cases.size());
    CHECK(report.hardware.text() == "2.10");
    REQUIRE(report.findings.size() == (defect == "none" ? 0u : 1u));
    if (defect == "none") continue;
    CHECK(report.findings[0].when.size() == 1);
    CHECK(report.findings[0].when.at("stride").text() == "2");
  }
}

TEST_CASE("the report names quirk files by hash and the entries that applied") {
  TempFolder t;
  const std::string model = project_file("workloads/ecg/ecg_beats.tflite"), file = t.file("q.yaml");
  write_text(file,
             "quirks:\n  - {id: A, op: SOFTMAX, action: deny, reason: told so}\n  - {id: B, op: "
             "TILE, action: deny, reason: x}\n");
  const auto r = run_deputy({"run", model, "--quirks", file, "--json", "--engine", "npu"});
  REQUIRE(r.exit_code == 0);
  const Json quirks = Json::parse(r.out)["quirks"];
  CHECK(quirks["files"][0]["sha256"].get<std::string>().size() == 64);
  REQUIRE(quirks["applied"].size() == 1);
  CHECK(quirks["applied"][0]["id"] == "A");
  CHECK_THAT(r.out, Contains("quirk A of " + file + ": told so"));
  write_text(file, "quirks:\n  - {id: A, op: SOFTMAXX, action: deny, reason: told so}\n");
  const auto bad = run_deputy({"run", model, "--quirks", file});
  CHECK(bad.exit_code == 4);
  CHECK_THAT(bad.err, Contains(file + ":2") && Contains("SOFTMAXX"));
  CHECK(run_deputy({"run", model, "--quirks", project_file("configs/quirks/example.yaml")})
            .exit_code == 0);
}

TEST_CASE("an unknown defect and a revision that fits no register are refused") {
  const std::string model = project_file("workloads/ecg/ecg_beats.tflite");
  const auto defect = run_deputy({"run", model, "--set", "silicon.defect=typo"});
  CHECK(defect.exit_code == 4);
  CHECK_THAT(defect.err, Contains("typo") && Contains("dw-stride2"));
  CHECK(run_deputy({"run", model, "--set", "silicon.revision=1.256"}).exit_code == 4);
}

TEST_CASE("a cached run is the same run, and a damaged entry is told and mended") {
  TempFolder t;
  const std::string model = project_file("workloads/ecg/ecg_beats.tflite");
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"run", model, "--cache", t.file("cache"), "--json", "--reproducible"});
    return run_deputy(more);
  };
  const auto state = [](const Outcome& r) {
    return Json::parse(r.out)["cache"]["state"].get<std::string>();
  };
  const auto first = run({}), second = run({});
  CHECK(state(first) == "miss");
  CHECK(state(second) == "hit");
  Json a = Json::parse(first.out), b = Json::parse(second.out);
  a.erase("cache"), b.erase("cache");
  CHECK(a == b);
  CHECK(state(run({"--no-fusion"})) == "miss");
  CHECK(state(run({"--set", "silicon.revision=1.1"})) == "miss");
  for (const auto& entry : std::filesystem::directory_iterator(t.file("cache"))) {
    std::string bytes = read_text(entry.path().string());
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write_text(entry.path().string(), bytes);
  }
  CHECK(run_deputy({"cache", "verify", t.file("cache")}).exit_code == 8);
  const auto third = run({});
  CHECK(state(third) == "damaged");
  CHECK_THAT(third.err, Contains("SHA-256"));
  CHECK(state(run({})) == "hit");
  CHECK(run_deputy({"cache", "prune", t.file("cache")}).exit_code == 0);
  CHECK(run_deputy({"cache", "verify", t.file("cache")}).exit_code == 0);
}

TEST_CASE("an input of another shape goes by the policy") {
  TempFolder t;
  deputy::delegate::testing::LayerGraph g;
  const auto x = g.conv(g.input({1, 24, 24, 3}), 8, 3, {}, 2, true);
  const auto exported = deputy::delegate::export_tflite(
      g.finish({g.conv(g.pool(deputy::arch::OpKind::MAX_POOL_2D, x, 2, 2), 4, 1)}));
  REQUIRE(exported.ok());
  const std::string model = t.file("m.tflite"), input = t.file("x.npy");
  write_text(model, {exported->begin(), exported->end()});
  std::vector<std::uint8_t> data(16 * 36 * 3);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  const auto npy = deputy::tools::format_npy(deputy::DType::kInt8, {1, 16, 36, 3}, data);
  write_text(input, {npy.begin(), npy.end()});
  const auto refused = run_deputy({"run", model, "--input", input});
  CHECK(refused.exit_code == 9);
  CHECK_THAT(refused.err, Contains("1x16x36x3"));
  const auto run = [&](const std::string& policy) {
    return output_of(t,
                     {"run", model, "--input", input, "--engine", "npu", "--shape-policy", policy});
  };
  const std::string cpu = run("cpu");
  CHECK_THAT(cpu, Contains("4, 9, 4"));
  CHECK(cpu == run("recompile"));
  const auto told =
      run_deputy({"run", model, "--input", input, "--shape-policy", "recompile", "--json"});
  CHECK_THAT(told.err, Contains("1x16x36x3"));
  CHECK(Json::parse(told.out)["notes"].size() == 1);
}
