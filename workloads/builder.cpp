#include "workloads/builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "delegate/ir/padding.h"

namespace deputy::workloads {

using arch::Activation;
using arch::OpAttrs;
using arch::OpKind;
using arch::Padding;

namespace {

Quantisation tensor_quant(float scale, std::int32_t zero_point) {
  return {{scale}, {zero_point}, 0};
}

/// Asymmetric int8 over the sample's range; 0 is always a value, as the specification demands.
Quantisation activation_quant(const Sample& sample) {
  const auto [lo_it, hi_it] = std::minmax_element(sample.begin(), sample.end());
  const double lo = std::min(0.0f, *lo_it), hi = std::max(0.0f, *hi_it);
  const auto scale = static_cast<float>(std::max(hi - lo, 1e-6) / 255.0);
  const double zero = std::nearbyint(-128.0 - lo / scale);
  return tensor_quant(scale, static_cast<std::int32_t>(std::clamp(zero, -128.0, 127.0)));
}

template <class T>
std::vector<std::uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<std::uint8_t> out(values.size() * sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

}  // namespace

Builder::Builder(const std::string& name, std::uint64_t seed) : random_(seed) {
  graph_.name = name;
}

TensorId Builder::add_tensor(const std::string& name, DType dtype, const Shape& shape,
                             Quantisation quant, Sample sample) {
  delegate::Tensor tensor;
  tensor.desc = {name, dtype, shape, std::move(quant)};
  tensor.source_index = static_cast<std::int32_t>(graph_.tensors.size());
  graph_.tensors.push_back(std::move(tensor));
  samples_.push_back(std::move(sample));
  return static_cast<TensorId>(graph_.tensors.size() - 1);
}

TensorId Builder::add_constant(const std::string& name, DType dtype, const Shape& shape,
                               Quantisation quant, std::vector<std::uint8_t> data) {
  const TensorId id = add_tensor(name, dtype, shape, std::move(quant), {});
  graph_.tensor(id).constant = true;
  graph_.tensor(id).data = std::move(data);
  return id;
}

TensorId Builder::add_ints(const std::string& name, const Shape& shape,
                           const std::vector<std::int32_t>& values) {
  return add_constant(name, DType::kInt32, shape, {}, bytes_of(values));
}

TensorId Builder::add_op(OpKind kind, const OpAttrs& attrs, const std::vector<TensorId>& inputs,
                         TensorId output) {
  graph_.ops.push_back(
      {kind, attrs, inputs, {output}, static_cast<std::int32_t>(graph_.ops.size())});
  return output;
}

TensorId Builder::input(const Shape& shape, float lo, float hi) {
  Sample sample(static_cast<std::size_t>(element_count(shape)));
  for (float& v : sample) v = random_.uniform(lo, hi);
  const float range[] = {lo, hi};
  const TensorId id = add_tensor("input", DType::kInt8, shape, activation_quant({range, range + 2}),
                                 std::move(sample));
  graph_.inputs.push_back(id);
  return id;
}

Sample Builder::seeded_weights(std::int64_t count, std::int64_t fan_in) {
  const float spread = std::sqrt(2.0f / static_cast<float>(fan_in));
  Sample weights(static_cast<std::size_t>(count));
  for (float& w : weights) w = random_.normal() * spread;
  return weights;
}

std::size_t Builder::channel_of(const Layer& layer, std::size_t i) const {
  const auto channels = static_cast<std::size_t>(layer.channels);
  return layer.weight_axis == 0 ? i / (layer.weights.size() / channels) : i % channels;
}

/// What a folded batch normalisation leaves: each channel scaled to a spread near 1 and shifted.
/// Layers with too few positions for statistics per channel share one scale.
void Builder::normalise(Layer& layer) {
  const auto channels = static_cast<std::size_t>(layer.channels);
  const std::size_t positions = layer.out.size() / channels;
  std::vector<double> sum(channels), squares(channels);
  double all_squares = 0;
  for (std::size_t i = 0; i < layer.out.size(); ++i) {
    const double v = layer.out[i];
    sum[i % channels] += v;
    squares[i % channels] += v * v;
    all_squares += v * v;
  }
  const double shared = std::sqrt(all_squares / static_cast<double>(layer.out.size())) + 1e-6;
  std::vector<float> gain(channels);
  layer.bias.resize(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const double count = static_cast<double>(positions), mean = sum[c] / count;
    const bool own = positions >= 8;
    const double spread =
        own ? std::sqrt(std::max(squares[c] / count - mean * mean, 0.0)) + 1e-3 : shared;
    gain[c] = random_.uniform(0.6f, 1.4f) / static_cast<float>(spread);
    layer.bias[c] = random_.normal() * 0.3f - (own ? static_cast<float>(mean) * gain[c] : 0.0f);
  }
  for (std::size_t i = 0; i < layer.out.size(); ++i)
    layer.out[i] = layer.out[i] * gain[i % channels] + layer.bias[i % channels];
  for (std::size_t i = 0; i < layer.weights.size(); ++i)
    layer.weights[i] *= gain[channel_of(layer, i)];
}

TensorId Builder::finish_layer(const std::string& name, OpKind kind, const OpAttrs& attrs,
                               TensorId x, const Shape& weight_shape, const Shape& out_shape,
                               Layer layer) {
  normalise(layer);
  apply_activation(layer.out, static_cast<Activation>(attrs.activation));
  const auto channels = static_cast<std::size_t>(layer.channels);
  std::vector<float> largest(layer.per_channel ? channels : 1);
  const auto slot = [&](std::size_t i) { return layer.per_channel ? channel_of(layer, i) : 0; };
  for (std::size_t i = 0; i < layer.weights.size(); ++i)
    largest[slot(i)] = std::max(largest[slot(i)], std::abs(layer.weights[i]));
  Quantisation weight_quant, bias_quant;
  const float input_scale = graph_.tensor(x).desc.quant.scale[0];
  for (const float value : largest) {
    weight_quant.scale.push_back(std::max(value, 1e-6f) / 127.0f);
    weight_quant.zero_point.push_back(0);
    bias_quant.scale.push_back(input_scale * weight_quant.scale.back());
    bias_quant.zero_point.push_back(0);
  }
  if (weight_quant.per_channel()) weight_quant.axis = layer.weight_axis;
  std::vector<std::int8_t> weights(layer.weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] =
        static_cast<std::int8_t>(std::nearbyint(layer.weights[i] / weight_quant.scale[slot(i)]));
  std::vector<std::int32_t> bias(channels);
  for (std::size_t c = 0; c < channels; ++c)
    bias[c] = static_cast<std::int32_t>(std::nearbyint(
        static_cast<double>(layer.bias[c]) / bias_quant.scale[layer.per_channel ? c : 0]));
  const TensorId w =
      add_constant(name + "/weights", DType::kInt8, weight_shape, weight_quant, bytes_of(weights));
  const TensorId b =
      add_constant(name + "/bias", DType::kInt32, {layer.channels}, bias_quant, bytes_of(bias));
  const Quantisation out_quant = activation_quant(layer.out);
  const TensorId out = add_tensor(name, DType::kInt8, out_shape, out_quant, std::move(layer.out));
  return add_op(kind, attrs, {x, w, b}, out);
}

OpAttrs Builder::window_attrs(const Window& window, const Shape& x, Shape& out) const {
  DEPUTY_CHECK(x.size() == 4, "a windowed layer needs an NHWC tensor");
  const auto h = delegate::window_extent(window.padding, x[1], window.kernel_h, window.stride_h,
                                         window.dilation_h);
  const auto w = delegate::window_extent(window.padding, x[2], window.kernel_w, window.stride_w,
                                         window.dilation_w);
  OpAttrs attrs;
  attrs.padding = static_cast<std::uint8_t>(window.padding);
  attrs.activation = static_cast<std::uint8_t>(window.activation);
  attrs.stride_h = window.stride_h;
  attrs.stride_w = window.stride_w;
  attrs.dilation_h = window.dilation_h;
  attrs.dilation_w = window.dilation_w;
  attrs.pad_top = static_cast<std::int32_t>(h.pad_before);
  attrs.pad_bottom = static_cast<std::int32_t>(h.pad_after);
  attrs.pad_left = static_cast<std::int32_t>(w.pad_before);
  attrs.pad_right = static_cast<std::int32_t>(w.pad_after);
  out = {x[0], static_cast<std::int32_t>(h.out), static_cast<std::int32_t>(w.out), x[3]};
  return attrs;
}

TensorId Builder::conv(const std::string& name, TensorId x, int filters, const Window& window) {
  const Shape in = shape(x);
  Shape out;
  const OpAttrs attrs = window_attrs(window, in, out);
  out[3] = filters;
  const Shape weight_shape = {filters, window.kernel_h, window.kernel_w, in[3]};
  Layer layer;
  layer.channels = filters;
  layer.weights =
      seeded_weights(element_count(weight_shape), element_count(weight_shape) / filters);
  layer.out = conv_sample(samples_[static_cast<std::size_t>(x)], in, layer.weights, weight_shape,
                          attrs, out);
  return finish_layer(name, OpKind::CONV_2D, attrs, x, weight_shape, out, std::move(layer));
}

TensorId Builder::depthwise(const std::string& name, TensorId x, int multiplier,
                            const Window& window) {
  const Shape in = shape(x);
  Shape out;
  OpAttrs attrs = window_attrs(window, in, out);
  attrs.depth_multiplier = multiplier;
  out[3] = in[3] * multiplier;
  const Shape weight_shape = {1, window.kernel_h, window.kernel_w, out[3]};
  Layer layer;
  layer.channels = out[3];
  layer.weight_axis = 3;
  layer.weights =
      seeded_weights(element_count(weight_shape), std::int64_t{window.kernel_h} * window.kernel_w);
  layer.out = depthwise_sample(samples_[static_cast<std::size_t>(x)], in, layer.weights,
                               weight_shape, attrs, out);
  return finish_layer(name, OpKind::DEPTHWISE_CONV_2D, attrs, x, weight_shape, out,
                      std::move(layer));
}

TensorId Builder::fully_connected(const std::string& name, TensorId x, int units,
                                  Activation activation) {
  DEPUTY_CHECK(shape(x).size() == 2, "a fully connected layer needs a [n, k] tensor");
  const Shape weight_shape = {units, shape(x)[1]};
  OpAttrs attrs;
  attrs.activation = static_cast<std::uint8_t>(activation);
  Layer layer;
  layer.channels = units;
  layer.per_channel = false;
  layer.weights = seeded_weights(element_count(weight_shape), weight_shape[1]);
  layer.out =
      fully_connected_sample(samples_[static_cast<std::size_t>(x)], layer.weights, weight_shape);
  return finish_layer(name, OpKind::FULLY_CONNECTED, attrs, x, weight_shape, {shape(x)[0], units},
                      std::move(layer));
}

TensorId Builder::add(const std::string& name, TensorId a, TensorId b, Activation activation) {
  DEPUTY_CHECK(shape(a) == shape(b), "add() takes tensors of one shape");
  Sample sum = samples_[static_cast<std::size_t>(a)];
  const Sample& other = samples_[static_cast<std::size_t>(b)];
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  apply_activation(sum, activation);
  OpAttrs attrs;
  attrs.activation = static_cast<std::uint8_t>(activation);
  const Quantisation quant = activation_quant(sum);
  const TensorId out = add_tensor(name, DType::kInt8, shape(a), quant, std::move(sum));
  return add_op(OpKind::ADD, attrs, {a, b}, out);
}

TensorId Builder::pool(OpKind kind, const std::string& name, TensorId x, const Window& window) {
  Shape out;
  OpAttrs attrs = window_attrs(window, shape(x), out);
  attrs.filter_h = window.kernel_h;
  attrs.filter_w = window.kernel_w;
  Sample sample = pool_sample(samples_[static_cast<std::size_t>(x)], shape(x), attrs, out,
                              kind == OpKind::MAX_POOL_2D);
  const TensorId y =
      add_tensor(name, DType::kInt8, out, graph_.tensor(x).desc.quant, std::move(sample));
  return add_op(kind, attrs, {x}, y);
}

TensorId Builder::average_pool(const std::string& name, TensorId x, const Window& window) {
  return pool(OpKind::AVERAGE_POOL_2D, name, x, window);
}

TensorId Builder::max_pool(const std::string& name, TensorId x, const Window& window) {
  return pool(OpKind::MAX_POOL_2D, name, x, window);
}

TensorId Builder::global_mean(const std::string& name, TensorId x) {
  const Shape in = shape(x);
  OpAttrs window;
  window.filter_h = in[1];
  window.filter_w = in[2];
  Sample sample =
      pool_sample(samples_[static_cast<std::size_t>(x)], in, window, {in[0], 1, 1, in[3]}, false);
  const TensorId axes = add_ints(name + "/axes", {2}, {1, 2});
  const Quantisation quant = activation_quant(sample);
  const TensorId out = add_tensor(name, DType::kInt8, {in[0], in[3]}, quant, std::move(sample));
  return add_op(OpKind::MEAN, {}, {x, axes}, out);
}

TensorId Builder::pad(const std::string& name, TensorId x, int top, int bottom, int left,
                      int right) {
  const Shape in = shape(x);
  const Shape out = {in[0], in[1] + top + bottom, in[2] + left + right, in[3]};
  const TensorId pads = add_ints(name + "/pads", {4, 2}, {0, 0, top, bottom, left, right, 0, 0});
  Sample sample = pad_sample(samples_[static_cast<std::size_t>(x)], in, out, top, left);
  const TensorId y =
      add_tensor(name, DType::kInt8, out, graph_.tensor(x).desc.quant, std::move(sample));
  return add_op(OpKind::PAD, {}, {x, pads}, y);
}

TensorId Builder::crop(const std::string& name, TensorId x, int top, int left, int height,
                       int width) {
  const Shape in = shape(x), out = {in[0], height, width, in[3]};
  const Sample& from = samples_[static_cast<std::size_t>(x)];
  Sample sample;
  for (int y = top; y < top + height; ++y) {
    const auto row = from.begin() + std::int64_t{y} * in[2] * in[3] + std::int64_t{left} * in[3];
    sample.insert(sample.end(), row, row + std::int64_t{width} * in[3]);
  }
  const TensorId begin = add_ints(name + "/begin", {4}, {0, top, left, 0});
  const TensorId size = add_ints(name + "/size", {4}, {1, height, width, in[3]});
  const TensorId y =
      add_tensor(name, DType::kInt8, out, graph_.tensor(x).desc.quant, std::move(sample));
  return add_op(OpKind::SLICE, {}, {x, begin, size}, y);
}

TensorId Builder::reshape(const std::string& name, TensorId x, const Shape& to) {
  DEPUTY_CHECK(element_count(to) == element_count(shape(x)),
               "reshape() keeps the number of elements");
  const TensorId dims =
      add_ints(name + "/shape", {static_cast<std::int32_t>(to.size())}, {to.begin(), to.end()});
  const TensorId y = add_tensor(name, DType::kInt8, to, graph_.tensor(x).desc.quant,
                                Sample(samples_[static_cast<std::size_t>(x)]));
  return add_op(OpKind::RESHAPE, {}, {x, dims}, y);
}

TensorId Builder::softmax(const std::string& name, TensorId x) {
  OpAttrs attrs;
  attrs.beta = 1;
  // The specification fixes the output's scale; nothing follows a softmax here, so its sample stays
  // empty.
  const TensorId y = add_tensor(name, DType::kInt8, shape(x), tensor_quant(1.0f / 256, -128), {});
  return add_op(OpKind::SOFTMAX, attrs, {x}, y);
}

TensorId Builder::elu(const std::string& name, TensorId x) {
  Sample sample = samples_[static_cast<std::size_t>(x)];
  // v / (1 - v) has the shape and limits of exp(v) - 1: only the range matters here, and no
  // library's exp may decide a network's scales.
  for (float& v : sample)
    if (v < 0) v = v / (1 - v);
  const Quantisation quant = activation_quant(sample);
  const TensorId y = add_tensor(name, DType::kInt8, shape(x), quant, std::move(sample));
  return add_op(OpKind::ELU, {}, {x}, y);
}

delegate::Graph Builder::finish(const std::vector<TensorId>& outputs) {
  graph_.outputs = outputs;
  samples_.clear();
  return std::move(graph_);
}

}  // namespace deputy::workloads
