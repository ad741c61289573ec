// How many NPU cycles a compute instruction takes: the performance contract. The model charges
// these cycles and the compiler searches tilings with the same formulas.
#pragma once

#include <cstdint>

#include "arch/isa.h"
#include "arch/npu_config.h"

namespace deputy::arch {

/// What one compute instruction costs. The units work in parallel; the slowest decides.
struct ComputeCost {
  std::uint64_t macs = 0;         ///< useful multiply-accumulates
  std::uint64_t mac_cycles = 0;   ///< MAC array
  std::uint64_t vec_cycles = 0;   ///< output stage, element-wise, pooling or table unit
  std::uint64_t vec_results = 0;  ///< results that unit produced
  std::uint64_t spm_bytes = 0;    ///< bytes read and written in the scratchpad
  std::uint64_t spm_cycles =
      0;  ///< scratchpad: windows read, or bytes moved, whichever takes longer
  std::uint64_t cycles =
      0;  ///< max of the three, ctrl.start_cycles, and what a drain or a refill adds
};
ComputeCost compute_cost(const Operation& op, const NpuConfig& npu);

}  // namespace deputy::arch
