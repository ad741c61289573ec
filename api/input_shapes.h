// The same model for inputs of other shapes.
#pragma once

#include <vector>

#include "base/result.h"
#include "delegate/ir/graph.h"

namespace deputy::api {

/// `graph` with its inputs at `shapes`, every other shape following from them, checked by the
/// operators' own rules. Errors: kInput when a shape has another rank, is empty or there are too
/// few of them; kUnsupported names the operator whose result cannot follow (a RESHAPE to a fixed
/// shape, say).
base::Result<delegate::Graph> with_input_shapes(const delegate::Graph& graph,
                                                const std::vector<Shape>& shapes);

/// The graph's own input shapes.
std::vector<Shape> input_shapes(const delegate::Graph& graph);

}  // namespace deputy::api
