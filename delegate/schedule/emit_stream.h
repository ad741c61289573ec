// From sections to the words of a command stream: gives buffers their addresses, loads constants
// ahead of their kernel where the load queue would wait, copies others into free SRAM (staging.h),
// works out the waits, and encodes.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/npu_config.h"
#include "delegate/compile.h"
#include "delegate/schedule/section.h"

namespace deputy::delegate {

/// A buffer of the fast arena that must stay intact from action `begin` to action `end`, both
/// included.
struct LiveBuffer {
  std::ptrdiff_t begin = 0, end = 0;
  std::uint64_t offset = 0, bytes = 0;
};

struct StreamOptions {
  MemoryEstimate memory;
  bool prefetch = false;
  IoPlacement io = IoPlacement::kArena;
  bool staging = false;               ///< copy constants into the fast arena; only with prefetch
  std::uint64_t fast_bytes = 0;       ///< what the fast arena may have
  std::vector<LiveBuffer> live = {};  ///< all buffers in it
  int passes = 4;                     ///< how often what is worth staging is found out anew
};

struct Stream {
  std::vector<std::uint32_t> words;
  std::uint64_t staged_top = 0;  ///< of the fast arena's bytes that constants are copied to
  double cycles = 0;             ///< estimate
};

/// Scratchpad that staging needs beside a section's own buffers.
std::int64_t staging_bytes(const arch::NpuConfig& npu);

/// The stream of all sections in order, with END. Compute and store instructions keep their order,
/// and so do loads, except that loads of constants may come earlier.
Stream emit_stream(std::vector<Section> sections, const arch::NpuConfig& npu,
                   const StreamOptions& options);

}  // namespace deputy::delegate
