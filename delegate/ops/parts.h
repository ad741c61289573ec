// Operators that take a tensor apart or put one together (CONCATENATION, PACK, SPLIT, SPLIT_V,
// UNPACK, SLICE, STRIDED_SLICE) as parts of a whole.
#pragma once

#include <optional>
#include <vector>

#include "delegate/ir/graph.h"
#include "delegate/passes/storage.h"

namespace deputy::delegate {

struct Parts {
  TensorId whole = kNoTensor;
  bool gather = false;      ///< the parts are the operands and the whole is the result
  std::vector<Part> parts;  ///< one an operand or result, in the operator's order
};

/// nullopt when `op` is no such operator or its begins, sizes or steps are not constant.
std::optional<Parts> parts_of(const Graph& graph, const Op& op);

}  // namespace deputy::delegate
