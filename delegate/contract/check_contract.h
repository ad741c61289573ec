// A model held against the NPU's quantisation contract (arch/quantisation_contract.h): what
// differs, and what can be done about it.
#pragma once

#include <string>
#include <vector>

#include "delegate/compile.h"
#include "delegate/ir/graph.h"
#include "delegate/ops/constraint_table.h"

namespace deputy::delegate {

/// One tensor that is not as the contract wants it, at one operator.
struct Mismatch {
  std::size_t op = 0;  ///< index in the graph
  TensorId tensor = kNoTensor;
  Rule rule = Rule::kTypes;
  std::string found, required;  ///< in words
  std::string remedy;
  bool convertible = false;  ///< ContractPolicy::kConvert can mend it
};

/// Whether `op` leads from floats to integers or back: a conversion itself, and the CPU's.
bool crosses_floats(const Graph& graph, const Op& op);

/// Every mismatch of `op`; none for an operator that the NPU has no instruction for. Limits of
/// shapes and operands are no part of the contract, and neither is what crosses_floats().
std::vector<Mismatch> check_contract(const Graph& graph, std::size_t op,
                                     const CompileOptions& options);
/// Of all operators, in order.
std::vector<Mismatch> check_contract(const Graph& graph, const CompileOptions& options);

}  // namespace deputy::delegate
