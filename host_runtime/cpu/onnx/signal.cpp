// Windows of signals and the discrete Fourier transform.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

/// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n).
Status window(const Call& c, double a0, double a1, double a2) {
  DEPUTY_ASSIGN(const double size, c.number(0));
  if (!(size >= 0 && size < 1 << 24)) return c.fail("a size of {}", size);
  const std::int64_t type = c.node.integer("output_datatype", 1);
  if (type != 1 && type != 11 && type != 10) return c.fail("element type number {}", type);
  const DType dtype = type == 1 ? DType::kFloat32 : type == 11 ? DType::kFloat64 : DType::kFloat16;
  DEPUTY_TRY(c.declare(0, dtype, {static_cast<std::int32_t>(size)}));
  return with_type(c, dtype, Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    const double n = c.node.integer("periodic", 1) ? size : size - 1;
    for (std::int64_t i = 0; i < c.out_count(); ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / n;
      c.out<T>()[i] = static_cast<Wide<T>>(a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
    }
    return {};
  });
}
Status hann(const Call& c) { return window(c, 0.5, 0.5, 0); }
Status hamming(const Call& c) { return window(c, 25.0 / 46, 1 - 25.0 / 46, 0); }
Status blackman(const Call& c) { return window(c, 0.42, 0.5, 0.08); }

/// Complex numbers are a last dimension of 2, real ones of 1.
Status dft(const Call& c) {
  const bool inverse = c.node.integer("inverse", 0) != 0,
             onesided = c.node.integer("onesided", 0) != 0;
  if (c.rank() < 2 || (c.shape().back() != 1 && c.shape().back() != 2))
    return c.fail("a signal of shape {}", shape_text(c.shape()));
  DEPUTY_ASSIGN(const std::int64_t axis, c.axis(c.node.integer("axis", 1), c.rank() - 1));
  const auto a = static_cast<std::size_t>(axis);
  std::int64_t n = c.shape()[a];
  if (c.has(1)) {
    DEPUTY_ASSIGN(const double length, c.number(1));
    if (!(length >= 1 && length < 1 << 20)) return c.fail("a length of {}", length);
    n = static_cast<std::int64_t>(length);
  }
  const bool complex = c.shape().back() == 2;
  if (onesided && (complex || inverse)) return c.fail("onesided is for real signals");
  Shape shape = c.shape();
  shape.back() = 2;
  const std::int64_t results = onesided ? n / 2 + 1 : n;
  shape[a] = static_cast<std::int32_t>(results);
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    const std::int64_t inner = product(c.shape(), a + 1, c.rank() - 1), parts = complex ? 2 : 1,
                       given = c.shape()[a];
    for (std::int64_t outer = 0; outer < product(c.shape(), 0, a); ++outer)
      for (std::int64_t k = 0; k < results; ++k)
        for (std::int64_t i = 0; i < inner; ++i) {
          double re = 0, im = 0;
          for (std::int64_t t = 0; t < std::min(n, given); ++t) {
            const T* x = c.in<T>() + ((outer * given + t) * inner + i) * parts;
            const double angle = (inverse ? 2 : -2) * std::numbers::pi *
                                 static_cast<double>(k * t % n) / static_cast<double>(n);
            const double xr = static_cast<double>(static_cast<Wide<T>>(x[0])),
                         xi = complex ? static_cast<double>(static_cast<Wide<T>>(x[1])) : 0;
            re += xr * std::cos(angle) - xi * std::sin(angle),
                im += xr * std::sin(angle) + xi * std::cos(angle);
          }
          const double scale = inverse ? 1 / static_cast<double>(n) : 1;
          T* y = c.out<T>() + ((outer * results + k) * inner + i) * 2;
          y[0] = static_cast<Wide<T>>(re * scale), y[1] = static_cast<Wide<T>>(im * scale);
        }
    return {};
  });
}

constexpr Kernel kKernels[] = {{"BlackmanWindow", 1, 1, 1, blackman, "the size is constant"},
                               {"DFT", 1, 2, 1, dft},
                               {"HammingWindow", 1, 1, 1, hamming, "the size is constant"},
                               {"HannWindow", 1, 1, 1, hann, "the size is constant"}};

}  // namespace

std::span<const Kernel> signal_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
