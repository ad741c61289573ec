// Float forward pass of one sample, by which the builder chooses output ranges. It is no oracle:
// only the spread of the values matters. Plain loops in a fixed order, so that the networks are the
// same bits everywhere.
#pragma once

#include <vector>

#include "arch/ops.h"

namespace deputy::workloads {

using Sample = std::vector<float>;  ///< one tensor's values, C order

/// Convolution without bias. x: NHWC; w: out channels, height, width, in channels; attrs: strides,
/// dilations and resolved pads.
Sample conv_sample(const Sample& x, const Shape& x_shape, const Sample& w, const Shape& w_shape,
                   const arch::OpAttrs& attrs, const Shape& out_shape);
/// w: 1, height, width, channels * multiplier.
Sample depthwise_sample(const Sample& x, const Shape& x_shape, const Sample& w,
                        const Shape& w_shape, const arch::OpAttrs& attrs, const Shape& out_shape);
/// Rows of w dotted with x's last dimension.
Sample fully_connected_sample(const Sample& x, const Sample& w, const Shape& w_shape);
/// Average (or maximum) of the taps inside the image.
Sample pool_sample(const Sample& x, const Shape& x_shape, const arch::OpAttrs& attrs,
                   const Shape& out_shape, bool maximum);
Sample pad_sample(const Sample& x, const Shape& x_shape, const Shape& out_shape, int top, int left);
void apply_activation(Sample& x, arch::Activation activation);

}  // namespace deputy::workloads
