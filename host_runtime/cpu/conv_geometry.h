// Shapes and window arithmetic of convolution and pooling, checked once.
#pragma once

#include <cstdint>

#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {

/// NHWC input, window kh x kw, NHWC output. All in 64 bits: attributes of a hostile model are any
/// int32.
struct Window {
  std::int64_t n, h, w, c;  ///< input
  std::int64_t oh, ow, oc;  ///< output
  std::int64_t kh, kw;
  std::int64_t sh, sw, dh, dw, pt, pl;

  std::int64_t in_y(std::int64_t oy, std::int64_t ky) const { return oy * sh - pt + ky * dh; }
  std::int64_t in_x(std::int64_t ox, std::int64_t kx) const { return ox * sw - pl + kx * dw; }
};

Window make_window(const OpCall& c, std::int64_t kh, std::int64_t kw);

/// Rank 4, positive strides, dilations and window, pads >= 0, and the output's batch, height and
/// width.
base::Status expect_window(const OpCall& c, std::int64_t kh, std::int64_t kw);

}  // namespace deputy::host_runtime
