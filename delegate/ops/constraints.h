// What each engine takes, asked of the constraint table (constraint_table.h). The placement, the
// reason a user reads, the reference page and `deputy list ops` all come from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delegate/compile.h"
#include "delegate/ir/graph.h"
#include "delegate/ops/constraint_rules.h"

namespace deputy::delegate {

/// Why the NPU cannot take `op`: the text of the first rule it breaks, with the offending value;
/// nullopt when it can.
std::optional<std::string> npu_refusal(const Graph& graph, const Op& op,
                                       const CompileOptions& options);

/// Why the CPU cannot take `op`, nullopt when nothing speaks against it (the runtime checks each
/// kernel's own operand rules when it loads the executable).
std::optional<std::string> cpu_refusal(const Graph& graph, const Op& op);

/// RESHAPE and its kin that pass npu_refusal(): their output is their input's storage, on any
/// engine.
bool is_alias_kind(arch::OpKind kind);

/// One row for people: every operator on every engine, in the order of OpKind, the rules in words.
struct ConstraintText {
  arch::OpKind kind;
  TableEngine engine;
  bool taken = true;  ///< false: the engine has no such operator
  struct Line {
    RuleGroup group;
    std::string text;
  };
  std::vector<Line> rules;
};
std::vector<ConstraintText> constraint_texts();

}  // namespace deputy::delegate
