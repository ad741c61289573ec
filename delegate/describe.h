// What an executable says about the operators it was made from, and the compiler about its
// decisions.
#pragma once

#include <vector>

#include "arch/executable.h"
#include "delegate/compile.h"
#include "delegate/fusion/kernel.h"
#include "delegate/fusion/views_pass.h"
#include "delegate/partition/placement.h"

namespace deputy::delegate {

void describe_ops(const Graph& graph, const CompileOptions& options,
                  const std::vector<OpPlacement>& placements, arch::Executable& out);
/// Which operators are part of another's kernel, and which do nothing. `kernels`: by group.
void describe_fusion(const std::vector<std::vector<Kernel>>& kernels, const ViewPlan& views,
                     arch::Executable& out);
void explain_fusion(const Graph& graph, const ViewPlan& views, const std::vector<FusionNote>& notes,
                    CompileTrace& trace);

}  // namespace deputy::delegate
