// deputy run --compare
#include "tools/compare.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

// What a run has over the baseline, in percent of the baseline.
double more(double value, double baseline) {
  return baseline > 0 ? 100 * (value - baseline) / baseline : 0;
}

std::string table_text(const Comparison& c) {
  Table table({"run", ">latency", ">NPU cycles", ">DRAM", ">SRAM", ">launches", ">instructions",
               ">energy", ">cycles", ">DRAM", ">energy"});
  const CompareRun& base = c.runs.front();
  const auto percent = [&](const CompareRun& run, double value, double baseline) {
    return &run == &base ? std::string() : fmt::format("{:+.1f} %", more(value, baseline));
  };
  for (const CompareRun& run : c.runs)
    table.row(
        {run.name, human_time(run.latency_ns), std::to_string(run.npu_cycles),
         human_bytes(static_cast<double>(run.dram_bytes)),
         human_bytes(static_cast<double>(run.sram_bytes)), std::to_string(run.launches),
         std::to_string(run.instructions), human_energy(run.energy_nj),
         percent(run, static_cast<double>(run.npu_cycles), static_cast<double>(base.npu_cycles)),
         percent(run, static_cast<double>(run.dram_bytes), static_cast<double>(base.dram_bytes)),
         percent(run, run.energy_nj, base.energy_nj)});
  return table.text() + (c.outputs_checked ? "  outputs are equal byte for byte in all runs\n"
                                           : "  timing only: outputs were not computed\n");
}

nlohmann::ordered_json json_of(const Comparison& c) {
  using Json = nlohmann::ordered_json;
  Json runs = Json::array();
  const CompareRun& base = c.runs.front();
  for (const CompareRun& r : c.runs) {
    Json run = {{"name", r.name},
                {"latency_ns", r.latency_ns},
                {"npu_cycles", r.npu_cycles},
                {"dram_bytes", r.dram_bytes},
                {"sram_bytes", r.sram_bytes},
                {"launches", r.launches},
                {"instructions", r.instructions},
                {"energy_nj", r.energy_nj}};
    if (&r != &base)
      run["more_percent"] = {
          {"npu_cycles",
           more(static_cast<double>(r.npu_cycles), static_cast<double>(base.npu_cycles))},
          {"latency", more(r.latency_ns, base.latency_ns)},
          {"dram_bytes",
           more(static_cast<double>(r.dram_bytes), static_cast<double>(base.dram_bytes))},
          {"sram_bytes",
           more(static_cast<double>(r.sram_bytes), static_cast<double>(base.sram_bytes))},
          {"energy", more(r.energy_nj, base.energy_nj)}};
    runs.push_back(run);
  }
  return {{"outputs_checked", c.outputs_checked}, {"runs", runs}};
}

}  // namespace

base::Status run_comparison(const CommonOptions& common, const RunOptions& options) {
  if (options.model.ends_with(".dexe"))
    return base::Error{base::ErrorKind::kUsage, "--compare",
                       "needs a model: an executable is compiled already", "give the .tflite file"};
  if (!options.expect.empty() || !options.output_dir.empty() || !options.report.empty())
    return base::Error{base::ErrorKind::kUsage, "--compare", "runs the model several times",
                       "drop --expect, --output-dir and --report"};
  DEPUTY_ASSIGN(auto switches, parse_switches(options.compare));
  DEPUTY_ASSIGN(auto simulate_with, simulate_options(common));
  simulate_with.timing_only = options.timing_only;
  simulate_with.seed = options.seed;
  DEPUTY_ASSIGN(auto graph, load_model(options.model));
  DEPUTY_ASSIGN(auto inputs, load_inputs(graph, options.inputs, options.seed));
  DEPUTY_ASSIGN(auto comparison, compare(graph, simulate_with, switches, inputs));
  if (options.json)
    fmt::print("{}", json_text("deputy-run-compare-1", json_of(comparison)));
  else
    fmt::print("{} on {}: each row after the first has one optimisation off\n\n{}", graph.name,
               simulate_with.soc.name, table_text(comparison));
  return {};
}

}  // namespace deputy::tools
