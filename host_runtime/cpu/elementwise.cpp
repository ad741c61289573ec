// Two-input element-wise operators with broadcasting: ADD, SUB, MUL, DIV, MINIMUM, MAXIMUM,
// SQUARED_DIFFERENCE. Quantised rules are arch/numerics.h's.
#include <cmath>

#include "arch/kernel_rules.h"
#include "host_runtime/cpu/broadcast.h"
#include "host_runtime/cpu/requant_channels.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

base::Status check_types(const OpCall& c, std::initializer_list<DType> types) {
  DEPUTY_TRY(expect_operands(c, 2, 2, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), types));
  DEPUTY_TRY(expect_same_dtype(c, c.x(0), c.x(1)));
  DEPUTY_TRY(expect_same_dtype(c, c.x(0), c.y()));
  DEPUTY_ASSIGN(const Shape shape, broadcast_shape(c, c.x(0).shape, c.x(1).shape));
  DEPUTY_TRY(expect_shape(c, c.y(), shape));
  DEPUTY_TRY(expect_quantised(c, c.x(0)));
  DEPUTY_TRY(expect_quantised(c, c.x(1)));
  return expect_quantised(c, c.y());
}

base::Status check_arithmetic(const OpCall& c) {
  DEPUTY_TRY(check_types(c, {DType::kInt8, DType::kUint8, DType::kInt16, DType::kInt32,
                             DType::kInt64, DType::kFloat32}));
  if (!is_index_type(c.x().dtype)) return {};
  return expect(c, c.attrs.activation == 0, "integer tensors take no fused activation");
}
base::Status check_div(const OpCall& c) {
  DEPUTY_TRY(check_types(c, {DType::kInt32, DType::kFloat32}));
  if (c.x().dtype == DType::kFloat32) return {};
  return expect(c, c.attrs.activation == 0, "integer tensors take no fused activation");
}
base::Status check_squared_difference(const OpCall& c) {
  return check_types(c, {DType::kInt8, DType::kInt32, DType::kFloat32});
}
base::Status check_min_max(const OpCall& c) {
  DEPUTY_TRY(check_types(c, {DType::kInt8, DType::kUint8, DType::kInt16, DType::kInt32,
                             DType::kInt64, DType::kFloat32}));
  return expect(c, same_quantisation(c.x(0), c.y()) && same_quantisation(c.x(1), c.y()),
                "inputs and output must have equal quantisation");
}

template <class T, class F>
void binary(const OpCall& c, F&& f) {
  const T *a = c.in<T>(0), *b = c.in<T>(1);
  T* out = c.out<T>();
  for_each_broadcast(
      c.x(0).shape, c.x(1).shape, c.y().shape,
      [&](std::int64_t i, std::int64_t j, std::int64_t o) { out[o] = f(a[i], b[j]); });
}

/// f(a - za, b - zb) + zo, clamped to the fused activation.
template <class T, class F>
void quantised(const OpCall& c, F&& f) {
  const std::int32_t za = zero_point_of(c.x(0)), zb = zero_point_of(c.x(1)),
                     zo = zero_point_of(c.y());
  const auto range = output_range(c.y(), c.attrs.activation);
  binary<T>(c, [=](T a, T b) {
    return static_cast<T>(
        arch::clamp_i32(std::int64_t{f(a - za, b - zb)} + zo, range.min, range.max));
  });
}

template <class F>
void real(const OpCall& c, F&& f) {
  const FloatRange range = float_activation_range(c.attrs.activation);
  binary<float>(c, [=](float a, float b) { return clamp_float(f(a, b), range); });
}

/// Integers wrap: f works on the unsigned type.
template <class F>
void integer(const OpCall& c, F&& f) {
  if (c.x().dtype == DType::kInt32)
    binary<std::int32_t>(c, [=](std::int32_t a, std::int32_t b) {
      return static_cast<std::int32_t>(
          f(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
    });
  else
    binary<std::int64_t>(c, [=](std::int64_t a, std::int64_t b) {
      return static_cast<std::int64_t>(
          f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
    });
}

template <class T>
void add_sub_quantised(const OpCall& c, Numerics mode, bool subtract) {
  const float sa = scale_of(c.x(0)), sb = scale_of(c.x(1)), so = scale_of(c.y());
  // 16-bit operands keep 15 bits of headroom, and are no business of XNNPACK's.
  if (sizeof(T) == 2) mode = builtin_rule(mode);
  mode = arch::add_rule(sa, sb, so, mode);
  const arch::EltwiseRequant r = arch::add_requant(sa, sb, so, mode, sizeof(T) == 2 ? 15 : 20);
  if (subtract)
    quantised<T>(c,
                 [=](std::int32_t a, std::int32_t b) { return arch::eltwise_sub(a, b, r, mode); });
  else
    quantised<T>(c,
                 [=](std::int32_t a, std::int32_t b) { return arch::eltwise_add(a, b, r, mode); });
}

base::Status run_add_sub(const OpCall& c, Numerics mode, bool subtract) {
  switch (c.x().dtype) {
    case DType::kFloat32:
      real(c, [=](float a, float b) { return subtract ? a - b : a + b; });
      break;
    case DType::kInt32:
    case DType::kInt64:
      integer(c, [=](auto a, auto b) { return subtract ? a - b : a + b; });
      break;
    default:
      with_quantised_type(c.x().dtype,
                          [&](auto zero) { add_sub_quantised<decltype(zero)>(c, mode, subtract); });
  }
  return {};
}
base::Status run_add(const OpCall& c, Numerics mode) { return run_add_sub(c, mode, false); }
base::Status run_sub(const OpCall& c, Numerics mode) { return run_add_sub(c, mode, true); }

base::Status run_mul(const OpCall& c, Numerics mode) {
  switch (c.x().dtype) {
    case DType::kFloat32:
      real(c, [](float a, float b) { return a * b; });
      break;
    case DType::kInt32:
    case DType::kInt64:
      integer(c, [](auto a, auto b) { return a * b; });
      break;
    default: {
      if (c.x().dtype == DType::kInt16) mode = builtin_rule(mode);
      const float sa = scale_of(c.x(0)), sb = scale_of(c.x(1)), so = scale_of(c.y());
      mode = arch::mul_rule(sa, sb, so, mode);
      const arch::EltwiseRequant r = arch::mul_requant(sa, sb, so, mode);
      with_quantised_type(c.x().dtype, [&](auto zero) {
        quantised<decltype(zero)>(
            c, [=](std::int32_t a, std::int32_t b) { return arch::eltwise_mul(a, b, r, mode); });
      });
    }
  }
  return {};
}

base::Status run_div(const OpCall& c, Numerics) {
  if (c.x().dtype == DType::kFloat32) {
    real(c, [](float a, float b) { return a / b; });
    return {};
  }
  bool by_zero = false;
  binary<std::int32_t>(c, [&](std::int32_t a, std::int32_t b) {
    by_zero = by_zero || b == 0;
    return b == 0 ? 0 : static_cast<std::int32_t>(std::int64_t{a} / b);
  });
  if (by_zero) return op_error(c, "an integer divisor is zero", base::ErrorKind::kInput);
  return {};
}

template <class F>
void min_max(const OpCall& c, F&& pick) {
  switch (c.x().dtype) {
    case DType::kFloat32:
      binary<float>(c, pick);
      break;
    case DType::kInt32:
      binary<std::int32_t>(c, pick);
      break;
    case DType::kInt64:
      binary<std::int64_t>(c, pick);
      break;
    default:
      with_quantised_type(c.x().dtype, [&](auto zero) { binary<decltype(zero)>(c, pick); });
  }
}
base::Status run_minimum(const OpCall& c, Numerics) {
  min_max(c, [](auto a, auto b) { return b < a ? b : a; });
  return {};
}
base::Status run_maximum(const OpCall& c, Numerics) {
  min_max(c, [](auto a, auto b) { return a < b ? b : a; });
  return {};
}

base::Status run_squared_difference(const OpCall& c, Numerics mode) {
  if (c.x().dtype == DType::kFloat32) {
    real(c, [](float a, float b) { return (a - b) * (a - b); });
  } else if (c.x().dtype == DType::kInt32) {
    integer(c, [](auto a, auto b) { return (a - b) * (a - b); });
  } else {
    // Both inputs at 7 more bits and a common scale, then the square is brought to the output's.
    mode = builtin_rule(mode);
    const double sa = scale_of(c.x(0)), sb = scale_of(c.x(1)), so = scale_of(c.y());
    const double twice_max = 2 * std::max(sa, sb);
    const auto ra = arch::quantize_multiplier(sa / twice_max),
               rb = arch::quantize_multiplier(sb / twice_max);
    const auto ro = arch::quantize_multiplier(twice_max * twice_max / ((1 << 14) * so));
    quantised<std::int8_t>(c, [=](std::int32_t a, std::int32_t b) {
      const std::int32_t d =
          arch::requantize(a * 128, ra, mode) - arch::requantize(b * 128, rb, mode);
      return arch::requantize(d * d, ro, mode);
    });
  }
  return {};
}

constexpr HostOp kOps[] = {
    {OpKind::ADD, check_arithmetic, run_add},
    {OpKind::SUB, check_arithmetic, run_sub},
    {OpKind::MUL, check_arithmetic, run_mul},
    {OpKind::DIV, check_div, run_div},
    {OpKind::MINIMUM, check_min_max, run_minimum},
    {OpKind::MAXIMUM, check_min_max, run_maximum},
    {OpKind::SQUARED_DIFFERENCE, check_squared_difference, run_squared_difference},
};
}  // namespace

std::span<const HostOp> elementwise_ops() { return kOps; }

}  // namespace deputy::host_runtime
