// Convolutions over any number of dimensions.
#include <algorithm>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

/// An image and its filters: [N, C, ...] and [M, C / groups, ...].
struct Geometry {
  Windows w;
  std::int64_t groups = 1, batch = 0, channels = 0, filters = 0, taps = 1, pixels = 1, results = 1;
  Shape result;
};
base::Result<Geometry> geometry(const Call& c, std::size_t image, std::size_t weights) {
  Geometry g;
  const Shape &x = c.shape(image), &k = c.shape(weights);
  if (x.size() < 3 || k.size() != x.size())
    return c.fail("weights of shape {} for {}", shape_text(k), shape_text(x));
  g.groups = c.node.integer("group", 1);
  g.batch = x[0], g.channels = x[1], g.filters = k[0];
  if (g.groups < 1 || g.filters % g.groups || g.channels != k[1] * g.groups)
    return c.fail("weights of shape {} for {} in {} groups", shape_text(k), shape_text(x),
                  g.groups);
  const Ints kernel(k.begin() + 2, k.end());
  if (c.node.integers("kernel_shape", kernel) != kernel)
    return c.fail("kernel_shape contradicts weights of shape {}", shape_text(k));
  DEPUTY_ASSIGN(g.w, windows(c, x, kernel, false));
  g.result = {x[0], k[0]};
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    g.taps *= kernel[d], g.pixels *= g.w.in[d], g.results *= g.w.out[d];
    g.result.push_back(static_cast<std::int32_t>(g.w.out[d]));
  }
  return g;
}

/// For each tap of each window: the image's position, or -1 outside. [results][taps].
std::vector<std::int32_t> window_map(const Windows& w, std::int64_t results, std::int64_t taps) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(results * taps));
  for (std::int64_t r = 0; r < results; ++r)
    for (std::int64_t t = 0; t < taps; ++t) {
      std::int64_t at = 0, rest_r = r, rest_t = t, scale = 1;
      for (std::size_t d = w.in.size(); d-- > 0;) {
        const std::int64_t i =
            rest_r % w.out[d] * w.stride[d] + rest_t % w.kernel[d] * w.dilation[d] - w.begin[d];
        if (i < 0 || i >= w.in[d]) at = -1;
        if (at >= 0) at += i * scale;
        rest_r /= w.out[d], rest_t /= w.kernel[d], scale *= w.in[d];
        if (at < 0) break;
      }
      out[static_cast<std::size_t>(r * taps + t)] = static_cast<std::int32_t>(at);
    }
  return out;
}

/// sum over the taps of value(x, w) for every result; put(filter, index of the result, sum).
template <class Sum, class X, class W, class Value, class Put>
void convolve(const Geometry& g, const X* x, const W* weights, Value&& value, Put&& put) {
  const auto map = window_map(g.w, g.results, g.taps);
  const std::int64_t depth = g.channels / g.groups, per_group = g.filters / g.groups;
  for (std::int64_t n = 0; n < g.batch; ++n)
    for (std::int64_t f = 0; f < g.filters; ++f)
      for (std::int64_t r = 0; r < g.results; ++r) {
        Sum sum{0};
        for (std::int64_t ch = 0; ch < depth; ++ch) {
          const X* plane = x + (n * g.channels + f / per_group * depth + ch) * g.pixels;
          const W* taps = weights + (f * depth + ch) * g.taps;
          for (std::int64_t t = 0; t < g.taps; ++t) {
            const std::int32_t at = map[static_cast<std::size_t>(r * g.taps + t)];
            if (at >= 0) sum += value(plane[at], taps[t], f);
          }
        }
        put(f, (n * g.filters + f) * g.results + r, sum);
      }
}

Status conv(const Call& c) {
  DEPUTY_ASSIGN(const Geometry g, geometry(c, 0, 1));
  if (c.dtype(1) != c.dtype() ||
      (c.has(2) && (c.dtype(2) != c.dtype() || c.count(2) != g.filters || c.rank(2) != 1)))
    return c.fail("weights or a bias that do not go with the image");
  DEPUTY_TRY(c.declare(0, c.dtype(), g.result));
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    using A = Wide<T>;
    if (c.infer_only()) return {};
    convolve<A>(
        g, c.in<T>(0), c.in<T>(1),
        [](T x, T w, std::int64_t) { return static_cast<A>(x) * static_cast<A>(w); },
        [&](std::int64_t f, std::int64_t at, A sum) {
          c.out<T>()[at] = c.has(2) ? sum + static_cast<A>(c.in<T>(2)[f]) : sum;
        });
    return {};
  });
}

base::Result<Ints> zeros(const Call& c, std::size_t i, DType type, std::int64_t most) {
  if (!c.has(i)) return Ints{0};
  if (c.dtype(i) != type || (c.count(i) != 1 && c.count(i) != most))
    return c.fail("zero point {} is {} {}", i, dtype_name(c.dtype(i)), shape_text(c.shape(i)));
  if (c.infer_only()) return Ints{0};
  return c.values(i);
}
template <class Put>
Status integer_conv(const Call& c, const Geometry& g, std::size_t x, std::size_t w, std::size_t zx,
                    std::size_t zw, Put&& put) {
  using Bytes = Types<std::int8_t, std::uint8_t>;
  DEPUTY_ASSIGN(const Ints zero_x, zeros(c, zx, c.dtype(x), 1));
  DEPUTY_ASSIGN(const Ints zero_w, zeros(c, zw, c.dtype(w), g.filters));
  return with_type(c, c.dtype(x), Bytes{}, [&](auto tx) -> Status {
    return with_type(c, c.dtype(w), Bytes{}, [&](auto tw) -> Status {
      if (c.infer_only()) return {};
      convolve<std::uint32_t>(
          g, c.in<decltype(tx)>(x), c.in<decltype(tw)>(w),
          [&](auto a, auto b, std::int64_t f) {
            const std::int64_t z = zero_w[zero_w.size() == 1 ? 0 : static_cast<std::size_t>(f)];
            return static_cast<std::uint32_t>((a - static_cast<std::int32_t>(zero_x[0])) *
                                              (b - static_cast<std::int32_t>(z)));
          },
          [&](std::int64_t f, std::int64_t at, std::uint32_t sum) {
            put(f, at, static_cast<std::int32_t>(sum));
          });
      return {};
    });
  });
}

Status conv_integer(const Call& c) {
  DEPUTY_ASSIGN(const Geometry g, geometry(c, 0, 1));
  DEPUTY_TRY(c.declare(0, DType::kInt32, g.result));
  return integer_conv(c, g, 0, 1, 2, 3, [&](std::int64_t, std::int64_t at, std::int32_t sum) {
    c.out<std::int32_t>()[at] = sum;
  });
}

/// x, its scale and zero point, w, its scale and zero point, the result's, a bias in steps of x's
/// scale times w's.
Status qlinear_conv(const Call& c) {
  DEPUTY_ASSIGN(const Geometry g, geometry(c, 0, 3));
  if (c.count(1) != 1 || c.count(6) != 1 || c.count(7) != 1 ||
      (c.count(4) != 1 && c.count(4) != g.filters))
    return c.fail("scales of shapes {}, {}, {}", shape_text(c.shape(1)), shape_text(c.shape(4)),
                  shape_text(c.shape(6)));
  for (const std::size_t i : {1, 4, 6})
    if (c.dtype(i) != DType::kFloat32) return c.fail("scale {} is {}", i, dtype_name(c.dtype(i)));
  if (c.has(8) && (c.dtype(8) != DType::kInt32 || c.count(8) != g.filters))
    return c.fail("a bias of {} {}", dtype_name(c.dtype(8)), shape_text(c.shape(8)));
  DEPUTY_TRY(c.declare(0, c.dtype(7), g.result));
  return with_type(c, c.dtype(7), Types<std::int8_t, std::uint8_t>{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    return integer_conv(c, g, 0, 3, 2, 5, [&](std::int64_t f, std::int64_t at, std::int32_t sum) {
      const float scale =
          *c.in<float>(1) * c.in<float>(4)[c.count(4) == 1 ? 0 : f] / *c.in<float>(6);
      if (c.has(8))
        sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                        static_cast<std::uint32_t>(c.in<std::int32_t>(8)[f]));
      c.out<T>()[at] = quantise<T>(static_cast<float>(sum) * scale, 1, *c.in<T>(7));
    });
  });
}

/// The image's elements are spread over their windows in the result: weights are [C, M / groups,
/// ...].
Status conv_transpose(const Call& c) {
  const Shape &x = c.shape(0), &k = c.shape(1);
  const std::int64_t groups = c.node.integer("group", 1);
  if (x.size() < 3 || k.size() != x.size() || groups < 1 || x[1] != k[0] || x[1] % groups)
    return c.fail("weights of shape {} for {} in {} groups", shape_text(k), shape_text(x), groups);
  const std::size_t n = x.size() - 2;
  Windows w;
  w.kernel = Ints(k.begin() + 2, k.end());
  if (c.node.integers("kernel_shape", w.kernel) != w.kernel)
    return c.fail("kernel_shape contradicts the weights");
  w.stride = c.node.integers("strides", Ints(n, 1)),
  w.dilation = c.node.integers("dilations", Ints(n, 1));
  const Ints more = c.node.integers("output_padding", Ints(n, 0)),
             pads = c.node.integers("pads", Ints(2 * n, 0)),
             wanted = c.node.integers("output_shape");
  if (w.stride.size() != n || w.dilation.size() != n || more.size() != n || pads.size() != 2 * n ||
      (!wanted.empty() && wanted.size() != n && wanted.size() != n + 2))
    return c.fail("strides, dilations, pads or output_shape do not fit {} dimensions", n);
  const std::string automatic = c.node.text("auto_pad", "NOTSET");
  const std::int64_t filters = k[1] * groups;
  Shape shape = {x[0], static_cast<std::int32_t>(filters)};
  std::int64_t taps = 1, pixels = 1, results = 1;
  for (std::size_t d = 0; d < n; ++d) {
    constexpr std::int64_t kMost = 1 << 20;
    if (w.kernel[d] < 1 || w.stride[d] < 1 || w.dilation[d] < 1 || w.kernel[d] > kMost ||
        w.stride[d] > kMost || w.dilation[d] > kMost || std::abs(pads[d]) > kMost ||
        std::abs(pads[d + n]) > kMost || std::abs(more[d]) > kMost)
      return c.fail("a window of {} with stride {} and dilation {}", w.kernel[d], w.stride[d],
                    w.dilation[d]);
    const std::int64_t full =
        w.stride[d] * (x[d + 2] - 1) + more[d] + (w.kernel[d] - 1) * w.dilation[d] + 1;
    std::int64_t before = pads[d], out = full - pads[d] - pads[d + n];
    const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    if (!wanted.empty())
      out = wanted[wanted.size() - n + d];
    else if (same)
      out = x[d + 2] * w.stride[d];
    if (!wanted.empty() || same) {
      const std::int64_t all = std::max<std::int64_t>(0, full - out);
      before = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
    }
    if (out < 1 || out > 1 << 28 || x[d + 2] < 1) return c.fail("a result of {}", out);
    w.in.push_back(x[d + 2]), w.out.push_back(out), w.begin.push_back(before);
    taps *= w.kernel[d], pixels *= x[d + 2], results *= out;
    shape.push_back(static_cast<std::int32_t>(out));
  }
  if (c.dtype(1) != c.dtype() || (c.has(2) && (c.dtype(2) != c.dtype() || c.count(2) != filters)))
    return c.fail("weights or a bias that do not go with the image");
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    using A = Wide<T>;
    if (c.infer_only()) return {};
    // A window of the opposite convolution: from the result's positions (its image) to the
    // operand's (its results).
    Windows back = w;
    std::swap(back.in, back.out);
    const auto map = window_map(back, pixels, taps);
    std::vector<A> sums(static_cast<std::size_t>(c.out_count()), A{0});
    const std::int64_t depth = x[1] / groups, per_group = k[1];
    for (std::int64_t b = 0; b < x[0]; ++b)
      for (std::int64_t ch = 0; ch < x[1]; ++ch)
        for (std::int64_t f = 0; f < per_group; ++f) {
          A* plane = sums.data() + (b * filters + ch / depth * per_group + f) * results;
          for (std::int64_t p = 0; p < pixels; ++p) {
            const A value = static_cast<A>(c.in<T>(0)[(b * x[1] + ch) * pixels + p]);
            for (std::int64_t t = 0; t < taps; ++t) {
              const std::int32_t at = map[static_cast<std::size_t>(p * taps + t)];
              if (at >= 0)
                plane[at] += value * static_cast<A>(c.in<T>(1)[(ch * per_group + f) * taps + t]);
            }
          }
        }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::size_t f =
          i / static_cast<std::size_t>(results) % static_cast<std::size_t>(filters);
      c.out<T>()[i] = c.has(2) ? sums[i] + static_cast<A>(c.in<T>(2)[f]) : sums[i];
    }
    return {};
  });
}

constexpr Kernel kKernels[] = {{"Conv", 2, 3, 1, conv},
                               {"ConvInteger", 2, 4, 1, conv_integer},
                               {"ConvTranspose", 2, 3, 1, conv_transpose},
                               {"QLinearConv", 8, 9, 1, qlinear_conv}};

}  // namespace

std::span<const Kernel> conv_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
