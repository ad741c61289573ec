// What an exploration shares between points changes no number: programs, runs under other prices,
// workers. And response times of frames.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "explore/sample.h"
#include "soc/books.h"
#include "tests/system/deputy_process.h"
#include "tools/explore/evaluator.h"
#include "tools/frames.h"
#include "tools/worker_pool.h"

using namespace deputy;
using namespace deputy::test;
using Catch::Matchers::Contains;

namespace {

tools::Experiment experiment(const std::string& text) {
  auto config = base::Config::from_text(text, "e.yaml");
  REQUIRE(config.ok());
  auto out = tools::parse_experiment(std::move(*config), ".");
  if (!out.ok()) FAIL(out.error().text());
  return std::move(*out);
}

tools::Evaluator prepared(tools::Experiment& e) {
  auto out = tools::Evaluator::prepare(e);
  if (!out.ok()) FAIL(out.error().text());
  return std::move(*out);
}

// Random points, each evaluated by one evaluator that keeps what it has and by one that has
// nothing.
void same_as_uncached(const std::string& text, std::size_t count, std::size_t& simulated,
                      std::size_t& compiled) {
  tools::Experiment e = experiment(text);
  const tools::Evaluator pristine = prepared(e);
  tools::Evaluator keeping = pristine;
  const auto genes = explore::draw_random(e.space, count, 7);
  REQUIRE(genes.ok());
  REQUIRE(genes->size() == count);
  std::size_t ok = 0;
  for (const auto& g : *genes) {
    const auto point = e.space.point(g);
    REQUIRE(point.ok());
    INFO(point->id());
    tools::Evaluator fresh = pristine;
    const auto expected = fresh.run(fresh.job(*point, 0)),
               found = keeping.run(keeping.job(*point, 0));
    INFO(expected.reason);
    CHECK(tools::Evaluator::encode(found) == tools::Evaluator::encode(expected));
    ok += expected.status == "ok";
  }
  CHECK(ok == count);
  simulated = keeping.simulated(), compiled = keeping.compiled();
}

}  // namespace

TEST_CASE(
    "points that differ only in prices share a run, and have the numbers of one that shares "
    "nothing") {
  std::size_t simulated = 0, compiled = 0;
  same_as_uncached(R"(
workloads: [{network: ecg_tcn}]
set: [power.npu.gating=true, power.npu.idle_us=2]
parameters:
  mac: {key: energy.npu_mac_pj, range: {from: 0.01, to: 1}}
  dram: {key: energy.dram_read_byte_pj, range: {from: 1, to: 50}}
  leak: {key: energy.sram_static_mw_per_mib, range: {from: 0, to: 5}}
  host: {key: energy.host_cycle_pj, range: {from: 1, to: 50}}
  volts: {key: power.volts, range: {from: 0.6, to: 1}}
  rail: {key: power.rail, values: [soc, npu]}
  gate: {key: power.clock_gating, values: [true, false]}
  trace: {key: power.trace_us, values: [0, 1, 7]}
  nodes: {key: energy.file, values: [)" +
                       project_file("configs/energy/28nm.yaml") + ", " +
                       project_file("configs/energy/16nm.yaml") + R"(]}
  clock: {key: npu.clock_mhz, values: [100, 200]}
)",
                   24, simulated, compiled);
  CHECK(simulated == 2);  // one a clock
  CHECK(compiled == 2);
  same_as_uncached(R"(
workloads: [{network: ecg_tcn}]
set: [dram.model=full]
parameters:
  current: {key: dram.device.rail_1.idd4r, range: {from: 30, to: 300}}
  idle: {key: dram.device.rail_2.idd2n, range: {from: 1, to: 30}}
  gate: {key: power.host.gating, values: [true, false]}
  sensor: {key: sensor.mb_per_s, values: [10, 20]}
)",
                   12, simulated, compiled);
  CHECK(simulated <= 4);  // the sensor is idle, but nobody has promised that it changes nothing
  CHECK(simulated >= 2);
  CHECK(compiled == 1);
}

TEST_CASE("every knob that only prices is one, and a knob that gates is not among them") {
  std::vector<base::ParamRow> rows;
  base::list_params("", soc::SocConfig(), rows);
  std::size_t prices = 0;
  for (const auto& row : rows) prices += soc::only_prices(row.key);
  CHECK(prices > 20);
  for (const char* key : {"power.npu.gating", "power.npu.wake_us", "npu.clock_mhz",
                          "dram.device.tck_ps", "host.clock_mhz", "noc.width_bytes"})
    CHECK_FALSE(soc::only_prices(key));
}

TEST_CASE("jobs of a group stay with one worker, until there is nothing else to do") {
  tools::WorkerPool pool(2, 10, [](const std::string&) { return std::to_string(getpid()); });
  for (std::size_t i = 0; i < 40; ++i) pool.submit(i, "", i % 2 ? "odd" : "even");
  std::set<std::pair<std::size_t, std::string>> pairs;
  std::set<std::size_t> done;
  while (const auto answer = pool.wait()) {
    pairs.insert({answer->id % 2, answer->text});
    CHECK(done.insert(answer->id).second);
  }
  CHECK(done.size() == 40);
  CHECK(pairs.size() <= 3);  // who is done first helps the other
}

TEST_CASE("frames come as planned, and a share of responses is by nearest rank") {
  const auto even = tools::arrivals({1000, 0, 1}, 4);
  REQUIRE(even.ok());
  CHECK(*even == std::vector<std::uint64_t>{0, 1000, 2000, 3000});
  const auto late = tools::arrivals({1000, 300, 1}, 1000);
  REQUIRE(late.ok());
  std::uint64_t least = 1000, most = 0;
  for (std::size_t n = 0; n < late->size(); ++n) {
    const std::uint64_t by = (*late)[n] - 1000 * n;
    least = std::min(least, by), most = std::max(most, by);
  }
  CHECK(least < 5);
  CHECK(most <= 300);
  CHECK(most > 295);
  CHECK(*tools::arrivals({1000, 300, 1}, 1000) == *late);
  CHECK(*tools::arrivals({1000, 300, 2}, 1000) != *late);
  CHECK_FALSE(tools::arrivals({1000, 1001, 1}, 4).ok());
  tools::FrameTimeline t;
  for (std::uint64_t i = 200; i > 0; --i) t.response_ps.push_back(i);
  CHECK(t.response_at(0.99) == 198);
  CHECK(t.response_at(0.5) == 100);
  CHECK(t.response_at(1) == 200);
}

TEST_CASE(
    "frames that come slower than they are computed wait for nobody, faster ones for all before "
    "them") {
  TempFolder folder;
  const std::string model = folder.file("ecg.tflite");
  REQUIRE(run_deputy({"network", "ecg_tcn", "-o", model}).exit_code == 0);
  const auto run = [&](const char* period_us, const char* jitter_us) {
    const auto r =
        run_deputy({"run", model, "--timing-only", "--effort", "fast", "--json", "--frames", "50",
                    "--frame-period", period_us, "--frame-jitter", jitter_us});
    INFO(r.err);
    REQUIRE(r.exit_code == 0);
    return nlohmann::json::parse(r.out);
  };
  const auto slow = run("100000", "0"), jittery = run("100000", "1000"), fast = run("1", "0");
  const auto response = [](const nlohmann::json& j, const char* name) {
    return j["frames"]["response_ns"][name].get<double>();
  };
  const double latency = slow["latency_ns"];
  // Alone: the latency, and what the frame's preparation and the wake-up take.
  CHECK(response(slow, "p50") > 0.8 * latency);
  CHECK(response(slow, "most") < 2 * latency);
  CHECK(response(jittery, "most") < 2 * latency);
  // All at once: the last one waits for nearly all others, and half of them for half of these.
  const double service = fast["frames"]["duration_ns"].get<double>() / 50;
  CHECK(response(fast, "most") == Approx(50 * service).epsilon(0.05));
  CHECK(response(fast, "p50") == Approx(25 * service).epsilon(0.1));
  CHECK(response(fast, "p99") == response(fast, "most"));  // of 50 frames
  CHECK_THAT(run_deputy({"run", model, "--timing-only", "--effort", "fast", "--frames", "10",
                         "--frame-period", "1000"})
                 .out,
             Contains("99 % within"));
  CHECK(run_deputy({"run", model, "--frame-period", "1000"}).exit_code == 2);
  CHECK(run_deputy({"run", model, "--timing-only", "--frames", "10", "--frame-period", "10",
                    "--frame-jitter", "11"})
            .exit_code == 2);
}

TEST_CASE("p99 is an objective of workloads whose frames come at a rate") {
  TempFolder folder;
  const auto explored = [&](const std::string& workload, const std::string& objective) {
    write_text(folder.file("e.yaml"),
               "frames: 40\nworkloads: [{network: ecg_tcn, " + workload + "}]\nobjectives: [" +
                   objective +
                   ", area]\nparameters: {clock: {key: npu.clock_mhz, values: [20, 200]}}\n");
    return run_deputy(
        {"explore", folder.file("e.yaml"), "--db", folder.file("e.sqlite"), "--json"});
  };
  const auto p99 = [&](const std::string& workload, std::size_t point) {
    const auto r = explored(workload, "p99");
    INFO(r.err);
    REQUIRE(r.exit_code == 0);
    return nlohmann::json::parse(r.out)["points"][point]["objectives"]["p99"].get<double>();
  };
  CHECK(p99("period_us: 50000", 0) > p99("period_us: 50000", 1));  // the slower clock
  CHECK(p99("period_us: 1", 1) > 5 * p99("period_us: 50000", 1));  // and waiting; under another key
  CHECK(p99("period_us: 1, jitter_us: 1", 1) != p99("period_us: 1", 1));
  const auto none = explored("weight: 1", "p99");
  CHECK(none.exit_code == 4);
  CHECK_THAT(none.err, Contains("period_us"));
  CHECK(explored("period_us: 10, jitter_us: 20", "p99").exit_code == 4);
  CHECK(explored("weight: 1", "latency").exit_code == 0);
}
