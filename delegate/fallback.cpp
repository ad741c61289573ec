#include "delegate/fallback.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"

namespace deputy::delegate {
namespace {

class Extractor {
 public:
  Extractor(const Graph& graph, const std::vector<TensorId>& inputs,
            const std::set<std::size_t>& allowed)
      : graph_(graph), allowed_(allowed) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
      for (const TensorId id : graph.ops[i].outputs) producer_[id] = i;
    for (const TensorId id : inputs) out_.inputs.push_back(tensor(id));
  }

  Graph run(const std::vector<TensorId>& outputs) {
    std::vector<TensorId> open = outputs;
    std::set<TensorId> seen;
    while (!open.empty()) {
      const TensorId id = open.back();
      open.pop_back();
      if (id == kNoTensor || !seen.insert(id).second || graph_.tensor(id).constant ||
          ids_.contains(id))
        continue;
      const auto at = producer_.find(id);
      DEPUTY_CHECK(at != producer_.end(), "a program reads a tensor that is none of its inputs");
      DEPUTY_CHECK(allowed_.contains(at->second),
                   "a program depends on an operator that is not its own");
      needed_.insert(at->second);
      const std::vector<TensorId>& operands = graph_.ops[at->second].inputs;
      open.insert(open.end(), operands.begin(), operands.end());
    }
    for (const std::size_t index : needed_) {  // the graph's order is one of execution
      Op op = graph_.ops[index];
      for (TensorId& id : op.inputs) id = tensor(id);
      for (TensorId& id : op.outputs) id = tensor(id);
      out_.ops.push_back(std::move(op));
    }
    for (const TensorId id : outputs) out_.outputs.push_back(tensor(id));
    return std::move(out_);
  }

 private:
  // The tensor's number in the new graph.
  TensorId tensor(TensorId id) {
    if (id == kNoTensor) return id;
    const auto [at, fresh] = ids_.emplace(id, static_cast<TensorId>(out_.tensors.size()));
    if (fresh) out_.tensors.push_back(graph_.tensor(id));
    return at->second;
  }

  const Graph& graph_;
  const std::set<std::size_t>& allowed_;
  std::map<TensorId, std::size_t> producer_;
  std::map<TensorId, TensorId> ids_;  // from old to new
  std::set<std::size_t> needed_;
  Graph out_;
};

std::vector<TensorId> tensor_ids(const std::vector<std::uint32_t>& ids) {
  return {ids.begin(), ids.end()};
}

}  // namespace

Graph subgraph(const Graph& graph, const std::vector<TensorId>& inputs,
               const std::vector<TensorId>& outputs, const std::set<std::size_t>& allowed) {
  return Extractor(graph, inputs, allowed).run(outputs);
}

base::Result<std::vector<std::uint8_t>> compile_fallback(const Graph& graph,
                                                         const arch::Executable& executable,
                                                         const arch::Step& step,
                                                         const CompileOptions& options) {
  const std::vector<std::uint32_t>& own = executable.programs[step.program].source_ops;
  std::set<std::size_t> allowed(own.begin(), own.end());
  for (std::size_t i = 0; i < executable.ops.size(); ++i)  // no work, so no program has them
    if (executable.ops[i].aliased) allowed.insert(i);
  Graph part = subgraph(graph, tensor_ids(step.inputs), tensor_ids(step.outputs), allowed);
  part.name = fmt::format("{}, program {}", graph.name, step.program);
  CompileOptions cpu;
  cpu.npu = options.npu, cpu.numerics = options.numerics, cpu.host = options.host,
  cpu.memory = options.memory;
  cpu.engine = EnginePolicy::kCpu;
  cpu.sram_bytes = 0;
  cpu.effort = Effort::kFast;
  DEPUTY_ASSIGN(const arch::Executable compiled, compile(part, cpu));
  return arch::write_executable(compiled);
}

}  // namespace deputy::delegate
