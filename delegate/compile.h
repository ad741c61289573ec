// The compiler: a graph in, an executable out.
#pragma once

#include <string>

#include "arch/executable.h"
#include "arch/npu_config.h"
#include "base/result.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

enum class EnginePolicy : std::uint8_t { kAuto, kNpu, kCpu };

struct CompileOptions {
  arch::NpuConfig npu;
  Numerics numerics = Numerics::kTflite;
  EnginePolicy engine = EnginePolicy::kAuto;  ///< kAuto: cheapest by estimate; kNpu: all the NPU can take; kCpu: none
  bool keep_all_tensors = false;              ///< every tensor gets storage of its own, for inspection
  std::uint64_t sram_bytes = 1 << 20;         ///< shared SRAM the fast arena may use
};

/// Compiles a valid graph. Errors: kUnsupported when neither engine takes an operator (named, with the
/// reasons). Deterministic: the same graph and options give equal executables.
base::Result<arch::Executable> compile(const Graph& graph, const CompileOptions& options);

}  // namespace deputy::delegate
