// Streams: the ECG patch reproduces its committed decisions, and what goes wrong on the way is
// counted and passes.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/stream/scenarios.h"
#include "workloads/ecg_signal.h"

namespace deputy::stream_test {
namespace {

std::string file(const std::string& name) {
  std::ifstream in(tests::source_dir() + "/" + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}
sim::FaultPlan fault(const char* kind, const char* target, std::int64_t nth,
                     std::int64_t repeat = 1) {
  sim::Fault f;
  f.kind = kind, f.target = target, f.nth = nth, f.repeat = repeat;
  return {{f}};
}
// Samples and classes, without times.
std::vector<std::pair<std::int64_t, int>> named(const StreamRun& r, std::int64_t from = 0) {
  std::vector<std::pair<std::int64_t, int>> out;
  for (const auto& d : r.decisions)
    if (d.sample >= from) out.emplace_back(d.sample, d.kind);
  return out;
}

}  // namespace

TEST_CASE("the generated ECG is the same everywhere, and its beats are where its labels say") {
  const auto a = workloads::make_ecg({.seed = 3, .seconds = 30}),
             b = workloads::make_ecg({.seed = 3, .seconds = 30});
  CHECK(a.samples == b.samples);
  CHECK(a.samples != workloads::make_ecg({.seed = 4, .seconds = 30}).samples);
  REQUIRE(a.samples.size() == 2 * 360 * 30);
  CHECK(a.beats.size() > 25);
  for (const auto& beat : a.beats) {
    if (beat.sample < 30 || beat.sample + 30 > 360 * 30) continue;
    std::int64_t at = beat.sample - 20;
    for (std::int64_t i = at; i < beat.sample + 20; ++i)
      if (a.samples[static_cast<std::size_t>(2 * i)] > a.samples[static_cast<std::size_t>(2 * at)])
        at = i;
    CHECK(std::abs(at - beat.sample) <= 6);
  }
  CHECK(std::ranges::is_sorted(a.beats, {}, &workloads::LabelledBeat::sample));
}

TEST_CASE("the ECG patch loses nothing, misses no deadline and makes the committed decisions") {
  const auto o = options({"source.seconds=60"});
  const StreamRun r = run(o);
  const StreamReport report = report_stream(o, r);
  CHECK(decisions_text(r) == file("tests/stream/goldens/ecg_patch_60s.txt"));
  CHECK(report.lost_samples == 0);
  CHECK(report.deadline_misses == 0);
  CHECK(report.given_up == 0);
  CHECK(report.failures.empty());
  CHECK(report.score.found * 100 >= report.score.labelled * 98);
  CHECK(report.score.right * 100 >= report.score.found * 90);
  CHECK(report.score.labelled > 60);
  CHECK(report.battery_hours > 0);
  CHECK(stream_json(report, true) == stream_json(report_stream(o, run(o)), true));
}

// Remade by `deputy stream configs/streams/ecg_patch.yaml --decisions FILE`: lines of FILE, and the
// hash of its bytes.
TEST_CASE("the ECG patch goes on for an hour, and makes the committed decisions", "[.slow]") {
  const auto o = options({});
  REQUIRE(o.scenario.source.seconds == 3600);
  const StreamRun r = run(o);
  const StreamReport report = report_stream(o, r);
  const std::string decisions = decisions_text(r);
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : decisions) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001B3;
  CHECK(fmt::format("{} decisions, FNV-1a {:016x}\n", r.decisions.size(), hash) ==
        file("tests/stream/goldens/ecg_patch_hour.txt"));
  CHECK(report.lost_samples == 0);
  CHECK(report.deadline_misses == 0);
  CHECK(report.given_up == 0);
  CHECK(report.failures.empty());
}

TEST_CASE("hand-over by the host and copies change times and power, not decisions") {
  const StreamRun chained = run(options({"source.seconds=12"}));
  for (const char* other : {"chained=false", "zero_copy=false", "watermark=4"}) {
    INFO(other);
    const StreamRun r = run(options({"source.seconds=12", other}));
    CHECK(named(r) == named(chained));
    CHECK(r.record.end_ps != chained.record.end_ps);
  }
}

TEST_CASE("power follows clock, voltage and duty cycle") {
  const auto power = [](const std::vector<std::string>& with,
                        const std::vector<std::string>& sets) {
    const auto o = options(with, sets);
    return report_stream(o, run(o));
  };
  const StreamReport base = power({"source.seconds=12"}, {});
  const StreamReport low = power({"source.seconds=12"}, {"power.point=low"}),
                     awake = power({"source.seconds=12"}, {"power.host.gating=false"});
  const StreamReport big = power({"source.seconds=12"}, {"battery.mah=80"}),
                     rare = power({"source.seconds=12", "watchdog_ms=1000"}, {});
  CHECK(low.soc_mw < base.soc_mw);
  CHECK(low.latency_p50_ms > base.latency_p50_ms);
  CHECK(awake.soc_mw > base.soc_mw);
  CHECK(rare.soc_mw < base.soc_mw);  // the host wakes up less often
  CHECK(big.battery_hours == Approx(2 * base.battery_hours));
  CHECK(base.battery_hours == Approx(base.battery_mwh / base.total_mw()));
  // Twice the frames in the same time: twice the work of DSP and NPU a second, the leakage as
  // before.
  const StreamReport busy =
      power({"source.seconds=12", "source.speedup=2"}, {"sensor.mb_per_s=0.00294"});
  CHECK(busy.lost_samples == 0);
  const auto mw = [](const StreamReport& r, std::size_t stage) {
    return r.stages[stage].energy_uj * 1e-3 / r.stream_s;
  };
  for (const std::size_t stage : {1, 2})
    CHECK(mw(busy, stage) == Approx(2 * mw(base, stage)).epsilon(0.1));
  CHECK(mw(busy, 4) == Approx(mw(base, 4)).epsilon(0.1));
  CHECK(busy.soc_mw > base.soc_mw);
  double stages = 0;
  for (const StreamStage& s : base.stages) stages += s.energy_uj;
  CHECK(stages * 1e-3 / base.stream_s == Approx(base.soc_mw).epsilon(0.02));
}

TEST_CASE("a sensor faster than the chain: what is lost is counted, the rest goes on") {
  const auto o = options({"source.seconds=120", "source.speedup=1500"});
  const StreamRun r = run(o);
  CHECK(r.dropped > 0);
  CHECK(r.taken + r.dropped + r.missed == r.offered);
  CHECK(r.failed == 0);
  CHECK(r.taken > static_cast<std::uint64_t>(o.scenario.ring_frames));
  CHECK(r.record.counters.at("sensor.dropped") - r.dropped <= 1);  // one after the signal's end
  CHECK(report_stream(o, r).lost_samples == 64 * r.dropped);
}

TEST_CASE(
    "a sensor that falls silent: its frames are counted, and what comes later is as if nothing had "
    "been") {
  const StreamRun whole = run(options({"source.seconds=30"}));
  const auto o = options({"source.seconds=30", "dropouts=[{at_s: 8, for_s: 3}]"});
  const StreamRun r = run(o);
  CHECK(r.missed == 17);
  CHECK(r.taken + r.missed == r.offered);
  CHECK(r.dropped == 0);
  CHECK(r.failed == 0);
  const std::int64_t later = 18 * 360;  // thresholds have settled again, windows are whole
  CHECK(named(r, later) == named(whole, later));
  CHECK(named(r).size() < named(whole).size());
  for (const auto& d : r.decisions) CHECK((d.sample < 8 * 360 || d.sample > 11 * 360 - 40));
}

TEST_CASE(
    "an engine that hangs in the middle of the stream is recovered; decisions are late, not lost") {
  const StreamRun whole = run(options({"source.seconds=20"}));
  for (const auto& plan :
       {fault("engine_hang", "npu", 60), fault("engine_hang", "dsp", 300),
        fault("bus_error", "dsp.dma", 400), fault("lost_interrupt", "npu.queue", 4)}) {
    INFO(plan.faults[0].kind << " at " << plan.faults[0].target);
    auto o = options({"source.seconds=20"});
    o.faults = plan;
    const StreamRun r = run(o);
    CHECK(r.record.faults[0].fired == 1);
    CHECK(r.taken + r.dropped == r.offered);
    CHECK(r.failed == 0);
    if (r.dropped == 0) CHECK(named(r) == named(whole));
    const StreamReport report = report_stream(o, r),
                       good = report_stream(options({"source.seconds=20"}), whole);
    // A frame that only filters delays no decision.
    CHECK(report.latency_max_ms >= good.latency_max_ms);
    if (plan.faults[0].target.starts_with("npu"))
      CHECK(report.latency_max_ms > good.latency_max_ms);
    if (plan.faults[0].kind != "lost_interrupt") CHECK(!r.recovery.empty());
  }
}

TEST_CASE("an engine that is broken for good: every frame ends, failures are counted and told") {
  auto o = options({"source.seconds=12"});
  o.faults = fault("engine_fault", "npu", 60, 0);
  const StreamRun r = run(o);
  CHECK(r.failed > 0);
  CHECK(r.taken + r.dropped == r.offered);
  CHECK(!r.failures.empty());
  CHECK(r.given_up >= r.failed);
  CHECK(!r.recovery.empty());
}

TEST_CASE("windows of PPG and EEG move on frame by frame, and the network sees the last samples") {
  for (const auto& [scenario, seconds, decisions] :
       {std::tuple{"ppg_heart_rate", "source.seconds=12", 5},
        std::tuple{"eeg_implant", "source.seconds=4", 9}}) {
    INFO(scenario);
    const auto o = options({seconds}, {}, scenario);
    const StreamRun r = run(o), copied = run(options({seconds, "zero_copy=false"}, {}, scenario));
    CHECK(r.decisions.size() == static_cast<std::size_t>(decisions));
    CHECK(decisions_text(r) == decisions_text(copied));
    CHECK(report_stream(o, r).deadline_misses == 0);
    CHECK(r.dropped == 0);
    CHECK(r.failed == 0);
  }
}

TEST_CASE("scenarios that cannot be are refused") {
  const auto refused = [](const std::vector<std::string>& with) {
    const auto loaded =
        load_scenario(tests::source_dir() + "/configs/streams/ecg_patch.yaml", with);
    if (!loaded.ok()) return loaded.error().text();
    auto o = options(with);
    const auto out = run_stream(o);
    REQUIRE(!out.ok());
    return out.error().text();
  };
  CHECK(refused({"watermark=9"}).find("never reached") != std::string::npos);
  CHECK(refused({"nonsense=1"}).find("nonsense") != std::string::npos);
  CHECK(refused({"dropouts=[{at_s: 5, for: 2}]"}).find("unknown key 'dropouts.0.for'") !=
        std::string::npos);
  CHECK(refused({"dropouts=[{at_s: 5"}).find("--with dropouts=[{at_s: 5: not valid YAML") !=
        std::string::npos);
  CHECK(refused({"chain=echo", "source.seconds=2"}).find("no chain 'echo'") != std::string::npos);
  CHECK(refused({"source.speedup=0.01"}).find("speedup") != std::string::npos);
  CHECK(refused({"source.mb_per_s=0.001", "source.seconds=2"}).find("mb_per_s") !=
        std::string::npos);
  auto scenario = load_scenario(tests::source_dir() + "/configs/streams/ecg_patch.yaml", {});
  REQUIRE(scenario.ok());
  scenario->soc = tests::source_dir() + "/configs/soc/wearable.yaml";
  CHECK(stream_options(*scenario, {}).error().text().find("no DSP") != std::string::npos);
}

}  // namespace deputy::stream_test
