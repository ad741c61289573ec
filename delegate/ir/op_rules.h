// What every operator demands of its operands: how many, which types and ranks, and the output
// shape that follows from them. An importer runs these on every operator, so that nothing after it
// (constraints, lowering, kernels) can index outside a tensor on an accepted graph.
//
// Rules are those of TFLite's operator documentation, kept to what Deputy's kernels define.
#pragma once

#include "base/result.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// Completes the attributes from the operands: explicit pads for SAME and VALID, the depth
/// multiplier, axes counted from the front. Tensor ids must be in range (validate()). Errors as
/// check_op().
base::Status normalise_op(const Graph& graph, Op& op);

/// kModel: the operands contradict the operator. kUnsupported: they make sense, but no kernel of
/// ours takes them (an operand that must be constant and is not, say). The error's place is
/// op_label().
base::Status check_op(const Graph& graph, const Op& op);

}  // namespace deputy::delegate
