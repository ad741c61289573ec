// What every operator file of the CPU kernels is written with: one call's operands, the row an
// operator has in the dispatch table, and the checks that many operators share. Internal to
// host_runtime/cpu.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arch/numerics.h"
#include "arch/ops.h"
#include "base/result.h"
#include "host_runtime/cpu/kernels.h"

namespace deputy::host_runtime {

inline constexpr std::size_t kMaxRank = 8;

/// One operator with its operands. References stay valid for the call only.
struct OpCall {
  arch::OpKind kind;
  const arch::OpAttrs& attrs;
  std::span<const arch::TensorView> inputs, outputs;

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i]; }
  const arch::TensorDesc& x(std::size_t i = 0) const { return *inputs[i].desc; }
  const arch::TensorDesc& y(std::size_t i = 0) const { return *outputs[i].desc; }
  template <class T>
  const T* in(std::size_t i = 0) const {
    return inputs[i].as<T>();
  }
  template <class T>
  T* out(std::size_t i = 0) const {
    return outputs[i].as<T>();
  }
};

/// An operator's row: check() before anything runs (data of non-constant operands is null there),
/// run() with all data present.
struct HostOp {
  arch::OpKind kind;
  base::Status (*check)(const OpCall&);
  base::Status (*run)(const OpCall&, Numerics);
};

// One table per operator family.
std::span<const HostOp> conv_ops();
std::span<const HostOp> fully_connected_ops();
std::span<const HostOp> transpose_conv_ops();
std::span<const HostOp> pool_ops();
std::span<const HostOp> elementwise_ops();
std::span<const HostOp> activation_ops();
std::span<const HostOp> softmax_ops();
std::span<const HostOp> normalisation_ops();
std::span<const HostOp> reduce_ops();
std::span<const HostOp> shape_ops();
std::span<const HostOp> slice_ops();
std::span<const HostOp> pad_ops();
std::span<const HostOp> space_ops();
std::span<const HostOp> resize_ops();
std::span<const HostOp> quantize_ops();
std::span<const HostOp> gather_pack_ops();
std::span<const HostOp> matmul_ops();
std::span<const HostOp> onnx_ops();

/// An error about this call: check errors are kUnsupported, run-time data errors kInput.
base::Error op_error(const OpCall& c, std::string message,
                     base::ErrorKind kind = base::ErrorKind::kUnsupported);
base::Status expect(const OpCall& c, bool condition, const char* message);

/// Operand counts; inputs [0, min_inputs) must be present.
base::Status expect_operands(const OpCall& c, std::size_t min_inputs, std::size_t max_inputs,
                             std::size_t outputs);
base::Status expect_dtype(const OpCall& c, const arch::TensorDesc& t,
                          std::initializer_list<DType> allowed);
base::Status expect_shape(const OpCall& c, const arch::TensorDesc& t, const Shape& expected);
/// All of dtype `t`'s: same element type.
base::Status expect_same_dtype(const OpCall& c, const arch::TensorDesc& a,
                               const arch::TensorDesc& b);
/// One scale and one zero point, as every 8- and 16-bit arithmetic operand needs; true for other
/// types.
base::Status expect_quantised(const OpCall& c, const arch::TensorDesc& t);

inline bool is_quantised_type(DType t) {
  return t == DType::kInt8 || t == DType::kUint8 || t == DType::kInt16;
}
inline bool is_index_type(DType t) { return t == DType::kInt32 || t == DType::kInt64; }
inline float scale_of(const arch::TensorDesc& t) { return t.quant.scale[0]; }
inline std::int32_t zero_point_of(const arch::TensorDesc& t) { return t.quant.zero_point[0]; }

/// Equal scales and zero points; true for types without.
bool same_quantisation(const arch::TensorDesc& a, const arch::TensorDesc& b);

/// Values of an int32/int64 operand; empty when it has no data yet. known tells the two apart.
struct IndexList {
  bool known = false;
  std::vector<std::int64_t> values;
};
IndexList read_indices(const arch::TensorView& view);
base::Status expect_index_operand(const OpCall& c, std::size_t i);

/// axis in [-rank, rank) as [0, rank), or an error.
base::Result<std::size_t> resolve_axis(const OpCall& c, std::int64_t axis, std::size_t rank);

/// shape[from..to) multiplied.
std::int64_t span_count(const Shape& shape, std::size_t from, std::size_t to);
/// Row-major strides in elements.
std::vector<std::int64_t> strides_of(const Shape& shape);

/// The rule of TFLite's builtin kernels, which run what XNNPACK does not take: double rounding in
/// fp32 mode.
inline Numerics builtin_rule(Numerics mode) {
  return mode == Numerics::kFp32 ? Numerics::kTflite : mode;
}

template <class T>
inline constexpr std::int32_t kLowest = static_cast<std::int32_t>(std::numeric_limits<T>::lowest());
template <class T>
inline constexpr std::int32_t kHighest = static_cast<std::int32_t>(std::numeric_limits<T>::max());

/// Calls f with a zero of the C++ type of a quantised element type.
template <class F>
decltype(auto) with_quantised_type(DType type, F&& f) {
  if (type == DType::kUint8) return f(std::uint8_t{});
  if (type == DType::kInt16) return f(std::int16_t{});
  return f(std::int8_t{});
}
/// Calls f with a zero of the unsigned type of so many bytes: 1, 2, 4 or 8.
template <class F>
decltype(auto) with_element_size(std::size_t bytes, F&& f) {
  switch (bytes) {
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      return f(std::uint8_t{});
  }
}
template <class F>
decltype(auto) with_element_size(DType type, F&& f) {
  return with_element_size(dtype_size(type), std::forward<F>(f));
}

/// The fused activation of a float kernel as bounds.
struct FloatRange {
  float lo, hi;
};
FloatRange float_activation_range(std::uint8_t activation);
inline float clamp_float(float v, FloatRange r) { return v < r.lo ? r.lo : (v > r.hi ? r.hi : v); }

}  // namespace deputy::host_runtime
