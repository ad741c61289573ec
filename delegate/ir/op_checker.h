// The view of one operator that the rules in op_rules_*.cpp share: operands by position, errors
// that name the operator, and the checks that many operators have in common.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delegate/ir/graph.h"

namespace deputy::delegate {

class OpChecker {
 public:
  OpChecker(const Graph& graph, const Op& op) : graph_(graph), op_(op) {}

  const Op& op() const { return op_; }
  const arch::OpAttrs& attrs() const { return op_.attrs; }
  std::size_t inputs() const { return op_.inputs.size(); }
  std::size_t outputs() const { return op_.outputs.size(); }
  bool has(std::size_t i) const { return graph_.has_input(op_, i); }
  const Tensor& in(std::size_t i) const { return graph_.tensor(op_.inputs[i]); }
  const Tensor& out(std::size_t i = 0) const { return graph_.tensor(op_.outputs[i]); }
  const Shape& in_shape(std::size_t i) const { return in(i).desc.shape; }
  const Shape& out_shape(std::size_t i = 0) const { return out(i).desc.shape; }
  DType in_type(std::size_t i) const { return in(i).desc.dtype; }
  DType out_type(std::size_t i = 0) const { return out(i).desc.dtype; }

  template <class... Args>
  base::Error malformed(fmt::format_string<Args...> text, Args&&... args) const {
    return error(base::ErrorKind::kModel, fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  base::Error unsupported(fmt::format_string<Args...> text, Args&&... args) const {
    return error(base::ErrorKind::kUnsupported, fmt::format(text, std::forward<Args>(args)...));
  }

  /// At least `least` and at most `most` inputs, the first `least` present, and `outputs` outputs.
  base::Status operands(std::size_t least, std::size_t most, std::size_t outputs = 1) const;
  base::Status rank(const Tensor& tensor, std::size_t rank) const;
  /// Both tensors have one element type.
  base::Status same_type(const Tensor& a, const Tensor& b) const;
  /// The output's declared shape is `shape`.
  base::Status output_is(const std::vector<std::int64_t>& shape, std::size_t output = 0) const;
  base::Status output_like(const Shape& shape, std::size_t output = 0) const;
  /// If the tensor is of a small integer type, it has one scale and zero point for the whole
  /// tensor.
  base::Status per_tensor(const Tensor& tensor) const;
  /// Small integer weights have one scale, or one for each of the entries along `axis`.
  base::Status weight_scales(const Tensor& tensor, std::int32_t axis) const;
  /// Activation, weight and bias types that belong together, and their scales. Weights follow the
  /// activation; int16 takes int8 weights and an int64 or int32 bias, float32 also int8 weights (a
  /// "hybrid" model, whose weights the kernel dequantises). `bias`: its input number; it may be
  /// absent.
  base::Status conv_types(const Tensor& input, const Tensor& weights, std::size_t bias,
                          std::int32_t weight_axis, std::int64_t channels) const;
  /// Values of a constant int32 or int64 operand.
  base::Result<std::vector<std::int64_t>> constant_ints(std::size_t input) const;
  /// The same, of exactly `count` elements.
  base::Result<std::vector<std::int64_t>> constant_ints(std::size_t input, std::size_t count) const;
  /// axis in [-rank, rank) as [0, rank).
  base::Result<std::int32_t> axis(std::int64_t axis, std::size_t rank) const;

 private:
  base::Error error(base::ErrorKind kind, std::string message) const {
    return {kind, op_label(graph_, op_), std::move(message), ""};
  }
  const Graph& graph_;
  const Op& op_;
};

/// int8, uint8 or int16: the types whose values mean nothing without a scale.
bool is_quantised_type(DType type);
/// The shape both broadcast to, numpy's rule; nothing if they do not.
std::optional<std::vector<std::int64_t>> broadcast(const Shape& a, const Shape& b);
std::vector<std::int64_t> wide(const Shape& shape);

// One function per family; the kind picks within it.
base::Status check_window_op(const OpChecker& c);  ///< convolutions and pools
base::Status check_matrix_op(const OpChecker& c);  ///< FULLY_CONNECTED, BATCH_MATMUL
base::Status check_elementwise_op(
    const OpChecker& c);  ///< unary, binary, conversions, normalisations
base::Status check_reduction_op(const OpChecker& c);  ///< MEAN, SUM, REDUCE_*, ARG_*
base::Status check_reshape_op(const OpChecker& c);  ///< same elements, other shape; transpositions
base::Status check_slice_op(const OpChecker& c);    ///< parts and joins of tensors
base::Status check_space_op(const OpChecker& c);    ///< pads, resizes, block rearrangements

}  // namespace deputy::delegate
