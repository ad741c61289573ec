// Cast and CastLike.
#include <cmath>
#include <limits>
#include <optional>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

/// TensorProto's numbers of element types.
std::optional<DType> element_type(std::int64_t number) {
  switch (number) {
    case 1:
      return DType::kFloat32;
    case 2:
      return DType::kUint8;
    case 3:
      return DType::kInt8;
    case 4:
      return DType::kUint16;
    case 5:
      return DType::kInt16;
    case 6:
      return DType::kInt32;
    case 7:
      return DType::kInt64;
    case 9:
      return DType::kBool;
    case 10:
      return DType::kFloat16;
    case 11:
      return DType::kFloat64;
    case 12:
      return DType::kUint32;
    case 13:
      return DType::kUint64;
    default:
      return std::nullopt;
  }
}

/// Truncates towards zero; a float that an integer type cannot hold saturates (the specification
/// leaves it open), and NaN becomes 0.
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, Bool>)
    return value != From{};
  else if constexpr (std::is_same_v<To, Half>)
    return Half(static_cast<float>(value));
  else if constexpr (std::is_floating_point_v<To>)
    return static_cast<To>(value);
  else if constexpr (std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    const double v = static_cast<double>(value);
    if (v <= static_cast<double>(std::numeric_limits<To>::lowest()))
      return std::numeric_limits<To>::lowest();
    if (v >= static_cast<double>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    return static_cast<To>(v);
  } else
    return static_cast<To>(value);
}

Status convert(const Call& c, DType to) {
  DEPUTY_TRY(c.declare(0, to, c.shape()));
  return with_type(c, to, Everything{}, [&](auto target) -> Status {
    return with_type(c, c.dtype(), Everything{}, [&](auto source) -> Status {
      using To = decltype(target);
      using From = decltype(source);
      if (c.infer_only()) return {};
      for (std::int64_t i = 0; i < c.count(); ++i) {
        if constexpr (std::is_same_v<From, Bool>)
          c.out<To>()[i] = converted<To>(static_cast<int>(bool{c.in<Bool>()[i]}));
        else
          c.out<To>()[i] = converted<To>(static_cast<Wide<From>>(c.in<From>()[i]));
      }
      return {};
    });
  });
}

Status cast(const Call& c) {
  const auto to = element_type(c.node.integer("to", 0));
  if (!to) return c.fail("element type number {} is not supported", c.node.integer("to", 0));
  return convert(c, *to);
}
Status cast_like(const Call& c) { return convert(c, c.dtype(1)); }

constexpr Kernel kKernels[] = {{"Cast", 1, 1, 1, cast, "no strings, no bfloat16"},
                               {"CastLike", 2, 2, 1, cast_like, "no strings, no bfloat16"}};

}  // namespace

std::span<const Kernel> cast_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
