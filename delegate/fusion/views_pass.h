// CONCATENATION, SPLIT and the like without copies: the operands are written where the result needs
// them, the results are read where the operand has them. A view is legal when everybody who touches
// the part can address it, and taken unless the narrow runs of bytes it makes cost more than the
// copy.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "delegate/compile.h"
#include "delegate/fusion/kernel.h"
#include "delegate/ir/graph.h"
#include "delegate/partition/placement.h"
#include "delegate/passes/storage.h"

namespace deputy::delegate {

struct ViewPlan {
  std::vector<Part> parts;
  std::vector<std::size_t> elided;  ///< operators that have no work left
  std::vector<FusionNote> notes;    ///< `into` is the operator itself
};

/// `kernels`: by group, empty for the CPU's. Takes the kernels of elided operators out of it and
/// tells those that still copy some of their parts which (Kernel::views).
ViewPlan plan_views(const Graph& graph, const CompileOptions& options,
                    const std::vector<OpPlacement>& placements,
                    std::vector<std::vector<Kernel>>& kernels);

}  // namespace deputy::delegate
