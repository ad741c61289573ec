// What the kernels of ONNX operators are written with: one call's operands and results, and the
// element types. Internal to host_runtime/cpu/onnx.
//
// A kernel is one function that checks its operands, declares its results and computes them. It
// runs in three ways: to find out the results' shapes (infer_only(): it returns after declaring,
// and operands may have no data), to compute constants when a model is imported (the results are
// allocated), and in a session (the results must be as the compiler was told). So a shape rule and
// the computation that relies on it cannot disagree.
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/onnx_node.h"
#include "arch/ops.h"
#include "base/result.h"

namespace deputy::host_runtime::onnx {

using Ints = std::vector<std::int64_t>;

/// IEEE binary16, as storage: arithmetic is float's.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  Half(float value);       // NOLINT: implicit, rounds to nearest even
  operator float() const;  // NOLINT: implicit, exact
};
/// A byte that is true when it is not 0, whatever else is in it.
struct Bool {
  std::uint8_t value = 0;
  Bool() = default;
  Bool(bool v) : value(v) {}                    // NOLINT: implicit
  operator bool() const { return value != 0; }  // NOLINT: implicit
};

template <class T>
inline constexpr DType kTypeOf = DType::kInt8;
template <>
inline constexpr DType kTypeOf<std::uint8_t> = DType::kUint8;
template <>
inline constexpr DType kTypeOf<std::int16_t> = DType::kInt16;
template <>
inline constexpr DType kTypeOf<std::uint16_t> = DType::kUint16;
template <>
inline constexpr DType kTypeOf<std::int32_t> = DType::kInt32;
template <>
inline constexpr DType kTypeOf<std::uint32_t> = DType::kUint32;
template <>
inline constexpr DType kTypeOf<std::int64_t> = DType::kInt64;
template <>
inline constexpr DType kTypeOf<std::uint64_t> = DType::kUint64;
template <>
inline constexpr DType kTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType kTypeOf<double> = DType::kFloat64;
template <>
inline constexpr DType kTypeOf<Half> = DType::kFloat16;
template <>
inline constexpr DType kTypeOf<Bool> = DType::kBool;

template <class... T>
struct Types {};
using Floats = Types<float, double, Half>;
using Integers = Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                       std::uint32_t, std::int64_t, std::uint64_t>;
using Numbers = Types<float, double, Half, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                      std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
using Everything =
    Types<float, double, Half, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
          std::uint32_t, std::int64_t, std::uint64_t, Bool>;

template <class T>
inline constexpr bool kReal =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Half>;
/// What arithmetic on T is done in.
template <class T>
struct WideOf {
  using type = T;
};
template <>
struct WideOf<Half> {
  using type = float;
};
template <class T>
using Wide = typename WideOf<T>::type;

/// A result of a call.
struct Slot {
  bool wanted = true;                          ///< optional results may not be
  const arch::TensorDesc* expected = nullptr;  ///< in a session and where the model says it
  std::uint8_t* data = nullptr;                ///< in a session; else it becomes `own`'s
  DType dtype = DType::kFloat32;               ///< from here on what the kernel declared
  Shape shape;
  bool declared = false;
  std::vector<std::uint8_t> own;
};

enum class Mode : std::uint8_t { kInfer, kFold, kRun };

class Call {
 public:
  Call(const arch::OnnxNode& node, std::span<const arch::TensorView> inputs,
       std::vector<Slot>& slots, Mode mode)
      : node(node), inputs_(inputs), slots_(slots), mode_(mode) {}

  const arch::OnnxNode& node;

  std::size_t inputs() const { return inputs_.size(); }
  std::size_t outputs() const { return slots_.size(); }
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i]; }
  bool wants(std::size_t i) const { return i < slots_.size() && slots_[i].wanted; }
  const Shape& shape(std::size_t i = 0) const { return inputs_[i].desc->shape; }
  std::size_t rank(std::size_t i = 0) const { return shape(i).size(); }
  DType dtype(std::size_t i = 0) const { return inputs_[i].desc->dtype; }
  std::int64_t count(std::size_t i = 0) const { return inputs_[i].desc->elements(); }
  bool known(std::size_t i) const { return has(i) && (inputs_[i].data || count(i) == 0); }
  template <class T>
  const T* in(std::size_t i = 0) const {
    return reinterpret_cast<const T*>(inputs_[i].data);
  }

  /// The result's type and shape, before any out(). In a session they must be the compiler's.
  base::Status declare(std::size_t i, DType dtype, Shape shape) const;
  bool infer_only() const { return mode_ == Mode::kInfer; }
  /// Valid after declare(), also for a result that nobody wants. Zeros, unless in a session.
  template <class T>
  T* out(std::size_t i = 0) const {
    return reinterpret_cast<T*>(slots_[i].data);
  }
  const Shape& out_shape(std::size_t i = 0) const { return slots_[i].shape; }
  std::int64_t out_count(std::size_t i = 0) const { return element_count(slots_[i].shape); }
  void clear(std::size_t i = 0) const {
    if (out_count(i))
      std::memset(slots_[i].data, 0,
                  static_cast<std::size_t>(out_count(i)) * dtype_size(slots_[i].dtype));
  }

  /// An integer operand's values. kUnsupported when they are not known yet.
  base::Result<Ints> values(std::size_t i) const;
  /// A number of any type in a one-element operand.
  base::Result<double> number(std::size_t i) const;
  /// Axes in operand `i` (newer operator sets) or in an attribute (older ones), counted from the
  /// front, each once.
  base::Result<Ints> axes(std::size_t i, const char* attribute, std::size_t rank) const;
  base::Result<std::int64_t> axis(std::int64_t axis, std::size_t rank) const;
  /// Whether operand i exists or an attribute stands for it.
  bool given(std::size_t i, const char* attribute) const { return has(i) || node.has(attribute); }

  template <class... A>
  base::Error fail(fmt::format_string<A...> text, A&&... args) const {
    return error(fmt::format(text, std::forward<A>(args)...));
  }
  base::Error error(std::string message) const;
  /// Of a result whose shape depends on operand values that are not known.
  base::Error unknown(std::size_t input) const;
  bool was_unknown() const { return unknown_; }

 private:
  std::span<const arch::TensorView> inputs_;
  std::vector<Slot>& slots_;
  Mode mode_;
  mutable bool unknown_ = false;
};

/// Calls f with a zero of the C++ type of `type`, if that is one of T.
template <class F, class... T>
base::Status with_type(const Call& c, DType type, Types<T...>, F&& f) {
  base::Status status;
  const bool hit = ((type == kTypeOf<T> && (status = f(T{}), true)) || ...);
  if (!hit) return c.fail("elements of type {} are not supported", dtype_name(type));
  return status;
}
/// Calls f with a zero of the unsigned type as wide as an element.
template <class F>
base::Status with_width(const Call& c, DType type, F&& f) {
  switch (dtype_size(type)) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      return c.fail("elements of type {} are not supported", dtype_name(type));
  }
}

/// An operator's row. Rows of one operator for different operator sets do not exist: kernels ask
/// node.opset.
struct Kernel {
  const char* op;
  std::size_t min_inputs, max_inputs;  ///< kMany: any number
  std::size_t max_outputs;
  base::Status (*run)(const Call&);
  const char* limits = "";  ///< what is not taken, for the generated list
};
inline constexpr std::size_t kMany = 1u << 16;

std::span<const Kernel> unary_kernels();
std::span<const Kernel> binary_kernels();
std::span<const Kernel> cast_kernels();
std::span<const Kernel> reduce_kernels();
std::span<const Kernel> shape_kernels();
std::span<const Kernel> slice_kernels();
std::span<const Kernel> gather_kernels();
std::span<const Kernel> select_kernels();
std::span<const Kernel> matrix_kernels();
std::span<const Kernel> einsum_kernels();
std::span<const Kernel> conv_kernels();
std::span<const Kernel> pool_kernels();
std::span<const Kernel> norm_kernels();
std::span<const Kernel> loss_kernels();
std::span<const Kernel> rnn_kernels();
std::span<const Kernel> quant_kernels();
std::span<const Kernel> resize_kernels();
std::span<const Kernel> signal_kernels();

const Kernel* find_kernel(std::string_view op);
std::vector<const Kernel*> all_kernels();

// Shapes.
Ints strides(const Shape& shape);
std::int64_t product(const Shape& shape, std::size_t from, std::size_t to);
/// numpy's rule; nullopt when the shapes do not go together.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);
/// Strides of an operand of `from` read at the positions of `to`: 0 where it is repeated.
Ints broadcast_strides(const Shape& from, const Shape& to);

/// Calls f(offset in each operand) for every position of `shape`, in row-major order.
template <std::size_t N, class F>
void for_each(const Shape& shape, const std::array<Ints, N>& step, F&& f) {
  if (element_count(shape) == 0) return;
  std::array<std::int64_t, N> at{};
  const std::size_t rank = shape.size();
  if (rank == 0) return f(at);
  std::vector<std::int32_t> position(rank, 0);
  while (true) {
    for (std::int32_t i = 0; i < shape[rank - 1]; ++i) {
      f(at);
      for (std::size_t k = 0; k < N; ++k) at[k] += step[k][rank - 1];
    }
    for (std::size_t k = 0; k < N; ++k) at[k] -= step[k][rank - 1] * shape[rank - 1];
    std::size_t d = rank - 1;
    while (true) {
      if (d == 0) return;
      --d;
      for (std::size_t k = 0; k < N; ++k) at[k] += step[k][d];
      if (++position[d] < shape[d]) break;
      for (std::size_t k = 0; k < N; ++k) at[k] -= step[k][d] * shape[d];
      position[d] = 0;
    }
  }
}

/// The windows of a convolution or pooling over any number of dimensions.
struct Windows {
  Ints in, out, kernel, stride, dilation, begin;  ///< by spatial dimension; begin: pads before
};
/// From auto_pad, pads, strides, dilations and the kernel's shape. ceil: the last window may start
/// inside and end outside.
base::Result<Windows> windows(const Call& c, const Shape& image, const Ints& kernel, bool ceil);

/// round-half-even of x / scale + zero, clamped to T: QuantizeLinear's rule.
template <class T>
T quantise(float x, float scale, std::int32_t zero);

}  // namespace deputy::host_runtime::onnx
