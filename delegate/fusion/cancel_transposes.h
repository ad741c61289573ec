// TRANSPOSEs that change no byte: those that only move dimensions of size 1, and those that undo
// others before them, with RESHAPEs between or not.
#pragma once

#include <optional>

#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// The graph with every such TRANSPOSE as a RESHAPE of the tensor whose bytes it has; a TRANSPOSE
/// that nobody reads after that is one, too. Operators and tensors keep their places. nullopt when
/// there is none.
std::optional<Graph> cancel_transposes(const Graph& graph);

}  // namespace deputy::delegate
