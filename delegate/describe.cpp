#include "delegate/describe.h"

#include <fmt/format.h>

namespace deputy::delegate {

void describe_ops(const Graph& graph, const CompileOptions& options,
                  const std::vector<OpPlacement>& placements, arch::Executable& out) {
  out.model_name = graph.name;
  out.numerics = options.numerics;
  out.target = options.npu;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    arch::SourceOp source;
    source.name = graph.tensor(op.outputs[0]).desc.name;
    source.kind = op.kind;
    source.source_index = op.source_index;
    source.on_npu = placements[i].engine == Engine::kNpu || placements[i].engine == Engine::kAlias;
    source.aliased = placements[i].engine == Engine::kAlias;
    source.reason = placements[i].reason;
    source.macs = op_macs(graph, op);
    out.ops.push_back(std::move(source));
  }
}

void describe_fusion(const std::vector<std::vector<Kernel>>& kernels, const ViewPlan& views,
                     arch::Executable& out) {
  for (const std::vector<Kernel>& group : kernels)
    for (const Kernel& kernel : group)
      for (const std::size_t op : kernel.ops)
        if (op != kernel.main) out.ops[op].fused_into = static_cast<std::int32_t>(kernel.main);
  for (const std::size_t op : views.elided) out.ops[op].aliased = true;
}

void explain_fusion(const Graph& graph, const ViewPlan& views, const std::vector<FusionNote>& notes,
                    CompileTrace& trace) {
  for (const FusionNote& note : views.notes)
    trace.notes.push_back(
        {"views", fmt::format("{}: {}", op_label(graph, graph.ops[note.op]), note.text)});
  for (const FusionNote& note : notes)
    trace.kernel(static_cast<std::uint32_t>(note.into))
        .notes.push_back(
            {"fusion", fmt::format("{} {}: {}", op_label(graph, graph.ops[note.op]),
                                   note.done ? "is fused" : "is not fused", note.text)});
}

}  // namespace deputy::delegate
