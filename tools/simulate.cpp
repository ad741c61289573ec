#include "tools/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "api/compile_model.h"
#include "arch/engine.h"
#include "soc/progress_bound.h"
#include "tools/files.h"
#include "tools/npy.h"
#include "tools/simulator/target.h"

namespace deputy::tools {

base::Result<delegate::Graph> load_model(const std::string& path, const api::Bindings& bindings) {
  DEPUTY_ASSIGN(auto model, load_model_file(path, bindings));
  return std::move(model.graph);
}

namespace {

// The shapes of .npy files for the model's inputs, in its order.
base::Result<api::Bindings> bound_by(const std::vector<std::string>& files,
                                     std::span<const std::uint8_t> bytes, api::Bindings bindings) {
  std::vector<std::string> names;
  delegate::onnx_operators_of(bytes, &names);
  for (std::size_t i = 0; i < std::min(files.size(), names.size()); ++i) {
    if (!files[i].ends_with(".npy") || bindings.shapes.contains(names[i])) continue;
    DEPUTY_ASSIGN(const auto file, read_file(files[i]));
    DEPUTY_ASSIGN(const auto array, parse_npy(file, files[i]));
    bindings.shapes[names[i]] = array.shape;
  }
  return bindings;
}

}  // namespace

base::Result<ModelFile> load_model_file(const std::string& path, const api::Bindings& bindings,
                                        const std::vector<std::string>& inputs) {
  ModelFile out;
  DEPUTY_ASSIGN(out.bytes, read_file(path));
  auto graph = parse_model(out.bytes, path, bindings);
  if (!graph.ok() && graph.error().kind == base::ErrorKind::kInput && !inputs.empty() &&
      path.ends_with(".onnx")) {
    DEPUTY_ASSIGN(const auto more, bound_by(inputs, out.bytes, bindings));
    graph = parse_model(out.bytes, path, more);
  }
  if (!graph.ok()) return graph.error();
  out.graph = std::move(*graph);
  if (!path.ends_with(".onnx")) return out;
  // The cache knows a model by these bytes: what else the graph was made of belongs to them.
  for (const delegate::TensorId id : out.graph.inputs)
    for (const std::int32_t dim : out.graph.tensor(id).desc.shape)
      out.bytes.push_back(static_cast<std::uint8_t>(dim)),
          out.bytes.push_back(static_cast<std::uint8_t>(dim >> 8)),
          out.bytes.push_back(static_cast<std::uint8_t>(dim >> 16)),
          out.bytes.push_back(static_cast<std::uint8_t>(dim >> 24));
  for (const delegate::Tensor& tensor : out.graph.tensors)
    out.bytes.insert(out.bytes.end(), tensor.data.begin(), tensor.data.end());
  return out;
}

base::Result<delegate::Graph> parse_model(std::span<const std::uint8_t> bytes,
                                          const std::string& path, const api::Bindings& bindings) {
  const std::filesystem::path file(path);
  std::vector<std::string> notes;
  auto graph = api::import_model(bytes, file.filename().string(),
                                 file.has_parent_path() ? file.parent_path().string() : ".",
                                 bindings, &notes);
  for (const std::string& note : notes) fmt::print(stderr, "deputy: note: {}\n", note);
  return graph;
}

delegate::CompileOptions compile_options(const SimulateOptions& options) {
  delegate::CompileOptions out = soc_compile_options(options.soc);
  out.numerics = options.numerics;
  out.engine = options.engine;
  out.placement = options.placement;
  out.keep_all_tensors = options.all_tensors;
  if (options.sram_limit) out.sram_bytes = std::min(out.sram_bytes, options.sram_limit);
  out.optimisations = options.optimisations;
  out.effort = options.effort;
  out.io = options.io;
  out.contract = options.contract;
  out.fallback = options.fallback;
  return out;
}

host_runtime::BoardTimes board_times(const soc::SocConfig& soc, bool isolation) {
  host_runtime::BoardTimes out;
  out.host = soc.host;
  if (soc.power.host.gating)  // it takes interrupts that much later
    out.host.interrupt_entry +=
        static_cast<std::int32_t>(soc.power.host.wake_us * soc.host.clock_mhz) + 1;
  const auto longest = isolation ? soc::longest_translated_ps(soc) : soc::longest_chunk_ps(soc);
  // By priority others may go first without end; then the runtime's own assumption holds.
  if (longest) out.transaction_ps = *longest;
  return out;
}

base::Result<api::DeviceIdentity> device_identity(const SimulateOptions& options) {
  return soc_identity(options.soc);
}

base::Result<arch::Executable> compile_graph(const delegate::Graph& graph,
                                             const SimulateOptions& options, Provenance* provenance,
                                             delegate::CompileTrace* trace) {
  delegate::CompileOptions compile = compile_options(options);
  compile.trace = trace;
  DEPUTY_ASSIGN(const auto device, device_identity(options));
  std::vector<api::AppliedQuirk> applied;
  DEPUTY_ASSIGN(auto executable,
                api::compile_graph({graph, compile, device, options.quirks}, &applied));
  if (provenance) provenance->quirk_files = options.quirks, provenance->quirks = std::move(applied);
  return executable;
}

base::Result<CompiledModel> compile_model(const ModelFile& model, const SimulateOptions& options,
                                          const std::vector<Shape>& shapes) {
  DEPUTY_ASSIGN(const auto device, device_identity(options));
  const api::CompiledCache cache(options.cache, options.cache_limit);
  DEPUTY_ASSIGN(auto made,
                api::compile_model({model.graph, compile_options(options), device, options.quirks},
                                   model.bytes, shapes, options.cache.empty() ? nullptr : &cache));
  CompiledModel out;
  out.bytes = std::move(made.bytes);
  out.provenance = {std::move(made.cache), options.quirks, std::move(made.quirks), {}};
  if (!out.provenance.cache.text.empty())
    fmt::print(stderr, "deputy: note: {}\n", out.provenance.cache.text);
  return out;
}

namespace {

base::Status check_strict(const arch::Executable& executable) {
  for (std::size_t i = 0; i < executable.ops.size(); ++i) {
    const arch::SourceOp& op = executable.ops[i];
    if (arch::engine_of(executable, i) == arch::Engine::kCpu)
      return base::Error{base::ErrorKind::kUnsupported,
                         fmt::format("{} '{}'", executable.op_word(i), op.name),
                         "runs on the CPU: " + op.reason, "drop --strict to allow that"};
  }
  return {};
}

base::Status run_session(HwPort& port, const std::vector<std::uint8_t>& file,
                         const std::string& name, const SimulateOptions& options,
                         const std::vector<std::vector<std::uint8_t>>& inputs, Simulation& out) {
  host_runtime::DeviceOptions with;
  with.recovery = options.recovery, with.board = board_times(options.soc, false),
  with.dsp = options.soc.dsp.present;
  host_runtime::Device device(port, with);
  DEPUTY_ASSIGN(auto session, host_runtime::Session::load(device, file, name));
  const auto wall = std::chrono::steady_clock::now();
  const base::Status status = session->run(inputs);
  out.inference_wall_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - wall).count();
  out.inference = session->record();
  out.recovery = device.recovery_events(), out.bound_ps = session->frame(0).bound_ps();
  DEPUTY_TRY(status);
  if (options.timing_only) return {};
  for (auto tensor : session->executable().outputs) {
    DEPUTY_ASSIGN(auto bytes, session->read_tensor(tensor));
    out.outputs.push_back(std::move(bytes));
  }
  if (!options.all_tensors) return {};
  const auto& tensors = session->executable().tensors;
  for (std::uint32_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].constant || tensors[t].placement == arch::Placement::kNone ||
        tensors[t].source_index < 0)
      continue;
    DEPUTY_ASSIGN(auto bytes, session->read_tensor(t));
    out.tensors[t] = std::move(bytes);
  }
  return {};
}

}  // namespace

base::Result<Simulation> simulate_executable(const std::vector<std::uint8_t>& file,
                                             const std::string& name,
                                             const SimulateOptions& options,
                                             const std::vector<std::vector<std::uint8_t>>& inputs) {
  Simulation out;
  DEPUTY_ASSIGN(out.executable, arch::read_executable(file, name));
  out.file_hash = fmt::format("{:016x}", arch::content_hash(file));
  if (options.strict) DEPUTY_TRY(check_strict(out.executable));
  soc::RunOutcome outcome;
  {
    soc::Platform platform(options.soc, {.timing_only = options.timing_only,
                                         .seed = options.seed,
                                         .faults = options.faults,
                                         .trace = options.trace});
    outcome = platform.run_to_end(
        [&](HwPort& port) { return run_session(port, file, name, options, inputs, out); });
  }
  out.soc = std::move(outcome.record);
  if (!outcome.status.ok()) {
    if (!options.keep_failed) return outcome.status.error();
    out.failure = outcome.status.error();
    return out;
  }
  if (options.frames > 0) {
    DEPUTY_ASSIGN(out.frames, run_frames(options.soc, file, name, inputs, options.frames,
                                         options.timing_only, options.arrivals));
    if (out.frames->outputs != out.outputs)
      return base::Error{base::ErrorKind::kMismatch, name,
                         "frames in flight compute other outputs than one alone",
                         "this is a defect; please report it"};
  }
  return out;
}

base::Result<Simulation> simulate(const delegate::Graph& graph, const SimulateOptions& options,
                                  const std::vector<std::vector<std::uint8_t>>& inputs) {
  Provenance provenance;
  DEPUTY_ASSIGN(auto executable, compile_graph(graph, options, &provenance, nullptr));
  DEPUTY_ASSIGN(auto out, simulate_executable(arch::write_executable(executable), graph.name,
                                              options, inputs));
  out.provenance = std::move(provenance);
  return out;
}

}  // namespace deputy::tools
