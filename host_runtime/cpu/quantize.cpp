// QUANTIZE (float to integer, and integer to integer), DEQUANTIZE and CAST.
#include <cmath>
#include <cstring>

#include "arch/activation_table.h"
#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

base::Status check_quantize(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, 1, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), {DType::kFloat32, DType::kInt8, DType::kUint8, DType::kInt16}));
  DEPUTY_TRY(expect_dtype(c, c.y(), {DType::kInt8, DType::kUint8, DType::kInt16}));
  DEPUTY_TRY(expect_shape(c, c.y(), c.x().shape));
  DEPUTY_TRY(expect_quantised(c, c.x()));
  return expect_quantised(c, c.y());
}

template <class T>
void from_float(const OpCall& c, Numerics mode) {
  const float scale = scale_of(c.y()), inverse = 1.0f / scale;
  const std::int32_t zero_point = zero_point_of(c.y());
  const float* in = c.in<float>();
  T* out = c.out<T>();
  // XNNPACK multiplies by the reciprocal and rounds to even; it takes 8-bit outputs only.
  const bool xnnpack = mode == Numerics::kFp32 && sizeof(T) == 1;
  for (std::int64_t i = 0; i < c.y().elements(); ++i) {
    if (!xnnpack) {
      out[i] = static_cast<T>(
          arch::quantize_half_away(in[i], scale, zero_point, kLowest<T>, kHighest<T>));
      continue;
    }
    const float lo = static_cast<float>(kLowest<T> - zero_point),
                hi = static_cast<float>(kHighest<T> - zero_point);
    const float v = in[i] * inverse;
    const float bounded = !(v > lo) ? lo : v > hi ? hi : v;
    out[i] = static_cast<T>(std::lrint(bounded) + zero_point);
  }
}

template <class X, class Y>
void between(const OpCall& c, Numerics mode) {
  const auto r = arch::quantize_multiplier(static_cast<double>(scale_of(c.x())) /
                                           static_cast<double>(scale_of(c.y())));
  const std::int32_t zx = zero_point_of(c.x()), zy = zero_point_of(c.y());
  for (std::int64_t i = 0; i < c.y().elements(); ++i) {
    const std::int64_t v = std::int64_t{arch::requantize(c.in<X>()[i] - zx, r, mode)} + zy;
    c.out<Y>()[i] = static_cast<Y>(arch::clamp_i32(v, kLowest<Y>, kHighest<Y>));
  }
}

/// 8 bits to 8 bits of the same sign: the table that the NPU uses (uint8 moved by 128).
bool table_quantize(const OpCall& c, Numerics mode) {
  if (c.x().dtype != c.y().dtype || c.x().dtype == DType::kInt16) return false;
  const std::uint8_t flip = c.x().dtype == DType::kUint8 ? 0x80 : 0;
  Quantisation in = c.x().quant, out = c.y().quant;
  if (flip != 0) in.zero_point[0] -= 128, out.zero_point[0] -= 128;
  const auto table = arch::activation_table(OpKind::QUANTIZE, c.attrs, in, out, mode);
  if (!table) return false;
  for (std::int64_t i = 0; i < c.y().elements(); ++i) {
    const auto q = static_cast<std::int8_t>(c.in<std::uint8_t>()[i] ^ flip);
    c.out<std::uint8_t>()[i] = static_cast<std::uint8_t>(
        static_cast<std::uint8_t>((*table)[static_cast<std::size_t>(q + 128)]) ^ flip);
  }
  return true;
}

base::Status run_quantize(const OpCall& c, Numerics mode) {
  if (c.x().dtype != DType::kFloat32 && table_quantize(c, mode)) return {};
  with_quantised_type(c.y().dtype, [&](auto y) {
    using Y = decltype(y);
    if (c.x().dtype == DType::kFloat32) return from_float<Y>(c, mode);
    with_quantised_type(c.x().dtype,
                        [&](auto x) { between<decltype(x), Y>(c, builtin_rule(mode)); });
  });
  return {};
}

base::Status check_dequantize(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, 1, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), {DType::kInt8, DType::kUint8, DType::kInt16, DType::kFloat16}));
  DEPUTY_TRY(expect_dtype(c, c.y(), {DType::kFloat32}));
  DEPUTY_TRY(expect_shape(c, c.y(), c.x().shape));
  const auto& q = c.x().quant;
  if (!is_quantised_type(c.x().dtype) || !q.per_channel()) return expect_quantised(c, c.x());
  return expect(c,
                q.axis >= 0 && static_cast<std::size_t>(q.axis) < c.x().shape.size() &&
                    c.x().shape[static_cast<std::size_t>(q.axis)] ==
                        static_cast<std::int32_t>(q.scale.size()),
                "the number of scales differs from the quantised dimension");
}

float half_to_float(std::uint16_t h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  const float sign = h & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31)
    return mantissa ? std::numeric_limits<float>::quiet_NaN()
                    : sign * std::numeric_limits<float>::infinity();
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

template <class T>
void to_float(const OpCall& c) {
  const auto& q = c.x().quant;
  const auto axis = static_cast<std::size_t>(q.axis);
  const std::int64_t inner =
      q.per_channel() ? span_count(c.x().shape, axis + 1, c.x().shape.size()) : 1;
  const auto channels = static_cast<std::int64_t>(q.scale.size());
  for (std::int64_t i = 0; i < c.y().elements(); ++i) {
    const auto k = static_cast<std::size_t>(channels == 1 ? 0 : i / inner % channels);
    c.out<float>()[i] =
        static_cast<float>(static_cast<double>(q.scale[k]) * (c.in<T>()[i] - q.zero_point[k]));
  }
}

base::Status run_dequantize(const OpCall& c, Numerics) {
  if (c.x().dtype == DType::kFloat16) {
    for (std::int64_t i = 0; i < c.y().elements(); ++i)
      c.out<float>()[i] = half_to_float(c.in<std::uint16_t>()[i]);
    return {};
  }
  with_quantised_type(c.x().dtype, [&](auto zero) { to_float<decltype(zero)>(c); });
  return {};
}

constexpr std::initializer_list<DType> kCastTypes = {DType::kInt8,   DType::kUint8, DType::kInt16,
                                                     DType::kInt32,  DType::kInt64, DType::kBool,
                                                     DType::kFloat32};
base::Status check_cast(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, 1, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), kCastTypes));
  DEPUTY_TRY(expect_dtype(c, c.y(), kCastTypes));
  return expect_shape(c, c.y(), c.x().shape);
}

struct Bool {
  std::uint8_t value;
};

template <class F>
void with_cast_type(DType t, F&& f) {
  switch (t) {
    case DType::kInt8:
      return f(std::int8_t{});
    case DType::kUint8:
      return f(std::uint8_t{});
    case DType::kInt16:
      return f(std::int16_t{});
    case DType::kInt32:
      return f(std::int32_t{});
    case DType::kInt64:
      return f(std::int64_t{});
    case DType::kBool:
      return f(Bool{});
    default:
      return f(0.0f);
  }
}

/// Truncates towards zero; a float outside the target's range saturates and NaN gives 0.
template <class Y, class X>
Y cast(X v) {
  if constexpr (std::is_same_v<X, Bool>) {
    return cast<Y>(static_cast<std::uint8_t>(v.value != 0));
  } else if constexpr (std::is_same_v<Y, Bool>) {
    return Bool{static_cast<std::uint8_t>(v != X{})};
  } else if constexpr (std::is_same_v<X, float> && std::is_integral_v<Y>) {
    if (std::isnan(v)) return 0;
    if (v <= static_cast<float>(std::numeric_limits<Y>::lowest()))
      return std::numeric_limits<Y>::lowest();
    if (v >= static_cast<float>(std::numeric_limits<Y>::max()))
      return std::numeric_limits<Y>::max();
    return static_cast<Y>(v);
  } else {
    return static_cast<Y>(v);
  }
}

base::Status run_cast(const OpCall& c, Numerics) {
  with_cast_type(c.x().dtype, [&](auto x) {
    with_cast_type(c.y().dtype, [&](auto y) {
      using X = decltype(x);
      using Y = decltype(y);
      for (std::int64_t i = 0; i < c.y().elements(); ++i) c.out<Y>()[i] = cast<Y>(c.in<X>()[i]);
    });
  });
  return {};
}

constexpr HostOp kOps[] = {{OpKind::QUANTIZE, check_quantize, run_quantize},
                           {OpKind::DEQUANTIZE, check_dequantize, run_dequantize},
                           {OpKind::CAST, check_cast, run_cast}};
}  // namespace

std::span<const HostOp> quantize_ops() { return kOps; }

}  // namespace deputy::host_runtime
