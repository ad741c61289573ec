// One legal graph for each operator the NPU takes: where the cases of the constraint table start
// from.
#pragma once

#include "workloads/selftest/maker.h"

namespace deputy::graphs {

/// A graph of one operator with small maps of `type` (the graph's only operator, inputs as it
/// needs).
Graph legal_op(OpKind kind, DType type = DType::kInt8);

}  // namespace deputy::graphs
