// Power in reports: gating changes no output, operating points, power over time, battery life.
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "tests/system/deputy_process.h"
#include "tools/report.h"

using namespace deputy;

namespace {

struct Ran {
  tools::Report report;
  std::vector<std::vector<std::uint8_t>> outputs;
  soc::SocConfig soc;
};

Ran ecg(const std::vector<std::string>& sets) {
  auto graph = tools::load_model(test::project_file("workloads/ecg/ecg_beats.tflite"));
  auto soc = soc::load_soc_config(test::project_file("configs/soc/wearable.yaml"), sets);
  REQUIRE(graph.ok());
  if (!soc.ok()) FAIL(soc.error().text());
  tools::SimulateOptions options;
  options.soc = *soc;
  auto inputs = tools::load_inputs(*graph, {}, 1);
  auto simulation = tools::simulate(*graph, options, *inputs);
  if (!simulation.ok()) FAIL(simulation.error().text());
  auto report = tools::make_report(*simulation, options);
  CHECK(report.imbalances == std::vector<std::string>{});
  return {std::move(report), simulation->outputs, *soc};
}

const std::vector<std::string> kGated = {"power.npu.gating=true",  "power.npu.idle_us=2",
                                         "power.sram.gating=true", "power.sram.idle_us=1",
                                         "power.sram.wake_us=0.1", "power.host.gating=true",
                                         "power.host.idle_us=3"};

}  // namespace

TEST_CASE("power switches change time and energy, and no output") {
  const Ran plain = ecg({}), gated = ecg(kGated);
  CHECK(gated.outputs == plain.outputs);
  CHECK(gated.report.latency_ns > plain.report.latency_ns);
  for (const char* wake : {"npu.wake", "host.wake", "sram.wake"})
    CHECK(gated.report.energy_nj.at(wake) > 0);
  // Leakage power of the NPU falls; its share of the run without power is what the rows say.
  CHECK(gated.report.energy_nj.at("npu.static") / gated.report.total_ns <
        plain.report.energy_nj.at("npu.static") / plain.report.total_ns);
  const Ran clocked = ecg({"power.clock_gating=false"});
  CHECK(clocked.report.latency_ns == plain.report.latency_ns);
  // Every NPU cycle of the run is paid for, with or without a job.
  const double cycles = clocked.report.total_ns * 1e-3 * clocked.soc.npu.clock_mhz;
  CHECK(clocked.report.energy_nj.at("npu.idle_clock") + clocked.report.energy_nj.at("npu.ctrl") ==
        Approx(cycles * clocked.soc.energy.npu_cycle_pj / 1000).epsilon(1e-3));
}

TEST_CASE("operators, other causes and intervals each add up to the total") {
  const Ran r = ecg(kGated);
  double ops = 0, causes = 0, parts = 0;
  for (const auto& op : r.report.ops) {
    ops += op.energy_nj;
    for (const auto& entry : op.energy_by_component_nj) parts += entry.second;
    CHECK((op.latency_ns == 0 || op.energy_nj > 0));
  }
  for (const auto& entry : r.report.energy_by_cause_nj) causes += entry.second;
  CHECK(parts == Approx(ops).epsilon(1e-12));
  CHECK(ops == Approx(r.report.energy_by_cause_nj.at("operators")).epsilon(1e-12));
  CHECK(causes == Approx(r.report.total_energy_nj).epsilon(1e-12));
  std::istringstream csv(soc::power_csv(r.report.power_trace));
  std::string line;
  std::getline(csv, line);
  CHECK(line.starts_with("start_us,length_us,"));
  CHECK(line.ends_with(",total_mw"));
  double nj = 0;
  while (std::getline(csv, line)) {
    const double length_us = std::stod(line.substr(line.find(',') + 1)),
                 mw = std::stod(line.substr(line.rfind(',') + 1));
    nj += mw * length_us;  // mW x us = nJ
  }
  CHECK(nj == Approx(r.report.total_energy_nj).epsilon(1e-9));
  CHECK(r.report.power.inference_nj < r.report.total_energy_nj);
  CHECK(r.report.power.peak_mw > r.report.power.average_mw);
}

TEST_CASE("operating points differ as the square of the voltage at equal cycles") {
  const Ran usual = ecg({}), low = ecg({"power.volts=0.7"}), slow = ecg({"power.point=low"});
  CHECK(low.report.npu_cycles == usual.report.npu_cycles);
  const double square = (0.7 / 0.9) * (0.7 / 0.9);
  for (const char* component : {"npu.mac", "npu.vec", "npu.spm", "npu.ctrl", "sram", "noc", "host"})
    CHECK(low.report.energy_nj.at(component) ==
          Approx(usual.report.energy_nj.at(component) * square));
  CHECK(low.report.energy_nj.at("sram.static") ==
        Approx(usual.report.energy_nj.at("sram.static") * 0.7 / 0.9));
  CHECK(low.report.energy_nj.at("dram") == usual.report.energy_nj.at("dram"));
  // Half the clock: the DRAM is as fast as before, so fewer cycles wait for it.
  CHECK(slow.report.npu_cycles <= usual.report.npu_cycles);
  CHECK(slow.report.latency_ns > 1.5 * usual.report.latency_ns);
  CHECK(slow.report.energy_nj.at("npu.mac") ==
        Approx(usual.report.energy_nj.at("npu.mac") * square));
  CHECK(slow.outputs == usual.outputs);
}

TEST_CASE(
    "half the duty halves the active power, and a battery lasts its charge over the average") {
  const std::vector<std::string> sets = {"battery.mah=100", "battery.volts=3.7"};
  Ran r = ecg(sets);
  const auto life = [&](double period_ms) {
    r.soc.battery.period_ms = period_ms;
    return tools::battery_life(r.soc, r.report.latency_ns, r.report.power.inference_nj);
  };
  const auto often = life(500), seldom = life(1000);
  REQUIRE(often.ok());
  REQUIRE(seldom.ok());
  CHECK(seldom->active_uj / seldom->period_ms == Approx(often->active_uj / often->period_ms / 2));
  CHECK(seldom->duty == Approx(often->duty / 2));
  CHECK(seldom->hours > often->hours);
  CHECK(often->hours * often->average_mw == Approx(370));
  // Without gating the idle power is leakage and the DRAM's sleep: by hand from the rows.
  const auto& e = r.soc.energy;
  const double idle = e.npu_static_mw +
                      e.sram_static_mw_per_mib * static_cast<double>(r.soc.sram.bytes) / 1048576 +
                      e.host_static_mw + e.dram_sleep_mw;
  CHECK(seldom->sleep_mw == Approx(idle));
  CHECK(seldom->average_mw ==
        Approx((seldom->active_uj + idle * (1000 - seldom->active_ms)) / 1000));
  r.soc.power.npu.gating = r.soc.power.sram.gating = r.soc.power.host.gating = true;
  const auto asleep = life(1000);
  CHECK(asleep->sleep_mw == Approx(e.npu_static_mw * e.npu_gated_share +
                                   (idle - e.npu_static_mw - e.host_static_mw - e.dram_sleep_mw) *
                                       e.sram_retention_share +
                                   e.host_static_mw * e.host_sleep_share + e.dram_sleep_mw));
  CHECK(asleep->hours > seldom->hours);
  CHECK_THAT(life(0.01).error().text(),
             Catch::StartsWith("battery.period_ms: 0.01 ms are too short for an inference of"));
}

TEST_CASE("deputy run takes point, battery and trace on the command line") {
  test::TempFolder t;
  const std::string model = test::project_file("workloads/ecg/ecg_beats.tflite");
  const auto run = test::run_deputy({"run", model, "--operating-point", "low", "--battery-mah",
                                     "100", "--volts", "3", "--period", "1000", "--power-trace",
                                     t.file("power.csv"), "--set", "power.trace_us=5"});
  CHECK(run.exit_code == 0);
  CHECK(run.out.find("  battery      ") != std::string::npos);
  CHECK(run.out.find("every 1000 ms") != std::string::npos);
  CHECK(test::read_text(t.file("power.csv")).find("\n5,5,") != std::string::npos);
}
