// The rules that the constraint table's rows name: their texts and what breaks them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delegate/compile.h"
#include "delegate/ops/constraint_table.h"

namespace deputy::delegate {

/// Where a rule stands in the reference page.
enum class RuleGroup : std::uint8_t { kTypes, kQuantisation, kShapes, kWindow, kOperands };

RuleGroup rule_group(Rule rule);

/// The demand in words, its number included: "strides are at most 65535".
std::string rule_text(const OpRow& row, const Demand& demand);

/// What was found instead (may be empty) when `op` breaks the demand, nullopt when it keeps it.
/// Demands before it in the row must hold.
std::optional<std::string> broken(const OpRow& row, const Demand& demand, const Graph& graph,
                                  const Op& op, const CompileOptions& options);

/// What breaks a demand of types or quantisation (RuleGroup, and kWeights, kBias): every tensor.
struct Finding {
  TensorId tensor = kNoTensor;
  std::string found;
};
std::vector<Finding> findings(const OpRow& row, const Demand& demand, const Graph& graph,
                              const Op& op);

}  // namespace deputy::delegate
