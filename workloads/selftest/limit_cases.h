// For each rule of the constraint table and each operator that has it: a graph exactly at the limit
// and one just past it.
#pragma once

#include <optional>

#include "delegate/compile.h"
#include "delegate/ops/constraint_table.h"

namespace deputy::graphs {

struct LimitCase {
  delegate::Graph at, past;
  delegate::CompileOptions at_options, past_options;
};

/// nullopt: nobody has written a pair for this rule and operator.
std::optional<LimitCase> limit_case(const delegate::OpRow& row, const delegate::Demand& demand);

}  // namespace deputy::graphs
