#include "tools/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "arch/engine.h"
#include "delegate/program_summary.h"
#include "tools/report.h"

namespace deputy::tools {
namespace {

constexpr std::size_t kListed = 12;     // names in an error
constexpr std::size_t kCandidates = 8;  // tilings shown

std::string op_text(const arch::Executable& e, std::uint32_t op) {
  return fmt::format("{} #{} '{}'", e.op_word(op), op, e.ops[op].name);
}

std::string tensor_line(const arch::Executable& e, const char* role, std::uint32_t tensor) {
  const arch::PlacedTensor& t = e.tensors[tensor];
  std::string memory = t.region == arch::Region::kConstants ? "DRAM, among the constants"
                       : e.region_in_sram(t.region)         ? "SRAM"
                                                            : "DRAM";
  if (arch::is_external(t.region))
    memory += fmt::format(", external region {}", arch::external_index(t.region));
  const std::string where = t.placement == arch::Placement::kNone
                                ? (t.constant ? "part of the NPU program's constants"
                                              : "nowhere: it lives inside a kernel")
                                : fmt::format("{}, at 0x{:x}", memory, t.offset);
  return fmt::format("  {:<10} %{} '{}' {} {}, {} bytes: {}\n", role, tensor, t.desc.name,
                     dtype_name(t.desc.dtype), shape_text(t.desc.shape), t.desc.bytes(), where);
}

const delegate::KernelTrace* kernel_of(const delegate::CompileTrace& trace, std::uint32_t op) {
  for (const auto& k : trace.kernels)
    if (std::find(k.ops.begin(), k.ops.end(), op) != k.ops.end()) return &k;
  return nullptr;
}

std::string tiles_text(const delegate::KernelSummary& k, const delegate::KernelTrace& trace) {
  std::string out;
  for (const auto& [shape, count] : k.tiles)
    out += fmt::format("  tile       {} x {} (height x width x channels)\n", count, shape);
  std::vector<const delegate::TraceCandidate*> candidates;
  for (const auto& c : trace.candidates) candidates.push_back(&c);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto* a, const auto* b) { return a->cycles < b->cycles; });
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (i < kCandidates || candidates[i]->chosen)
      out += fmt::format("  {} {:10.0f} cycles by estimate: {}\n",
                         candidates[i]->chosen ? "chosen   " : "candidate", candidates[i]->cycles,
                         candidates[i]->text);
  if (candidates.size() > kCandidates)
    out += fmt::format("             {} candidates were timed\n", candidates.size());
  return out;
}

std::string weights_text(const delegate::Graph& graph, std::uint32_t op,
                         const delegate::KernelSummary& k) {
  if (k.weight_stored_bytes == 0) return "";
  const auto& inputs = graph.ops[op].inputs;
  std::int64_t plain = 0;
  if (inputs.size() > 1 && inputs[1] != delegate::kNoTensor && graph.tensor(inputs[1]).constant)
    plain = graph.tensor(inputs[1]).desc.bytes();
  std::string out =
      k.weight_reads() > 1
          ? fmt::format("  weights    streamed: each is loaded {:.2f} times", k.weight_reads())
          : "  weights    loaded once";
  out += fmt::format(", {} buffers; {} bytes in memory", k.weight_buffers.size(),
                     k.weight_stored_bytes);
  if (plain > 0)
    out += fmt::format(" for {} bytes of weights (ratio {:.2f})", plain,
                       static_cast<double>(k.weight_stored_bytes) / static_cast<double>(plain));
  return out + "\n";
}

std::string time_text(const OpReport& op) {
  std::string out =
      fmt::format("  time       {} cycles of its own, {} from its first start to its last end\n",
                  op.own_cycles, op.cycles);
  if (op.bounds.cycles() > 0)
    out += fmt::format(
        "  bounds     compute {:.0f}, scratchpad {:.0f}, decoder {:.0f}, SRAM {:.0f}, DRAM {:.0f}: "
        "{:.2f} times the largest ({}); limited by {}\n",
        op.bounds.compute, op.bounds.scratchpad, op.bounds.decoder, op.bounds.sram, op.bounds.dram,
        op.bound_ratio(), op.bounds.name(), op.bound);
  return out;
}

}  // namespace

base::Result<std::uint32_t> find_layer(const arch::Executable& e, const std::string& layer) {
  std::uint32_t index = 0;
  const auto parsed = std::from_chars(layer.data(), layer.data() + layer.size(), index);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == layer.data() + layer.size();
  if (is_number && index < e.ops.size()) return index;
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < e.ops.size() && !layer.empty(); ++i) {
    if (e.ops[i].name == layer) return i;
    if (e.ops[i].name.find(layer) != std::string::npos) found.push_back(i);
  }
  if (found.size() == 1) return found[0];
  if (found.empty())
    for (std::uint32_t i = 0; i < e.ops.size(); ++i) found.push_back(i);
  const bool several = !is_number && !layer.empty() && e.ops.size() != found.size();
  std::string list;
  for (std::size_t i = 0; i < found.size() && i < kListed; ++i)
    list += fmt::format("{}{}", i ? ", " : "", op_text(e, found[i]));
  if (found.size() > kListed)
    list += fmt::format(", and {} more ('deputy inspect' lists all)", found.size() - kListed);
  return base::Error{
      base::ErrorKind::kUsage, "--explain",
      fmt::format("'{}' is {}", layer, several ? "part of several names" : "no operator"),
      "give an index or a name: " + list};
}

base::Result<std::string> explain(const delegate::Graph& graph, const arch::Executable& e,
                                  const delegate::CompileTrace& trace,
                                  const SimulateOptions& options, const std::string& layer) {
  DEPUTY_ASSIGN(const std::uint32_t op, find_layer(e, layer));
  const arch::SourceOp& source = e.ops[op];
  std::string out = op_text(e, op) + "\n";
  const arch::Engine engine = arch::engine_of(e, op);
  out += fmt::format(
      "  engine     {}{}\n",
      source.aliased ? "none: its output is its input's storage" : arch::engine_title(engine),
      source.aliased || source.reason.empty()
          ? ""
          : (engine == arch::Engine::kCpu ? ", because " : "; ") + source.reason);
  for (const auto id : graph.ops[op].inputs)
    if (id != delegate::kNoTensor)
      out += tensor_line(e, graph.tensor(id).constant ? "constant" : "input",
                         static_cast<std::uint32_t>(id));
  for (const auto id : graph.ops[op].outputs)
    out += tensor_line(e, "output", static_cast<std::uint32_t>(id));

  SimulateOptions timing = options;
  timing.timing_only = true;
  DEPUTY_ASSIGN(auto inputs, load_inputs(graph, {}, 1));
  DEPUTY_ASSIGN(auto simulation,
                simulate_executable(arch::write_executable(e), graph.name, timing, inputs));
  const Report report = make_report(simulation, timing);

  const delegate::KernelTrace* kernel = kernel_of(trace, op);
  if (!kernel) return out + (source.on_npu ? "" : time_text(report.ops[op]));
  if (kernel->main != op)
    out += fmt::format("  fused      into {}, which the rest is about\n", op_text(e, kernel->main));
  if (kernel->ops.size() > 1) {
    out += "  kernel    ";
    for (const std::uint32_t part : kernel->ops)
      out += fmt::format(" {} #{}", arch::op_name(e.ops[part].kind), part);
    out += "\n";
  }
  for (const auto& k : delegate::summarise_programs(e)) {
    if (k.tag != kernel->main) continue;
    out += tiles_text(k, *kernel) + weights_text(graph, kernel->main, k);
    out += fmt::format("  buffers    {} input, {} output\n", k.input_buffers.size(),
                       k.output_buffers.size());
    out += fmt::format("  commands   {} loads, {} computing, {} stores, in {} stretches\n", k.loads,
                       k.computes, k.stores, k.runs);
    out += fmt::format(
        "  moved      {} bytes of maps in, {} out, {} of them in DRAM; {} of weights, {} of "
        "parameters\n",
        k.map_load_bytes, k.store_bytes, k.dram_map_bytes, k.weight_load_bytes, k.param_load_bytes);
  }
  for (const auto& note : kernel->notes) out += fmt::format("  {:<10} {}\n", note.topic, note.text);
  return out + time_text(report.ops[kernel->main]);
}

}  // namespace deputy::tools
