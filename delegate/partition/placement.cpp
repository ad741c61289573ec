#include "delegate/partition/placement.h"

#include <fmt/format.h>

#include "delegate/ops/constraints.h"

namespace deputy::delegate {

base::Result<std::vector<OpPlacement>> place_ops(const Graph& graph,
                                                 const CompileOptions& options) {
  std::vector<OpPlacement> out;
  for (const Op& op : graph.ops) {
    std::optional<std::string> refusal = "the CPU was asked for (engine cpu)";
    if (options.engine != EnginePolicy::kCpu) refusal = npu_refusal(graph, op, options);
    if (!refusal) {
      out.push_back({is_alias_kind(op.kind) ? Engine::kAlias : Engine::kNpu, ""});
      continue;
    }
    if (const auto cpu = cpu_refusal(graph, op))
      return base::Error{base::ErrorKind::kUnsupported, op_label(graph, op),
                         fmt::format("no engine takes it. NPU: {}. CPU: {}", *refusal, *cpu),
                         "quantise the whole model to int8, or keep it all float"};
    out.push_back({Engine::kCpu, *refusal});
  }
  return out;
}

}  // namespace deputy::delegate
