// The random steps that grow a graph. Each reads feature maps of the maker and adds operators; a
// step that finds nothing to work on does nothing. The window, element-wise and move functions add
// one operator and are also the parts of the blocks.
#pragma once

#include "workloads/selftest/maker.h"

namespace deputy::graphs {

// steps_window.cpp: one operator on `x`, a rank-4 map; kNoTensor when it would break the limits.
struct WindowChoice {
  int kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  arch::Padding padding = arch::Padding::kSame;
  arch::Activation activation = arch::Activation::kNone;
};
WindowChoice random_window(Maker& m, TensorId x, int largest_kernel);
TensorId conv(Maker& m, TensorId x, int channels, const WindowChoice& window);
TensorId depthwise(Maker& m, TensorId x, int multiplier, const WindowChoice& window);
TensorId pool(Maker& m, TensorId x, bool average, const WindowChoice& window);
TensorId fully_connected(Maker& m, TensorId x,
                         int units);  ///< any rank; rows are the leading dimensions
TensorId mean(Maker& m, TensorId x);
arch::Activation random_activation(Maker& m);

// steps_elementwise.cpp
TensorId binary(Maker& m, OpKind kind, TensorId a, TensorId b);  ///< shapes must broadcast
TensorId binary_constant(Maker& m, TensorId x);
TensorId unary(Maker& m, OpKind kind, TensorId x);
TensorId random_unary(Maker& m, TensorId x);
TensorId table_chain(Maker& m, TensorId x);
TensorId requantise(Maker& m, TensorId x, const Quantisation& to);  ///< QUANTIZE
TensorId cpu_only(Maker& m, TensorId x);  ///< an operator that no NPU of the family has

// steps_move.cpp
TensorId pad(Maker& m, TensorId x, int most);
/// Parts of another quantisation go through a QUANTIZE, as int8 models demand.
TensorId concat(Maker& m, std::vector<TensorId> parts, int axis, const Quantisation& to);
std::vector<TensorId> split(Maker& m, TensorId x);
TensorId slice(Maker& m, TensorId x);
TensorId transpose(Maker& m, TensorId x, const std::vector<std::int32_t>& order);
TensorId reshape(Maker& m, TensorId x);
TensorId move(Maker& m, TensorId x);  ///< any of the above and their relatives

/// steps_block.cpp: one random step.
void random_step(Maker& m);

}  // namespace deputy::graphs
