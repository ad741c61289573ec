// Graph inputs and outputs in external regions (CompileOptions::io): memory that whoever runs the
// executable binds, so that inputs need not be copied in nor outputs out. A region holds one buffer
// of the storage map, and the input or output fills it. An input's buffer is never written: no
// result lies over it. An output's may be read and written before it is complete.
#pragma once

#include <string>
#include <vector>

#include "delegate/compile.h"
#include "delegate/passes/memory_plan.h"
#include "delegate/passes/storage.h"

namespace deputy::delegate {

/// Buffer `root` is external region number (index in ExternalIo::buffers); `tensor` is the input or
/// output in it.
struct ExternalBuffer {
  TensorId tensor = kNoTensor, root = kNoTensor;
  bool written = false;  ///< an output
};
struct ExternalIo {
  std::vector<ExternalBuffer> buffers;
  std::vector<std::string> kept;  ///< which inputs and outputs stay in the arenas, and why
  bool has(TensorId root) const;
};

/// Which inputs and outputs get a region, inputs first, in graph order. None for
/// IoPlacement::kArena. An input or output stays where it is when it is both at once, a constant,
/// or empty; when it does not fill a buffer of its own (it is a part of another tensor); when its
/// buffer holds another input or output; when the regions are used up.
ExternalIo external_io(const Graph& graph, const StorageMap& storage, IoPlacement io);

/// plan_memory() for the buffers that are not external; those of `external` are added in their
/// regions, last.
MemoryPlan plan_with_external(const std::vector<LiveRange>& ranges, const ExternalIo& external,
                              std::uint64_t fast_limit, Effort effort);

}  // namespace deputy::delegate
