// Per-channel requantisation and weight preparation (requant_channels.h).
#include "host_runtime/cpu/requant_channels.h"

#include <fmt/format.h>

namespace deputy::host_runtime {

arch::ActivationRange output_range(const arch::TensorDesc& out, std::uint8_t activation) {
  return with_quantised_type(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    return arch::activation_range(activation, scale_of(out), zero_point_of(out), kLowest<T>,
                                  kHighest<T>);
  });
}

ChannelRequant::ChannelRequant(const arch::TensorDesc& in, const arch::TensorDesc& weights,
                               const arch::TensorDesc& out, std::int64_t channels,
                               std::uint8_t activation, ProductRule rule, Numerics mode)
    : zero_point_(zero_point_of(out)), range_(output_range(out, activation)), mode_(mode) {
  const bool per_channel = weights.quant.scale.size() > 1;
  // The uint8 path rounds the scale product to float32, as FULLY_CONNECTED does.
  const bool float_product = rule == ProductRule::kFullyConnected || in.dtype == DType::kUint8;
  for (std::int64_t i = 0; i < channels; ++i) {
    const float s_w = weights.quant.scale[per_channel ? static_cast<std::size_t>(i) : 0];
    multipliers_.push_back(
        float_product ? arch::fully_connected_requant(scale_of(in), s_w, scale_of(out), mode)
                      : arch::conv_requant(scale_of(in), s_w, scale_of(out), mode));
  }
}

base::Status expect_weights(const OpCall& c, std::size_t weights, std::size_t bias,
                            std::size_t axis) {
  const auto& x = c.x();
  const auto& w = c.x(weights);
  const auto channels = static_cast<std::int64_t>(w.shape[axis]);
  if (x.dtype == DType::kFloat32) {
    DEPUTY_TRY(expect_dtype(c, w, {DType::kFloat32}));
  } else {
    DEPUTY_TRY(expect_dtype(c, w, {x.dtype == DType::kUint8 ? DType::kUint8 : DType::kInt8}));
    const auto scales = static_cast<std::int64_t>(w.quant.scale.size());
    if (scales != 1 && (scales != channels || static_cast<std::size_t>(w.quant.axis) != axis))
      return op_error(
          c, fmt::format("weights '{}' have {} scales on axis {}, expected 1 or {} on axis {}",
                         w.name, scales, w.quant.axis, channels, axis));
  }
  if (!c.has(bias)) return {};
  const auto& b = c.x(bias);
  if (x.dtype == DType::kFloat32)
    DEPUTY_TRY(expect_dtype(c, b, {DType::kFloat32}));
  else if (x.dtype == DType::kInt16)
    DEPUTY_TRY(expect_dtype(c, b, {DType::kInt32, DType::kInt64}));
  else
    DEPUTY_TRY(expect_dtype(c, b, {DType::kInt32}));
  if (b.elements() != channels)
    return op_error(c, fmt::format("bias '{}' has {} elements for {} channels", b.name,
                                   b.elements(), channels));
  return {};
}

namespace {
template <class F>
std::vector<std::int16_t> widen(const arch::TensorView& view, F&& zero_point) {
  const auto count = static_cast<std::size_t>(view.desc->elements());
  std::vector<std::int16_t> out(count);
  const auto fill = [&](const auto* data) {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = static_cast<std::int16_t>(data[i] - zero_point(i));
  };
  if (view.desc->dtype == DType::kUint8)
    fill(view.as<std::uint8_t>());
  else
    fill(view.as<std::int8_t>());
  return out;
}
}  // namespace

std::vector<std::int16_t> widened(const arch::TensorView& view, std::int32_t zero_point) {
  return widen(view, [=](std::size_t) { return zero_point; });
}

std::vector<std::int16_t> widened_weights(const arch::TensorView& view, std::int64_t inner,
                                          std::int64_t channels) {
  const auto& zero_points = view.desc->quant.zero_point;
  if (zero_points.size() == 1) return widened(view, zero_points[0]);
  bool all_zero = true;
  for (auto z : zero_points) all_zero = all_zero && z == 0;
  if (all_zero) return widened(view, 0);
  return widen(view, [&](std::size_t i) {
    return zero_points[static_cast<std::size_t>(static_cast<std::int64_t>(i) / inner % channels)];
  });
}

}  // namespace deputy::host_runtime
