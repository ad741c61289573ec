// The same work for the CPU: from the operators of an NPU program a graph of their own, compiled
// without the NPU. The runtime runs it in the program's place when the NPU cannot
// (Executable::fallbacks).
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "arch/executable.h"
#include "delegate/compile.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// The graph that computes `outputs` from `inputs`, tensors of `graph`, in these orders, with the
/// operators between them. CHECKs that the inputs are enough, and that it needs no operator beyond
/// `allowed`.
Graph subgraph(const Graph& graph, const std::vector<TensorId>& inputs,
               const std::vector<TensorId>& outputs, const std::set<std::size_t>& allowed);

/// The executable file for Executable::fallbacks that computes what the NPU step `step` does.
/// `graph` is what `executable` was compiled from. Tensors that are views or fused inside the
/// program are ordinary ones here. It uses no SRAM. Errors: kUnsupported when the CPU does not take
/// one of the operators.
base::Result<std::vector<std::uint8_t>> compile_fallback(const Graph& graph,
                                                         const arch::Executable& executable,
                                                         const arch::Step& step,
                                                         const CompileOptions& options);

}  // namespace deputy::delegate
