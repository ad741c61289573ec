// A network of a few kilobytes that has one of everything the importer treats apart: convolutions,
// constant operands, options with enums, several consumers.
#pragma once

#include "workloads/builder.h"

namespace deputy::delegate::testing {

inline Graph small_network() {
  using arch::Activation;
  workloads::Builder b("small", 99);
  TensorId x = b.input({1, 9, 7, 3}, -1.0f, 1.5f);
  x = b.conv("conv", x, 8,
             {.kernel_h = 3, .kernel_w = 2, .stride_h = 2, .activation = Activation::kRelu6});
  const TensorId y = b.depthwise("dw", x, 1, {.kernel_h = 3, .kernel_w = 3, .dilation_w = 2});
  x = b.add("add", x, y, Activation::kRelu);
  x = b.pad("pad", x, 1, 1, 0, 1);
  x = b.max_pool("pool", x, {.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2});
  x = b.elu("elu", x);
  x = b.fully_connected("dense", b.global_mean("mean", x), 5);
  return b.finish({b.softmax("softmax", x), y});
}

}  // namespace deputy::delegate::testing
