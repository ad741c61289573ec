// deputy run
#include <fmt/format.h>

#include <filesystem>

#include "tools/cli/common.h"
#include "tools/files.h"
#include "tools/npy.h"
#include "tools/report.h"

namespace deputy::tools {
namespace {

base::Status write_outputs(const Simulation& s, const RunOptions& options) {
  const auto path = [&](const std::string& name) { return options.output_dir + "/" + name; };
  for (std::size_t i = 0; i < s.outputs.size(); ++i) {
    const arch::TensorDesc& desc = s.executable.tensors[s.executable.outputs[i]].desc;
    DEPUTY_TRY(write_file(path(fmt::format("output{}.npy", i)), format_npy(desc.dtype, desc.shape, s.outputs[i])));
  }
  for (const auto& [t, bytes] : s.tensors) {
    const arch::PlacedTensor& tensor = s.executable.tensors[t];
    DEPUTY_TRY(write_file(path(fmt::format("tensor{}.npy", tensor.source_index)),
                          format_npy(tensor.desc.dtype, tensor.desc.shape, bytes)));
  }
  return {};
}

base::Status check_expected(const Simulation& s, const RunOptions& options) {
  for (std::size_t i = 0; i < options.expect.size(); ++i) {
    if (i >= s.outputs.size())
      return base::Error{base::ErrorKind::kUsage, "--expect",
                         fmt::format("{} files given, the model has {} outputs", options.expect.size(), s.outputs.size()),
                         ""};
    DEPUTY_ASSIGN(auto want, read_file(options.expect[i]));
    if (options.expect[i].ends_with(".npy")) {
      DEPUTY_ASSIGN(auto array, parse_npy(want, options.expect[i]));
      want = std::move(array.data);
    }
    const auto& got = s.outputs[i];
    std::size_t different = got.size() != want.size();
    for (std::size_t b = 0; b < std::min(got.size(), want.size()); ++b) different += got[b] != want[b];
    if (different)
      return base::Error{base::ErrorKind::kMismatch, options.expect[i],
                         fmt::format("output {} differs: {} of {} bytes", i, different, want.size()), ""};
  }
  return {};
}

base::Status write_report(const Report& report, const SimulateOptions& simulate, const RunOptions& options) {
  DEPUTY_TRY(write_text(options.report, report_json(report, options.reproducible)));
  std::string soc = options.report;
  if (soc.ends_with(".json")) soc.resize(soc.size() - 5);
  return write_text(soc + ".soc.yaml", soc::effective_config_yaml(simulate.soc));
}

base::Result<Simulation> run_model(const RunOptions& options, const SimulateOptions& simulate_with) {
  Progress progress;
  progress.show("loading ...");
  if (options.model.ends_with(".dexe")) {
    DEPUTY_ASSIGN(auto file, read_file(options.model));
    DEPUTY_ASSIGN(auto executable, arch::read_executable(file, options.model));
    delegate::Graph shell;  // only what load_inputs looks at
    for (auto t : executable.inputs) {
      shell.inputs.push_back(static_cast<delegate::TensorId>(shell.tensors.size()));
      shell.tensors.push_back({executable.tensors[t].desc, {}, false, executable.tensors[t].source_index});
    }
    DEPUTY_ASSIGN(auto inputs, load_inputs(shell, options.inputs, options.seed));
    return simulate_executable(file, options.model, simulate_with, inputs);
  }
  DEPUTY_ASSIGN(auto graph, load_model(options.model));
  DEPUTY_ASSIGN(auto inputs, load_inputs(graph, options.inputs, options.seed));
  return simulate(graph, simulate_with, inputs);
}

base::Status run(const CommonOptions& common, const RunOptions& options) {
  if (!options.compare.empty() && !options.faults.empty())
    return base::Error{base::ErrorKind::kUsage, "--faults", "does not go with --compare", "drop one of them"};
  if (!options.compare.empty()) return run_comparison(common, options);
  if (options.all_tensors && options.output_dir.empty())
    return base::Error{base::ErrorKind::kUsage, "--all-tensors", "needs --output-dir", "say where to write the tensors"};
  if (options.timing_only && (!options.output_dir.empty() || !options.expect.empty()))
    return base::Error{base::ErrorKind::kUsage, "--timing-only", "computes no outputs",
                       "drop --output-dir and --expect, or --timing-only"};
  if (options.model.ends_with(".dexe")) DEPUTY_TRY(no_placement_options(common, options.model));
  DEPUTY_ASSIGN(auto simulate_with, simulate_options(common));
  simulate_with.timing_only = options.timing_only;
  simulate_with.all_tensors = options.all_tensors;
  simulate_with.seed = options.seed;
  simulate_with.keep_failed = true;
  if (!options.faults.empty()) {
    DEPUTY_ASSIGN(simulate_with.faults, sim::load_fault_plan(options.faults));
  }
  DEPUTY_ASSIGN(auto simulation, run_model(options, simulate_with));
  const Report report = make_report(simulation, simulate_with);
  if (options.json)
    fmt::print("{}", report_json(report, options.reproducible));
  else if (!options.quiet)
    fmt::print("{}", report_text(report, options.top));
  if (!options.output_dir.empty() && !simulation.failure) DEPUTY_TRY(write_outputs(simulation, options));
  if (!options.report.empty()) DEPUTY_TRY(write_report(report, simulate_with, options));
  if (simulation.failure) return *simulation.failure;
  if (!report.imbalances.empty())
    return base::Error{base::ErrorKind::kMismatch, options.model, "the books do not balance: " + report.imbalances[0],
                       "this is a defect of the simulator; please report it"};
  DEPUTY_TRY(check_expected(simulation, options));
  if (!options.expect.empty() && !options.quiet && !options.json)
    fmt::print("\n  {} output{} equal to the expected bytes\n", options.expect.size(),
               options.expect.size() == 1 ? "" : "s");
  return {};
}

}  // namespace

int run_command(const CommonOptions& common, const RunOptions& options) {
  return finish(run(common, options));
}

}  // namespace deputy::tools
