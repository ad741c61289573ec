// Shared checks of the CPU kernels (op_call.h).
#include "host_runtime/cpu/op_call.h"

#include <fmt/format.h>

namespace deputy::host_runtime {

base::Error op_error(const OpCall& c, std::string message, base::ErrorKind kind) {
  const char* remedy = kind == base::ErrorKind::kInput ? "" : "no CPU kernel takes this";
  return {kind, std::string(arch::op_name(c.kind)), std::move(message), remedy};
}

base::Status expect(const OpCall& c, bool condition, const char* message) {
  if (condition) return {};
  return op_error(c, message);
}

base::Status expect_operands(const OpCall& c, std::size_t min_inputs, std::size_t max_inputs,
                             std::size_t outputs) {
  if (c.inputs.size() < min_inputs || c.inputs.size() > max_inputs)
    return op_error(c, fmt::format("has {} inputs, expected {} to {}", c.inputs.size(), min_inputs,
                                   max_inputs));
  if (c.outputs.size() != outputs)
    return op_error(c, fmt::format("has {} outputs, expected {}", c.outputs.size(), outputs));
  for (std::size_t i = 0; i < min_inputs; ++i)
    if (!c.inputs[i]) return op_error(c, fmt::format("input {} is missing", i));
  for (std::size_t i = 0; i < outputs; ++i)
    if (!c.outputs[i]) return op_error(c, fmt::format("output {} is missing", i));
  return {};
}

base::Status expect_dtype(const OpCall& c, const arch::TensorDesc& t,
                          std::initializer_list<DType> allowed) {
  std::string names;
  for (auto d : allowed) {
    if (t.dtype == d) return {};
    names += (names.empty() ? "" : ", ") + std::string(dtype_name(d));
  }
  return op_error(
      c, fmt::format("tensor '{}' is {}, supported: {}", t.name, dtype_name(t.dtype), names));
}

base::Status expect_shape(const OpCall& c, const arch::TensorDesc& t, const Shape& expected) {
  if (t.shape == expected) return {};
  return op_error(c, fmt::format("tensor '{}' has shape {}, the operands imply {}", t.name,
                                 shape_text(t.shape), shape_text(expected)));
}

base::Status expect_same_dtype(const OpCall& c, const arch::TensorDesc& a,
                               const arch::TensorDesc& b) {
  if (a.dtype == b.dtype) return {};
  return op_error(c, fmt::format("tensors '{}' ({}) and '{}' ({}) must have one type", a.name,
                                 dtype_name(a.dtype), b.name, dtype_name(b.dtype)));
}

base::Status expect_quantised(const OpCall& c, const arch::TensorDesc& t) {
  if (!is_quantised_type(t.dtype)) return {};
  if (t.quant.scale.size() != 1)
    return op_error(
        c, fmt::format("tensor '{}' has {} scales, expected one", t.name, t.quant.scale.size()));
  if (t.dtype == DType::kInt16 && t.quant.zero_point[0] != 0)
    return op_error(c, fmt::format("int16 tensor '{}' has zero point {}, expected 0", t.name,
                                   t.quant.zero_point[0]));
  return {};
}

bool same_quantisation(const arch::TensorDesc& a, const arch::TensorDesc& b) {
  if (!is_quantised_type(a.dtype)) return true;
  return a.quant.scale == b.quant.scale && a.quant.zero_point == b.quant.zero_point;
}

IndexList read_indices(const arch::TensorView& view) {
  IndexList list;
  if (!view || view.data == nullptr || !is_index_type(view.desc->dtype)) return list;
  list.known = true;
  const auto count = static_cast<std::size_t>(view.desc->elements());
  list.values.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    list.values[i] =
        view.desc->dtype == DType::kInt32 ? view.as<std::int32_t>()[i] : view.as<std::int64_t>()[i];
  return list;
}

base::Status expect_index_operand(const OpCall& c, std::size_t i) {
  if (!c.has(i)) return op_error(c, fmt::format("input {} is missing", i));
  return expect_dtype(c, c.x(i), {DType::kInt32, DType::kInt64});
}

base::Result<std::size_t> resolve_axis(const OpCall& c, std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r)
    return op_error(c, fmt::format("axis {} is outside a rank-{} tensor", axis, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

std::int64_t span_count(const Shape& shape, std::size_t from, std::size_t to) {
  std::int64_t count = 1;
  for (std::size_t i = from; i < to; ++i) count *= shape[i];
  return count;
}

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

FloatRange float_activation_range(std::uint8_t activation) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (static_cast<arch::Activation>(activation)) {
    case arch::Activation::kRelu:
      return {0, kInfinity};
    case arch::Activation::kReluN1To1:
      return {-1, 1};
    case arch::Activation::kRelu6:
      return {0, 6};
    default:
      return {-kInfinity, kInfinity};
  }
}

}  // namespace deputy::host_runtime
