// The configurations that the RTL is built for.
#pragma once

#include <vector>

#include "arch/npu_config.h"

namespace deputy::npu_test {

inline std::vector<arch::NpuConfig> rtl_shapes() {
  arch::NpuConfig wearable, small;
  small.mac.oc_lanes = small.mac.ic_lanes = 4, small.mac.pixels = 1, small.mac.accumulators = 512;
  small.spm.bytes = 32768, small.spm.bytes_per_cycle = 64;
  small.vec.out_lanes = small.vec.pool_lanes = 4, small.vec.ew_lanes = 2;
  return {wearable, small};
}

}  // namespace deputy::npu_test
