// For formats that know no pads but SAME and VALID.
#pragma once

#include "base/result.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// Whether SAME or VALID means the pads that a convolution or pool has. True for other operators.
bool pads_have_a_word(const Graph& graph, const Op& op);

/// The same function with a PAD before each convolution, or a PADV2 of the lowest value before each
/// maximum pool, whose pads have no word. Averages do not count pads, which a PAD cannot say:
/// kUnsupported.
base::Result<Graph> with_pad_operators(const Graph& graph);

}  // namespace deputy::delegate
