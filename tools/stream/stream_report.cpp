#include "tools/stream/stream_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "soc/energy_ledger.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

// The value that `share` of all are not above.
double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

std::vector<StreamStage> stages(const StreamOptions& options, const StreamRun& run) {
  std::map<std::string, double> nj;
  soc::each_energy_part(options.soc, run.record,
                        [&](const soc::EnergyPart& part) { nj[part.cause] += part.nj; });
  const auto busy = [&](const char* engine) {
    double ps = 0;
    if (const auto it = run.record.busy.find(engine); it != run.record.busy.end())
      for (const auto& i : it->second) ps += static_cast<double>(i.busy_ps);
    return ps * 1e-9;
  };
  std::vector<StreamStage> out = {
      {"sensor to memory", run.taken, busy("sensor"), nj["sensor"] * 1e-3},
      {"preprocessing (DSP)", run.record.dsp_jobs.size(), busy("dsp"), nj["dsp"] * 1e-3},
      {"network (NPU)", run.record.npu_jobs.size(), busy("npu"), nj["npu"] * 1e-3},
      {"decision, drivers (host)", run.decisions.size(), busy("host"), nj["host"] * 1e-3},
      {"leakage", 0, 0, nj["leakage"] * 1e-3},
      {"wake-ups", 0, 0, nj["wake"] * 1e-3}};
  double others = 0;
  for (const auto& [cause, each] : nj)
    if (cause != "sensor" && cause != "dsp" && cause != "npu" && cause != "host" &&
        cause != "leakage" && cause != "wake")
      others += each;
  if (others > 0) out.push_back({"others", 0, 0, others * 1e-3});
  return out;
}

std::string value_text(const ValueScore& v, const std::string& unit) {
  return fmt::format("mean absolute error {:.2f} {}, bias {:+.2f}, nine of ten within {:.2f}",
                     v.error, unit, v.bias, v.p90);
}

std::string correctness_text(const StreamReport& r) {
  if (r.judge == Judge::kValue) {
    const ValueScore& all = r.values.all;
    std::string out =
        fmt::format("  correct      {} of {} labelled have a decision", all.found, all.labelled);
    if (all.found > 0) out += fmt::format(": {}", value_text(all, r.unit));
    out += "\n";
    for (std::size_t i = 0; i < r.values.of_class.size() && r.values.of_class.size() > 1; ++i)
      if (const ValueScore& v = r.values.of_class[i]; v.found > 0)
        out += fmt::format("    {:<10} {} of {}: {}\n", r.classes[i], v.found, v.labelled,
                           value_text(v, r.unit));
    return out;
  }
  if (r.judge == Judge::kEpisodes) {
    const EpisodeScore& e = r.episodes;
    std::string out = fmt::format(
        "  correct      {} of {} episodes found (sensitivity {:.2f} %), {} false alarms in {:.3f} "
        "hours ({:.2f} an hour)",
        e.found, e.labelled, 100 * e.sensitivity(), e.false_alarms, e.hours, e.false_per_hour());
    if (e.found)
      out += fmt::format("; alarm after {:.2f} s, {:.2f} s at most", e.latency_s, e.latency_max_s);
    return out + "\n";
  }
  if (r.score.labelled == 0)
    return "  correct      no labelled moment is so far from the ends of the signal that it is "
           "counted\n";
  return fmt::format(
      "  correct      {} of {} labelled found (sensitivity {:.2f} %, PPV {:.2f} %), {} of those "
      "named right ({:.2f} %), {} decisions without a label\n",
      r.score.found, r.score.labelled, 100 * r.score.sensitivity(), 100 * r.score.predictivity(),
      r.score.right, 100 * r.score.accuracy(), r.score.extra);
}

std::string confusion_text(const StreamReport& r) {
  std::vector<std::string> titles = {"label \\ decision"};
  for (const auto& name : r.classes) titles.push_back(">" + name);
  titles.insert(titles.end(), {">not found", ">sensitivity", ">PPV"});
  Table confusion(titles);
  for (std::size_t i = 0; i < r.classes.size(); ++i) {
    const StreamScore::OfClass& own = r.score.of_class[i];
    std::vector<std::string> cells = {r.classes[i]};
    for (const auto count : r.score.confusion[i]) cells.push_back(std::to_string(count));
    cells.push_back(std::to_string(own.labelled - own.found));
    cells.push_back(own.labelled ? fmt::format("{:.2f} %", 100 * own.sensitivity()) : "-");
    cells.push_back(own.right + own.wrong ? fmt::format("{:.2f} %", 100 * own.predictivity())
                                          : "-");
    confusion.row(cells);
  }
  return confusion.text();
}

nlohmann::json correctness_json(const StreamReport& r) {
  if (r.judge == Judge::kValue) {
    const auto one = [](const ValueScore& v) {
      return nlohmann::json{{"labelled", v.labelled},
                            {"found", v.found},
                            {"mean_absolute_error", v.error},
                            {"bias", v.bias},
                            {"p90", v.p90}};
    };
    nlohmann::json out = one(r.values.all);
    out["unit"] = r.unit;
    for (std::size_t i = 0; i < r.values.of_class.size(); ++i) {
      auto& own = out["classes"].emplace_back(one(r.values.of_class[i]));
      own["class"] = i < r.classes.size() ? r.classes[i] : "";
    }
    return out;
  }
  if (r.judge == Judge::kEpisodes) {
    const EpisodeScore& e = r.episodes;
    return {{"episodes", e.labelled},
            {"found", e.found},
            {"sensitivity", e.sensitivity()},
            {"false_alarms", e.false_alarms},
            {"false_per_hour", e.false_per_hour()},
            {"latency_mean_s", e.latency_s},
            {"latency_max_s", e.latency_max_s}};
  }
  nlohmann::json correct = {{"labelled", r.score.labelled},
                            {"found", r.score.found},
                            {"right", r.score.right},
                            {"without_label", r.score.extra},
                            {"sensitivity", r.score.sensitivity()},
                            {"ppv", r.score.predictivity()},
                            {"accuracy", r.score.accuracy()},
                            {"confusion", r.score.confusion}};
  for (std::size_t i = 0; i < r.classes.size(); ++i) {
    const StreamScore::OfClass& own = r.score.of_class[i];
    correct["classes"].push_back({{"class", r.classes[i]},
                                  {"labelled", own.labelled},
                                  {"found", own.found},
                                  {"right", own.right},
                                  {"sensitivity", own.sensitivity()},
                                  {"ppv", own.predictivity()}});
  }
  return correct;
}

}  // namespace

StreamReport report_stream(const StreamOptions& options, const StreamRun& run) {
  StreamReport out;
  const StreamScenario& s = options.scenario;
  out.name = s.name, out.soc = options.soc.name, out.wall_s = run.wall_s;
  out.frames = run.offered, out.taken = run.taken, out.dropped = run.dropped,
  out.missed = run.missed, out.failed = run.failed;
  out.lost_samples = (run.dropped + run.missed + run.failed) * run.chain->shape.samples_per_frame;
  out.signal_s = static_cast<double>(run.offered * run.chain->shape.samples_per_frame) /
                 run.chain->shape.samples_per_second;
  out.stream_s = static_cast<double>(run.last_ps - run.first_ps) * 1e-12;
  out.decisions = run.decisions.size(), out.given_up = run.given_up,
  out.deadline_ms = s.deadline_ms;
  std::vector<double> latencies;
  for (const StreamDecision& d : run.decisions)
    latencies.push_back(static_cast<double>(d.decided_ps - d.needed_ps) * 1e-9);
  out.deadline_misses = static_cast<std::uint64_t>(
      std::ranges::count_if(latencies, [&](double ms) { return ms > s.deadline_ms; }));
  out.latency_p50_ms = percentile(latencies, 0.5), out.latency_p99_ms = percentile(latencies, 0.99),
  out.latency_max_ms = percentile(latencies, 1);
  out.stages = stages(options, run);
  const double run_s = static_cast<double>(run.record.end_ps) * 1e-12;
  double uj = 0;
  for (const StreamStage& stage : out.stages) uj += stage.energy_uj;
  out.soc_mw = uj * 1e-3 / run_s;
  out.analog_mw = s.around.analog_mw;
  out.radio_bytes = static_cast<double>(s.around.radio_bytes) * static_cast<double>(out.decisions);
  out.radio_mw = out.radio_bytes * s.around.radio_nj_per_byte * 1e-6 / run_s;
  const soc::BatteryConfig& b = options.soc.battery;
  out.battery_mwh = b.mah * b.volts * b.efficiency;
  out.battery_hours = out.total_mw() > 0 ? out.battery_mwh / out.total_mw() : 0;
  out.labelled = !run.signal.labels.empty();
  out.judge = run.chain->judge, out.unit = run.chain->unit;
  if (out.labelled && out.judge == Judge::kClasses) out.score = score_classes(run);
  if (out.labelled && out.judge == Judge::kValue) out.values = score_values(run);
  if (out.labelled && out.judge == Judge::kEpisodes) out.episodes = score_episodes(run);
  out.classes = run.chain->classes;
  for (std::size_t i = out.classes.size(); i < out.score.of_class.size(); ++i)
    out.classes.push_back(fmt::format("class {}", i));
  out.failures = run.failures;
  for (const auto& e : run.recovery)
    ++out.recovery[fmt::format("{} {}", e.engine, host_runtime::recovery_step_name(e.step))];
  return out;
}

std::string stream_text(const StreamReport& r) {
  std::string out = fmt::format("{} on {}: {:.1f} s of signal", r.name, r.soc, r.signal_s);
  out += fmt::format(", simulated in {:.1f} s\n\n", r.wall_s);
  out += fmt::format(
      "  frames       {} of {} taken, {} dropped, {} not delivered, {} failed; {} samples lost\n",
      r.taken, r.frames, r.dropped, r.missed, r.failed, r.lost_samples);
  out += fmt::format("  decisions    {}, {} given up; {} later than {} ms\n", r.decisions,
                     r.given_up, r.deadline_misses, r.deadline_ms);
  if (r.decisions > 0)
    out += fmt::format(
        "  latency      p50 {:.3f} ms, p99 {:.3f} ms, max {:.3f} ms, from the last frame needed to "
        "the decision\n",
        r.latency_p50_ms, r.latency_p99_ms, r.latency_max_ms);
  if (r.labelled) out += correctness_text(r);
  out += fmt::format(
      "  power        {:.4f} mW: SoC {:.4f}, analogue front end {:.4f}, radio {:.4f} ({:.0f} "
      "bytes)\n",
      r.total_mw(), r.soc_mw, r.analog_mw, r.radio_mw, r.radio_bytes);
  if (r.battery_mwh > 0)
    out += fmt::format("  battery      {:.1f} mWh last {:.1f} hours ({:.1f} days)\n", r.battery_mwh,
                       r.battery_hours, r.battery_hours / 24);
  Table stages({"stage", ">jobs", ">busy", ">duty", ">energy", ">power"});
  for (const StreamStage& s : r.stages)
    stages.row({s.name, s.jobs ? std::to_string(s.jobs) : "",
                s.busy_ms > 0 ? human_time(s.busy_ms * 1e6) : "",
                s.busy_ms > 0 ? fmt::format("{:.3f} %", s.busy_ms / r.stream_s / 10) : "",
                human_energy(s.energy_uj * 1e3),
                fmt::format("{:.3f} uW", s.energy_uj / r.stream_s)});
  out += "\n" + stages.text();
  if (r.labelled && r.judge == Judge::kClasses && r.score.labelled + r.score.extra > 0)
    out += "\n" + confusion_text(r);
  for (const auto& [step, count] : r.recovery)
    out += fmt::format("  recovery     {}: {}\n", step, count);
  for (const auto& failure : r.failures) out += "  " + failure + "\n";
  return out;
}

std::string stream_json(const StreamReport& r, bool reproducible) {
  nlohmann::ordered_json out = {
      {"scenario", r.name}, {"soc", r.soc}, {"signal_s", r.signal_s}, {"stream_s", r.stream_s}};
  if (!reproducible) out["wall_s"] = r.wall_s;
  out["frames"] = {{"offered", r.frames},  {"taken", r.taken},
                   {"dropped", r.dropped}, {"not_delivered", r.missed},
                   {"failed", r.failed},   {"lost_samples", r.lost_samples}};
  out["decisions"] = {{"made", r.decisions},
                      {"given_up", r.given_up},
                      {"deadline_ms", r.deadline_ms},
                      {"deadline_misses", r.deadline_misses}};
  out["latency_ms"] = {
      {"p50", r.latency_p50_ms}, {"p99", r.latency_p99_ms}, {"max", r.latency_max_ms}};
  for (const StreamStage& s : r.stages)
    out["stages"].push_back(
        {{"stage", s.name}, {"jobs", s.jobs}, {"busy_ms", s.busy_ms}, {"energy_uj", s.energy_uj}});
  out["power_mw"] = {
      {"total", r.total_mw()}, {"soc", r.soc_mw}, {"analog", r.analog_mw}, {"radio", r.radio_mw}};
  out["radio_bytes"] = r.radio_bytes;
  out["battery"] = {{"mwh", r.battery_mwh}, {"hours", r.battery_hours}};
  if (r.labelled) out["correctness"] = correctness_json(r);
  out["recovery"] = r.recovery;
  out["failures"] = r.failures;
  return json_text("deputy-stream-1", out);
}

std::string decisions_text(const StreamRun& run) {
  std::string out;
  for (const StreamDecision& d : run.decisions) {
    const auto kind = static_cast<std::size_t>(d.kind);
    const auto& classes = run.chain->classes;
    out += fmt::format("{} {}", d.sample,
                       run.chain->judge == Judge::kValue ? fmt::format("{:.2f}", d.value)
                       : kind < classes.size()           ? classes[kind]
                                                         : fmt::format("class {}", kind));
    for (const std::int8_t score : d.scores) out += fmt::format(" {}", score);
    out += "\n";
  }
  return out;
}

}  // namespace deputy::tools
