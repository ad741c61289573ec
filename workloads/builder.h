// Builds int8 networks in code: seeded weights, batch-normalised and quantised as a converter
// would, with output scales from one float sample so that int8 values spread without saturating.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "delegate/ir/graph.h"
#include "workloads/float_reference.h"
#include "workloads/random.h"

namespace deputy::workloads {

using delegate::TensorId;

/// A convolution or pool. Heights of 1 make it one-dimensional.
struct Window {
  int kernel_h = 1, kernel_w = 1;
  int stride_h = 1, stride_w = 1;
  int dilation_h = 1, dilation_w = 1;
  arch::Padding padding = arch::Padding::kSame;  ///< kSame or kValid
  arch::Activation activation = arch::Activation::kNone;
};

inline Window square(int kernel, int stride, arch::Activation activation) {
  return {.kernel_h = kernel,
          .kernel_w = kernel,
          .stride_h = stride,
          .stride_w = stride,
          .activation = activation};
}

/// Tensors are NHWC, batch 1. Weights are int8 per output channel (FULLY_CONNECTED: one scale),
/// biases int32, activations int8. Shapes that do not fit are our own bugs and abort.
class Builder {
 public:
  /// The same name and seed always give the same graph.
  Builder(const std::string& name, std::uint64_t seed);

  /// int8 input whose real values lie in [lo, hi].
  TensorId input(const Shape& shape, float lo, float hi);
  TensorId conv(const std::string& name, TensorId x, int filters, const Window& window);
  /// `multiplier` output channels for each input channel.
  TensorId depthwise(const std::string& name, TensorId x, int multiplier, const Window& window);
  /// x: [n, k]
  TensorId fully_connected(const std::string& name, TensorId x, int units,
                           arch::Activation activation = arch::Activation::kNone);
  TensorId add(const std::string& name, TensorId a, TensorId b, arch::Activation activation);
  TensorId average_pool(const std::string& name, TensorId x, const Window& window);
  TensorId max_pool(const std::string& name, TensorId x, const Window& window);
  /// Mean over height and width, which disappear.
  TensorId global_mean(const std::string& name, TensorId x);
  /// Zeros around the image.
  TensorId pad(const std::string& name, TensorId x, int top, int bottom, int left, int right);
  /// The part of the image that begins at (top, left): a SLICE.
  TensorId crop(const std::string& name, TensorId x, int top, int left, int height, int width);
  TensorId reshape(const std::string& name, TensorId x, const Shape& shape);
  TensorId softmax(const std::string& name, TensorId x);
  TensorId elu(const std::string& name, TensorId x);

  const Shape& shape(TensorId id) const { return graph_.tensor(id).desc.shape; }
  /// Ends the build; the builder is empty afterwards.
  delegate::Graph finish(const std::vector<TensorId>& outputs);

 private:
  struct Layer {  ///< a weighted operator before quantisation
    Sample weights, bias, out;
    int channels = 0;
    bool per_channel = true;
    int weight_axis = 0;
  };
  TensorId add_tensor(const std::string& name, DType dtype, const Shape& shape, Quantisation quant,
                      Sample sample);
  TensorId add_constant(const std::string& name, DType dtype, const Shape& shape,
                        Quantisation quant, std::vector<std::uint8_t> data);
  TensorId add_ints(const std::string& name, const Shape& shape,
                    const std::vector<std::int32_t>& values);
  TensorId add_op(arch::OpKind kind, const arch::OpAttrs& attrs,
                  const std::vector<TensorId>& inputs, TensorId output);
  Sample seeded_weights(std::int64_t count, std::int64_t fan_in);
  /// Channel of each weight, for a weight at flat index i.
  std::size_t channel_of(const Layer& layer, std::size_t i) const;
  void normalise(Layer& layer);
  TensorId finish_layer(const std::string& name, arch::OpKind kind, const arch::OpAttrs& attrs,
                        TensorId x, const Shape& weight_shape, const Shape& out_shape, Layer layer);
  TensorId pool(arch::OpKind kind, const std::string& name, TensorId x, const Window& window);
  /// Attributes with pads resolved against `x`, and the spatial output size.
  arch::OpAttrs window_attrs(const Window& window, const Shape& x, Shape& out) const;

  delegate::Graph graph_;
  std::vector<Sample> samples_;  ///< one per tensor; empty for constants
  Random random_;
};

}  // namespace deputy::workloads
