// Element by element over operands that are repeated to a common shape (numpy's broadcasting).
#include <cmath>
#include <limits>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

base::Result<Shape> common_shape(const Call& c) {
  Shape shape = c.shape(0);
  for (std::size_t i = 1; i < c.inputs(); ++i) {
    if (!c.has(i)) return c.fail("operand {} is missing", i);
    const auto both = broadcast(shape, c.shape(i));
    if (!both)
      return c.fail("operands of shapes {} and {} do not go together", shape_text(shape),
                    shape_text(c.shape(i)));
    shape = *both;
  }
  return shape;
}
Status one_type(const Call& c, std::size_t from = 0) {
  for (std::size_t i = from + 1; i < c.inputs(); ++i)
    if (c.has(i) && c.dtype(i) != c.dtype(from))
      return c.fail("operands of types {} and {}", dtype_name(c.dtype(from)),
                    dtype_name(c.dtype(i)));
  return {};
}

/// out = f(a, b) over types L; R is the result's type, void for the operands'.
template <class R, class L, class F>
Status combine(const Call& c, L types, F&& f) {
  DEPUTY_ASSIGN(const Shape shape, common_shape(c));
  DEPUTY_TRY(one_type(c));
  return with_type(c, c.dtype(), types, [&](auto zero) -> Status {
    using T = decltype(zero);
    using Out = std::conditional_t<std::is_void_v<R>, T, R>;
    DEPUTY_TRY(c.declare(0, kTypeOf<Out>, shape));
    if (c.infer_only()) return {};
    const T *a = c.in<T>(0), *b = c.in<T>(1);
    Out* out = c.out<Out>();
    for_each<2>(shape, {broadcast_strides(c.shape(0), shape), broadcast_strides(c.shape(1), shape)},
                [&](const auto& at) {
                  *out++ = static_cast<Out>(
                      f(static_cast<Wide<T>>(a[at[0]]), static_cast<Wide<T>>(b[at[1]])));
                });
    return {};
  });
}

/// Integers wrap: the operation is done on the unsigned type.
template <class T, class F>
T wrapped(T a, T b, F&& f) {
  if constexpr (std::is_floating_point_v<T>)
    return f(a, b);
  else {
    using U = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  }
}
Status add(const Call& c) {
  return combine<void>(c, Numbers{}, [](auto a, auto b) {
    return wrapped(a, b, [](auto x, auto y) { return x + y; });
  });
}
Status sub(const Call& c) {
  return combine<void>(c, Numbers{}, [](auto a, auto b) {
    return wrapped(a, b, [](auto x, auto y) { return x - y; });
  });
}
Status mul(const Call& c) {
  return combine<void>(c, Numbers{}, [](auto a, auto b) {
    return wrapped(a, b, [](auto x, auto y) { return x * y; });
  });
}

/// A zero divisor of integers is an operand out of range.
Status check_divisor(const Call& c) {
  if (c.infer_only()) return {};
  return with_type(c, c.dtype(1), Numbers{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if constexpr (!kReal<T>)
      for (std::int64_t i = 0; i < c.count(1); ++i)
        if (c.in<T>(1)[i] == 0) {
          base::Error error = c.fail("division by zero");
          error.kind = base::ErrorKind::kInput;
          return error;
        }
    return {};
  });
}
Status div(const Call& c) {
  DEPUTY_TRY(check_divisor(c));
  return combine<void>(c, Numbers{}, [](auto a, auto b) {
    using T = decltype(a);
    if constexpr (std::is_signed_v<T> && !std::is_floating_point_v<T>)
      if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    return static_cast<T>(a / b);
  });
}
Status mod(const Call& c) {
  const bool fmod = c.node.integer("fmod", 0) != 0;
  if (!fmod && arch::is_real(c.dtype())) return c.fail("floats need fmod=1");
  DEPUTY_TRY(check_divisor(c));
  return combine<void>(c, Numbers{}, [fmod](auto a, auto b) {
    using T = decltype(a);
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(std::fmod(a, b));
    else if constexpr (std::is_signed_v<T>) {
      if (b == -1) return T{0};
      const T r = static_cast<T>(a % b);
      return !fmod && r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b)
                                                   : r;  // the sign of the divisor
    } else
      return static_cast<T>(a % b);
  });
}

template <class T>
T integer_power(T base, std::int64_t exponent) {
  using U = std::make_unsigned_t<T>;
  if (exponent < 0)
    return base == 1                    ? T{1}
           : base == static_cast<T>(-1) ? static_cast<T>(exponent % 2 ? -1 : 1)
                                        : T{0};
  std::uint64_t out = 1, factor = static_cast<U>(base);
  for (; exponent; exponent >>= 1, factor *= factor)
    if (exponent & 1) out *= factor;
  return static_cast<T>(out);
}
/// The exponent may be of another type.
Status pow(const Call& c) {
  DEPUTY_ASSIGN(const Shape shape, common_shape(c));
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  return with_type(c, c.dtype(0), Numbers{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    return with_type(c, c.dtype(1), Numbers{}, [&](auto other) -> Status {
      using E = decltype(other);
      if (c.infer_only()) return {};
      const T* a = c.in<T>(0);
      const E* b = c.in<E>(1);
      T* out = c.out<T>();
      for_each<2>(
          shape, {broadcast_strides(c.shape(0), shape), broadcast_strides(c.shape(1), shape)},
          [&](const auto& at) {
            const auto x = static_cast<Wide<T>>(a[at[0]]);
            const auto y = static_cast<Wide<E>>(b[at[1]]);
            if constexpr (kReal<T>)
              *out++ = static_cast<Wide<T>>(std::pow(x, static_cast<Wide<T>>(y)));
            else if constexpr (kReal<E>)
              *out++ = static_cast<T>(std::pow(static_cast<double>(x), static_cast<double>(y)));
            else
              *out++ = integer_power(x, static_cast<std::int64_t>(y));
          });
      return {};
    });
  });
}

template <class F>
Status compare(const Call& c, F&& f) {
  return combine<Bool>(c, Numbers{}, f);
}
Status greater(const Call& c) {
  return compare(c, [](auto a, auto b) { return a > b; });
}
Status less(const Call& c) {
  return compare(c, [](auto a, auto b) { return a < b; });
}
Status greater_equal(const Call& c) {
  return compare(c, [](auto a, auto b) { return a >= b; });
}
Status less_equal(const Call& c) {
  return compare(c, [](auto a, auto b) { return a <= b; });
}
Status equal(const Call& c) {
  return combine<Bool>(c, Everything{}, [](auto a, auto b) { return a == b; });
}

using Truth = Types<Bool>;
Status logical_and(const Call& c) {
  return combine<Bool>(c, Truth{}, [](bool a, bool b) { return a && b; });
}
Status logical_or(const Call& c) {
  return combine<Bool>(c, Truth{}, [](bool a, bool b) { return a || b; });
}
Status logical_xor(const Call& c) {
  return combine<Bool>(c, Truth{}, [](bool a, bool b) { return a != b; });
}

Status bit_shift(const Call& c) {
  const std::string direction = c.node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return c.fail("direction '{}' is neither LEFT nor RIGHT", direction);
  const bool left = direction == "LEFT";
  return combine<void>(
      c, Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>{},
      [left](auto a, auto b) {
        using T = decltype(a);
        if (b >= sizeof(T) * 8) return T{0};
        return static_cast<T>(left ? std::uint64_t{a} << b : std::uint64_t{a} >> b);
      });
}

/// max, min, sum, mean of any number of operands.
template <class L, class F, class G>
Status fold(const Call& c, L types, F&& f, G&& finish) {
  DEPUTY_ASSIGN(const Shape shape, common_shape(c));
  DEPUTY_TRY(one_type(c));
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  return with_type(c, c.dtype(), types, [&](auto zero) -> Status {
    using T = decltype(zero);
    using W = Wide<T>;
    if (c.infer_only()) return {};
    std::vector<W> sums(static_cast<std::size_t>(c.out_count()));
    for (std::size_t k = 0; k < c.inputs(); ++k) {
      const T* x = c.in<T>(k);
      W* sum = sums.data();
      for_each<1>(shape, {broadcast_strides(c.shape(k), shape)}, [&](const auto& at) {
        const W value = x[at[0]];
        *sum = k == 0 ? value : static_cast<W>(f(*sum, value));
        ++sum;
      });
    }
    for (std::size_t i = 0; i < sums.size(); ++i) c.out<T>()[i] = static_cast<W>(finish(sums[i]));
    return {};
  });
}
constexpr auto kSame = [](auto x) { return x; };
template <class T>
bool is_nan(T x) {
  return x != x;
}
Status max(const Call& c) {
  return fold(
      c, Numbers{}, [](auto a, auto b) { return is_nan(a) || a > b ? a : b; }, kSame);
}
Status min(const Call& c) {
  return fold(
      c, Numbers{}, [](auto a, auto b) { return is_nan(a) || a < b ? a : b; }, kSame);
}
Status sum(const Call& c) {
  return fold(
      c, Floats{}, [](auto a, auto b) { return a + b; }, kSame);
}
Status mean(const Call& c) {
  const auto n = static_cast<double>(c.inputs());
  return fold(
      c, Floats{}, [](auto a, auto b) { return a + b; },
      [n](auto x) { return x / static_cast<decltype(x)>(n); });
}

/// The slope is repeated to x's shape, never the other way.
Status prelu(const Call& c) {
  const auto both = broadcast(c.shape(0), c.shape(1));
  if (!both || *both != c.shape(0))
    return c.fail("a slope of shape {} for {}", shape_text(c.shape(1)), shape_text(c.shape(0)));
  return combine<void>(c, Numbers{}, [](auto x, auto slope) {
    return static_cast<decltype(x)>(x < 0 ? x * slope : x);
  });
}

Status where(const Call& c) {
  if (c.dtype(0) != DType::kBool) return c.fail("the condition is {}", dtype_name(c.dtype(0)));
  DEPUTY_TRY(one_type(c, 1));
  DEPUTY_ASSIGN(const Shape shape, common_shape(c));
  DEPUTY_TRY(c.declare(0, c.dtype(1), shape));
  if (c.infer_only()) return {};
  return with_width(c, c.dtype(1), [&](auto zero) -> Status {
    using T = decltype(zero);
    T* out = c.out<T>();
    for_each<3>(shape,
                {broadcast_strides(c.shape(0), shape), broadcast_strides(c.shape(1), shape),
                 broadcast_strides(c.shape(2), shape)},
                [&](const auto& at) {
                  *out++ = c.in<Bool>(0)[at[0]] ? c.in<T>(1)[at[1]] : c.in<T>(2)[at[2]];
                });
    return {};
  });
}

constexpr Kernel kKernels[] = {{"Add", 2, 2, 1, add},
                               {"And", 2, 2, 1, logical_and},
                               {"BitShift", 2, 2, 1, bit_shift},
                               {"Div", 2, 2, 1, div},
                               {"Equal", 2, 2, 1, equal},
                               {"Greater", 2, 2, 1, greater},
                               {"GreaterOrEqual", 2, 2, 1, greater_equal},
                               {"Less", 2, 2, 1, less},
                               {"LessOrEqual", 2, 2, 1, less_equal},
                               {"Max", 1, kMany, 1, max},
                               {"Mean", 1, kMany, 1, mean},
                               {"Min", 1, kMany, 1, min},
                               {"Mod", 2, 2, 1, mod},
                               {"Mul", 2, 2, 1, mul},
                               {"Or", 2, 2, 1, logical_or},
                               {"Pow", 2, 2, 1, pow},
                               {"PRelu", 2, 2, 1, prelu},
                               {"Sub", 2, 2, 1, sub},
                               {"Sum", 1, kMany, 1, sum},
                               {"Where", 3, 3, 1, where},
                               {"Xor", 2, 2, 1, logical_xor}};

}  // namespace

std::span<const Kernel> binary_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
