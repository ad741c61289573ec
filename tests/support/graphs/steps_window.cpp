// Convolutions, pools, FULLY_CONNECTED and MEAN in every shape the operators allow.
#include <algorithm>

#include "delegate/ir/padding.h"
#include "tests/support/graphs/steps.h"

namespace deputy::graphs {
namespace {

// The spatial output, or false when the window does not fit.
bool spatial(const Maker& m, TensorId x, const WindowChoice& w, std::int32_t& h, std::int32_t& v) {
  const Shape& in = m.shape(x);
  h = static_cast<std::int32_t>(
      delegate::window_extent(w.padding, in[1], w.kernel_h, w.stride_h, w.dilation_h).out);
  v = static_cast<std::int32_t>(
      delegate::window_extent(w.padding, in[2], w.kernel_w, w.stride_w, w.dilation_w).out);
  return h >= 1 && v >= 1;
}

arch::OpAttrs attrs_of(const WindowChoice& w) {
  arch::OpAttrs a;
  a.padding = static_cast<std::uint8_t>(w.padding);
  a.activation = static_cast<std::uint8_t>(w.activation);
  a.stride_h = w.stride_h, a.stride_w = w.stride_w;
  a.dilation_h = w.dilation_h, a.dilation_w = w.dilation_w;
  return a;
}

}  // namespace

arch::Activation random_activation(Maker& m) {
  return m.chance(45) ? arch::Activation::kNone : static_cast<arch::Activation>(m.pick(1, 3));
}

WindowChoice random_window(Maker& m, TensorId x, int largest_kernel) {
  WindowChoice w;
  const Shape& in = m.shape(x);
  w.kernel_h = m.pick(1, largest_kernel);
  w.kernel_w = m.chance(70) ? w.kernel_h : m.pick(1, largest_kernel);
  if (m.chance(45)) w.stride_h = w.stride_w = m.pick(1, 3);
  if (m.chance(10))
    w.stride_h = m.pick(1, 5), w.stride_w = m.pick(1, 5);  // often beyond the kernel
  if (m.chance(12)) w.dilation_h = m.pick(1, 3), w.dilation_w = m.pick(1, 3);
  w.activation = random_activation(m);
  const bool fits =
      in[1] >= (w.kernel_h - 1) * w.dilation_h + 1 && in[2] >= (w.kernel_w - 1) * w.dilation_w + 1;
  w.padding = fits && m.chance(40) ? arch::Padding::kValid : arch::Padding::kSame;
  return w;
}

TensorId conv(Maker& m, TensorId x, int channels, const WindowChoice& w) {
  std::int32_t h = 0, v = 0;
  const Shape in = m.shape(x);
  if (!spatial(m, x, w, h, v)) return kNoTensor;
  const std::int64_t fan_in = std::int64_t{w.kernel_h} * w.kernel_w * in[3];
  const std::int64_t pixels = std::int64_t{in[0]} * h * v;
  if (pixels * channels > m.limits.elements || pixels * channels * fan_in > m.limits.macs)
    channels =
        static_cast<int>(std::min(m.limits.elements / pixels, m.limits.macs / (pixels * fan_in)));
  if (channels < 1) return kNoTensor;
  const Quantisation out = m.quantisation();
  const TensorId weights = m.weights({channels, w.kernel_h, w.kernel_w, in[3]}, 0, fan_in, x, out);
  const TensorId bias = m.bias(channels);
  return m.emit(OpKind::CONV_2D, attrs_of(w), {x, weights, bias}, {in[0], h, v, channels}, out);
}

TensorId depthwise(Maker& m, TensorId x, int multiplier, const WindowChoice& w) {
  std::int32_t h = 0, v = 0;
  const Shape in = m.shape(x);
  const std::int32_t channels = in[3] * multiplier;
  if (!spatial(m, x, w, h, v)) return kNoTensor;
  const std::int64_t fan_in = std::int64_t{w.kernel_h} * w.kernel_w;
  const std::int64_t elements = std::int64_t{in[0]} * h * v * channels;
  if (elements > m.limits.elements || elements * fan_in > m.limits.macs) return kNoTensor;
  const Quantisation out = m.quantisation();
  const TensorId weights = m.weights({1, w.kernel_h, w.kernel_w, channels}, 3, fan_in, x, out);
  const TensorId bias = m.bias(channels);
  arch::OpAttrs a = attrs_of(w);
  a.depth_multiplier = multiplier;
  return m.emit(OpKind::DEPTHWISE_CONV_2D, a, {x, weights, bias}, {in[0], h, v, channels}, out);
}

TensorId pool(Maker& m, TensorId x, bool average, const WindowChoice& w) {
  WindowChoice undilated = w;
  undilated.dilation_h = undilated.dilation_w = 1;
  std::int32_t h = 0, v = 0;
  if (!spatial(m, x, undilated, h, v)) return kNoTensor;
  arch::OpAttrs a = attrs_of(undilated);
  a.filter_h = w.kernel_h, a.filter_w = w.kernel_w;
  const Shape in = m.shape(x);
  return m.emit(average ? OpKind::AVERAGE_POOL_2D : OpKind::MAX_POOL_2D, a, {x},
                {in[0], h, v, in[3]}, m.quant(x));
}

TensorId fully_connected(Maker& m, TensorId x, int units) {
  Shape out = m.shape(x);
  if (out.empty()) return kNoTensor;
  arch::OpAttrs a;
  a.activation = static_cast<std::uint8_t>(random_activation(m));
  std::int32_t k = out.back();
  a.keep_num_dims = out.size() > 2 && m.chance(40);
  if (a.keep_num_dims) {
    out.back() = units;
  } else {
    if (m.chance(50)) k = static_cast<std::int32_t>(m.elements(x) / out[0]);  // one row an image
    out = {static_cast<std::int32_t>(m.elements(x) / k), units};
  }
  if (element_count(out) > m.limits.elements || element_count(out) * k > m.limits.macs)
    return kNoTensor;
  const Quantisation quant = m.quantisation();
  const TensorId weights = m.weights({units, k}, 0, k, x, quant), bias = m.bias(units);
  return m.emit(OpKind::FULLY_CONNECTED, a, {x, weights, bias}, std::move(out), quant);
}

TensorId mean(Maker& m, TensorId x) {
  const Shape in = m.shape(x);
  std::vector<std::int32_t> axes = {1, 2};
  if (in.size() < 3) axes = {0};
  if (in.size() >= 2 && m.chance(30)) axes = {m.pick(0, static_cast<int>(in.size()) - 1)};
  if (in.empty()) return kNoTensor;
  arch::OpAttrs a;
  a.keep_dims = m.chance(50);
  Shape out;
  for (std::int32_t d = 0; d < static_cast<std::int32_t>(in.size()); ++d) {
    const bool folded = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (!folded) out.push_back(in[static_cast<std::size_t>(d)]);
    if (folded && a.keep_dims) out.push_back(1);
  }
  if (m.chance(20)) axes[0] -= static_cast<std::int32_t>(in.size());  // counted from the back
  const TensorId operand = m.ints(axes);
  return m.emit(OpKind::MEAN, a, {x, operand}, std::move(out),
                m.chance(50) ? m.quant(x) : m.quantisation());
}

}  // namespace deputy::graphs
