// What each engine takes for an operator, by the formulas that the simulator charges: the
// compiler's estimates for the placement. All in picoseconds.
#pragma once

#include "delegate/codegen/tile_search.h"
#include "delegate/compile.h"
#include "delegate/ir/graph.h"
#include "delegate/partition/problem.h"

namespace deputy::delegate {

/// The host's kernel: the work of arch/host_timing.h, its operands' bytes beside the dispatch as in
/// HwPort::charge.
Cost cpu_cost(const Graph& graph, const Op& op, const CompileOptions& options);

/// The operator alone on an idle NPU that takes it: for windows the tile search's estimate, for the
/// others the slowest of transfers and computation. Maps are taken to lie in SRAM when they fit
/// there.
Cost npu_cost(const Graph& graph, const Op& op, const CompileOptions& options,
              TilingCache& tilings);

/// The computation alone, without transfers: what the operator adds to one that it is fused into.
Cost npu_compute_cost(const Graph& graph, const Op& op, const CompileOptions& options);

/// Driver, fetch of the first commands, and interrupt of one NPU program.
Cost npu_launch_cost(const CompileOptions& options);

/// Cache maintenance for a buffer that changes hands: of the call, and of each byte.
Cost boundary_call_cost(const CompileOptions& options);
Cost boundary_byte_cost(const CompileOptions& options);

/// NPU cycles, rounded: the unit of the reports.
std::int64_t npu_cycles(Cost picoseconds, const CompileOptions& options);

}  // namespace deputy::delegate
