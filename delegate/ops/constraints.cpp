#include "delegate/ops/constraints.h"

#include <fmt/format.h>

#include "delegate/ops/constraint_table.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

constexpr const char* kNoInstruction = "the NPU has no instruction for this operator";

std::optional<std::string> refusal(const OpRow& row, const Graph& graph, const Op& op,
                                   const CompileOptions& options) {
  for (const Demand& demand : row.demands)
    if (const auto found = broken(row, demand, graph, op, options)) {
      const std::string text = rule_text(row, demand);
      return found->empty() ? text : fmt::format("{} ({})", text, *found);
    }
  return std::nullopt;
}

}  // namespace

bool is_alias_kind(OpKind kind) {
  return kind == OpKind::RESHAPE || kind == OpKind::SQUEEZE || kind == OpKind::EXPAND_DIMS;
}

std::optional<std::string> npu_refusal(const Graph& graph, const Op& op,
                                       const CompileOptions& options) {
  const OpRow* row = constraint_row(op.kind, TableEngine::kNpu);
  if (!row) return kNoInstruction;
  return refusal(*row, graph, op, options);
}

std::optional<std::string> cpu_refusal(const Graph& graph, const Op& op) {
  const OpRow* row = constraint_row(op.kind, TableEngine::kCpu);
  return refusal(*row, graph, op, {});
}

std::vector<ConstraintText> constraint_texts() {
  std::vector<ConstraintText> out;
  for (const OpKind kind : arch::all_ops())
    for (const TableEngine engine : {TableEngine::kNpu, TableEngine::kCpu}) {
      ConstraintText text{kind, engine, true, {}};
      const OpRow* row = constraint_row(kind, engine);
      text.taken = row != nullptr;
      if (!row) text.rules = {{RuleGroup::kOperands, kNoInstruction}};
      for (std::size_t i = 0; row && i < row->demands.size(); ++i)
        text.rules.push_back({rule_group(row->demands[i].rule), rule_text(*row, row->demands[i])});
      out.push_back(std::move(text));
    }
  return out;
}

}  // namespace deputy::delegate
