// Which arithmetic an operator really gets under a numerics mode. In `fp32` the reference runtime
// is TFLite with XNNPACK, and what XNNPACK does not take runs in TFLite's builtin kernels, mostly
// by the double-rounding rule. The compiler and the CPU kernels ask here, so that an operator is
// computed the same way on either.
#pragma once

#include <cstdint>
#include <span>

#include "base/types.h"

namespace deputy::arch {

/// ADD and SUB (MUL): XNNPACK refuses extreme scale ratios. Pass the result to add_requant
/// (mul_requant) and eltwise_add, eltwise_sub (eltwise_mul).
Numerics add_rule(float s_a, float s_b, float s_out, Numerics mode);
Numerics mul_rule(float s_a, float s_b, float s_out, Numerics mode);

/// DEPTHWISE_CONV_2D: XNNPACK wants a bias operand.
Numerics depthwise_rule(bool has_bias, Numerics mode);

/// TRANSPOSE_CONV: XNNPACK wants one weight scale for all channels.
Numerics transpose_conv_rule(bool per_channel_weights, Numerics mode);

/// MEAN of a quantised tensor.
enum class MeanRule : std::uint8_t {
  kMeanRequant,  ///< mean_requant and requantize under the mode given
  kSplitBias,  ///< `fp32`, axes {1, 2} kept: the raw sum and the zero point are rescaled separately
  kFloat,      ///< `fp32`, otherwise: float32 mean, rounded half away
  kTruncated,  ///< `fp32`, otherwise, equal quantisation: the raw sum divided, truncated towards
               ///< zero
};
/// `axes` as the model writes them (possibly negative).
MeanRule mean_rule(std::size_t rank, std::span<const std::int64_t> axes, bool keep_dims,
                   bool equal_quantisation, Numerics mode);

}  // namespace deputy::arch
