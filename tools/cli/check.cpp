// deputy check: a model held against the NPU's quantisation contract.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "delegate/contract/convert.h"
#include "delegate/ops/constraints.h"
#include "tools/cli/common.h"
#include "tools/files.h"
#include "tools/json_text.h"

namespace deputy::tools {
namespace {

// How the operators of a model stand; every one is counted once.
struct Standing {
  std::size_t keep = 0, convertible = 0, broken = 0, boundary = 0, no_instruction = 0,
              other_limit = 0;
};

Standing standing(const delegate::Graph& graph, const delegate::CompileOptions& options,
                  const std::vector<delegate::Mismatch>& mismatches) {
  std::set<std::size_t> hit, stuck;
  for (const auto& m : mismatches)
    hit.insert(m.op), m.convertible ? void() : void(stuck.insert(m.op));
  Standing out;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (stuck.contains(i))
      ++out.broken;
    else if (hit.contains(i))
      ++out.convertible;
    else if (!delegate::npu_refusal(graph, graph.ops[i], options))
      ++out.keep;
    else if (delegate::crosses_floats(graph, graph.ops[i]))
      ++out.boundary;
    else if (delegate::constraint_row(graph.ops[i].kind, delegate::TableEngine::kNpu))
      ++out.other_limit;
    else
      ++out.no_instruction;
  }
  return out;
}

void print_json(const delegate::Graph& graph, const Standing& s,
                const std::vector<delegate::Mismatch>& mismatches,
                const std::vector<delegate::Conversion>& conversions) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array(),
                         made = nlohmann::ordered_json::array();
  for (const auto& m : mismatches)
    rows.push_back({{"operator", op_label(graph, graph.ops[m.op])},
                    {"tensor", graph.tensor(m.tensor).desc.name},
                    {"found", m.found},
                    {"required", m.required},
                    {"remedy", m.remedy},
                    {"convertible", m.convertible}});
  for (const auto& c : conversions)
    made.push_back({{"operator", op_label(graph, graph.ops[c.op])}, {"conversion", c.text}});
  const nlohmann::ordered_json all = {{"model", graph.name},
                                      {"operators",
                                       {{"keep_contract", s.keep},
                                        {"convertible", s.convertible},
                                        {"break_contract", s.broken},
                                        {"boundary", s.boundary},
                                        {"other_limit", s.other_limit},
                                        {"no_instruction", s.no_instruction}}},
                                      {"mismatches", rows},
                                      {"conversions", made}};
  fmt::print("{}", json_text("deputy-check-1", all));
}

void print_text(const delegate::Graph& graph, const Standing& s,
                const std::vector<delegate::Mismatch>& mismatches,
                const std::vector<delegate::Conversion>& conversions) {
  for (std::size_t k = 0; k < mismatches.size();) {
    const auto& first = mismatches[k];
    if (k == 0 || mismatches[k - 1].op != first.op)
      fmt::print("{}\n", op_label(graph, graph.ops[first.op]));
    std::string found;  // of all tensors that break this rule here
    for (;
         k < mismatches.size() && mismatches[k].op == first.op && mismatches[k].rule == first.rule;
         ++k)
      found += (found.empty() ? "" : ", ") + mismatches[k].found;
    fmt::print("  found   {}\n  wanted  {}\n  remedy  {}\n", found, first.required, first.remedy);
  }
  if (!conversions.empty()) {
    fmt::print("With --contract convert:\n");
    for (const auto& c : conversions)
      fmt::print("  {}: {}\n", op_label(graph, graph.ops[c.op]), c.text);
  }
  fmt::print("{} operators: {} keep the contract, {} can be converted to it, {} break it",
             graph.ops.size(), s.keep, s.convertible, s.broken);
  if (s.boundary) fmt::print(", {} lead from or to floats", s.boundary);
  if (s.other_limit) fmt::print(", {} break another limit (deputy inspect)", s.other_limit);
  if (s.no_instruction) fmt::print(", {} have no instruction", s.no_instruction);
  fmt::print("\n");
}

base::Status check(const CommonOptions& common, const CheckCommand& command) {
  DEPUTY_ASSIGN(const auto options, simulate_options(common, command.model));
  DEPUTY_ASSIGN(const auto graph, load_model(command.model, options.bindings));
  const delegate::CompileOptions compile = compile_options(options);
  const auto mismatches = delegate::check_contract(graph, compile);
  const auto conversions = delegate::convert_to_contract(graph, compile).conversions;
  const Standing s = standing(graph, compile, mismatches);
  (command.json ? print_json : print_text)(graph, s, mismatches, conversions);
  if (mismatches.empty()) return {};
  return base::Error{
      base::ErrorKind::kMismatch, command.model,
      fmt::format("{} tensors are not as the NPU's contract wants them", mismatches.size()),
      s.broken ? "see the remedies" : "compile with --contract convert, or see the remedies"};
}

}  // namespace

int check_command(const CommonOptions& common, const CheckCommand& command) {
  return finish(check(common, command));
}

}  // namespace deputy::tools
