// TRANSPOSE_CONV (operands: output shape, weights OHWI, input, optional bias). Every input pixel
// times every filter is scattered onto the output, which is then requantised per channel.
#include <algorithm>

#include "arch/kernel_rules.h"
#include "host_runtime/cpu/gemm.h"
#include "host_runtime/cpu/requant_channels.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

/// The call as a convolution's operand order (input, weights, bias), for the shared checks.
struct Reordered {
  std::vector<arch::TensorView> inputs;
  OpCall call;
  explicit Reordered(const OpCall& c)
      : inputs{c.inputs[2], c.inputs[1], c.inputs.size() > 3 ? c.inputs[3] : arch::TensorView{}},
        call{c.kind, c.attrs, inputs, c.outputs} {}
};

base::Status check(const OpCall& original) {
  DEPUTY_TRY(expect_operands(original, 3, 4, 1));
  DEPUTY_TRY(expect_index_operand(original, 0));
  const Reordered reordered(original);
  const OpCall& c = reordered.call;
  DEPUTY_TRY(expect_dtype(c, c.x(), {DType::kInt8, DType::kUint8, DType::kInt16, DType::kFloat32}));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  const auto &x = c.x().shape, &w = c.x(1).shape, &y = c.y().shape;
  DEPUTY_TRY(
      expect(c, x.size() == 4 && w.size() == 4 && y.size() == 4, "all operands must have rank 4"));
  DEPUTY_TRY(expect_quantised(c, c.x()));
  DEPUTY_TRY(expect_quantised(c, c.y()));
  DEPUTY_TRY(expect_weights(c, 1, 2, 0));
  DEPUTY_TRY(expect(c, c.attrs.stride_h > 0 && c.attrs.stride_w > 0, "strides must be positive"));
  DEPUTY_TRY(
      expect(c, c.attrs.pad_top >= 0 && c.attrs.pad_left >= 0, "padding must not be negative"));
  DEPUTY_TRY(expect(c, y[0] == x[0] && y[3] == w[0] && w[3] == x[3], "channels or batch disagree"));
  const IndexList shape = read_indices(original.inputs[0]);
  if (!shape.known) return {};
  return expect(c, std::equal(y.begin(), y.end(), shape.values.begin(), shape.values.end()),
                "the output's shape differs from the shape operand");
}

/// Calls add(accumulator offset of pixel, product offset of tap) for every tap that lands on the
/// output.
template <class F>
void scatter(const OpCall& c, std::int64_t iy, std::int64_t ix, F&& add) {
  const auto &w = c.x(1).shape, &y = c.y().shape;
  for (std::int64_t ky = 0; ky < w[1]; ++ky) {
    const std::int64_t oy = iy * c.attrs.stride_h - c.attrs.pad_top + ky;
    if (oy < 0 || oy >= y[1]) continue;
    for (std::int64_t kx = 0; kx < w[2]; ++kx) {
      const std::int64_t ox = ix * c.attrs.stride_w - c.attrs.pad_left + kx;
      if (ox >= 0 && ox < y[2]) add((oy * y[2] + ox) * y[3], ky * w[2] + kx);
    }
  }
}

template <class T>
void run_quantised(const OpCall& c, Numerics mode) {
  const auto &x = c.x().shape, &w = c.x(1).shape, &y = c.y().shape;
  const std::int64_t channels = y[3], depth = x[3], window = std::int64_t{w[1]} * w[2];
  const ChannelRequant requant(c.x(), c.x(1), c.y(), channels, c.attrs.activation,
                               ProductRule::kConvolution, mode);
  const auto image = widened(c.inputs[0], zero_point_of(c.x()));
  const auto weights = widened_weights(c.inputs[1], window * depth, channels);
  const std::int32_t* bias = c.has(2) ? c.in<std::int32_t>(2) : nullptr;
  const std::int64_t pixels = std::int64_t{y[1]} * y[2];
  std::vector<std::int32_t> product(static_cast<std::size_t>(channels * window));
  for (std::int64_t b = 0; b < x[0]; ++b) {
    std::vector<std::int32_t> acc(static_cast<std::size_t>(pixels * channels), 0);
    for (std::int64_t iy = 0; iy < x[1]; ++iy)
      for (std::int64_t ix = 0; ix < x[2]; ++ix) {
        gemm_i16(image.data() + ((b * x[1] + iy) * x[2] + ix) * depth, 1, weights.data(),
                 channels * window, depth, product.data());
        scatter(c, iy, ix, [&](std::int64_t pixel, std::int64_t tap) {
          for (std::int64_t o = 0; o < channels; ++o) {
            auto& a = acc[static_cast<std::size_t>(pixel + o)];
            a = static_cast<std::int32_t>(
                static_cast<std::uint32_t>(a) +
                static_cast<std::uint32_t>(product[static_cast<std::size_t>(o * window + tap)]));
          }
        });
      }
    for (std::int64_t p = 0; p < pixels; ++p)
      requant.row(acc.data() + p * channels, bias, channels,
                  c.out<T>() + (b * pixels + p) * channels);
  }
}

/// Sums of double or int64, one multiply-add at a time in scatter order.
template <class Sum, class X, class W, class F>
void run_plain(const OpCall& c, F&& finish) {
  const auto &x = c.x().shape, &w = c.x(1).shape, &y = c.y().shape;
  const std::int64_t channels = y[3], depth = x[3], window = std::int64_t{w[1]} * w[2];
  const std::int64_t pixels = std::int64_t{y[1]} * y[2];
  for (std::int64_t b = 0; b < x[0]; ++b) {
    std::vector<Sum> acc(static_cast<std::size_t>(pixels * channels), Sum{});
    for (std::int64_t iy = 0; iy < x[1]; ++iy)
      for (std::int64_t ix = 0; ix < x[2]; ++ix) {
        const X* in = c.in<X>() + ((b * x[1] + iy) * x[2] + ix) * depth;
        for (std::int64_t k = 0; k < depth; ++k)
          scatter(c, iy, ix, [&](std::int64_t pixel, std::int64_t tap) {
            for (std::int64_t o = 0; o < channels; ++o)
              acc[static_cast<std::size_t>(pixel + o)] +=
                  static_cast<Sum>(in[k]) *
                  static_cast<Sum>(c.in<W>(1)[(o * window + tap) * depth + k]);
          });
      }
    for (std::int64_t i = 0; i < pixels * channels; ++i)
      finish(b * pixels * channels + i, i % channels, acc[static_cast<std::size_t>(i)]);
  }
}

base::Status run(const OpCall& original, Numerics mode) {
  const Reordered reordered(original);
  const OpCall& c = reordered.call;
  const IndexList shape = read_indices(original.inputs[0]);
  const auto& y = c.y().shape;
  if (!std::equal(y.begin(), y.end(), shape.values.begin(), shape.values.end()))
    return op_error(c, "the output's shape differs from the shape operand",
                    base::ErrorKind::kInput);
  mode = arch::transpose_conv_rule(c.x(1).quant.per_channel(), mode);
  switch (c.x().dtype) {
    case DType::kInt8:
      run_quantised<std::int8_t>(c, mode);
      break;
    case DType::kUint8:
      run_quantised<std::uint8_t>(c, mode);
      break;
    case DType::kInt16: {
      const ChannelRequant requant(c.x(), c.x(1), c.y(), y[3], c.attrs.activation,
                                   ProductRule::kConvolution, builtin_rule(mode));
      run_plain<std::int64_t, std::int16_t, std::int8_t>(
          c, [&](std::int64_t i, std::int64_t o, std::int64_t sum) {
            if (c.has(2) && c.x(2).dtype == DType::kInt32)
              c.out<std::int16_t>()[i] = static_cast<std::int16_t>(
                  requant.one(static_cast<std::int32_t>(sum + c.in<std::int32_t>(2)[o]), o));
            else
              c.out<std::int16_t>()[i] =
                  requant.wide(arch::add_wrapping(sum, c.has(2) ? c.in<std::int64_t>(2)[o] : 0), o);
          });
      break;
    }
    default: {
      const FloatRange range = float_activation_range(c.attrs.activation);
      run_plain<float, float, float>(c, [&](std::int64_t i, std::int64_t o, float sum) {
        c.out<float>()[i] = clamp_float(sum + (c.has(2) ? c.in<float>(2)[o] : 0.0f), range);
      });
    }
  }
  return {};
}

constexpr HostOp kOps[] = {{OpKind::TRANSPOSE_CONV, check, run}};
}  // namespace

std::span<const HostOp> transpose_conv_ops() { return kOps; }

}  // namespace deputy::host_runtime
