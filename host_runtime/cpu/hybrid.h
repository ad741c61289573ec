// CONV_2D with float activations and int8 weights of one scale ("dynamic range" models): TFLite
// quantises each image of the batch symmetrically to int8, sums exactly, and scales back to float.
#pragma once

#include <vector>

#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {

/// True when `c` is a convolution of float32 input with int8 weights.
bool is_hybrid(const OpCall& c);
base::Status expect_hybrid_weights(const OpCall& c);

/// One image as int8 values widened to int16, and the float that a step stands for.
struct HybridImage {
  std::vector<std::int16_t> values;
  float scale;
};
HybridImage quantise_image(const float* image, std::int64_t count);

}  // namespace deputy::host_runtime
