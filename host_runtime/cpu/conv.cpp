// CONV_2D and DEPTHWISE_CONV_2D. int8/uint8: exact int32 sums over taps inside the image, then one
// requantisation per channel; int16 activations with int8 weights: 64-bit sums (32-bit with an
// int32 bias). float32: taps in (ky, kx, channel) order, bias last, as TFLite's reference kernels.
#pragma GCC optimize("O3")
#include <algorithm>
#include <cstring>

#include "arch/kernel_rules.h"
#include "host_runtime/cpu/conv_geometry.h"
#include "host_runtime/cpu/gemm.h"
#include "host_runtime/cpu/hybrid.h"
#include "host_runtime/cpu/requant_channels.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

constexpr std::int64_t kPixelBlock = 64;

std::int64_t taps(const OpCall& c) { return std::int64_t{c.x(1).shape[1]} * c.x(1).shape[2]; }

base::Status check_common(const OpCall& c, std::size_t channel_axis) {
  DEPUTY_TRY(expect_operands(c, 2, 3, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), {DType::kInt8, DType::kUint8, DType::kInt16, DType::kFloat32}));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(expect(c, c.x(1).shape.size() == 4, "weights must have rank 4"));
  DEPUTY_TRY(expect_window(c, c.x(1).shape[1], c.x(1).shape[2]));
  DEPUTY_TRY(expect_quantised(c, c.x()));
  DEPUTY_TRY(expect_quantised(c, c.y()));
  DEPUTY_TRY(is_hybrid(c) ? expect_hybrid_weights(c) : expect_weights(c, 1, 2, channel_axis));
  return expect(c, c.y().shape[3] == c.x(1).shape[channel_axis],
                "output channels differ from the weights'");
}

base::Status check_conv(const OpCall& c) {
  DEPUTY_TRY(check_common(c, 0));
  const auto in_channels = c.x().shape[3], per_filter = c.x(1).shape[3], filters = c.x(1).shape[0];
  DEPUTY_TRY(expect(c, per_filter > 0 && in_channels % per_filter == 0 && in_channels > 0,
                    "input channels must be a multiple of the filters' channels"));
  return expect(c, filters % (in_channels / per_filter) == 0,
                "output channels must be a multiple of the groups");
}

base::Status check_depthwise(const OpCall& c) {
  DEPUTY_TRY(check_common(c, 3));
  const auto in_channels = c.x().shape[3], out_channels = c.y().shape[3];
  DEPUTY_TRY(expect(c, c.x(1).shape[0] == 1, "weights' first dimension must be 1"));
  return expect(c, in_channels > 0 && out_channels % in_channels == 0,
                "output channels must be a multiple of the input channels");
}

/// Copies the taps of output pixels [ox0, ox0 + count) of row oy, `channels` from `first`, to rows
/// of `patch`; taps outside the image stay zero.
template <class T>
void gather_patches(const Window& g, const T* image, std::int64_t oy, std::int64_t ox0,
                    std::int64_t count, std::int64_t first, std::int64_t channels, T* patch) {
  const std::int64_t depth = g.kh * g.kw * channels;
  std::fill(patch, patch + count * depth, T{});
  for (std::int64_t p = 0; p < count; ++p)
    for (std::int64_t ky = 0; ky < g.kh; ++ky) {
      const std::int64_t iy = g.in_y(oy, ky);
      if (iy < 0 || iy >= g.h) continue;
      for (std::int64_t kx = 0; kx < g.kw; ++kx) {
        const std::int64_t ix = g.in_x(ox0 + p, kx);
        if (ix < 0 || ix >= g.w) continue;
        std::memcpy(patch + p * depth + (ky * g.kw + kx) * channels,
                    image + (iy * g.w + ix) * g.c + first,
                    static_cast<std::size_t>(channels) * sizeof(T));
      }
    }
}

bool is_pointwise(const Window& g) {
  return g.kh == 1 && g.kw == 1 && g.sh == 1 && g.sw == 1 && g.pt == 0 && g.pl == 0;
}

/// Calls each(batch, oy, ox0, count, group, patch rows) over the whole output.
template <class T, class F>
void for_each_patch_block(const Window& g, std::int64_t groups, const T* images, F&& each) {
  const std::int64_t channels = g.c / groups;
  std::vector<T> patch(static_cast<std::size_t>(
      std::min(kPixelBlock, std::max<std::int64_t>(g.ow, 1)) * g.kh * g.kw * channels));
  const bool direct = is_pointwise(g) && groups == 1;
  for (std::int64_t b = 0; b < g.n; ++b) {
    const T* image = images + b * g.h * g.w * g.c;
    for (std::int64_t oy = 0; oy < g.oh; ++oy)
      for (std::int64_t ox = 0; ox < g.ow; ox += kPixelBlock) {
        const std::int64_t count = std::min(kPixelBlock, g.ow - ox);
        for (std::int64_t group = 0; group < groups; ++group) {
          const T* rows = patch.data();
          if (direct)
            rows = image + (oy * g.w + ox) * g.c;
          else
            gather_patches(g, image, oy, ox, count, group * channels, channels, patch.data());
          each(b, oy, ox, count, group, rows);
        }
      }
  }
}

template <class T>
void conv_quantised(const OpCall& c, const Window& g, std::int64_t groups, Numerics mode) {
  const ChannelRequant requant(c.x(), c.x(1), c.y(), g.oc, c.attrs.activation,
                               ProductRule::kConvolution, mode);
  const std::int64_t depth = taps(c) * (g.c / groups), filters = g.oc / groups;
  const auto image = widened(c.inputs[0], zero_point_of(c.x()));
  const auto weights = widened_weights(c.inputs[1], depth, g.oc);
  const std::int32_t* bias = c.has(2) ? c.in<std::int32_t>(2) : nullptr;
  std::vector<std::int32_t> acc(static_cast<std::size_t>(kPixelBlock * filters));
  std::vector<std::int32_t> row(static_cast<std::size_t>(g.oc));
  std::vector<std::int32_t> grouped(groups > 1 ? static_cast<std::size_t>(kPixelBlock * g.oc) : 0);
  for_each_patch_block(g, groups, image.data(),
                       [&](std::int64_t b, std::int64_t oy, std::int64_t ox, std::int64_t count,
                           std::int64_t group, const std::int16_t* rows) {
                         gemm_i16(rows, count, weights.data() + group * filters * depth, filters,
                                  depth, acc.data());
                         T* out = c.out<T>() + ((b * g.oh + oy) * g.ow + ox) * g.oc;
                         if (groups == 1) {
                           for (std::int64_t p = 0; p < count; ++p)
                             requant.row(acc.data() + p * g.oc, bias, g.oc, out + p * g.oc);
                           return;
                         }
                         for (std::int64_t p = 0; p < count; ++p)
                           std::copy_n(acc.data() + p * filters, filters,
                                       grouped.data() + p * g.oc + group * filters);
                         if (group + 1 < groups) return;
                         for (std::int64_t p = 0; p < count; ++p)
                           requant.row(grouped.data() + p * g.oc, bias, g.oc, out + p * g.oc);
                       });
}

void conv_int16(const OpCall& c, const Window& g, std::int64_t groups, Numerics mode) {
  const ChannelRequant requant(c.x(), c.x(1), c.y(), g.oc, c.attrs.activation,
                               ProductRule::kConvolution, builtin_rule(mode));
  const std::int64_t depth = taps(c) * (g.c / groups), filters = g.oc / groups;
  const std::int32_t zero_point = zero_point_of(c.x());
  for_each_patch_block(
      g, groups, c.in<std::int16_t>(),
      [&](std::int64_t b, std::int64_t oy, std::int64_t ox, std::int64_t count, std::int64_t group,
          const std::int16_t* rows) {
        std::int16_t* out =
            c.out<std::int16_t>() + ((b * g.oh + oy) * g.ow + ox) * g.oc + group * filters;
        for (std::int64_t p = 0; p < count; ++p)
          for (std::int64_t f = 0; f < filters; ++f) {
            const std::int64_t channel = group * filters + f;
            const std::int8_t* w = c.in<std::int8_t>(1) + channel * depth;
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < depth; ++k)
              sum += std::int64_t{rows[p * depth + k] - zero_point} * w[k];
            if (c.has(2) && c.x(2).dtype == DType::kInt32)
              out[p * g.oc + f] = static_cast<std::int16_t>(requant.one(
                  static_cast<std::int32_t>(sum + c.in<std::int32_t>(2)[channel]), channel));
            else
              out[p * g.oc + f] = requant.wide(
                  arch::add_wrapping(sum, c.has(2) ? c.in<std::int64_t>(2)[channel] : 0), channel);
          }
      });
}

/// rows [cols] of filters, transposed so that output channels are adjacent.
std::vector<float> transposed(const float* w, std::int64_t rows, std::int64_t cols) {
  std::vector<float> out(static_cast<std::size_t>(rows * cols));
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < cols; ++k)
      out[static_cast<std::size_t>(k * rows + r)] = w[r * cols + k];
  return out;
}

void conv_float(const OpCall& c, const Window& g, std::int64_t groups) {
  const std::int64_t depth = taps(c) * (g.c / groups), filters = g.oc / groups;
  std::vector<std::vector<float>> weights;
  for (std::int64_t i = 0; i < groups; ++i)
    weights.push_back(transposed(c.in<float>(1) + i * filters * depth, filters, depth));
  const FloatRange range = float_activation_range(c.attrs.activation);
  std::vector<float> acc(static_cast<std::size_t>(filters));
  for_each_patch_block(
      g, groups, c.in<float>(),
      [&](std::int64_t b, std::int64_t oy, std::int64_t ox, std::int64_t count, std::int64_t group,
          const float* rows) {
        const float* bias = c.has(2) ? c.in<float>(2) + group * filters : nullptr;
        for (std::int64_t p = 0; p < count; ++p) {
          std::fill(acc.begin(), acc.end(), 0.0f);
          for (std::int64_t k = 0; k < depth; ++k) {
            const float x = rows[p * depth + k];
            const float* w = weights[static_cast<std::size_t>(group)].data() + k * filters;
            for (std::int64_t f = 0; f < filters; ++f) acc[static_cast<std::size_t>(f)] += x * w[f];
          }
          float* out = c.out<float>() + ((b * g.oh + oy) * g.ow + ox + p) * g.oc + group * filters;
          for (std::int64_t f = 0; f < filters; ++f)
            out[f] = clamp_float(acc[static_cast<std::size_t>(f)] + (bias ? bias[f] : 0.0f), range);
        }
      });
}

void conv_hybrid(const OpCall& c, const Window& g, std::int64_t groups) {
  const std::int64_t depth = taps(c) * (g.c / groups), filters = g.oc / groups,
                     image = g.h * g.w * g.c;
  const auto weights = widened(c.inputs[1], 0);
  const FloatRange range = float_activation_range(c.attrs.activation);
  std::vector<std::int32_t> acc(static_cast<std::size_t>(kPixelBlock * filters));
  Window one = g;
  one.n = 1;
  for (std::int64_t b = 0; b < g.n; ++b) {
    const HybridImage q = quantise_image(c.in<float>() + b * image, image);
    const float scale = q.scale * scale_of(c.x(1));
    for_each_patch_block(
        one, groups, q.values.data(),
        [&](std::int64_t, std::int64_t oy, std::int64_t ox, std::int64_t count, std::int64_t group,
            const std::int16_t* rows) {
          gemm_i16(rows, count, weights.data() + group * filters * depth, filters, depth,
                   acc.data());
          float* out = c.out<float>() + ((b * g.oh + oy) * g.ow + ox) * g.oc + group * filters;
          const float* bias = c.has(2) ? c.in<float>(2) + group * filters : nullptr;
          for (std::int64_t i = 0; i < count * filters; ++i) {
            const std::int64_t f = i % filters;
            const float sum = static_cast<float>(acc[static_cast<std::size_t>(i)]) * scale;
            out[i / filters * g.oc + f] = clamp_float(sum + (bias ? bias[f] : 0.0f), range);
          }
        });
  }
}

base::Status run_conv(const OpCall& c, Numerics mode) {
  const Window g = make_window(c, c.x(1).shape[1], c.x(1).shape[2]);
  const std::int64_t groups = g.c / c.x(1).shape[3];
  switch (c.x().dtype) {
    case DType::kInt8:
      conv_quantised<std::int8_t>(c, g, groups, mode);
      break;
    case DType::kUint8:
      conv_quantised<std::uint8_t>(c, g, groups, mode);
      break;
    case DType::kInt16:
      conv_int16(c, g, groups, mode);
      break;
    default:
      is_hybrid(c) ? conv_hybrid(c, g, groups) : conv_float(c, g, groups);
  }
  return {};
}

/// Calls tap(image offset of the pixel, weight offset) for every tap of an output pixel inside the
/// image.
template <class F>
void for_each_tap(const Window& g, std::int64_t b, std::int64_t oy, std::int64_t ox, F&& tap) {
  for (std::int64_t ky = 0; ky < g.kh; ++ky) {
    const std::int64_t iy = g.in_y(oy, ky);
    if (iy < 0 || iy >= g.h) continue;
    for (std::int64_t kx = 0; kx < g.kw; ++kx) {
      const std::int64_t ix = g.in_x(ox, kx);
      if (ix < 0 || ix >= g.w) continue;
      tap(((b * g.h + iy) * g.w + ix) * g.c, (ky * g.kw + kx) * g.oc);
    }
  }
}

template <class F>
void for_each_pixel(const Window& g, F&& pixel) {
  for (std::int64_t b = 0; b < g.n; ++b)
    for (std::int64_t oy = 0; oy < g.oh; ++oy)
      for (std::int64_t ox = 0; ox < g.ow; ++ox)
        pixel(b, oy, ox, ((b * g.oh + oy) * g.ow + ox) * g.oc);
}

template <class T>
void depthwise_quantised(const OpCall& c, const Window& g, Numerics mode) {
  const ChannelRequant requant(c.x(), c.x(1), c.y(), g.oc, c.attrs.activation,
                               ProductRule::kConvolution, mode);
  const auto image = widened(c.inputs[0], zero_point_of(c.x()));
  const auto weights = widened_weights(c.inputs[1], 1, g.oc);
  const std::int32_t* bias = c.has(2) ? c.in<std::int32_t>(2) : nullptr;
  const std::int64_t multiplier = g.oc / g.c;
  std::vector<std::int32_t> acc(static_cast<std::size_t>(g.oc));
  std::vector<std::int16_t> repeated(static_cast<std::size_t>(g.oc));
  for_each_pixel(g, [&](std::int64_t b, std::int64_t oy, std::int64_t ox, std::int64_t out) {
    std::fill(acc.begin(), acc.end(), 0);
    for_each_tap(g, b, oy, ox, [&](std::int64_t in, std::int64_t w) {
      const std::int16_t* x = image.data() + in;
      if (multiplier > 1) {
        for (std::int64_t i = 0; i < g.oc; ++i)
          repeated[static_cast<std::size_t>(i)] = x[i / multiplier];
        x = repeated.data();
      }
      multiply_add_i16(x, weights.data() + w, g.oc, acc.data());
    });
    requant.row(acc.data(), bias, g.oc, c.out<T>() + out);
  });
}

void depthwise_int16(const OpCall& c, const Window& g, Numerics mode) {
  const ChannelRequant requant(c.x(), c.x(1), c.y(), g.oc, c.attrs.activation,
                               ProductRule::kConvolution, builtin_rule(mode));
  const std::int64_t multiplier = g.oc / g.c;
  const std::int32_t zero_point = zero_point_of(c.x());
  for_each_pixel(g, [&](std::int64_t b, std::int64_t oy, std::int64_t ox, std::int64_t out) {
    for (std::int64_t i = 0; i < g.oc; ++i) {
      std::int64_t sum = 0;
      for_each_tap(g, b, oy, ox, [&](std::int64_t in, std::int64_t w) {
        sum += std::int64_t{c.in<std::int16_t>()[in + i / multiplier] - zero_point} *
               c.in<std::int8_t>(1)[w + i];
      });
      if (c.has(2) && c.x(2).dtype == DType::kInt32)
        c.out<std::int16_t>()[out + i] = static_cast<std::int16_t>(
            requant.one(static_cast<std::int32_t>(sum + c.in<std::int32_t>(2)[i]), i));
      else
        c.out<std::int16_t>()[out + i] =
            requant.wide(arch::add_wrapping(sum, c.has(2) ? c.in<std::int64_t>(2)[i] : 0), i);
    }
  });
}

void depthwise_float(const OpCall& c, const Window& g) {
  const std::int64_t multiplier = g.oc / g.c;
  const FloatRange range = float_activation_range(c.attrs.activation);
  std::vector<float> acc(static_cast<std::size_t>(g.oc));
  for_each_pixel(g, [&](std::int64_t b, std::int64_t oy, std::int64_t ox, std::int64_t out) {
    std::fill(acc.begin(), acc.end(), 0.0f);
    for_each_tap(g, b, oy, ox, [&](std::int64_t in, std::int64_t w) {
      const float* x = c.in<float>() + in;
      const float* k = c.in<float>(1) + w;
      if (multiplier == 1)
        for (std::int64_t i = 0; i < g.oc; ++i) acc[static_cast<std::size_t>(i)] += x[i] * k[i];
      else
        for (std::int64_t i = 0; i < g.oc; ++i)
          acc[static_cast<std::size_t>(i)] += x[i / multiplier] * k[i];
    });
    for (std::int64_t i = 0; i < g.oc; ++i)
      c.out<float>()[out + i] = clamp_float(
          acc[static_cast<std::size_t>(i)] + (c.has(2) ? c.in<float>(2)[i] : 0.0f), range);
  });
}

base::Status run_depthwise(const OpCall& c, Numerics mode) {
  const Window g = make_window(c, c.x(1).shape[1], c.x(1).shape[2]);
  mode = arch::depthwise_rule(c.has(2), mode);
  switch (c.x().dtype) {
    case DType::kInt8:
      depthwise_quantised<std::int8_t>(c, g, mode);
      break;
    case DType::kUint8:
      depthwise_quantised<std::uint8_t>(c, g, mode);
      break;
    case DType::kInt16:
      depthwise_int16(c, g, mode);
      break;
    default:
      depthwise_float(c, g);
  }
  return {};
}

constexpr HostOp kOps[] = {
    {OpKind::CONV_2D, check_conv, run_conv},
    {OpKind::DEPTHWISE_CONV_2D, check_depthwise, run_depthwise},
};
}  // namespace

std::span<const HostOp> conv_ops() { return kOps; }

}  // namespace deputy::host_runtime
