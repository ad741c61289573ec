// A naive NPU: every compute instruction written straight from arch/isa.h, one output at a time,
// with its own rounding arithmetic in 128-bit integers. Shares nothing with the executor but the
// instruction structs.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/isa.h"

namespace deputy::npu_test {

struct Oracle {
  std::vector<std::uint8_t> spm;
  std::vector<std::int32_t> accumulators;

  void execute(const arch::Operation& op);
};

/// Rounding modes by their definitions: 0 double, 1 single, 2 fp32.
std::int64_t naive_requantize(std::int32_t acc, std::int32_t multiplier, std::int32_t shift,
                              std::uint32_t rounding);

}  // namespace deputy::npu_test
