// Weights and biases of convolutions and matrix products, for either arithmetic.
#pragma once

#include <optional>

#include "delegate/import/onnx/lowering.h"

namespace deputy::delegate::onnx_import {

/// Constant weights in the order an operator wants, with what their quantisation is.
struct Weights {
  int value = kNoValue;  ///< a float constant, or the integers it was made of
  Quantisation quant;    ///< empty for floats; its axis is that of `value`
};

/// Integer weights are int8 or uint8, whatever the operand is.
bool one_byte(DType type);

/// The tensor of weights whose dimension d is dimension order[d] of the value, of shape `shape`.
/// Integer weights get the signedness of `like`, their operand's type; beside int16 they are int8.
TensorId weight_tensor(Lowering& l, const Weights& weights, const std::vector<int>& order,
                       const Shape& shape, DType like);

/// The int32 bias of an integer operator, int64 if its operand `in` is int16: in steps of the
/// operand's scale times the weights', by output channel. A bias that is quantised otherwise, or
/// not, is brought to these steps if each entry is within half a step of its value... see
/// docs/onnx.md. `value` may be kNoValue (then kNoTensor).
std::optional<TensorId> integer_bias(Lowering& l, const Node& node, int value, const Twin& in,
                                     const Quantisation& weights, std::int32_t channels, bool& ok);
std::optional<TensorId> float_bias(Lowering& l, int value, std::int32_t channels);

}  // namespace deputy::delegate::onnx_import
