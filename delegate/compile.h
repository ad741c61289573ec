// The compiler: a graph in, an executable out.
#pragma once

#include <string>

#include "arch/dsp_config.h"
#include "arch/executable.h"
#include "arch/host_config.h"
#include "arch/npu_config.h"
#include "base/result.h"
#include "delegate/ir/graph.h"
#include "delegate/optimisations.h"
#include "delegate/partition/limits.h"
#include "delegate/trace.h"

namespace deputy::delegate {

enum class EnginePolicy : std::uint8_t { kAuto, kNpu, kCpu };

/// Where graph inputs and outputs lie: in the arenas with everything else, or in external regions
/// (arch/executable.h) that are costed as SRAM or as DRAM.
enum class IoPlacement : std::uint8_t { kArena, kSram, kDram };

/// What becomes of an operator that the NPU would take were it quantised otherwise
/// (contract/check_contract.h).
enum class ContractPolicy : std::uint8_t {
  kCpu,      ///< it runs on the CPU, with the mismatch as its reason
  kReject,   ///< the model is refused
  kConvert,  ///< conversions are inserted where they can be
};

/// Whether the compiler takes a region for SRAM.
inline bool region_in_sram(arch::Region region, IoPlacement io) {
  return region == arch::Region::kFastArena ||
         (arch::is_external(region) && io == IoPlacement::kSram);
}

/// What the compiler assumes of the memories when it weighs transfers against computation.
struct MemoryEstimate {
  double sram_bytes_per_cycle = 8;  ///< NPU cycles
  double dram_bytes_per_cycle = 4;
  double sram_latency_cycles = 32;  ///< until a LOAD's first byte, or a STORE's acknowledgement
  double dram_latency_cycles = 32;
  double dram_burst_bytes = 64;  ///< the DRAM moves whole aligned bursts
};

struct CompileOptions {
  arch::NpuConfig npu;
  arch::DspTarget dsp;  ///< placed on by cost (kAuto) and by rules alone
  Numerics numerics = Numerics::kTflite;
  EnginePolicy engine =
      EnginePolicy::kAuto;  ///< kAuto: cheapest by estimate; kNpu: all the NPU can take; kCpu: none
  bool keep_all_tensors = false;  ///< every tensor gets storage of its own, for inspection
  PlacementLimits placement;      ///< what the user asks of the placement, under any policy
  arch::HostConfig host;          ///< what the CPU's work costs
  double register_bus_ns = 20;    ///< of one device register access, beside the CPU's own cycles
  std::uint64_t sram_bytes = 1 << 20;  ///< shared SRAM the fast arena may use
  MemoryEstimate memory;
  IoPlacement io =
      IoPlacement::kArena;  ///< inputs and outputs that cannot be external stay in the arenas
  ContractPolicy contract = ContractPolicy::kCpu;
  bool fallback = false;  ///< with every NPU program its fallback (arch/executable.h)
  Optimisations optimisations;
  Effort effort = Effort::kFull;
  CompileTrace* trace = nullptr;  ///< where decisions are written down; not owned, may be null
};

/// Compiles a valid graph. Errors: kUnsupported when neither engine takes an operator (named, with
/// the reasons). Deterministic: the same graph and options give equal executables.
base::Result<arch::Executable> compile(const Graph& graph, const CompileOptions& options);

}  // namespace deputy::delegate
