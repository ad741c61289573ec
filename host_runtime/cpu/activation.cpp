// One-input element-wise operators. int8 goes through the tables that the NPU's LUT unit uses;
// uint8, int16 and float are computed element by element.
#include <array>
#include <cmath>

#include "arch/activation_table.h"
#include "host_runtime/cpu/broadcast.h"
#include "host_runtime/cpu/requant_channels.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

base::Status check_types(const OpCall& c, std::initializer_list<DType> types) {
  DEPUTY_TRY(expect_operands(c, 1, 1, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), types));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(expect_shape(c, c.y(), c.x().shape));
  DEPUTY_TRY(expect_quantised(c, c.x()));
  return expect_quantised(c, c.y());
}
base::Status check_8_16_float(const OpCall& c) {
  return check_types(c, {DType::kInt8, DType::kUint8, DType::kInt16, DType::kFloat32});
}
base::Status check_8_float(const OpCall& c) {
  return check_types(c, {DType::kInt8, DType::kUint8, DType::kFloat32});
}
/// int16 results are Q0.15.
base::Status check_sigmoid(const OpCall& c) {
  DEPUTY_TRY(check_8_16_float(c));
  return expect(c, c.x().dtype != DType::kInt16 || scale_of(c.y()) == 1.0f / 32768.0f,
                "an int16 output must have scale 1/32768");
}
base::Status check_leaky(const OpCall& c) {
  DEPUTY_TRY(check_8_16_float(c));
  return expect(c, std::isfinite(c.attrs.alpha), "alpha is not finite");
}
base::Status check_sign(const OpCall& c) {
  return check_types(c, {DType::kInt8, DType::kUint8, DType::kInt32, DType::kFloat32});
}
base::Status check_float(const OpCall& c) { return check_types(c, {DType::kFloat32}); }

template <class T, class F>
void unary(const OpCall& c, F&& f) {
  const T* in = c.in<T>();
  T* out = c.out<T>();
  const std::int64_t count = c.y().elements();
  for (std::int64_t i = 0; i < count; ++i) out[i] = f(in[i]);
}

float leaky(float x, float alpha) { return x >= 0 ? x : x * alpha; }

float real_function(const OpCall& c, float x) {
  switch (c.kind) {
    case OpKind::RELU:
      return x > 0 ? x : 0;
    case OpKind::RELU6:
      return x < 0 ? 0 : x > 6 ? 6 : x;
    case OpKind::RELU_N1_TO_1:
      return x < -1 ? -1 : x > 1 ? 1 : x;
    case OpKind::LOGISTIC:
      return 1.0f / (1.0f + std::exp(-x));
    case OpKind::TANH:
      return std::tanh(x);
    case OpKind::HARD_SWISH:
      return x * std::min(std::max(0.0f, x + 3.0f), 6.0f) / 6.0f;
    case OpKind::LEAKY_RELU:
      return leaky(x, c.attrs.alpha);
    case OpKind::ELU:
      return x < 0 ? std::expm1(x) : x;
    case OpKind::GELU:
      if (c.attrs.approximate)
        return 0.5f * x * (1.0f + std::tanh(0.7978845608028654f * (x + 0.044715f * x * x * x)));
      return 0.5f * x * std::erfc(x * -0.70710678118654752440f);
    case OpKind::ABS:
      return std::fabs(x);
    case OpKind::EXP:
      return std::exp(x);
    case OpKind::NEG:
      return -x;
    case OpKind::SQRT:
      return std::sqrt(x);
    case OpKind::RSQRT:
      return 1.0f / std::sqrt(x);
    case OpKind::FLOOR:
      return std::floor(x);
    case OpKind::CEIL:
      return std::ceil(x);
    case OpKind::ROUND:
      return std::nearbyint(x);
    case OpKind::SIN:
      return std::sin(x);
    default:
      return std::cos(x);
  }
}

/// uint8 is int8 with zero points moved by 128, so the same table serves.
Quantisation moved(const arch::TensorDesc& t) {
  Quantisation q = t.quant;
  if (t.dtype == DType::kUint8) q.zero_point[0] -= 128;
  return q;
}

base::Status run_table8(const OpCall& c, Numerics mode) {
  const auto table = arch::activation_table(c.kind, c.attrs, moved(c.x()), moved(c.y()), mode);
  if (!table) return op_error(c, "no table for this quantisation", base::ErrorKind::kInput);
  if (c.x().dtype == DType::kInt8)
    unary<std::int8_t>(c,
                       [&](std::int8_t v) { return (*table)[static_cast<std::size_t>(v + 128)]; });
  else
    unary<std::uint8_t>(
        c, [&](std::uint8_t v) { return static_cast<std::uint8_t>((*table)[v] + 128); });
  return {};
}

/// RELU family and LEAKY_RELU of int16: rescale, then clamp.
void run_linear16(const OpCall& c, Numerics mode) {
  mode = builtin_rule(mode);
  const double ratio = static_cast<double>(scale_of(c.x())) / static_cast<double>(scale_of(c.y()));
  const double slope =
      c.kind == OpKind::LEAKY_RELU ? ratio * static_cast<double>(c.attrs.alpha) : ratio;
  const auto positive = arch::quantize_multiplier(ratio);
  auto negative = arch::quantize_multiplier(std::fabs(slope));
  if (slope < 0) negative.multiplier = -negative.multiplier;
  const auto activation = c.kind == OpKind::RELU           ? arch::Activation::kRelu
                          : c.kind == OpKind::RELU6        ? arch::Activation::kRelu6
                          : c.kind == OpKind::RELU_N1_TO_1 ? arch::Activation::kReluN1To1
                                                           : arch::Activation::kNone;
  const auto range = output_range(c.y(), static_cast<std::uint8_t>(activation));
  unary<std::int16_t>(c, [&](std::int16_t v) {
    const std::int32_t y = arch::requantize(v, v >= 0 ? positive : negative, mode);
    return static_cast<std::int16_t>(arch::clamp_i32(y, range.min, range.max));
  });
}

/// logistic(i / 24) in Q0.16, each entry raised by half the error that a straight line to the next
/// has in its middle; the last is all ones. These are the numbers of TFLite's published table.
std::array<std::int64_t, 256> sigmoid_entries() {
  const auto logistic = [](double i) { return 65536.0 / (1.0 + std::exp(-i / 24.0)); };
  std::array<std::int64_t, 256> table;
  for (int i = 0; i < 255; ++i) {
    const double error = logistic(i + 0.5) - (logistic(i) + logistic(i + 1)) / 2;
    table[static_cast<std::size_t>(i)] = std::llround(logistic(i) + error / 2);
  }
  table[255] = 65535;
  return table;
}

/// LOGISTIC and TANH of int16, scale 2^-15: 256 entries of the logistic function with linear
/// interpolation over [0, 10.7), mirrored; tanh(x) = 2 logistic(2x) - 1. The argument is brought to
/// units of 1/12288.
void run_sigmoid16(const OpCall& c) {
  static const auto kTable = sigmoid_entries();
  double multiplier = static_cast<double>(scale_of(c.x())) * 4096.0 * 3.0;
  int shift = 0;
  while (multiplier <= 32767.0 / 2.0 && shift <= 30) ++shift, multiplier *= 2;
  const auto factor = static_cast<std::int64_t>(multiplier);
  const std::int64_t round = shift > 0 ? std::int64_t{1} << (shift - 1) : 0;
  const bool tanh = c.kind == OpKind::TANH;
  const int bits = tanh ? 8 : 9;  // tanh's doubled argument: one bit less of interpolation
  unary<std::int16_t>(c, [&](std::int16_t v) {
    const std::int64_t x = (v * factor + round) >> shift;
    const std::int64_t magnitude = x < 0 ? -x : x, index = magnitude >> bits;
    std::int64_t y = tanh ? 0xFFFF << 8 : 0x7FFF << 10;
    if (index < 255) {
      const std::int64_t low = kTable[static_cast<std::size_t>(index)];
      const std::int64_t high = kTable[static_cast<std::size_t>(index) + 1];
      y = (low << bits) + (magnitude & ((1 << bits) - 1)) * (high - low);
    }
    if (tanh)
      y = (x >= 0 ? y - (1 << 23) + (1 << 7) : -y + (1 << 23) + (1 << 7) - 1) >> 8;
    else
      y = (x >= 0 ? y + (1 << 9) : (1 << 25) - y + (1 << 9) - 1) >> 10;
    return static_cast<std::int16_t>(y);
  });
}

base::Status run(const OpCall& c, Numerics mode) {
  switch (c.x().dtype) {
    case DType::kFloat32:
      unary<float>(c, [&](float x) { return real_function(c, x); });
      return {};
    case DType::kInt32:
      unary<std::int32_t>(c, [&](std::int32_t x) {
        const auto u = static_cast<std::uint32_t>(x);
        return static_cast<std::int32_t>(c.kind == OpKind::NEG || x < 0 ? 0u - u : u);
      });
      return {};
    case DType::kInt16:
      if (c.kind == OpKind::LOGISTIC || c.kind == OpKind::TANH)
        run_sigmoid16(c);
      else
        run_linear16(c, mode);
      return {};
    default:
      return run_table8(c, mode);
  }
}

base::Status check_prelu(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 2, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), {DType::kInt8, DType::kUint8, DType::kFloat32}));
  DEPUTY_TRY(expect_same_dtype(c, c.x(0), c.x(1)));
  DEPUTY_TRY(expect_same_dtype(c, c.x(0), c.y()));
  DEPUTY_ASSIGN(const Shape shape, broadcast_shape(c, c.x(0).shape, c.x(1).shape));
  DEPUTY_TRY(expect_shape(c, c.y(), shape));
  for (const auto* t : {&c.x(0), &c.x(1), &c.y()}) DEPUTY_TRY(expect_quantised(c, *t));
  return {};
}

template <class T>
void prelu_quantised(const OpCall& c, Numerics mode) {
  const auto &x = c.x(0), &alpha = c.x(1), &y = c.y();
  const auto identity = arch::quantize_multiplier(static_cast<double>(scale_of(x)) /
                                                  static_cast<double>(scale_of(y)));
  const auto slope = arch::quantize_multiplier(static_cast<double>(scale_of(x)) *
                                               static_cast<double>(scale_of(alpha)) /
                                               static_cast<double>(scale_of(y)));
  for_each_broadcast(
      x.shape, alpha.shape, y.shape, [&](std::int64_t i, std::int64_t j, std::int64_t o) {
        const std::int32_t v = c.in<T>(0)[i] - zero_point_of(x);
        const std::int32_t a = c.in<T>(1)[j] - zero_point_of(alpha);
        const std::int32_t r =
            v >= 0 ? arch::requantize(v, identity, mode) : arch::requantize(v * a, slope, mode);
        c.out<T>()[o] = static_cast<T>(
            arch::clamp_i32(std::int64_t{r} + zero_point_of(y), kLowest<T>, kHighest<T>));
      });
}

base::Status run_prelu(const OpCall& c, Numerics mode) {
  if (c.x().dtype == DType::kFloat32)
    for_each_broadcast(c.x(0).shape, c.x(1).shape, c.y().shape,
                       [&](std::int64_t i, std::int64_t j, std::int64_t o) {
                         c.out<float>()[o] = leaky(c.in<float>(0)[i], c.in<float>(1)[j]);
                       });
  else if (c.x().dtype == DType::kUint8)
    prelu_quantised<std::uint8_t>(c, builtin_rule(mode));
  else
    prelu_quantised<std::int8_t>(c, builtin_rule(mode));
  return {};
}

constexpr HostOp kOps[] = {
    {OpKind::RELU, check_8_16_float, run},
    {OpKind::RELU6, check_8_16_float, run},
    {OpKind::RELU_N1_TO_1, check_8_16_float, run},
    {OpKind::LOGISTIC, check_sigmoid, run},
    {OpKind::TANH, check_sigmoid, run},
    {OpKind::HARD_SWISH, check_8_float, run},
    {OpKind::LEAKY_RELU, check_leaky, run},
    {OpKind::PRELU, check_prelu, run_prelu},
    {OpKind::ELU, check_8_float, run},
    {OpKind::GELU, check_8_float, run},
    {OpKind::ABS, check_sign, run},
    {OpKind::NEG, check_sign, run},
    {OpKind::EXP, check_8_float, run},
    {OpKind::SQRT, check_8_float, run},
    {OpKind::RSQRT, check_8_float, run},
    {OpKind::FLOOR, check_float, run},
    {OpKind::CEIL, check_float, run},
    {OpKind::ROUND, check_float, run},
    {OpKind::SIN, check_float, run},
    {OpKind::COS, check_float, run},
};
}  // namespace

std::span<const HostOp> activation_ops() { return kOps; }

}  // namespace deputy::host_runtime
