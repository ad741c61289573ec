// Which operators are windows over a feature map (convolutions, fully connected layers, pooling,
// spatial means), as the loop nest that codegen/window.h cuts.
#pragma once

#include <optional>

#include "delegate/codegen/window.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// The sizes of `op`, or nullopt when it is no window operator or its shapes make no sense as one.
std::optional<WindowShape> window_shape(const Graph& graph, const Op& op);

}  // namespace deputy::delegate
