#include "delegate/import/onnx/lower_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "delegate/ops/operands.h"

namespace deputy::delegate::onnx_import {

namespace {
constexpr int kWideSumBits = 48;  ///< of sums of 16x8 operators, as TFLite has them
}

bool one_byte(DType type) { return type == DType::kInt8 || type == DType::kUint8; }

TensorId weight_tensor(Lowering& l, const Weights& weights, const std::vector<int>& order,
                       const Shape& shape, DType like) {
  const TensorId moved = l.get(weights.value, order);
  Tensor out = l.graph.tensor(moved);
  out.desc.shape = shape;
  if (weights.quant.present()) {
    Quantisation& quant = out.desc.quant = weights.quant;
    if (quant.per_channel())
      quant.axis = static_cast<std::int32_t>(std::find(order.begin(), order.end(), quant.axis) -
                                             order.begin());
    if (like == DType::kInt16) like = DType::kInt8;
    if (out.desc.dtype != like && one_byte(out.desc.dtype) && one_byte(like))
      out = other_signedness(std::move(out));
  }
  return l.add_constant(std::move(out.desc), std::move(out.data));
}

std::optional<TensorId> integer_bias(Lowering& l, const Node& node, int value, const Twin& in,
                                     const Quantisation& weights, std::int32_t channels, bool& ok) {
  ok = true;
  if (value == kNoValue) return std::nullopt;
  ok = false;
  if (!l.constant(value) || l.desc(value).elements() != channels) return std::nullopt;
  const bool wide = l.desc(in.value).dtype == DType::kInt16;
  const int bits = wide ? kWideSumBits : 32;
  arch::TensorDesc desc;
  desc.name = l.desc(value).name, desc.dtype = wide ? DType::kInt64 : DType::kInt32,
  desc.shape = {channels};
  const std::size_t width = dtype_size(desc.dtype);
  std::vector<std::uint8_t> data(static_cast<std::size_t>(channels) * width);
  const auto real = l.floats(value);
  if (!real) return std::nullopt;
  const Twin* twin = l.twin(value);
  const bool quantised = twin && l.desc(twin->value).dtype == DType::kInt32;
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    const float step = in.quant.scale[0] * weights.scale[weights.per_channel() ? c : 0];
    desc.quant.scale.push_back(step), desc.quant.zero_point.push_back(0);
    double steps = static_cast<double>((*real)[c]) / static_cast<double>(step);
    if (quantised) {
      const std::size_t k = twin->quant.per_channel() ? c : 0;
      std::int32_t q;
      std::memcpy(&q, &l.model.value(twin->value).data[c * 4], 4);
      // A zero point only shifts the numbers; exporters round the product of the scales in other
      // ways.
      const double own = static_cast<double>(q) - twin->quant.zero_point[k];
      const double ratio = static_cast<double>(twin->quant.scale[k]) / static_cast<double>(step);
      steps = std::fabs(ratio - 1) < 1e-5 ? own : own * ratio;
    }
    steps = std::nearbyint(steps);
    if (!(std::fabs(steps) < std::ldexp(1.0, bits - 1))) {
      l.note(node, fmt::format(
                       "stays in floats: entry {} of its bias does not fit {} bits in steps of {}",
                       c, bits, step));
      return std::nullopt;
    }
    const auto q = static_cast<std::int64_t>(steps);
    std::memcpy(&data[c * width], &q, width);  // little-endian, as everything here
  }
  if (!weights.per_channel()) desc.quant.scale.resize(1), desc.quant.zero_point.resize(1);
  ok = true;
  return l.add_constant(std::move(desc), std::move(data));
}

std::optional<TensorId> float_bias(Lowering& l, int value, std::int32_t channels) {
  if (value == kNoValue || !l.constant(value) || l.desc(value).elements() != channels)
    return std::nullopt;
  arch::TensorDesc desc;
  desc.name = l.desc(value).name, desc.dtype = DType::kFloat32, desc.shape = {channels};
  return l.add_constant(std::move(desc), l.model.value(value).data);
}

}  // namespace deputy::delegate::onnx_import
