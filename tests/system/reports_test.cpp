// `deputy compare` and `deputy explain`: made-up reports whose cause is known, with gains worked
// out by hand, and real runs.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/system/deputy_process.h"
#include "tools/reports/compare_reports.h"
#include "tools/reports/explain_report.h"

using namespace deputy;
using namespace deputy::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

struct Layer {
  const char* name;
  const char* bound;
  double own, compute, sram, dram;
  double load = 0, weights = 0;
};

/// NPU at 200 MHz (5 ns a cycle), host at 100 MHz, SRAM 8 and DRAM 2 bytes a cycle.
Json report(double latency_ns, const std::vector<Layer>& layers) {
  Json ops = Json::array();
  double busy = 0, compute = 0, sram = 0, dram = 0;
  for (const Layer& l : layers) {
    const bool host = std::string(l.bound) == "host";
    Json op = {{"name", l.name},
               {"kind", "CONV_2D"},
               {"engine", host ? "cpu" : "npu"},
               {"bound", l.bound},
               {"own_cycles", l.own},
               {"energy_nj", 1},
               {"bytes", {{"load", l.load}, {"store", 0}, {"weights", l.weights}, {"decoded", 0}}}};
    if (host)
      op["reason"] = "the NPU has no such operator";
    else
      op["bound_cycles"] = {{"compute", l.compute},
                            {"scratchpad", 0},
                            {"decoder", 0},
                            {"sram", l.sram},
                            {"dram", l.dram}};
    ops.push_back(op);
    if (!host) busy += l.own, compute += l.compute, sram += l.sram, dram += l.dram;
  }
  return {
      {"format", "deputy-report-1"},
      {"model", "net"},
      {"soc", "made-up"},
      {"latency_ns", latency_ns},
      {"total_ns", latency_ns},
      {"cycles", {{"npu", busy}, {"npu_busy", busy}, {"host", 0}, {"dsp_busy", 0}}},
      {"macs", {{"npu", 0}}},
      {"mac_utilisation", 0},
      {"target",
       {{"npu_clock_mhz", 200},
        {"host_clock_mhz", 100},
        {"dsp_clock_mhz", 0},
        {"sram_bytes_per_cycle", 8},
        {"dram_bytes_per_cycle", 2},
        {"sram_bytes", 65536},
        {"sram_used_bytes", 65000}}},
      {"bound_cycles",
       {{"compute", compute}, {"scratchpad", 0}, {"decoder", 0}, {"sram", sram}, {"dram", dram}}},
      {"energy_nj", {{"npu.mac", 5}, {"npu.static", 4}, {"host.static", 1}, {"total", 10}}},
      {"energy_by_cause_nj", {{"operators", 5}, {"leakage", 5}}},
      {"power", {{"inference_nj", 9}}},
      {"bytes", {{"dram", {{"read", 100}, {"write", 0}}}}},
      {"npu_dram_bytes", {{"feature_maps", 0}, {"weights", 0}}},
      {"copied_bytes", 64},
      {"counters", {{"npu.jobs", 1}}},
      {"ops", ops}};
}

tools::ReportFile parsed(const Json& json, const std::string& name = "made-up.json") {
  auto out = tools::parse_report(json.dump(), name);
  if (!out.ok()) FAIL(out.error().text());
  return *out;
}

const tools::Finding& finding(const std::vector<tools::Finding>& all, const std::string& id) {
  for (const auto& f : all)
    if (f.id == id) return f;
  FAIL("nothing is said of " << id);
  return all.front();
}

}  // namespace

TEST_CASE("a run that waits for DRAM is told so, with what bandwidth and SRAM could gain at most") {
  Json json = report(6000, {{"big", "DRAM", 1000, 100, 0, 1000, 2000, 1000},
                            {"small", "compute", 100, 100, 0, 20}});
  json["npu_dram_bytes"] = {{"feature_maps", 1000}, {"weights", 1040}};
  const auto e = tools::explain_report(parsed(json));
  CHECK(e.npu_ns == 5500);
  CHECK(e.runtime_ns == 500);
  REQUIRE(e.time.at(0).id == "dram");
  const auto& f = e.time[0];
  CHECK(f.takes == 5000);
  // Without DRAM both layers still compute for 100 cycles each: 900 of 1100 cycles gone, 1500 ns
  // left.
  CHECK(f.saves == 4500);
  CHECK(e.at_most(e.latency_ns, f.saves) == 4);
  REQUIRE(f.what_ifs.size() == 2);
  CHECK(f.what_ifs[0].saves == (1100 - 510) * 5);  // half of 1020 cycles of DRAM are left
  CHECK(f.what_ifs[1].saves ==
        (1100 - (1020 - 500)) * 5);  // 1000 bytes of maps at 2 a cycle leave DRAM
  CHECK_THAT(f.what, Contains("1 layer waits for DRAM") && Contains("1000 B of feature maps"));
  CHECK_THAT(f.worst.at(0), Contains("0 big (CONV_2D)"));
  CHECK_THAT(tools::explanation_text(e, 10),
             Contains("4.00 times as fast at most") && Contains("83.3 % of the latency"));
}

TEST_CASE("a run that spends its time in operators on the CPU is told which and why") {
  const auto e = tools::explain_report(
      parsed(report(10000, {{"npu", "compute", 100, 100, 0, 0}, {"odd", "host", 900, 0, 0, 0}})));
  REQUIRE(e.time.at(0).id == "cpu");
  CHECK(e.time[0].takes == 9000);
  CHECK(e.at_most(e.latency_ns, e.time[0].saves) == 10);
  CHECK(e.time[0].what_ifs.at(0).saves == 4500);
  CHECK_THAT(e.time[0].what,
             Contains("1 operator runs on the CPU") && Contains("the NPU has no such operator"));
}

TEST_CASE("a run that is mostly launches is told what fewer of them could gain") {
  Json json = report(10000, {{"a", "compute", 200, 200, 0, 0}});
  json["counters"]["npu.jobs"] = 10;
  const auto e = tools::explain_report(parsed(json));
  REQUIRE(e.time.at(0).id == "launch");
  CHECK(e.time[0].takes == 9000);
  CHECK(e.time[0].what_ifs.at(0).saves == 8100);
  CHECK_THAT(e.time[0].what,
             Contains("10 NPU jobs") && Contains("900") && Contains("64 B are copied"));
}

TEST_CASE("energy that leaks is told apart from energy that is spent") {
  Json json = report(10000, {{"a", "compute", 200, 200, 0, 0}});
  json["energy_nj"] = {{"npu.mac", 10}, {"npu.static", 60}, {"sram.static", 30}, {"total", 100}};
  json["energy_by_cause_nj"] = {{"operators", 10}, {"leakage", 90}};
  const auto e = tools::explain_report(parsed(json));
  REQUIRE(e.energy.at(0).id == "leakage");
  CHECK(e.energy[0].takes == 90);
  CHECK(e.at_most(e.total_nj, e.energy[0].saves) == 10);
  CHECK_THAT(e.energy[0].worst.at(0), Contains("npu.static"));
  CHECK(e.energy.at(1).id == "energy.npu.mac");
  CHECK(e.energy.size() == 2);  // what could not gain a percent is not told
}

TEST_CASE("layers that wait for nothing in particular, and the MAC array, have their causes") {
  const auto e = tools::explain_report(parsed(report(
      10000, {{"tiny", "latency", 1000, 100, 200, 50}, {"conv", "compute", 800, 800, 100, 0}})));
  const auto& waits = finding(e.time, "latency");
  CHECK(waits.takes == 5000);
  CHECK(waits.saves == (1800 - 900) * 5);  // all that is computed remains
  const auto& mac = finding(e.time, "compute");
  CHECK(mac.saves == (1800 - 300) * 5);                 // the SRAM remains
  CHECK(mac.what_ifs.at(0).saves == (1800 - 450) * 5);  // half of the computing
}

TEST_CASE("what changed between two reports is said with its cause, the largest first") {
  const Json a = report(10000, {{"same", "compute", 100, 100, 0, 0},
                                {"slow", "DRAM", 300, 100, 0, 300, 600, 600},
                                {"moved", "compute", 100, 90, 0, 0},
                                {"fused", "compute", 50, 50, 0, 0},
                                {"gone", "compute", 10, 10, 0, 0}});
  Json b = report(15000, {{"same", "compute", 100, 100, 0, 0},
                          {"slow", "DRAM", 800, 100, 0, 700, 1400, 1400},
                          {"moved", "host", 90, 0, 0, 0},
                          {"fused", "", 0, 0, 0, 0},
                          {"new", "compute", 10, 10, 0, 0}});
  b["ops"][1]["tiles"] = {{"8x8x16", 4}};
  b["ops"][3]["fused_into"] = 1;
  const auto c = tools::compare_reports(parsed(a, "a.json"), parsed(b, "b.json"));
  REQUIRE(c.layers.size() == 3);
  CHECK(c.same_layers == 1);
  CHECK(c.layers[0].layer == "1 slow (CONV_2D)");
  CHECK(c.layers[0].ns() == 2500);
  const auto why = [&](std::size_t i) {
    std::string out;
    for (const auto& line : c.layers[i].why) out += line + "\n";
    return out;
  };
  CHECK_THAT(why(0), Contains("DRAM needs 700 cycles instead of 300 (+400)") &&
                         Contains("+100 cycles for everything beside") &&
                         Contains("4 of 8x8x16 instead of none") &&
                         Contains("+800 B loaded (+800 B of it weights)"));
  CHECK(c.layers[1].layer == "2 moved (CONV_2D)");
  CHECK_THAT(why(1), Contains("runs on the CPU instead of the NPU: the NPU has no such operator"));
  CHECK_THAT(why(2), Contains("is part of the kernel of 1 slow (CONV_2D) now"));
  CHECK(c.only_before == std::vector<std::string>{"4 gone (CONV_2D)"});
  CHECK(c.only_now == std::vector<std::string>{"4 new (CONV_2D)"});
  CHECK(c.totals[0].ratio() == 1.5);
  CHECK_THAT(tools::comparison_text(c, 1), Contains("1.500") && Contains("(2 more, see --top"));
  const auto none = tools::compare_reports(parsed(a), parsed(a));
  CHECK(none.layers.empty());
  CHECK(none.energy.empty());
  for (const auto& t : none.totals) CHECK(t.ratio() == 1);
}

TEST_CASE("real runs: the cause that was put in is found, and no change gains more than was said") {
  TempFolder folder;
  const std::string model = folder.file("kws.tflite");
  REQUIRE(run_deputy({"network", "ds_cnn", "-o", model}).exit_code == 0);
  // One program on several SoCs: another SoC would give the compiler other choices.
  const std::string program = folder.file("kws.dexe");
  REQUIRE(
      run_deputy({"compile", model, "--effort", "fast", "-o", program, "--set", "dram.model=fixed",
                  "--set", "sram.bytes=24576", "--set", "dram.fixed_mb_per_s=100"})
          .exit_code == 0);
  const auto run = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"run",           more[0] == "--engine" ? model : program,
                                          "--timing-only", "--quiet",
                                          "--report",      folder.file(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto r = run_deputy(arguments);
    INFO(r.err);
    REQUIRE(r.exit_code == 0);
    return *tools::read_report(folder.file(name));
  };
  const std::vector<std::string> dram = {"--set", "dram.model=fixed", "--set", "sram.bytes=24576",
                                         "--set"};
  const auto with = [&](const char* bandwidth) {
    auto out = dram;
    out.push_back(std::string("dram.fixed_mb_per_s=") + bandwidth);
    return out;
  };
  const auto slow = run("slow.json", with("100"));
  const auto explained = tools::explain_report(slow);
  REQUIRE(explained.time.at(0).id == "dram");
  const auto twice = run("twice.json", with("200")), fast = run("fast.json", with("100000"));
  CHECK(twice.latency_ns >= slow.latency_ns - explained.time[0].what_ifs.at(0).saves);
  CHECK(fast.latency_ns >= slow.latency_ns - explained.time[0].saves);
  CHECK(fast.latency_ns < 0.8 * slow.latency_ns);  // and it is worth something
  CHECK(slow.npu_ns() + slow.cpu_ns() + slow.runtime_ns() == Approx(slow.latency_ns));

  const auto changed = tools::compare_reports(slow, twice);
  REQUIRE_FALSE(changed.layers.empty());
  bool told = false;
  for (const auto& line : changed.layers[0].why) told = told || line.starts_with("DRAM needs");
  CHECK(told);
  CHECK(changed.only_before.empty());

  CHECK(tools::explain_report(run("cpu.json", {"--engine", "cpu"})).time.at(0).id == "cpu");
  // In the program: text, JSON, and files that are none.
  const auto text = run_deputy({"explain", folder.file("slow.json")});
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.out, Contains("1. ") && Contains("wait for DRAM") && Contains("leakage"));
  const auto json = Json::parse(run_deputy({"explain", folder.file("slow.json"), "--json"}).out);
  CHECK(json["time"][0]["id"] == "dram");
  CHECK(json["time"][0]["saves_ns_at_most"] == explained.time[0].saves);
  const auto compared = Json::parse(
      run_deputy({"compare", folder.file("slow.json"), folder.file("twice.json"), "--json"}).out);
  CHECK(compared["totals"][0]["now"] == twice.latency_ns);
  CHECK(compared["layers"].size() == changed.layers.size());
  CHECK_THAT(run_deputy({"compare", folder.file("slow.json"), folder.file("slow.json")}).out,
             Contains("0 of "));
  write_text(folder.file("none.json"), "{}");
  CHECK(run_deputy({"explain", folder.file("none.json")}).exit_code == 9);
  CHECK(run_deputy({"compare", folder.file("slow.json"), folder.file("missing.json")}).exit_code ==
        7);
}
