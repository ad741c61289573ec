// `deputy compile --explain LAYER`: everything known about one operator.
#pragma once

#include <string>

#include "base/result.h"
#include "delegate/trace.h"
#include "tools/simulate.h"

namespace deputy::tools {

/// The operator that `layer` names: its index, its whole name, or a part that only one name has.
/// Errors list what there is.
base::Result<std::uint32_t> find_layer(const arch::Executable& executable,
                                       const std::string& layer);

/// Text: engine and reason, what was fused, tiles with the candidates of the search, where the
/// operands live, weights, and, from a timing-only run of the executable, cycles beside the bounds.
base::Result<std::string> explain(const delegate::Graph& graph, const arch::Executable& executable,
                                  const delegate::CompileTrace& trace,
                                  const SimulateOptions& options, const std::string& layer);

}  // namespace deputy::tools
