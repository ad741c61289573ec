// Storage and memory plan in one: which buffers there are, and where.
#pragma once

#include <vector>

#include "delegate/codegen/views.h"
#include "delegate/compile.h"
#include "delegate/passes/external_io.h"
#include "delegate/passes/memory_plan.h"
#include "delegate/passes/storage.h"

namespace deputy::delegate {

struct Placing {
  StorageMap storage;
  MemoryPlan plan;
  ExternalIo external;
  std::size_t in_place = 0;  ///< results that lie over an operand
};

/// Adds results in place to the wishes (switch in-place) where that moves no more bytes through the
/// slow memory, and plans both arenas and the external regions. `actions`: what runs, in order.
Placing place_buffers(const Graph& graph, const std::vector<Action>& actions, StorageWishes wishes,
                      const CompileOptions& options);

/// The views that the code is generated from, by tensor.
std::vector<TensorView> tensor_views(const Placing& placing);

}  // namespace deputy::delegate
