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
  std::vector<bool> wide;      ///< by operator: its maps are int16, its weights int8 (16x8)
  std::vector<Quantisation>
      wide_quantisation;  ///< by tensor: as int16, where it has an integer form
};

/// What may be asked of a plan.
struct PlanOptions {
  std::vector<Range> ranges;                  ///< by tensor
  std::vector<Range> wide_ranges;             ///< by tensor: where it is int16
  std::map<std::size_t, std::string> floats;  ///< operators that may not work on integers, and why
  std::vector<delegate::TensorId> wide;  ///< tensors that are int16, with what shares their scale
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

/// An operator is wide when one of its maps is: kernels have one type for all of them.
Plan make_plan(const delegate::Graph& graph, const PlanOptions& options);

}  // namespace deputy::quantize
