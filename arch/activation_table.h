// 256-entry tables for one-input int8 operators: the NPU's LUT unit and the CPU kernels use the
// same ones.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "arch/ops.h"

namespace deputy::arch {

/// table[q + 128] = the operator's int8 result for input q, or nullopt when `kind` is not an
/// element-wise one-input operator with an int8 per-tensor quantised input and output. Covers RELU,
/// RELU6, RELU_N1_TO_1, LOGISTIC, TANH, HARD_SWISH, LEAKY_RELU, ELU, GELU, ABS, EXP, NEG, SQRT,
/// RSQRT and int8 -> int8 QUANTIZE, each by the rule of the runtime that `mode` names.
std::optional<std::array<std::int8_t, 256>> activation_table(OpKind kind, const OpAttrs& attrs,
                                                             const Quantisation& in,
                                                             const Quantisation& out,
                                                             Numerics mode);

}  // namespace deputy::arch
