// The arithmetic of window operators: zero points, clamps and rounding of their instructions.
#pragma once

#include "delegate/codegen/window.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// The rounding `op` gets in a compile for `numerics`.
Numerics window_rounding(const Graph& graph, Numerics numerics, const Op& op);

/// `shape` is window_shape(graph, op).
WindowMath window_math(const Graph& graph, Numerics numerics, const Op& op,
                       const WindowShape& shape);

}  // namespace deputy::delegate
