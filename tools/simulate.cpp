#include "tools/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "arch/registers.h"
#include "delegate/import/tflite.h"
#include "host_runtime/hal/driver_version.h"
#include "tools/files.h"

namespace deputy::tools {

base::Result<delegate::Graph> load_model(const std::string& path) {
  DEPUTY_ASSIGN(auto model, load_model_file(path));
  return std::move(model.graph);
}

base::Result<ModelFile> load_model_file(const std::string& path) {
  ModelFile out;
  DEPUTY_ASSIGN(out.bytes, read_file(path));
  DEPUTY_ASSIGN(out.graph, parse_model(out.bytes, path));
  return out;
}

base::Result<delegate::Graph> parse_model(std::span<const std::uint8_t> bytes, const std::string& path) {
  if (path.ends_with(".onnx"))
    return base::Error{base::ErrorKind::kUnsupported, path, "ONNX models are not read yet",
                       "convert the model to .tflite"};
  return delegate::import_tflite(bytes, std::filesystem::path(path).filename().string());
}

namespace {

// What the compiler should expect of the memories: the slower of interconnect and memory, and the latency to the
// first byte, in NPU cycles. A banked DRAM streams at about 85 % of its pins' rate.
delegate::MemoryEstimate memory_estimate(const soc::SocConfig& c) {
  const double noc = c.noc.width_bytes * c.noc.clock_mhz;  // 10^6 bytes a second
  const double sram = c.sram.width_bytes * c.noc.clock_mhz;
  const bool fixed = c.dram.model == "fixed";
  const double dram = fixed ? c.dram.fixed_mb_per_s : 0.85 * c.dram.width_bits / 8 * 2 * 1000 / c.dram.tck_ns;
  const double dram_ns = fixed ? c.dram.fixed_latency_ns
                               : (c.dram.trcd + c.dram.read_latency + c.dram.burst_length / 2) * c.dram.tck_ns;
  delegate::MemoryEstimate out;
  out.sram_bytes_per_cycle = std::min(noc, sram) / c.npu.clock_mhz;
  out.dram_bytes_per_cycle = std::min(noc, dram) / c.npu.clock_mhz;
  const double sram_ns = c.sram.latency * 1000 / c.noc.clock_mhz;
  out.dram_burst_bytes = fixed ? c.dram.fixed_burst_bytes : c.dram.width_bits / 8 * c.dram.burst_length;
  const double noc_ns = c.noc.latency * 1000 / c.noc.clock_mhz;
  out.sram_latency_cycles = (noc_ns + sram_ns) * c.npu.clock_mhz / 1000;
  out.dram_latency_cycles = (noc_ns + dram_ns) * c.npu.clock_mhz / 1000;
  return out;
}

}  // namespace

delegate::CompileOptions compile_options(const SimulateOptions& options) {
  delegate::CompileOptions out;
  out.npu = options.soc.npu;
  out.numerics = options.numerics;
  out.engine = options.engine;
  out.placement = options.placement;
  out.host = options.soc.host;
  // There through the switch, and one cycle back.
  out.register_bus_ns = (options.soc.noc.latency + 1) * 1000 / options.soc.noc.clock_mhz;
  out.keep_all_tensors = options.all_tensors;
  out.memory = memory_estimate(options.soc);
  out.sram_bytes = static_cast<std::uint64_t>(options.soc.sram.bytes);
  if (options.sram_limit) out.sram_bytes = std::min(out.sram_bytes, options.sram_limit);
  out.optimisations = options.optimisations;
  out.effort = options.effort;
  out.io = options.io;
  out.fallback = options.fallback;
  return out;
}

base::Result<api::DeviceIdentity> device_identity(const SimulateOptions& options) {
  api::DeviceIdentity out;
  DEPUTY_ASSIGN(const std::uint32_t revision, arch::revision_register(options.soc.silicon));
  out.engine = fmt::format("npu {:08x}", arch::npu_registers()[0].reset);
  out.hardware = arch::hardware_version(revision), out.firmware = arch::firmware_version(revision);
  DEPUTY_ASSIGN(out.driver, base::Version::parse(host_runtime::kDriverVersion, "driver"));
  return out;
}

namespace {

base::Result<api::QuirkEffect> under_quirks(const delegate::Graph& graph, const SimulateOptions& options,
                                            delegate::CompileOptions& compile) {
  DEPUTY_ASSIGN(const auto device, device_identity(options));
  return api::apply_quirks(graph, options.quirks, device, compile);
}

}  // namespace

base::Result<arch::Executable> compile_graph(const delegate::Graph& graph, const SimulateOptions& options,
                                             Provenance* provenance, delegate::CompileTrace* trace) {
  delegate::CompileOptions compile = compile_options(options);
  compile.trace = trace;
  DEPUTY_ASSIGN(const auto effect, under_quirks(graph, options, compile));
  DEPUTY_ASSIGN(auto executable, delegate::compile(graph, compile));
  api::explain_denied(effect, executable);
  if (provenance) provenance->quirk_files = options.quirks, provenance->quirks = effect.applied;
  return executable;
}

base::Result<CompiledModel> compile_model(const ModelFile& model, const SimulateOptions& options,
                                          const std::vector<Shape>& shapes) {
  api::KeyParts parts;
  parts.model = model.bytes;
  parts.model_name = model.graph.name;
  parts.input_shapes = shapes;
  parts.options = compile_options(options);
  DEPUTY_ASSIGN(parts.device, device_identity(options));
  DEPUTY_ASSIGN(const auto effect, under_quirks(model.graph, options, parts.options));
  // The reasons stand in the executable.
  for (const api::AppliedQuirk& quirk : effect.applied)
    parts.rules.push_back(fmt::format("{} {} {} {} {}", quirk.id, quirk.file, quirk.sha256, quirk.action, quirk.reason));
  const api::CompiledCache cache(options.cache, options.cache_limit);
  CompiledModel out;
  DEPUTY_ASSIGN(auto file, api::compile_cached(options.cache.empty() ? nullptr : &cache, parts,
                                               [&] { return compile_graph(model.graph, options, nullptr, nullptr); }));
  out.bytes = std::move(file.bytes);
  out.provenance = {std::move(file.cache), options.quirks, effect.applied, {}};
  if (!out.provenance.cache.text.empty()) fmt::print(stderr, "deputy: note: {}\n", out.provenance.cache.text);
  return out;
}

namespace {

base::Status check_strict(const arch::Executable& executable) {
  for (const auto& op : executable.ops)
    if (!op.on_npu)
      return base::Error{base::ErrorKind::kUnsupported, fmt::format("{} '{}'", arch::op_name(op.kind), op.name),
                         "runs on the CPU: " + op.reason, "drop --strict to allow that"};
  return {};
}

base::Status run_session(HwPort& port, const std::vector<std::uint8_t>& file, const std::string& name,
                         const SimulateOptions& options, const std::vector<std::vector<std::uint8_t>>& inputs,
                         Simulation& out) {
  host_runtime::Device device(port, {});
  DEPUTY_ASSIGN(auto session, host_runtime::Session::load(device, file, name));
  const auto wall = std::chrono::steady_clock::now();
  const base::Status status = session->run(inputs);
  out.inference_wall_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - wall).count();
  out.inference = session->record();
  DEPUTY_TRY(status);
  if (options.timing_only) return {};
  for (auto tensor : session->executable().outputs) {
    DEPUTY_ASSIGN(auto bytes, session->read_tensor(tensor));
    out.outputs.push_back(std::move(bytes));
  }
  if (!options.all_tensors) return {};
  const auto& tensors = session->executable().tensors;
  for (std::uint32_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].constant || tensors[t].placement == arch::Placement::kNone || tensors[t].source_index < 0) continue;
    DEPUTY_ASSIGN(auto bytes, session->read_tensor(t));
    out.tensors[t] = std::move(bytes);
  }
  return {};
}

}  // namespace

base::Result<Simulation> simulate_executable(const std::vector<std::uint8_t>& file, const std::string& name,
                                             const SimulateOptions& options,
                                             const std::vector<std::vector<std::uint8_t>>& inputs) {
  Simulation out;
  DEPUTY_ASSIGN(out.executable, arch::read_executable(file, name));
  out.file_hash = fmt::format("{:016x}", arch::content_hash(file));
  if (options.strict) DEPUTY_TRY(check_strict(out.executable));
  soc::Platform platform(options.soc, {.timing_only = options.timing_only, .seed = options.seed, .faults = options.faults});
  soc::RunOutcome outcome = platform.run_to_end([&](HwPort& port) {
    return run_session(port, file, name, options, inputs, out);
  });
  out.soc = std::move(outcome.record);
  if (!outcome.status.ok()) {
    if (!options.keep_failed) return outcome.status.error();
    out.failure = outcome.status.error();
  }
  return out;
}

base::Result<Simulation> simulate(const delegate::Graph& graph, const SimulateOptions& options,
                                  const std::vector<std::vector<std::uint8_t>>& inputs) {
  Provenance provenance;
  DEPUTY_ASSIGN(auto executable, compile_graph(graph, options, &provenance, nullptr));
  DEPUTY_ASSIGN(auto out, simulate_executable(arch::write_executable(executable), graph.name, options, inputs));
  out.provenance = std::move(provenance);
  return out;
}

}  // namespace deputy::tools
