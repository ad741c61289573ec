// The energy ledger: parts by hand, power over time, operating points, power switches.
#include "soc/energy_ledger.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/power_gate.h"
#include "soc/books.h"
#include "soc/energy_rows.h"
#include "soc/platform.h"
#include "tests/support/source_dir.h"

namespace deputy::soc_test {
namespace {

using namespace soc;

SocConfig wearable(const std::vector<std::string>& sets = {}) {
  auto config = load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml", sets);
  if (!config.ok()) FAIL(config.error().text());
  return *config;
}

// Two jobs of 10 us within 100 us, 40 us apart; two operators in the first. 200 MHz.
RunRecord two_jobs() {
  RunRecord r;
  r.end_ps = 100'000'000;
  NpuOpRecord a, b;
  a.tag = 0, a.first_start_ps = 10'000'000, a.last_end_ps = 16'000'000, a.own_ps = 5'000'000;
  a.macs = 1000, a.vec_results = 10, a.spm_bytes = 500, a.instructions = 3;
  a.load_bytes = 300, a.dram_load_bytes = 100, a.store_bytes = 50;
  b.tag = 1, b.first_start_ps = 14'000'000, b.last_end_ps = 20'000'000, b.own_ps = 5'000'000;
  b.macs = 3000, b.instructions = 1, b.store_bytes = 20, b.dram_store_bytes = 20;
  NpuJobRecord first, second;
  first.start_ps = 10'000'000, first.end_ps = 20'000'000, first.cycles = 2000,
  first.command_bytes = 64, first.ops = {a, b};
  second.start_ps = 60'000'000, second.end_ps = 70'000'000, second.cycles = 2000;
  r.npu_jobs = {first, second};
  r.busy["npu"] = {{10'000'000, 20'000'000, 10'000'000}, {60'000'000, 70'000'000, 10'000'000}};
  r.busy["host"] = {{0, 10'000'000, 5'000'000}, {20'000'000, 60'000'000, 20'000'000}};
  r.host_busy_ps = 25'000'000, r.host_cycles = 6250;
  auto& t = r.initiator_traffic;
  t["npu.load"]["sram"] = {200, 0, 2}, t["npu.load"]["dram"] = {100, 0, 1},
  t["npu.store"]["sram"] = {0, 50, 1};
  t["npu.store"]["dram"] = {0, 20, 1}, t["npu.cmd"]["dram"] = {64, 0, 1},
  t["host"]["sram"] = {1000, 500, 4};
  r.noc_traffic = t;
  r.memory_traffic["sram"] = {1200, 550, 7}, r.memory_traffic["dram"] = {164, 20, 3};
  r.counters = {{"npu.macs", 4000},         {"npu.vec_results", 10},
                {"npu.spm_bytes", 870},     {"npu.spm_filled_bytes", 300},
                {"npu.decoded_bytes", 0},   {"npu.job_cycles", 4000},
                {"npu.scrubs", 0},          {"sram.read_bytes", 1200},
                {"sram.write_bytes", 550},  {"noc.bytes", 1934},
                {"host.busy_cycles", 6250}, {"dram.read_bytes", 164},
                {"dram.write_bytes", 20},   {"dram.activates", 5}};
  return r;
}

double sum(const std::map<std::string, double>& nj) {
  double total = 0;
  for (const auto& entry : nj) total += entry.second;
  return total;
}

}  // namespace

TEST_CASE("parts of the ledger add up to the counters, and go to who caused them") {
  for (const std::vector<std::string>& sets :
       {std::vector<std::string>{}, {"power.clock_gating=false"}, {"power.volts=0.7"}}) {
    const SocConfig config = wearable(sets);
    RunRecord r = two_jobs();
    charge_energy(config, r);
    check_books(config, r);
    CHECK(r.imbalances == std::vector<std::string>{});
    std::map<std::int64_t, double> by_op;
    std::map<std::string, double> by_cause;
    each_energy_part(config, r, [&](const EnergyPart& part) {
      by_op[part.op] += part.nj;
      by_cause[part.cause] += part.nj;
      CHECK(part.to_ps <= r.end_ps);
      CHECK(part.from_ps <= part.to_ps);
    });
    // By hand, from the table: operator 0's own events, half of the first job's clock, three of
    // four command bytes, and its share of five activates by DRAM bytes.
    const auto e = effective_rows(config);
    const double fetched = 64 * 0.75;
    const double own = 1000 * e.npu_mac_pj + 10 * e.npu_vec_pj + 550 * e.npu_spm_read_byte_pj +
                       300 * e.npu_spm_write_byte_pj + 350 * e.noc_byte_pj +
                       200 * e.sram_read_byte_pj + 50 * e.sram_write_byte_pj +
                       100 * e.dram_read_byte_pj + 1000 * e.npu_cycle_pj +
                       fetched * (e.noc_byte_pj + e.dram_read_byte_pj) +
                       5 * e.dram_activate_pj * (100 + fetched) / 184;
    CHECK(by_op.at(0) == Approx(own / 1000));
    CHECK(by_cause.at("host") == Approx((6250 * e.host_cycle_pj + 1500 * e.noc_byte_pj +
                                         1000 * e.sram_read_byte_pj + 500 * e.sram_write_byte_pj) /
                                        1000));
    CHECK(sum(by_cause) == Approx(sum(r.energy_nj)).epsilon(1e-12));
  }
}

TEST_CASE("books notice energy that no part explains") {
  const SocConfig config = wearable();
  RunRecord r = two_jobs();
  r.counters["npu.macs"] += 1000;
  charge_energy(config, r);
  check_books(config, r);
  REQUIRE(r.imbalances.size() == 1);
  CHECK_THAT(r.imbalances[0], Catch::StartsWith("npu.mac energy: "));
}

TEST_CASE("power over time adds up to the ledger, whatever the interval") {
  const SocConfig config = wearable({"power.npu.gating=true"});
  RunRecord r = two_jobs();
  r.power_off["npu"] = {{{30'000'000, 55'000'000}, {90'000'000, 100'000'000}}, 1};
  charge_energy(config, r);
  for (const std::uint64_t interval : {std::uint64_t{1'000'000}, std::uint64_t{3'700'001},
                                       std::uint64_t{100'000'000}, std::uint64_t{1'000'000'000}}) {
    const PowerTrace trace = power_trace(config, r, interval);
    CHECK(trace.intervals() == (r.end_ps + interval - 1) / interval);
    for (const auto& [component, bins] : trace.nj) {
      double binned = 0;
      INFO(component << " " << interval);
      for (const double nj : bins) {
        binned += nj;
        CHECK(nj >= -1e-12);
      }
      CHECK(binned == Approx(r.energy_nj.at(component)).epsilon(1e-12).margin(1e-12));
    }
    CHECK(trace.average_mw() == Approx(sum(r.energy_nj) / 100'000'000 * 1e6));
    CHECK(trace.peak_mw() >= trace.average_mw() * (1 - 1e-12));
  }
  // A part by hand: 100 nJ from the middle of one interval to the middle of the third.
  const EnergyPart part{"x", "npu", 0, 500, 2500, 100};
  CHECK(energy_within(part, 0, 1000) == 25);
  CHECK(energy_within(part, 1000, 2000) == 50);
  CHECK(energy_within(part, 2000, 9000) == 25);
  CHECK(energy_within(part, 2500, 9000) == 0);
  // The MAC array's energy lies where its operators ran, and nowhere else.
  const PowerTrace trace = power_trace(config, r, 10'000'000);
  CHECK(trace.nj.at("npu.mac")[0] == 0);
  CHECK(trace.nj.at("npu.mac")[1] == Approx(4000 * config.energy.npu_mac_pj / 1000));
  const std::string csv = power_csv(trace);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 11);
}

TEST_CASE(
    "at another voltage dynamic energy follows its square and leakage follows it, at equal "
    "cycles") {
  const SocConfig usual = wearable(), low = wearable({"power.volts=0.45"});
  RunRecord a = two_jobs(), b = two_jobs();
  charge_energy(usual, a);
  charge_energy(low, b);
  for (const char* dynamic : {"npu.mac", "npu.vec", "npu.spm", "npu.ctrl", "sram", "noc", "host"}) {
    INFO(dynamic);
    CHECK(b.energy_nj.at(dynamic) == Approx(a.energy_nj.at(dynamic) / 4));
  }
  for (const char* leakage : {"npu.static", "sram.static", "host.static"})
    CHECK(b.energy_nj.at(leakage) == Approx(a.energy_nj.at(leakage) / 2));
  for (const char* dram : {"dram", "dram.static"})
    CHECK(b.energy_nj.at(dram) == a.energy_nj.at(dram));
  RunRecord c = two_jobs();
  charge_energy(wearable({"power.volts=0.45", "power.rail=npu"}), c);
  CHECK(c.energy_nj.at("npu.mac") == Approx(a.energy_nj.at("npu.mac") / 4));
  CHECK(c.energy_nj.at("sram") == a.energy_nj.at("sram"));
}

TEST_CASE("an operating point sets voltage and clocks, and reads back as itself") {
  const SocConfig low = wearable({"power.point=low"});
  CHECK(low.power.volts == 0.7);
  CHECK(low.npu.clock_mhz == 100);
  CHECK(low.host.clock_mhz == 125);
  CHECK(low.noc.clock_mhz == 125);
  CHECK(wearable({"power.point=low", "power.rail=npu"}).host.clock_mhz == 250);
  auto text = base::Config::from_text(effective_config_yaml(low), "t.yaml");
  REQUIRE(text.ok());
  auto again = parse_soc_config(std::move(*text), ".");
  if (!again.ok()) FAIL(again.error().text());
  CHECK(effective_config_yaml(*again) == effective_config_yaml(low));
  CHECK(again->operating_points.size() == 2);
  const auto unknown =
      load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml", {"power.point=turbo"});
  CHECK(unknown.error().text() ==
        "--set power.point=turbo: 'turbo' is no operating point of wearable (use one of none, "
        "nominal, low)");
}

TEST_CASE("DRAM energy that the DRAM model books itself replaces the table's rows") {
  const SocConfig config = wearable();
  RunRecord r = two_jobs();
  r.dram_energy_nj = {{"dram.read", 3}, {"dram.standby", 8}};
  charge_energy(config, r);
  check_books(config, r);
  CHECK(r.imbalances == std::vector<std::string>{});
  CHECK(r.energy_nj.count("dram") == 0);
  double op = 0;
  each_energy_part(config, r, [&](const EnergyPart& part) {
    if (part.component == std::string("dram.read") && part.op == 0) op += part.nj;
  });
  CHECK(op == Approx(3.0 * (100 + 48) / 184));
}

TEST_CASE("a power switch knows when it was off") {
  sim::PowerGate gate(true, 100, 7);
  CHECK(gate.begin(50) == 0);
  gate.end(60);
  CHECK(gate.begin(160) == 0);  // idle for just as long as it may be
  gate.end(170);
  CHECK(gate.begin(271) == 7);
  CHECK(gate.begin(275) == 0);  // it is coming back
  gate.end(300);
  CHECK(gate.off() == sim::PowerGate::Spans{{270, 271}});
  CHECK(gate.off_from(350) == 350);
  CHECK(gate.off_from(500) == 400);
  sim::PowerGate none;
  CHECK(none.begin(1'000'000) == 0);
  CHECK(none.off_from(1'000'000) == 1'000'000);
}

TEST_CASE("a CPU without power takes its wake-up longer to come out of a wait") {
  const auto run = [](const std::vector<std::string>& sets, std::uint64_t until) {
    std::uint64_t woke = 0;
    Platform platform(wearable(sets), {});
    auto record = platform.run([&](HwPort& port) -> base::Status {
      port.sleep_until(until);
      woke = port.now_ps();
      return {};
    });
    REQUIRE(record.ok());
    CHECK(record->imbalances == std::vector<std::string>{});
    return std::pair(woke, *record);
  };
  const std::vector<std::string> gated = {"power.host.gating=true", "power.host.idle_us=10",
                                          "power.host.wake_us=3"};
  const auto [always, plain] = run({}, 50'000'000);
  const auto [woke, record] = run(gated, 50'000'000);
  CHECK(woke == always + 3'000'000);
  CHECK(record.power_off.at("host").wakes == 1);
  CHECK(record.power_off.at("host").spans[0] ==
        std::pair<std::uint64_t, std::uint64_t>(10'000'000, 50'000'000));
  CHECK(record.energy_nj.at("host.static") < plain.energy_nj.at("host.static"));
  CHECK(record.energy_nj.at("host.wake") > 0);
  CHECK(run(gated, 9'000'000).first == run({}, 9'000'000).first);  // shorter than it stays on
}

}  // namespace deputy::soc_test
