// Which operators work on integers, which tensors share their scale, and what the scales are.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delegate/ir/graph.h"
#include "quantize/ranges.h"

namespace deputy::quantize {

struct Plan {
  std::vector<bool> integer;                   ///< by operator
  std::map<std::size_t, std::string> reasons;  ///< of operators that stay in floats
  std::vector<Quantisation> quantisation;      ///< by tensor; empty where it has no integer form
  std::vector<bool> separate;  ///< by tensor: operators that want equal scales get it rescaled
};

/// The operators that want all of their feature maps in one scale: those that move, pick or compare
/// numbers.
bool keeps_scale(arch::OpKind kind);
/// Of those, the ones that compute nothing: integers on the CPU too, when the NPU does not take
/// them.
bool only_moves(arch::OpKind kind);
/// Operands of `op` that are feature maps: not weights, biases, axes and the like.
std::vector<std::size_t> map_operands(const delegate::Op& op);
/// The quantisation that TFLite's specification fixes for a result: softmax and logistic 1/256,
/// tanh 1/128.
std::optional<Quantisation> fixed_result(arch::OpKind kind);

/// `ranges`: by tensor. `floats`: operators that may not work on integers, with the reason.
Plan make_plan(const delegate::Graph& graph, const std::vector<Range>& ranges,
               const std::map<std::size_t, std::string>& floats);

}  // namespace deputy::quantize
