// Quantisation, one scale for the tensor or one per entry of an axis. Rounding is half to even of x
// / scale in float32. 16 bits are the operators of com.microsoft, which mean the same.
#include <algorithm>
#include <cmath>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

/// Which scale element i of the operand has: i / inner % entries.
struct Channels {
  std::int64_t inner = 1, entries = 1;
  std::int64_t of(std::int64_t i) const { return entries == 1 ? 0 : i / inner % entries; }
};
base::Result<Channels> channels(const Call& c) {
  Channels out;
  if (c.dtype(1) != DType::kFloat32) return c.fail("a scale of type {}", dtype_name(c.dtype(1)));
  if (c.rank(1) > 0 && c.count(1) != 1) {
    DEPUTY_ASSIGN(const std::int64_t axis, c.axis(c.node.integer("axis", 1), c.rank()));
    const auto a = static_cast<std::size_t>(axis);
    out.entries = c.shape()[a], out.inner = product(c.shape(), a + 1, c.rank());
    if (c.rank(1) != 1 || c.count(1) != out.entries)
      return c.fail("scales of shape {} for axis {} of {}", shape_text(c.shape(1)), axis,
                    shape_text(c.shape()));
  }
  if (c.has(2) && c.count(2) != c.count(1))
    return c.fail("{} zero points for {} scales", c.count(2), c.count(1));
  return out;
}

Status quantize(const Call& c) {
  DEPUTY_ASSIGN(const Channels ch, channels(c));
  const DType type = c.has(2) ? c.dtype(2) : DType::kUint8;
  DEPUTY_TRY(c.declare(0, type, c.shape()));
  return with_type(
      c, type, Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>{},
      [&](auto zero) -> Status {
        using T = decltype(zero);
        return with_type(c, c.dtype(), Types<float, std::int32_t>{}, [&](auto from) -> Status {
          if (c.infer_only()) return {};
          for (std::int64_t i = 0; i < c.count(); ++i) {
            const std::int64_t k = ch.of(i);
            c.out<T>()[i] = quantise<T>(static_cast<float>(c.in<decltype(from)>()[i]),
                                        c.in<float>(1)[k], c.has(2) ? c.in<T>(2)[k] : 0);
          }
          return {};
        });
      });
}

Status dequantize(const Call& c) {
  DEPUTY_ASSIGN(const Channels ch, channels(c));
  if (c.has(2) && c.dtype(2) != c.dtype())
    return c.fail("a zero point of type {}", dtype_name(c.dtype(2)));
  DEPUTY_TRY(c.declare(0, DType::kFloat32, c.shape()));
  return with_type(c, c.dtype(),
                   Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t>{},
                   [&](auto zero) -> Status {
                     using T = decltype(zero);
                     if (c.infer_only()) return {};
                     for (std::int64_t i = 0; i < c.count(); ++i) {
                       const std::int64_t k = ch.of(i), z = c.has(2) ? c.in<T>(2)[k] : 0;
                       c.out<float>()[i] = static_cast<float>(c.in<T>()[i] - z) * c.in<float>(1)[k];
                     }
                     return {};
                   });
}

/// uint8 over the range of the data and 0.
Status dynamic_quantize(const Call& c) {
  if (c.dtype() != DType::kFloat32) return c.fail("elements of type {}", dtype_name(c.dtype()));
  DEPUTY_TRY(c.declare(0, DType::kUint8, c.shape()));
  DEPUTY_TRY(c.declare(1, DType::kFloat32, {}));
  DEPUTY_TRY(c.declare(2, DType::kUint8, {}));
  if (c.infer_only()) return {};
  float lo = 0, hi = 0;
  for (std::int64_t i = 0; i < c.count(); ++i)
    lo = std::min(lo, c.in<float>()[i]), hi = std::max(hi, c.in<float>()[i]);
  const float scale = hi == lo ? 1.0f : (hi - lo) / 255;
  const auto zero =
      static_cast<std::uint8_t>(std::clamp(std::nearbyint(-lo / scale), 0.0f, 255.0f));
  for (std::int64_t i = 0; i < c.count(); ++i)
    c.out<std::uint8_t>()[i] = quantise<std::uint8_t>(c.in<float>()[i], scale, zero);
  *c.out<float>(1) = scale, *c.out<std::uint8_t>(2) = zero;
  return {};
}

constexpr Kernel kKernels[] = {{"DequantizeLinear", 2, 3, 1, dequantize},
                               {"DynamicQuantizeLinear", 1, 1, 3, dynamic_quantize},
                               {"QuantizeLinear", 2, 3, 1, quantize}};

}  // namespace

std::span<const Kernel> quant_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
