// The arithmetic of element-wise operators of two int8 operands (ADD, SUB, MUL, MINIMUM, MAXIMUM).
#pragma once

#include <cstdint>

#include "arch/isa.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

bool is_eltwise_kind(arch::OpKind kind);

/// The ELTWISE instruction of `op` without addresses and extents; its a and b are the operator's
/// first and second operand.
arch::Eltwise eltwise_math(const Graph& graph, Numerics numerics, const Op& op);

/// What that instruction makes of one pair of values, before its table.
std::int8_t eltwise_result(const arch::Eltwise& math, std::int8_t a, std::int8_t b);

}  // namespace deputy::delegate
