// Cycles of an array that takes its weights bit by bit, as PULP's NE16 does (npu.serial).
#pragma once

#include <cstdint>

#include "arch/isa.h"
#include "arch/npu_config.h"

namespace deputy::arch {

/// Array cycles, output stage included, and scratchpad bytes of one instruction.
struct SerialCost {
  std::uint64_t cycles = 0, spm_bytes = 0;
};
SerialCost serial_cost(const Conv& conv, const NpuConfig& npu);
SerialCost serial_cost(const Depthwise& depthwise, const NpuConfig& npu);

}  // namespace deputy::arch
