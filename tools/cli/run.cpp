// deputy run
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/input_shapes.h"
#include "soc/books.h"
#include "tools/cli/common.h"
#include "tools/files.h"
#include "tools/html/page.h"
#include "tools/npy.h"
#include "tools/report.h"
#include "tools/trace/pftrace.h"
#include "tools/trace/vcd.h"

namespace deputy::tools {
namespace {

base::Status write_outputs(const Simulation& s, const RunOptions& options) {
  const auto path = [&](const std::string& name) { return options.output_dir + "/" + name; };
  for (std::size_t i = 0; i < s.outputs.size(); ++i) {
    const arch::TensorDesc& desc = s.executable.tensors[s.executable.outputs[i]].desc;
    DEPUTY_TRY(write_file(path(fmt::format("output{}.npy", i)),
                          format_npy(desc.dtype, desc.shape, s.outputs[i])));
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
                         fmt::format("{} files given, the model has {} outputs",
                                     options.expect.size(), s.outputs.size()),
                         ""};
    DEPUTY_ASSIGN(auto want, read_file(options.expect[i]));
    if (options.expect[i].ends_with(".npy")) {
      DEPUTY_ASSIGN(auto array, parse_npy(want, options.expect[i]));
      want = std::move(array.data);
    }
    const auto& got = s.outputs[i];
    std::size_t different = got.size() != want.size();
    for (std::size_t b = 0; b < std::min(got.size(), want.size()); ++b)
      different += got[b] != want[b];
    if (different)
      return base::Error{
          base::ErrorKind::kMismatch, options.expect[i],
          fmt::format("output {} differs: {} of {} bytes", i, different, want.size()), ""};
  }
  return {};
}

// `page`: what the page draws beside the report; null: not asked for.
base::Status write_report(const Report& report, const nlohmann::ordered_json& page,
                          const SimulateOptions& simulate, const RunOptions& options) {
  std::string text = report_json(report, options.reproducible);
  if (options.page_data) {
    auto json = nlohmann::ordered_json::parse(text);
    json["page"] = page;
    text = json.dump(1) + "\n";
  }
  DEPUTY_TRY(write_text(options.report, text));
  std::string soc = options.report;
  if (soc.ends_with(".json")) soc.resize(soc.size() - 5);
  return write_text(soc + ".soc.yaml", soc::effective_config_yaml(simulate.soc));
}

bool traced(const RunOptions& options) {
  return options.page_data || !options.html.empty() || !options.trace.empty() ||
         !options.vcd.empty();
}

base::Status write_traces(const sim::Trace& trace, const Simulation& simulation,
                          const Report& report, const soc::SocConfig& soc,
                          const RunOptions& options, nlohmann::ordered_json& page) {
  if (trace.dropped() > 0)
    fmt::print(stderr,
               "deputy: note: the trace is full: {} slices and changes at its end are missing\n",
               trace.dropped());
  const TraceView view = view_of(trace, simulation, report);
  if (options.page_data || !options.html.empty())
    page = run_page_data(view, trace, simulation, report, soc);
  if (!options.html.empty()) {
    DEPUTY_ASSIGN(
        const std::string html,
        run_page(nlohmann::ordered_json::parse(report_json(report, true)), page, options.html));
    DEPUTY_TRY(write_text(options.html, html));
  }
  if (!options.trace.empty()) DEPUTY_TRY(write_text(options.trace, pftrace(view, trace, report)));
  if (!options.vcd.empty())
    DEPUTY_TRY(write_text(options.vcd, vcd_text(view, simulation.soc.end_ps)));
  return {};
}

api::ShapePolicy shape_policy(const std::string& name) {
  return name == "cpu"         ? api::ShapePolicy::kCpu
         : name == "recompile" ? api::ShapePolicy::kRecompile
                               : api::ShapePolicy::kRefuse;
}

// The model's input shapes; under a policy that can change them, those of the .npy files instead.
base::Result<std::vector<Shape>> given_shapes(const delegate::Graph& graph,
                                              const RunOptions& options) {
  std::vector<Shape> out = api::input_shapes(graph);
  if (shape_policy(options.shape_policy) == api::ShapePolicy::kRefuse) return out;
  for (std::size_t i = 0; i < std::min(out.size(), options.inputs.size()); ++i) {
    if (!options.inputs[i].ends_with(".npy")) continue;
    DEPUTY_ASSIGN(const auto bytes, read_file(options.inputs[i]));
    DEPUTY_ASSIGN(const auto array, parse_npy(bytes, options.inputs[i]));
    out[i] = array.shape;
  }
  return out;
}

base::Result<Simulation> run_model(const RunOptions& options,
                                   const SimulateOptions& simulate_with) {
  Progress progress;
  progress.show("loading ...");
  if (options.model.ends_with(".dexe")) {
    DEPUTY_ASSIGN(auto file, read_file(options.model));
    DEPUTY_ASSIGN(auto executable, arch::read_executable(file, options.model));
    delegate::Graph shell;  // only what load_inputs looks at
    for (auto t : executable.inputs) {
      shell.inputs.push_back(static_cast<delegate::TensorId>(shell.tensors.size()));
      shell.tensors.push_back(
          {executable.tensors[t].desc, {}, false, executable.tensors[t].source_index});
    }
    DEPUTY_ASSIGN(auto inputs, load_inputs(shell, options.inputs, options.seed));
    return simulate_executable(file, options.model, simulate_with, inputs);
  }
  DEPUTY_ASSIGN(const auto model,
                load_model_file(options.model, simulate_with.bindings, options.inputs));
  DEPUTY_ASSIGN(const auto shapes, given_shapes(model.graph, options));
  Provenance provenance;
  api::ModelOptions with{compile_options(simulate_with), shape_policy(options.shape_policy)};
  with.compiler =
      [&](const delegate::Graph& graph,
          const delegate::CompileOptions& compile) -> base::Result<std::vector<std::uint8_t>> {
    SimulateOptions as = simulate_with;
    as.engine = compile.engine, as.placement = compile.placement;
    const bool own = shapes == api::input_shapes(model.graph);
    DEPUTY_ASSIGN(auto compiled,
                  compile_model({model.bytes, graph}, as, own ? std::vector<Shape>() : shapes));
    provenance = std::move(compiled.provenance);
    return std::move(compiled.bytes);
  };
  api::Model shaped(model.graph, std::move(with));
  DEPUTY_ASSIGN(const auto program, shaped.program(shapes));
  if (!program->note.empty()) {
    fmt::print(stderr, "deputy: note: {}\n", program->note);
    provenance.notes.push_back(program->note);
  }
  DEPUTY_ASSIGN(auto inputs, load_inputs(program->graph, options.inputs, options.seed));
  DEPUTY_ASSIGN(auto simulation,
                simulate_executable(program->file, model.graph.name, simulate_with, inputs));
  simulation.provenance = std::move(provenance);
  return simulation;
}

base::Status run(const CommonOptions& common, const RunOptions& options) {
  if (!options.compare.empty() && !options.faults.empty())
    return base::Error{base::ErrorKind::kUsage, "--faults", "does not go with --compare",
                       "drop one of them"};
  if (!options.compare.empty() && traced(options))
    return base::Error{base::ErrorKind::kUsage, "--compare",
                       "runs several times, of which none is traced",
                       "drop it, or --html, --trace and --vcd"};
  if (!options.compare.empty()) return run_comparison(common, options);
  if (options.page_data && options.report.empty())
    return base::Error{base::ErrorKind::kUsage, "--page-data",
                       "goes into the report, and none is written", "add --report FILE.json"};
  if (options.all_tensors && options.output_dir.empty())
    return base::Error{base::ErrorKind::kUsage, "--all-tensors", "needs --output-dir",
                       "say where to write the tensors"};
  if (options.timing_only && (!options.output_dir.empty() || !options.expect.empty()))
    return base::Error{base::ErrorKind::kUsage, "--timing-only", "computes no outputs",
                       "drop --output-dir and --expect, or --timing-only"};
  if (options.model.ends_with(".dexe")) DEPUTY_TRY(no_placement_options(common, options.model));
  DEPUTY_ASSIGN(auto simulate_with, simulate_options(common, options.model));
  simulate_with.timing_only = options.timing_only;
  simulate_with.all_tensors = options.all_tensors;
  simulate_with.seed = options.seed;
  simulate_with.frames = options.frames;
  if (options.frame_period_us > 0 && options.frames == 0)
    return base::Error{base::ErrorKind::kUsage, "--frame-period",
                       "says when frames come, and there are none", "add --frames N"};
  simulate_with.arrivals = {soc::us_to_ps(options.frame_period_us),
                            soc::us_to_ps(options.frame_jitter_us)};
  simulate_with.keep_failed = true;
  if (options.recover == "full") {
    simulate_with.recovery = host_runtime::RecoveryPolicy::full();
    simulate_with.fallback = true;
  }
  if (!options.faults.empty()) {
    DEPUTY_ASSIGN(simulate_with.faults, sim::load_fault_plan(options.faults));
  }
  sim::Trace trace;
  if (traced(options)) simulate_with.trace = &trace;
  DEPUTY_ASSIGN(auto simulation, run_model(options, simulate_with));
  Report report = make_report(simulation, simulate_with);
  add_tiles(simulation.executable, report);
  if (simulate_with.soc.battery.mah > 0 && !simulation.failure) {
    DEPUTY_ASSIGN(report.battery,
                  battery_life(simulate_with.soc, report.latency_ns, report.power.inference_nj));
  }
  if (options.json)
    fmt::print("{}", report_json(report, options.reproducible));
  else if (!options.quiet)
    fmt::print("{}{}", report_text(report, options.top),
               report.frames ? timeline_text(*report.frames) : "");
  if (!options.output_dir.empty() && !simulation.failure)
    DEPUTY_TRY(write_outputs(simulation, options));
  if (!options.power_trace.empty())
    DEPUTY_TRY(write_text(options.power_trace, soc::power_csv(report.power_trace)));
  nlohmann::ordered_json page;
  if (traced(options))
    DEPUTY_TRY(write_traces(trace, simulation, report, simulate_with.soc, options, page));
  if (!options.report.empty()) DEPUTY_TRY(write_report(report, page, simulate_with, options));
  if (simulation.failure) return *simulation.failure;
  DEPUTY_TRY(soc::balanced(options.model, report.imbalances));
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
