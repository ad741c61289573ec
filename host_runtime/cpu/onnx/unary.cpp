// One result per element of one operand.
#include <cmath>
#include <limits>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

/// y[i] = f(x[i]), computed in float (double for float64, the type itself for integers).
template <class Types, class F>
Status map(const Call& c, Types types, F&& f) {
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  return with_type(c, c.dtype(), types, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    for (std::int64_t i = 0; i < c.count(); ++i)
      c.out<T>()[i] = static_cast<Wide<T>>(f(static_cast<Wide<T>>(c.in<T>()[i])));
    return {};
  });
}
template <class F>
Status map_floats(const Call& c, F&& f) {
  return map(c, Floats{}, f);
}
/// On integers too, where f must keep the type.
template <class F>
Status map_numbers(const Call& c, F&& f) {
  return map(c, Numbers{}, f);
}
/// y[i] is a truth about x[i].
template <class F>
Status test_floats(const Call& c, F&& f) {
  DEPUTY_TRY(c.declare(0, DType::kBool, c.shape()));
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    for (std::int64_t i = 0; i < c.count(); ++i)
      c.out<Bool>()[i] = f(static_cast<Wide<T>>(c.in<T>()[i]));
    return {};
  });
}

template <class T>
T sigmoid(T x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// Functions of the element alone. The macro only names the lambda's argument.
#define DEPUTY_MAP(name, expression)                         \
  Status name(const Call& c) {                               \
    return map_floats(c, [](auto x) { return expression; }); \
  }
DEPUTY_MAP(acos, std::acos(x))
DEPUTY_MAP(acosh, std::acosh(x))
DEPUTY_MAP(asin, std::asin(x))
DEPUTY_MAP(asinh, std::asinh(x))
DEPUTY_MAP(atan, std::atan(x))
DEPUTY_MAP(atanh, std::atanh(x))
DEPUTY_MAP(ceil, std::ceil(x))
DEPUTY_MAP(cos, std::cos(x))
DEPUTY_MAP(cosh, std::cosh(x))
DEPUTY_MAP(erf, std::erf(x))
DEPUTY_MAP(exp, std::exp(x))
DEPUTY_MAP(floor, std::floor(x))
DEPUTY_MAP(gelu, x / 2 * (1 + std::erf(x / std::sqrt(decltype(x){2}))))
DEPUTY_MAP(hard_swish,
           x* std::fmin(decltype(x){1}, std::fmax(decltype(x){0}, x / 6 + decltype(x){0.5})))
DEPUTY_MAP(log, std::log(x))
DEPUTY_MAP(mish, x* std::tanh(std::log1p(std::exp(x))))
DEPUTY_MAP(reciprocal, 1 / x)
DEPUTY_MAP(round, std::nearbyint(x))
DEPUTY_MAP(sigmoid_kernel, sigmoid(x))
DEPUTY_MAP(sin, std::sin(x))
DEPUTY_MAP(sinh, std::sinh(x))
DEPUTY_MAP(softplus, x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)))
DEPUTY_MAP(softsign, x / (1 + std::fabs(x)))
DEPUTY_MAP(sqrt, std::sqrt(x))
DEPUTY_MAP(tan, std::tan(x))
DEPUTY_MAP(tanh, std::tanh(x))
#undef DEPUTY_MAP

Status abs(const Call& c) {
  return map_numbers(c, [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else
      return static_cast<T>(x < 0 ? std::make_unsigned_t<T>(0) -
                                        static_cast<std::make_unsigned_t<T>>(x)
                                  : static_cast<std::make_unsigned_t<T>>(x));
  });
}
Status neg(const Call& c) {
  return map_numbers(c, [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(x));
  });
}
Status sign(const Call& c) {
  return map_numbers(c, [](auto x) { return static_cast<decltype(x)>((x > 0) - (x < 0)); });
}
Status relu(const Call& c) {
  return map_numbers(c, [](auto x) { return x < 0 ? decltype(x){0} : x; });
}

// Functions with attributes.
Status celu(const Call& c) {
  const float a = c.node.real("alpha", 1);
  return map_floats(
      c, [a](auto x) { return x > 0 ? x : static_cast<decltype(x)>(a * std::expm1(x / a)); });
}
Status elu(const Call& c) {
  const float a = c.node.real("alpha", 1);
  return map_floats(
      c, [a](auto x) { return x > 0 ? x : static_cast<decltype(x)>(a * std::expm1(x)); });
}
Status hard_sigmoid(const Call& c) {
  const float a = c.node.real("alpha", 0.2f), b = c.node.real("beta", 0.5f);
  return map_floats(c, [a, b](auto x) {
    using T = decltype(x);
    return std::fmin(T{1}, std::fmax(T{0}, static_cast<T>(a * x + b)));
  });
}
Status leaky_relu(const Call& c) {
  const float a = c.node.real("alpha", 0.01f);
  return map_floats(c, [a](auto x) { return x < 0 ? static_cast<decltype(x)>(a * x) : x; });
}
Status selu(const Call& c) {
  const float a = c.node.real("alpha", 1.67326319217681884765625f),
              g = c.node.real("gamma", 1.05070102214813232421875f);
  return map_floats(c, [a, g](auto x) {
    return static_cast<decltype(x)>(x > 0 ? g * x : g * (a * std::exp(x) - a));
  });
}
Status shrink(const Call& c) {
  const float bias = c.node.real("bias", 0), lambda = c.node.real("lambd", 0.5f);
  return map_numbers(c, [=](auto x) {
    using T = decltype(x);
    const double v = static_cast<double>(x);
    return static_cast<T>(v < -lambda ? v + bias : v > lambda ? v - bias : 0);
  });
}
Status thresholded_relu(const Call& c) {
  const float a = c.node.real("alpha", 1);
  return map_floats(c, [a](auto x) { return x > a ? x : decltype(x){0}; });
}

Status is_inf(const Call& c) {
  const bool negative = c.node.integer("detect_negative", 1),
             positive = c.node.integer("detect_positive", 1);
  return test_floats(c, [=](auto x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}
Status is_nan(const Call& c) {
  return test_floats(c, [](auto x) { return std::isnan(x); });
}
Status logical_not(const Call& c) {
  if (c.dtype() != DType::kBool)
    return c.fail("elements of type {} are not supported", dtype_name(c.dtype()));
  DEPUTY_TRY(c.declare(0, DType::kBool, c.shape()));
  if (c.infer_only()) return {};
  for (std::int64_t i = 0; i < c.count(); ++i) c.out<Bool>()[i] = !c.in<Bool>()[i];
  return {};
}

/// The limits are operands since operator set 11, attributes before.
Status clip(const Call& c) {
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  for (const std::size_t i : {1, 2})
    if (c.has(i) && (c.count(i) != 1 || c.dtype(i) != c.dtype()))
      return c.fail("limit {} must be one element of the operand's type", i);
  return with_type(c, c.dtype(), Numbers{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    using W = Wide<T>;
    W lo = std::numeric_limits<W>::lowest(), hi = std::numeric_limits<W>::max();
    if constexpr (std::is_floating_point_v<W>) lo = -std::numeric_limits<W>::infinity(), hi = -lo;
    if (c.node.has("min")) lo = static_cast<W>(c.node.real("min", 0));
    if (c.node.has("max")) hi = static_cast<W>(c.node.real("max", 0));
    if (c.has(1)) lo = *c.in<T>(1);
    if (c.has(2)) hi = *c.in<T>(2);
    for (std::int64_t i = 0; i < c.count(); ++i) {
      const W x = c.in<T>()[i], floor = x < lo ? lo : x;
      c.out<T>()[i] = floor > hi ? hi : floor;
    }
    return {};
  });
}

Status identity(const Call& c) {
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  if (c.infer_only() || c.count() == 0) return {};
  std::memcpy(c.out<std::uint8_t>(), c.in<std::uint8_t>(),
              static_cast<std::size_t>(c.count()) * dtype_size(c.dtype()));
  return {};
}

/// At inference nothing is dropped, whatever the ratio.
Status dropout(const Call& c) {
  if (c.has(2)) {
    if (c.dtype(2) != DType::kBool || c.count(2) != 1)
      return c.fail("training_mode must be one bool");
    if (!c.known(2)) return c.fail("training_mode must be constant");
    double ratio = c.node.real("ratio", 0.5f);
    if (*c.in<Bool>(2) && c.has(1)) {
      DEPUTY_ASSIGN(ratio, c.number(1));
    }
    if (*c.in<Bool>(2) && ratio != 0) return c.fail("training (random dropping) is not supported");
  }
  DEPUTY_TRY(identity(c));
  if (!c.wants(1)) return {};
  DEPUTY_TRY(c.declare(1, c.node.opset < 10 ? c.dtype() : DType::kBool, c.shape()));
  if (c.infer_only()) return {};
  return with_type(c, c.node.opset < 10 ? c.dtype() : DType::kBool, Everything{},
                   [&](auto zero) -> Status {
                     using T = decltype(zero);
                     for (std::int64_t i = 0; i < c.count(); ++i) {
                       if constexpr (std::is_same_v<T, Bool>)
                         c.out<T>(1)[i] = true;
                       else
                         c.out<T>(1)[i] = static_cast<Wide<T>>(1);
                     }
                     return {};
                   });
}

constexpr Kernel kKernels[] = {{"Abs", 1, 1, 1, abs},
                               {"Acos", 1, 1, 1, acos},
                               {"Acosh", 1, 1, 1, acosh},
                               {"Asin", 1, 1, 1, asin},
                               {"Asinh", 1, 1, 1, asinh},
                               {"Atan", 1, 1, 1, atan},
                               {"Atanh", 1, 1, 1, atanh},
                               {"Ceil", 1, 1, 1, ceil},
                               {"Celu", 1, 1, 1, celu},
                               {"Clip", 1, 3, 1, clip},
                               {"Cos", 1, 1, 1, cos},
                               {"Cosh", 1, 1, 1, cosh},
                               {"Dropout", 1, 3, 2, dropout, "inference only"},
                               {"Elu", 1, 1, 1, elu},
                               {"Erf", 1, 1, 1, erf},
                               {"Exp", 1, 1, 1, exp},
                               {"Floor", 1, 1, 1, floor},
                               {"Gelu", 1, 1, 1, gelu, "of com.microsoft: the erf form"},
                               {"HardSigmoid", 1, 1, 1, hard_sigmoid},
                               {"HardSwish", 1, 1, 1, hard_swish},
                               {"Identity", 1, 1, 1, identity, "tensors only"},
                               {"IsInf", 1, 1, 1, is_inf},
                               {"IsNaN", 1, 1, 1, is_nan},
                               {"LeakyRelu", 1, 1, 1, leaky_relu},
                               {"Log", 1, 1, 1, log},
                               {"Mish", 1, 1, 1, mish},
                               {"Neg", 1, 1, 1, neg},
                               {"Not", 1, 1, 1, logical_not},
                               {"Reciprocal", 1, 1, 1, reciprocal},
                               {"Relu", 1, 1, 1, relu},
                               {"Round", 1, 1, 1, round},
                               {"Selu", 1, 1, 1, selu},
                               {"Shrink", 1, 1, 1, shrink},
                               {"Sigmoid", 1, 1, 1, sigmoid_kernel},
                               {"Sign", 1, 1, 1, sign},
                               {"Sin", 1, 1, 1, sin},
                               {"Sinh", 1, 1, 1, sinh},
                               {"Softplus", 1, 1, 1, softplus},
                               {"Softsign", 1, 1, 1, softsign},
                               {"Sqrt", 1, 1, 1, sqrt},
                               {"Tan", 1, 1, 1, tan},
                               {"Tanh", 1, 1, 1, tanh},
                               {"ThresholdedRelu", 1, 1, 1, thresholded_relu}};

}  // namespace

std::span<const Kernel> unary_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
