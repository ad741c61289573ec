#include "delegate/dump.h"

#include <fmt/format.h>

#include "arch/engine.h"
#include "arch/isa.h"

namespace deputy::delegate {
namespace {

std::string quantisation_text(const Quantisation& q) {
  if (!q.present()) return "";
  if (q.per_channel()) return fmt::format(" {} scales along axis {}", q.scale.size(), q.axis);
  return fmt::format(" scale {} zero point {}", q.scale[0],
                     q.zero_point.empty() ? 0 : q.zero_point[0]);
}

std::string tensor_text(const arch::TensorDesc& d) {
  return fmt::format("{} {}{}", dtype_name(d.dtype), shape_text(d.shape),
                     quantisation_text(d.quant));
}

template <class Ids>
std::string id_list(const Ids& ids) {
  std::string out;
  for (const auto id : ids) {
    if (!out.empty()) out += ' ';
    const bool absent = static_cast<std::uint32_t>(id) == arch::kNoTensor;
    out += absent ? std::string("-") : fmt::format("%{}", id);
  }
  return out;
}

std::string_view region_name(arch::Region region) {
  constexpr std::string_view kNames[] = {"constants", "fast",      "slow",      "external0",
                                         "external1", "external2", "external3", "external4"};
  return kNames[static_cast<int>(region)];
}

std::string op_text(const arch::Executable& e, std::uint32_t index) {
  return fmt::format("{} #{} '{}'", e.op_word(index), index, e.ops[index].name);
}

}  // namespace

std::string dump_graph(const Graph& graph) {
  std::string out = fmt::format("graph '{}'  inputs {}  outputs {}\n", graph.name,
                                id_list(graph.inputs), id_list(graph.outputs));
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    out += fmt::format("{:5} {} = {}({})\n", i, id_list(op.outputs),
                       arch::op_word(op.kind, op.attrs), id_list(op.inputs));
  }
  for (std::size_t i = 0; i < graph.tensors.size(); ++i)
    out += fmt::format("  %{} '{}' {}{}\n", i, graph.tensors[i].desc.name,
                       tensor_text(graph.tensors[i].desc),
                       graph.tensors[i].constant ? " constant" : "");
  return out;
}

std::string dump_placement(const arch::Executable& e) {
  std::string out = "operators\n";
  for (std::size_t i = 0; i < e.ops.size(); ++i) {
    const arch::SourceOp& op = e.ops[i];
    const char* engine = op.aliased ? "-" : arch::engine_word(arch::engine_of(e, i));
    out += fmt::format("{:5} {:<4} {:<24} '{}'{}\n", i, engine, e.op_word(i), op.name,
                       op.reason.empty() ? "" : "  because: " + op.reason);
  }
  out += "steps\n";
  for (std::size_t i = 0; i < e.steps.size(); ++i) {
    const arch::Step& step = e.steps[i];
    const std::string what = step.kind == arch::StepKind::kHost
                                 ? op_text(e, step.source_op)
                                 : fmt::format("program {}, {} operators", step.program,
                                               e.programs[step.program].source_ops.size());
    out += fmt::format("{:5} {:<4} {}  reads {}  writes {}\n", i,
                       arch::engine_word(arch::engine_of(step)), what, id_list(step.inputs),
                       id_list(step.outputs));
  }
  return out;
}

std::string dump_memory(const arch::Executable& e) {
  std::string out = fmt::format("memory: {} bytes of constants, {} fast, {} slow\n",
                                e.constants.size(), e.fast_arena_bytes, e.slow_arena_bytes);
  for (std::size_t i = 0; i < e.externals.size(); ++i) {
    const arch::ExternalRegion& r = e.externals[i];
    out += fmt::format("  external{} is %{}, {} bytes aligned to {}, {}, tiled for {}\n", i,
                       r.tensor, r.bytes, r.align, r.written ? "written" : "only read",
                       r.memory == arch::ExternalMemory::kSram ? "SRAM" : "DRAM");
  }
  for (std::size_t i = 0; i < e.tensors.size(); ++i) {
    const arch::PlacedTensor& t = e.tensors[i];
    if (t.placement == arch::Placement::kNone) continue;
    out += fmt::format("  {:<9} 0x{:08x} +{:<8} %{} '{}' {}\n", region_name(t.region), t.offset,
                       t.desc.bytes(), i, t.desc.name, tensor_text(t.desc));
  }
  return out;
}

std::string dump_programs(const arch::Executable& e) {
  std::string out;
  for (std::size_t p = 0; p < e.programs.size(); ++p) {
    out += fmt::format("program {}\n", p);
    std::span<const std::uint32_t> words = e.programs[p].words;
    int tag = -1;
    for (std::size_t at = 0; at < words.size();) {
      const arch::Decoded decoded = arch::decode(words.subspan(at));
      if (decoded.fault != arch::DecodeFault::kNone)
        return out + fmt::format("  {:06x}  not an instruction\n", at * 4);
      const arch::Header& header = decoded.instruction.header;
      const bool end = std::holds_alternative<arch::End>(decoded.instruction.op);
      if (!end && header.tag != tag && header.tag < e.ops.size())
        out += fmt::format("; {}\n", op_text(e, tag = header.tag));
      out += fmt::format("  {:06x}  {}\n", at * 4, arch::disassemble(decoded.instruction));
      at += header.words;
    }
  }
  return out;
}

std::string dump_executable(const arch::Executable& e) {
  std::size_t npu = 0, cpu = 0, alias = 0;
  for (const arch::SourceOp& op : e.ops) ++(op.aliased ? alias : op.on_npu ? npu : cpu);
  return fmt::format(
             "executable '{}'  {} rounding  {} operators on the NPU, {} on the CPU, {} without "
             "work  {} programs\n",
             e.model_name, numerics_name(e.numerics), npu, cpu, alias, e.programs.size()) +
         dump_placement(e) + dump_memory(e);
}

}  // namespace deputy::delegate
