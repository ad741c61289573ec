// deputy stream SCENARIO.yaml
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "tools/files.h"
#include "tools/json_text.h"
#include "tools/stream/signal_file.h"
#include "tools/stream/stream_report.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

base::Result<StreamOptions> options_of(const CommonOptions& common, const StreamCommand& command,
                                       const std::vector<std::string>& more) {
  std::vector<std::string> with = command.with;
  with.insert(with.end(), more.begin(), more.end());
  DEPUTY_ASSIGN(auto scenario, load_scenario(command.scenario, with));
  if (!command.soc.empty()) scenario.soc = command.soc;
  DEPUTY_ASSIGN(auto options, stream_options(std::move(scenario), common.sets));
  if (!command.faults.empty()) {
    DEPUTY_ASSIGN(options.faults, sim::load_fault_plan(command.faults));
  }
  return options;
}

base::Status stream(const CommonOptions& common, const StreamCommand& command) {
  if (!command.signal.empty() || !command.labels.empty()) {
    DEPUTY_ASSIGN(const auto scenario, load_scenario(command.scenario, command.with));
    return write_signal(scenario, command.signal, command.labels);
  }
  DEPUTY_ASSIGN(const auto options, options_of(common, command, {}));
  DEPUTY_ASSIGN(const auto run, run_stream(options));
  const StreamReport report = report_stream(options, run);
  if (!command.decisions.empty()) DEPUTY_TRY(write_text(command.decisions, decisions_text(run)));
  return give_results(command.json, command.report, stream_json(report, command.reproducible),
                      stream_text(report));
}

// Synchronous or chained, copied or in place, side by side.
base::Status compare(const CommonOptions& common, const StreamCommand& command) {
  Table table(
      {"hand-over", "buffers", ">p50", ">p99", ">max", ">misses", ">SoC power", ">host busy"});
  auto rows = nlohmann::ordered_json::array();
  for (const bool chained : {false, true})
    for (const bool zero_copy : {false, true}) {
      if (chained && !zero_copy) continue;  // a copy by the CPU is a stop of the host
      DEPUTY_ASSIGN(const auto options, options_of(common, command,
                                                   {fmt::format("chained={}", chained),
                                                    fmt::format("zero_copy={}", zero_copy)}));
      DEPUTY_ASSIGN(const auto run, run_stream(options));
      const StreamReport r = report_stream(options, run);
      rows.push_back(
          {{"chained", chained},
           {"zero_copy", zero_copy},
           {"latency_ms",
            {{"p50", r.latency_p50_ms}, {"p99", r.latency_p99_ms}, {"max", r.latency_max_ms}}},
           {"deadline_misses", r.deadline_misses},
           {"soc_mw", r.soc_mw},
           {"host_busy_ms", r.stages[3].busy_ms}});
      table.row({chained ? "DSP to NPU" : "by the host", zero_copy ? "in place" : "copied",
                 fmt::format("{:.3f} ms", r.latency_p50_ms),
                 fmt::format("{:.3f} ms", r.latency_p99_ms),
                 fmt::format("{:.3f} ms", r.latency_max_ms), std::to_string(r.deadline_misses),
                 fmt::format("{:.3f} uW", r.soc_mw * 1e3), human_time(r.stages[3].busy_ms * 1e6)});
    }
  return give_results(command.json, command.report,
                      json_text("deputy-stream-compare-1", {{"rows", rows}}), table.text());
}

}  // namespace

int stream_command(const CommonOptions& common, const StreamCommand& command) {
  return finish(command.compare ? compare(common, command) : stream(common, command));
}

}  // namespace deputy::tools
