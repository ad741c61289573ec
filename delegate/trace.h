// What a compile decided and why, for --dump and --explain. A caller that wants to know hands a
// CompileTrace in CompileOptions; every stage adds what it knows, and nothing is computed for it
// otherwise. It never changes the result.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace deputy::delegate {

struct MemoryUse;  // passes/check_memory_plan.h

/// One decision in words.
struct TraceNote {
  std::string
      topic;  ///< "tile", "order", "weights", "fusion", "cascade", "memory", "partition", ...
  std::string text;  ///< a sentence without a full stop
};

/// A way to run a kernel that the search timed.
struct TraceCandidate {
  std::string text;   ///< tile, loop order and buffers in words
  double cycles = 0;  ///< by the cost model
  bool chosen = false;
};

/// One kernel: an operator with what was fused into it.
struct KernelTrace {
  std::uint32_t main = 0;          ///< operator whose index the instructions carry
  std::vector<std::uint32_t> ops;  ///< all operators it does, in order
  std::vector<TraceCandidate> candidates;
  std::vector<TraceNote> notes;
};

struct CompileTrace {
  std::vector<KernelTrace> kernels;  ///< in the order they were lowered
  std::vector<TraceNote> notes;      ///< about the whole compile
  std::function<void(const MemoryUse&)>
      checked;  ///< if set: called with what the checkers were given

  /// The entry of the kernel whose main operator is `main`; a new one when it has none yet.
  KernelTrace& kernel(std::uint32_t main) {
    for (KernelTrace& k : kernels)
      if (k.main == main) return k;
    kernels.push_back({main, {main}, {}, {}});
    return kernels.back();
  }
};

}  // namespace deputy::delegate
