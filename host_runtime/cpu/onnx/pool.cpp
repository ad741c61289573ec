// Pooling over any number of dimensions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

/// Calls f(operand's position or -1 for padding, whether the padded image has it) for each tap of
/// window r.
template <class F>
void for_each_tap(const Windows& w, const Ints& end, std::int64_t r, F&& f) {
  std::int64_t taps = 1;
  for (const std::int64_t k : w.kernel) taps *= k;
  for (std::int64_t t = 0; t < taps; ++t) {
    std::int64_t at = 0, rest_r = r, rest_t = t, scale = 1;
    bool inside = true, padded = true;
    for (std::size_t d = w.in.size(); d-- > 0;) {
      const std::int64_t i =
          rest_r % w.out[d] * w.stride[d] + rest_t % w.kernel[d] * w.dilation[d] - w.begin[d];
      inside &= i >= 0 && i < w.in[d];
      padded &= i < w.in[d] + end[d];
      at += i * scale;
      rest_r /= w.out[d], rest_t /= w.kernel[d], scale *= w.in[d];
    }
    f(inside ? at : -1, padded);
  }
}

struct Pooling {
  Windows w;
  Ints end;  ///< pads after the image
  std::int64_t planes = 0, pixels = 1, results = 1;
  Shape shape;
};
base::Result<Pooling> pooling(const Call& c) {
  Pooling p;
  if (c.rank() < 3) return c.fail("an image of shape {}", shape_text(c.shape()));
  DEPUTY_ASSIGN(p.w, windows(c, c.shape(), c.node.integers("kernel_shape"),
                             c.node.integer("ceil_mode", 0) != 0));
  const std::size_t n = p.w.in.size();
  const Ints pads = c.node.integers("pads", Ints(2 * n, 0));
  const std::string automatic = c.node.text("auto_pad", "NOTSET");
  p.shape = {c.shape()[0], c.shape()[1]};
  p.planes = std::int64_t{c.shape()[0]} * c.shape()[1];
  for (std::size_t d = 0; d < n; ++d) {
    const std::int64_t reach = (p.w.out[d] - 1) * p.w.stride[d] +
                               (p.w.kernel[d] - 1) * p.w.dilation[d] + 1 - p.w.begin[d] - p.w.in[d];
    p.end.push_back(automatic == "NOTSET"  ? pads[d + n]
                    : automatic == "VALID" ? 0
                                           : std::max<std::int64_t>(0, reach));
    p.pixels *= p.w.in[d], p.results *= p.w.out[d];
    p.shape.push_back(static_cast<std::int32_t>(p.w.out[d]));
  }
  return p;
}

Status max_pool(const Call& c) {
  DEPUTY_ASSIGN(const Pooling p, pooling(c));
  DEPUTY_TRY(c.declare(0, c.dtype(), p.shape));
  DEPUTY_TRY(c.declare(1, DType::kInt64, p.shape));
  const bool columns = c.node.integer("storage_order", 0) != 0;
  if (columns && c.rank() != 4) return c.fail("storage_order 1 of {} dimensions", c.rank());
  return with_type(
      c, c.dtype(), Types<float, double, Half, std::int8_t, std::uint8_t>{},
      [&](auto zero) -> Status {
        using T = decltype(zero);
        if (c.infer_only()) return {};
        for (std::int64_t i = 0; i < p.planes * p.results; ++i) {
          const std::int64_t plane = i / p.results;
          const T* x = c.in<T>() + plane * p.pixels;
          std::int64_t best = -1;
          for_each_tap(p.w, p.end, i % p.results, [&](std::int64_t at, bool) {
            if (at >= 0 &&
                (best < 0 || static_cast<Wide<T>>(x[at]) > static_cast<Wide<T>>(x[best])))
              best = at;
          });
          if constexpr (kReal<T>)
            c.out<T>()[i] =
                best < 0 ? static_cast<T>(-std::numeric_limits<float>::infinity()) : x[best];
          else
            c.out<T>()[i] = best < 0 ? std::numeric_limits<T>::lowest() : x[best];
          if (columns && best >= 0) best = best % p.w.in[1] * p.w.in[0] + best / p.w.in[1];
          c.out<std::int64_t>(1)[i] = best + plane * p.pixels;
        }
        return {};
      });
}

Status average_pool(const Call& c) {
  DEPUTY_ASSIGN(const Pooling p, pooling(c));
  DEPUTY_TRY(c.declare(0, c.dtype(), p.shape));
  const bool with_pads = c.node.integer("count_include_pad", 0) != 0;
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    for (std::int64_t i = 0; i < p.planes * p.results; ++i) {
      const T* x = c.in<T>() + i / p.results * p.pixels;
      Wide<T> sum = 0;
      std::int64_t n = 0;
      for_each_tap(p.w, p.end, i % p.results, [&](std::int64_t at, bool padded) {
        if (at >= 0) sum += static_cast<Wide<T>>(x[at]);
        n += at >= 0 || (with_pads && padded);
      });
      c.out<T>()[i] = sum / static_cast<Wide<T>>(n);
    }
    return {};
  });
}

Status lp_pool(const Call& c) {
  DEPUTY_ASSIGN(const Pooling p, pooling(c));
  DEPUTY_TRY(c.declare(0, c.dtype(), p.shape));
  const auto norm = static_cast<double>(c.node.integer("p", 2));
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    for (std::int64_t i = 0; i < p.planes * p.results; ++i) {
      const T* x = c.in<T>() + i / p.results * p.pixels;
      double sum = 0;
      for_each_tap(p.w, p.end, i % p.results, [&](std::int64_t at, bool) {
        if (at >= 0)
          sum += std::pow(std::fabs(static_cast<double>(static_cast<Wide<T>>(x[at]))), norm);
      });
      c.out<T>()[i] = static_cast<Wide<T>>(std::pow(sum, 1 / norm));
    }
    return {};
  });
}

/// One result per channel: f folds from `start`, finish() ends.
template <class F, class G>
Status global(const Call& c, double start, F&& f, G&& finish) {
  if (c.rank() < 3) return c.fail("an image of shape {}", shape_text(c.shape()));
  Shape shape(c.rank(), 1);
  shape[0] = c.shape()[0], shape[1] = c.shape()[1];
  const std::int64_t pixels = product(c.shape(), 2, c.rank());
  if (pixels == 0) return c.fail("an image without elements");
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    for (std::int64_t i = 0; i < c.out_count(); ++i) {
      double sum = start;
      for (std::int64_t k = 0; k < pixels; ++k)
        sum = f(sum, static_cast<double>(static_cast<Wide<T>>(c.in<T>()[i * pixels + k])));
      c.out<T>()[i] = static_cast<Wide<T>>(finish(sum, static_cast<double>(pixels)));
    }
    return {};
  });
}
Status global_average(const Call& c) {
  return global(
      c, 0, [](double a, double x) { return a + x; }, [](double a, double n) { return a / n; });
}
Status global_max(const Call& c) {
  return global(
      c, -HUGE_VAL, [](double a, double x) { return x > a ? x : a; },
      [](double a, double) { return a; });
}
Status global_lp(const Call& c) {
  const auto p = static_cast<double>(c.node.integer("p", 2));
  return global(
      c, 0, [p](double a, double x) { return a + std::pow(std::fabs(x), p); },
      [p](double a, double) { return std::pow(a, 1 / p); });
}

/// Values go where MaxPool's indices say.
Status max_unpool(const Call& c) {
  const Ints kernel = c.node.integers("kernel_shape");
  const std::size_t n = kernel.size();
  if (c.rank() != n + 2 || c.shape(1) != c.shape() || c.dtype(1) != DType::kInt64)
    return c.fail("an image of shape {} with indices of {}", shape_text(c.shape()),
                  shape_text(c.shape(1)));
  const Ints stride = c.node.integers("strides", Ints(n, 1)),
             pads = c.node.integers("pads", Ints(2 * n, 0));
  if (stride.size() != n || pads.size() != 2 * n)
    return c.fail("strides or pads do not fit {} dimensions", n);
  Shape shape = {c.shape()[0], c.shape()[1]};
  if (c.has(2)) {
    DEPUTY_ASSIGN(const Ints wanted, c.values(2));
    if (wanted.size() != c.rank()) return c.fail("an output_shape of {} dimensions", wanted.size());
    for (std::size_t d = 0; d < wanted.size(); ++d) {
      if (wanted[d] < 0 || wanted[d] > 1 << 24) return c.fail("an output_shape with {}", wanted[d]);
      if (d < 2)
        shape[d] = static_cast<std::int32_t>(wanted[d]);
      else
        shape.push_back(static_cast<std::int32_t>(wanted[d]));
    }
  } else {
    for (std::size_t d = 0; d < n; ++d) {
      const std::int64_t out =
          (c.shape()[d + 2] - 1) * stride[d] - pads[d] - pads[d + n] + kernel[d];
      if (stride[d] < 1 || stride[d] > 1 << 20 || out < 1 || out > 1 << 24)
        return c.fail("a result of {}", out);
      shape.push_back(static_cast<std::int32_t>(out));
    }
  }
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  // Indices count in the unpadded result; where a larger output_shape is asked for they still count
  // in the smaller one.
  Shape counted = {c.shape()[0], c.shape()[1]};
  for (std::size_t d = 0; d < n; ++d)
    counted.push_back(static_cast<std::int32_t>((c.shape()[d + 2] - 1) * stride[d] - pads[d] -
                                                pads[d + n] + kernel[d]));
  if (c.infer_only()) return {};
  c.clear();
  return with_width(c, c.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Ints from = strides(counted), to = strides(shape);
    for (std::int64_t i = 0; i < c.count(); ++i) {
      const std::int64_t index = c.in<std::int64_t>(1)[i];
      std::int64_t at = 0;
      bool inside = index >= 0 && index < element_count(counted);
      for (std::size_t d = 0; inside && d < shape.size(); ++d) {
        const std::int64_t k = index / from[d] % counted[d];
        inside = k < shape[d];
        at += k * to[d];
      }
      if (!inside) {
        base::Error error = c.fail("index {} is outside the result", index);
        error.kind = base::ErrorKind::kInput;
        return error;
      }
      c.out<T>()[at] = c.in<T>(0)[i];
    }
    return {};
  });
}

constexpr Kernel kKernels[] = {
    {"AveragePool", 1, 1, 1, average_pool}, {"GlobalAveragePool", 1, 1, 1, global_average},
    {"GlobalLpPool", 1, 1, 1, global_lp},   {"GlobalMaxPool", 1, 1, 1, global_max},
    {"LpPool", 1, 1, 1, lp_pool},           {"MaxPool", 1, 1, 2, max_pool},
    {"MaxUnpool", 2, 3, 1, max_unpool}};

}  // namespace

std::span<const Kernel> pool_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
