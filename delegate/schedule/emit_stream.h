// From sections to the words of a command stream: gives buffers their addresses, loads constants ahead of their
// kernel where the load queue would wait, works out the waits, and encodes.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/npu_config.h"
#include "delegate/compile.h"
#include "delegate/schedule/section.h"

namespace deputy::delegate {

struct StreamOptions {
  MemoryEstimate memory;
  bool prefetch = false;
  IoPlacement io = IoPlacement::kArena;
};

/// The stream of all sections in order, with END. Compute and store instructions keep their order, and so do
/// loads, except that loads of constants may come earlier.
std::vector<std::uint32_t> emit_stream(std::vector<Section> sections, const arch::NpuConfig& npu,
                                       const StreamOptions& options);

}  // namespace deputy::delegate
