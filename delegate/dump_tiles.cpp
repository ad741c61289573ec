// The kernels of an executable in words.
#include <fmt/format.h>

#include <algorithm>

#include "delegate/dump.h"
#include "delegate/program_summary.h"

namespace deputy::delegate {
namespace {

constexpr std::size_t kTileShapes = 4;  // shown of one kernel

std::string tiles_text(const KernelSummary& k) {
  std::vector<std::pair<std::string, std::uint64_t>> shapes(k.tiles.begin(), k.tiles.end());
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  for (std::size_t i = 0; i < shapes.size() && i < kTileShapes; ++i)
    out += fmt::format("{}{} of {}", i ? ", " : "", shapes[i].second, shapes[i].first);
  return shapes.size() > kTileShapes
             ? out + fmt::format(", {} other shapes", shapes.size() - kTileShapes)
             : out;
}

std::string kernel_text(const arch::Executable& e, const KernelSummary& k,
                        const KernelTrace* trace) {
  std::string out = fmt::format("{} #{} '{}'  program {}\n", arch::op_name(e.ops[k.tag].kind),
                                k.tag, e.ops[k.tag].name, k.program);
  if (trace && trace->ops.size() > 1) {
    out += "    does      ";
    for (const std::uint32_t op : trace->ops)
      out += fmt::format(" {} #{}", arch::op_name(e.ops[op].kind), op);
    out += "\n";
  }
  if (!k.tiles.empty()) out += fmt::format("    tiles      {}\n", tiles_text(k));
  if (trace)
    for (const TraceCandidate& c : trace->candidates)
      if (c.chosen)
        out += fmt::format("    chosen     {}: {:.0f} cycles by estimate, of {} timed\n", c.text,
                           c.cycles, trace->candidates.size());
  out += fmt::format(
      "    commands   {} loads, {} computing, {} stores{}\n", k.loads, k.computes, k.stores,
      k.runs > 1 ? fmt::format(", in {} stretches between other kernels", k.runs) : "");
  out += fmt::format(
      "    bytes      {} of maps in, {} out, {} of them in DRAM; {} of weights, {} of parameters\n",
      k.map_load_bytes, k.store_bytes, k.dram_map_bytes, k.weight_load_bytes, k.param_load_bytes);
  if (k.weight_stored_bytes)
    out += fmt::format("    weights    {} bytes in memory, each loaded {:.2f} times\n",
                       k.weight_stored_bytes, k.weight_reads());
  out += fmt::format("    buffers    {} input, {} weight, {} output\n", k.input_buffers.size(),
                     k.weight_buffers.size(), k.output_buffers.size());
  if (trace)
    for (const TraceNote& note : trace->notes)
      out += fmt::format("    {:<10} {}\n", note.topic, note.text);
  return out;
}

}  // namespace

std::string dump_tiles(const arch::Executable& e, const CompileTrace* trace) {
  std::string out;
  for (const KernelSummary& k : summarise_programs(e)) {
    const KernelTrace* known = nullptr;
    if (trace)
      for (const KernelTrace& t : trace->kernels)
        if (t.main == k.tag) known = &t;
    if (k.tag < e.ops.size()) out += kernel_text(e, k, known);
  }
  return out;
}

}  // namespace deputy::delegate
