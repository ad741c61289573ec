#include "quantize/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "delegate/ops/operands.h"
#include "quantize/compensate.h"
#include "quantize/prepare.h"

namespace deputy::quantize {
namespace {

using arch::OpKind;
using delegate::Graph;
using delegate::Op;
using delegate::Tensor;

constexpr double kMostWeight = 127;
/// |x - zero point| of the maps, and what a sum of products may be: TFLite rescales the int64 sums
/// of 16x8 operators by multipliers that take 48 bits.
struct Limits {
  double input, sum;
};
constexpr Limits kNarrow = {255, 2147483647.0}, kWide = {32768, 140737488355327.0};
constexpr double kLeastScale = 1e-15;  ///< times an input's scale it is still a normal number

/// Which part of an operator's outputs a tap of the kernel sees the image in, not the pads.
class Taps {
 public:
  Taps(const Graph& graph, const Op& op) {
    if (op.kind == OpKind::FULLY_CONNECTED) return;
    const Shape &in = graph.tensor(op.inputs[0]).desc.shape,
                &w = graph.tensor(op.inputs[1]).desc.shape,
                &out = graph.tensor(op.outputs[0]).desc.shape;
    const auto shares = [](int kernel, int step, int dilation, int pad, int size, int places) {
      std::vector<double> result;
      for (int k = 0; k < kernel; ++k) {
        int inside = 0;
        for (int o = 0; o < places; ++o) {
          const std::int64_t at = std::int64_t{o} * step - pad + std::int64_t{k} * dilation;
          inside += at >= 0 && at < size;
        }
        result.push_back(places > 0 ? static_cast<double>(inside) / places : 0);
      }
      return result;
    };
    const arch::OpAttrs& a = op.attrs;
    rows_ = shares(w[1], a.stride_h, a.dilation_h, a.pad_top, in[1], out[1]);
    columns_ = shares(w[2], a.stride_w, a.dilation_w, a.pad_left, in[2], out[2]);
    per_tap_ = static_cast<std::size_t>(w[3]);
  }
  double share(std::size_t weight) const {
    if (rows_.empty() || columns_.empty()) return 1;
    const std::size_t tap = weight / per_tap_;
    return rows_[tap / columns_.size() % rows_.size()] * columns_[tap % columns_.size()];
  }

 private:
  std::vector<double> rows_, columns_;
  std::size_t per_tap_ = 1;
};

/// The channel of the input that a weight multiplies.
std::size_t read_channel(const Graph& graph, const Op& op, std::size_t index, std::size_t channel) {
  const Shape& w = graph.tensor(op.inputs[1]).desc.shape;
  const auto width = static_cast<std::size_t>(w.back());
  if (op.kind == OpKind::FULLY_CONNECTED) return index % width;
  const auto in = static_cast<std::size_t>(graph.tensor(op.inputs[0]).desc.shape[3]);
  if (op.kind == OpKind::DEPTHWISE_CONV_2D) return channel / (width / in);
  const std::size_t groups = in / width, filters = static_cast<std::size_t>(w[0]) / groups;
  return channel / filters * width + index % width;
}

/// Replaces integers by those of compensate(), if they are better. By how many decibels they are.
std::optional<double> cancel_errors(const LayerMoments& moments, const std::vector<float>& weights,
                                    const std::vector<double>& steps, double in_scale,
                                    bool mean_corrected, bool taps_first,
                                    std::vector<double>& integers) {
  const std::size_t channels = steps.size(), taps = moments.taps;
  std::vector<std::size_t> place;  // of each channel's taps, one after the other
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t t = 0; t < taps; ++t)
      place.push_back(taps_first ? t * channels + c : c * taps + t);
  DEPUTY_CHECK(place.size() == weights.size(), "moments of another operator");
  std::vector<double> reals, nearest;
  for (const std::size_t k : place)
    reals.push_back(static_cast<double>(weights[k])), nearest.push_back(integers[k]);
  const RoundingTask task{
      moments, channels, reals, steps, kMostWeight, in_scale * in_scale / 12, mean_corrected};
  const auto better = compensate(task, nearest);
  if (!better) return std::nullopt;
  for (std::size_t i = 0; i < place.size(); ++i) integers[place[i]] = better->integers[i];
  return better->gain_db;
}

}  // namespace

base::Result<IntegerWeights> quantise_weights(const Graph& graph, const Op& op,
                                              const Quantisation& input, bool wide,
                                              const TensorStatistics& statistics,
                                              const LayerMoments* moments,
                                              const WeightOptions& options) {
  const Tensor& real = graph.tensor(op.inputs[1]);
  const std::vector<float> weights = floats_of(real);
  const std::size_t channels = weight_channels(graph, op);
  std::vector<float> bias(channels, 0);
  if (graph.has_input(op, 2)) bias = floats_of(graph.tensor(op.inputs[2]));
  const double in_scale = static_cast<double>(input.scale[0]);
  const double taps =
      static_cast<double>(weights.size()) / static_cast<double>(std::max<std::size_t>(channels, 1));
  const Limits& limits = wide ? kWide : kNarrow;
  const double room = limits.sum - taps * kMostWeight * limits.input;
  if (room < limits.sum / 4)
    return base::Error{
        base::ErrorKind::kUnsupported, "",
        fmt::format("sums of {:.0f} products need more than {} bits", taps, wide ? 48 : 32), ""};

  std::vector<double> largest(channels, 0);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (!std::isfinite(weights[k]))
      return base::Error{base::ErrorKind::kModel, real.desc.name, "a weight is not a finite number",
                         ""};
    double& l = largest[weight_channel(graph, op, k)];
    l = std::max(l, std::fabs(static_cast<double>(weights[k])));
  }
  for (const float b : bias)
    if (!std::isfinite(b))
      return base::Error{base::ErrorKind::kModel, real.desc.name, "a bias is not a finite number",
                         ""};
  const double widest = channels ? *std::max_element(largest.begin(), largest.end()) : 0;
  const bool one =
      !(op.kind == OpKind::FULLY_CONNECTED ? options.matrix_per_channel : options.per_channel);
  IntegerWeights out;
  std::vector<double> scale(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const double of = one || largest[c] == 0 ? widest : largest[c];
    const double wanted = of > 0 ? of / kMostWeight : 1 / kMostWeight;
    // Room for the correction too, which is smaller than the bias or than a step of each weight.
    const double needed = std::fabs(static_cast<double>(bias[c])) * 1.01 / (in_scale * room);
    scale[c] = std::max({wanted, needed, kLeastScale});
    if (scale[c] > wanted && largest[c] > 0) {
      ++out.raised;
      out.most_raised = std::max(out.most_raised, scale[c] / wanted);
    }
  }
  if (one && channels) scale.assign(channels, *std::max_element(scale.begin(), scale.end()));

  out.weights.desc = real.desc, out.weights.constant = true;
  out.weights.desc.dtype = DType::kInt8;
  Quantisation& quant = out.weights.desc.quant;
  for (std::size_t c = 0; c < (one ? 1 : channels); ++c)
    quant.scale.push_back(static_cast<float>(scale[c])), quant.zero_point.push_back(0);
  quant.axis = quant.per_channel() ? static_cast<std::int32_t>(delegate::output_axis(op.kind)) : 0;
  out.weights.data.resize(weights.size());
  std::vector<double> steps;
  for (std::size_t c = 0; c < channels; ++c)
    steps.push_back(static_cast<double>(quant.scale[one ? 0 : c]));
  std::vector<double> integers(weights.size());
  for (std::size_t k = 0; k < weights.size(); ++k)
    integers[k] = std::clamp(
        std::nearbyint(static_cast<double>(weights[k]) / steps[weight_channel(graph, op, k)]),
        -kMostWeight, kMostWeight);
  if (moments && options.rounding == Rounding::kCompensated)
    out.compensated_db = cancel_errors(*moments, weights, steps, in_scale, options.correct_bias,
                                       op.kind == OpKind::DEPTHWISE_CONV_2D, integers);
  const Taps seen(graph, op);
  std::vector<double> shift(channels, 0);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const std::size_t c = weight_channel(graph, op, k);
    out.weights.data[k] = static_cast<std::uint8_t>(static_cast<std::int8_t>(integers[k]));
    if (!options.correct_bias || statistics.channel_sums.empty()) continue;
    const std::size_t x = read_channel(graph, op, k, c) % statistics.channel_sums.size();
    shift[c] += (integers[k] * steps[c] - static_cast<double>(weights[k])) *
                statistics.channel_mean(x) * seen.share(k);
  }
  out.bias.desc.name =
      graph.has_input(op, 2) ? graph.tensor(op.inputs[2]).desc.name : real.desc.name + "/bias";
  out.bias.desc.dtype = wide ? DType::kInt64 : DType::kInt32,
  out.bias.desc.shape = {static_cast<std::int32_t>(channels)};
  out.bias.constant = true;
  const std::size_t width = dtype_size(out.bias.desc.dtype);
  out.bias.data.resize(channels * width);
  for (std::size_t c = 0; c < channels; ++c) {
    const float step = input.scale[0] * quant.scale[one ? 0 : c];
    if (c < quant.scale.size())
      out.bias.desc.quant.scale.push_back(step), out.bias.desc.quant.zero_point.push_back(0);
    const double steps =
        std::nearbyint((static_cast<double>(bias[c]) - shift[c]) / static_cast<double>(step));
    const auto q = static_cast<std::int64_t>(std::clamp(steps, -room, room));
    const auto narrow = static_cast<std::int32_t>(q);
    std::memcpy(&out.bias.data[c * width], wide ? static_cast<const void*>(&q) : &narrow, width);
  }
  return out;
}

}  // namespace deputy::quantize
