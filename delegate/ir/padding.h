// Explicit pads of windowed operators from the SAME and VALID rules.
#pragma once

#include <cstdint>

#include "arch/ops.h"

namespace deputy::delegate {

/// One spatial dimension. `effective` is (kernel - 1) * dilation + 1.
struct WindowExtent {
  std::int64_t out = 0;
  std::int64_t pad_before = 0, pad_after = 0;
};

/// in >= 0, kernel, stride, dilation >= 1. SAME: out = ceil(in / stride), the odd pad goes after.
/// VALID: no pads; out may be <= 0 when the kernel does not fit.
WindowExtent window_extent(arch::Padding padding, std::int64_t in, std::int64_t kernel,
                           std::int64_t stride, std::int64_t dilation);

/// Output size with pads already explicit: floor((in + pads - effective) / stride) + 1; <= 0 if it
/// does not fit.
std::int64_t window_output(std::int64_t in, std::int64_t pads, std::int64_t kernel,
                           std::int64_t stride, std::int64_t dilation);

}  // namespace deputy::delegate
