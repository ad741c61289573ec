// AVERAGE_POOL_2D and MAX_POOL_2D. The window's taps outside the image count for nothing. Quantised
// averages divide the raw sum, half away from zero; input and output share scale and zero point by
// specification.
#include <algorithm>

#include "host_runtime/cpu/conv_geometry.h"
#include "host_runtime/cpu/requant_channels.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

base::Status check(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, 1, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), {DType::kInt8, DType::kUint8, DType::kInt16, DType::kFloat32}));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(
      expect(c, c.attrs.dilation_h == 1 && c.attrs.dilation_w == 1, "pooling has no dilation"));
  DEPUTY_TRY(expect_window(c, c.attrs.filter_h, c.attrs.filter_w));
  DEPUTY_TRY(expect(c, c.x().shape[3] == c.y().shape[3], "input and output channels differ"));
  DEPUTY_TRY(expect(c,
                    c.attrs.pad_top < c.attrs.filter_h && c.attrs.pad_left < c.attrs.filter_w &&
                        c.attrs.pad_bottom < c.attrs.filter_h &&
                        c.attrs.pad_right < c.attrs.filter_w,
                    "padding must be smaller than the window"));
  DEPUTY_TRY(expect_quantised(c, c.x()));
  DEPUTY_TRY(expect_quantised(c, c.y()));
  return expect(c, same_quantisation(c.x(), c.y()), "input and output quantisation must be equal");
}

/// The clipped window of an output pixel.
struct Clip {
  std::int64_t y0, y1, x0, x1;
  std::int64_t count() const {
    return std::max<std::int64_t>(y1 - y0, 0) * std::max<std::int64_t>(x1 - x0, 0);
  }
};

template <class T, class Sum, class Merge, class Finish>
void pool(const OpCall& c, Sum start, Merge&& merge, Finish&& finish) {
  const Window g = make_window(c, c.attrs.filter_h, c.attrs.filter_w);
  std::vector<Sum> acc(static_cast<std::size_t>(g.c));
  for (std::int64_t b = 0; b < g.n; ++b)
    for (std::int64_t oy = 0; oy < g.oh; ++oy)
      for (std::int64_t ox = 0; ox < g.ow; ++ox) {
        const std::int64_t y0 = g.in_y(oy, 0), x0 = g.in_x(ox, 0);
        const Clip clip{std::max<std::int64_t>(y0, 0), std::min(y0 + g.kh, g.h),
                        std::max<std::int64_t>(x0, 0), std::min(x0 + g.kw, g.w)};
        std::fill(acc.begin(), acc.end(), start);
        for (std::int64_t y = clip.y0; y < clip.y1; ++y)
          for (std::int64_t x = clip.x0; x < clip.x1; ++x) {
            const T* in = c.in<T>() + ((b * g.h + y) * g.w + x) * g.c;
            for (std::int64_t k = 0; k < g.c; ++k) merge(acc[static_cast<std::size_t>(k)], in[k]);
          }
        T* out = c.out<T>() + ((b * g.oh + oy) * g.ow + ox) * g.oc;
        for (std::int64_t k = 0; k < g.c; ++k)
          out[k] = finish(acc[static_cast<std::size_t>(k)], clip.count());
      }
}

template <class T>
void max_quantised(const OpCall& c) {
  const auto range = output_range(c.y(), c.attrs.activation);
  pool<T, std::int32_t>(
      c, kLowest<T>, [](std::int32_t& a, T v) { a = std::max<std::int32_t>(a, v); },
      [&](std::int32_t a, std::int64_t) {
        return static_cast<T>(arch::clamp_i32(a, range.min, range.max));
      });
}

template <class T>
void average_quantised(const OpCall& c) {
  const auto range = output_range(c.y(), c.attrs.activation);
  pool<T, std::int64_t>(
      c, 0, [](std::int64_t& a, T v) { a += v; },
      [&](std::int64_t a, std::int64_t n) {
        const std::int64_t average = n == 0 ? 0 : (a > 0 ? (a + n / 2) / n : (a - n / 2) / n);
        return static_cast<T>(arch::clamp_i32(average, range.min, range.max));
      });
}

base::Status run_max(const OpCall& c, Numerics) {
  if (c.x().dtype == DType::kFloat32) {
    const FloatRange range = float_activation_range(c.attrs.activation);
    pool<float, float>(
        c, std::numeric_limits<float>::lowest(), [](float& a, float v) { a = std::max(a, v); },
        [&](float a, std::int64_t) { return clamp_float(a, range); });
    return {};
  }
  with_quantised_type(c.x().dtype, [&](auto zero) { max_quantised<decltype(zero)>(c); });
  return {};
}

base::Status run_average(const OpCall& c, Numerics) {
  if (c.x().dtype == DType::kFloat32) {
    const FloatRange range = float_activation_range(c.attrs.activation);
    pool<float, float>(
        c, 0.0f, [](float& a, float v) { a += v; },
        [&](float a, std::int64_t n) {
          return clamp_float(n == 0 ? 0.0f : a / static_cast<float>(n), range);
        });
    return {};
  }
  with_quantised_type(c.x().dtype, [&](auto zero) { average_quantised<decltype(zero)>(c); });
  return {};
}

constexpr HostOp kOps[] = {{OpKind::MAX_POOL_2D, check, run_max},
                           {OpKind::AVERAGE_POOL_2D, check, run_average}};
}  // namespace

std::span<const HostOp> pool_ops() { return kOps; }

}  // namespace deputy::host_runtime
