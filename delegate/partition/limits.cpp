#include "delegate/partition/limits.h"

#include <fmt/format.h>

#include "delegate/ir/graph.h"

namespace deputy::delegate {
namespace {

std::string rule_text(const PlacementRule& rule) {
  return fmt::format("{} {}={}", rule.deny ? "--deny" : "--force", rule.op,
                     arch::engine_word(rule.target));
}

bool names(const PlacementRule& rule, const Graph& graph, std::size_t index) {
  const Op& op = graph.ops[index];
  if (rule.op == arch::op_word(op.kind, op.attrs) || rule.op == fmt::format("#{}", index))
    return true;
  const std::string& name = graph.tensor(op.outputs[0]).desc.name;
  if (!rule.op.ends_with('*')) return rule.op == name;
  return name.starts_with(rule.op.substr(0, rule.op.size() - 1));
}

base::Result<PlacementRule> parse(const std::string& option, const std::string& text, bool deny) {
  PlacementRule rule{text, Target::kNpu, deny};
  // Tensor names may hold '=': only the last one followed by an engine counts.
  const std::size_t at = text.rfind('=');
  const auto engine = arch::engine_named(at == std::string::npos ? "" : text.substr(at + 1));
  if (engine) {
    rule.op = text.substr(0, at);
    rule.target = *engine;
  } else if (!deny) {
    return base::Error{base::ErrorKind::kUsage, option + " " + text, "no engine is given",
                       "write OPERATOR=cpu, OPERATOR=npu or OPERATOR=dsp"};
  }
  if (rule.op.empty())
    return base::Error{base::ErrorKind::kUsage, option + " " + text, "no operator is given",
                       "name a kind (SOFTMAX), an index (#12) or an output tensor"};
  return rule;
}

}  // namespace

base::Result<PlacementRule> parse_force(const std::string& text) {
  return parse("--force", text, false);
}
base::Result<PlacementRule> parse_deny(const std::string& text) {
  return parse("--deny", text, true);
}

base::Result<std::vector<Allowed>> allowed_engines(const Graph& graph,
                                                   const std::vector<PlacementRule>& rules,
                                                   bool with_dsp) {
  std::vector<Allowed> out(graph.ops.size());
  for (Allowed& a : out) a.dsp = with_dsp;
  for (const PlacementRule& rule : rules) {
    if (rule.target == Target::kDsp && !rule.deny && !with_dsp)
      return base::Error{base::ErrorKind::kUsage, rule_text(rule), "this SoC has no DSP",
                         "set dsp.present, or drop the rule"};
    bool found = false;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      if (!names(rule, graph, i)) continue;
      found = true;
      Allowed& a = out[i];
      const auto apply = [&](Target target, bool& may, std::string& by) {
        if ((rule.target == target) == rule.deny) may = false, by = rule_text(rule);
      };
      apply(Target::kCpu, a.cpu, a.cpu_rule);
      apply(Target::kNpu, a.npu, a.npu_rule);
      apply(Target::kDsp, a.dsp, a.dsp_rule);
      if (!a.cpu && !a.npu && !a.dsp)
        return base::Error{base::ErrorKind::kUsage, op_label(graph, graph.ops[i]),
                           fmt::format("{} and {} leave no engine", a.npu_rule, a.cpu_rule),
                           "drop one of them"};
    }
    if (!found)
      return base::Error{base::ErrorKind::kUsage, rule_text(rule), "no operator is called that",
                         "name a kind (SOFTMAX), an index (#12) or an output tensor; 'deputy "
                         "inspect' lists them"};
  }
  return out;
}

}  // namespace deputy::delegate
