// SAME and VALID as TensorFlow documents them.
#include "delegate/ir/padding.h"

#include <algorithm>

namespace deputy::delegate {
namespace {
std::int64_t effective(std::int64_t kernel, std::int64_t dilation) {
  return (kernel - 1) * dilation + 1;
}
}  // namespace

WindowExtent window_extent(arch::Padding padding, std::int64_t in, std::int64_t kernel,
                           std::int64_t stride, std::int64_t dilation) {
  WindowExtent extent;
  if (padding == arch::Padding::kSame) {
    extent.out = (in + stride - 1) / stride;
    const std::int64_t total =
        std::max<std::int64_t>((extent.out - 1) * stride + effective(kernel, dilation) - in, 0);
    extent.pad_before = total / 2;
    extent.pad_after = total - extent.pad_before;
  } else {
    extent.out = window_output(in, 0, kernel, stride, dilation);
  }
  return extent;
}

std::int64_t window_output(std::int64_t in, std::int64_t pads, std::int64_t kernel,
                           std::int64_t stride, std::int64_t dilation) {
  const std::int64_t room = in + pads - effective(kernel, dilation);
  return room < 0 ? 0 : room / stride + 1;
}

}  // namespace deputy::delegate
