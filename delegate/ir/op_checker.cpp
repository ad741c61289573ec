// Checks that many operators share.
#include "delegate/ir/op_checker.h"

#include <algorithm>
#include <cstring>

namespace deputy::delegate {

using base::Result;
using base::Status;

bool is_quantised_type(DType type) {
  return type == DType::kInt8 || type == DType::kUint8 || type == DType::kInt16;
}

std::vector<std::int64_t> wide(const Shape& shape) { return {shape.begin(), shape.end()}; }

std::optional<std::vector<std::int64_t>> broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  std::vector<std::int64_t> out(rank);
  for (std::size_t i = 0; i < rank; ++i) {  // i counts from the innermost dimension
    const std::int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) return std::nullopt;
    out[rank - 1 - i] = da == 1 ? db : da;
  }
  return out;
}

Status OpChecker::operands(std::size_t least, std::size_t most, std::size_t outputs) const {
  if (op_.inputs.size() < least || op_.inputs.size() > most)
    return malformed("has {} inputs; {}", op_.inputs.size(),
                     least == most ? fmt::format("it needs {}", least)
                                   : fmt::format("it takes {} to {}", least, most));
  for (std::size_t i = 0; i < least; ++i)
    if (op_.inputs[i] == kNoTensor) return malformed("input {} is missing", i);
  if (op_.outputs.size() != outputs)
    return malformed("has {} outputs, it needs {}", op_.outputs.size(), outputs);
  return {};
}

Status OpChecker::rank(const Tensor& tensor, std::size_t rank) const {
  if (tensor.desc.shape.size() == rank) return {};
  return malformed("tensor '{}' has shape {}, {} dimensions are needed", tensor.desc.name,
                   shape_text(tensor.desc.shape), rank);
}

Status OpChecker::same_type(const Tensor& a, const Tensor& b) const {
  if (a.desc.dtype == b.desc.dtype) return {};
  return malformed("tensor '{}' is {} but '{}' is {}", a.desc.name, dtype_name(a.desc.dtype),
                   b.desc.name, dtype_name(b.desc.dtype));
}

Status OpChecker::output_is(const std::vector<std::int64_t>& shape, std::size_t output) const {
  const Shape& declared = out_shape(output);
  if (std::equal(shape.begin(), shape.end(), declared.begin(), declared.end())) return {};
  std::string text;
  for (const std::int64_t dim : shape) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return malformed("output {} is declared as {} but its operands make {}", output,
                   shape_text(declared), text.empty() ? "scalar" : text);
}

Status OpChecker::output_like(const Shape& shape, std::size_t output) const {
  return output_is(wide(shape), output);
}

Status OpChecker::per_tensor(const Tensor& tensor) const {
  if (!is_quantised_type(tensor.desc.dtype)) return {};
  if (!tensor.desc.quant.present())
    return malformed("tensor '{}' is {} but has no scale", tensor.desc.name,
                     dtype_name(tensor.desc.dtype));
  if (tensor.desc.quant.per_channel())
    return unsupported("tensor '{}' has a scale per channel where only one per tensor is taken",
                       tensor.desc.name);
  return {};
}

Status OpChecker::weight_scales(const Tensor& tensor, std::int32_t axis) const {
  if (!is_quantised_type(tensor.desc.dtype)) return {};
  const Quantisation& quant = tensor.desc.quant;
  if (!quant.present())
    return malformed("weights '{}' are {} but have no scale", tensor.desc.name,
                     dtype_name(tensor.desc.dtype));
  if (quant.per_channel() && quant.axis != axis)
    return unsupported("weights '{}' have scales along axis {}, only axis {} is taken",
                       tensor.desc.name, quant.axis, axis);
  return {};
}

Status OpChecker::conv_types(const Tensor& input, const Tensor& weights, std::size_t bias,
                             std::int32_t weight_axis, std::int64_t channels) const {
  DEPUTY_TRY(same_type(input, out()));
  const DType type = input.desc.dtype, weight_type = weights.desc.dtype;
  const bool is_float = type == DType::kFloat32;
  if (!is_float && !is_quantised_type(type))
    return unsupported("works on float32, int8, uint8 or int16, not on {}", dtype_name(type));
  const bool narrow_weights = (is_float || type == DType::kInt16) && weight_type == DType::kInt8;
  if (!narrow_weights && (weight_type != type || type == DType::kInt16))
    return unsupported("{} weights with {} activations are not supported", dtype_name(weight_type),
                       dtype_name(type));
  DEPUTY_TRY(per_tensor(input));
  DEPUTY_TRY(per_tensor(out()));
  DEPUTY_TRY(weight_scales(weights, weight_axis));
  if (!has(bias)) return {};
  const Tensor& b = in(bias);
  if (b.desc.elements() != channels)
    return malformed("the bias has {} values for {} output channels", b.desc.elements(), channels);
  const bool wide_bias = type == DType::kInt16 && b.desc.dtype == DType::kInt64;
  if (b.desc.dtype != (is_float ? DType::kFloat32 : DType::kInt32) && !wide_bias)
    return malformed("the bias is {} with {} activations", dtype_name(b.desc.dtype),
                     dtype_name(type));
  return {};
}

Result<std::vector<std::int64_t>> OpChecker::constant_ints(std::size_t input) const {
  const Tensor& tensor = in(input);
  if (!tensor.constant)
    return unsupported("input {} '{}' is computed at run time, only a constant is taken", input,
                       tensor.desc.name);
  std::vector<std::int64_t> out(static_cast<std::size_t>(tensor.desc.elements()));
  if (tensor.desc.dtype == DType::kInt32) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::int32_t v;
      std::memcpy(&v, tensor.data.data() + i * sizeof v, sizeof v);
      out[i] = v;
    }
  } else if (tensor.desc.dtype == DType::kInt64) {
    if (!out.empty())
      std::memcpy(out.data(), tensor.data.data(), out.size() * sizeof(std::int64_t));
    // No position, size or multiple beyond 32 bits means anything; this keeps later sums from
    // overflowing.
    for (const std::int64_t v : out)
      if (v != static_cast<std::int32_t>(v))
        return malformed("input {} holds {}, out of range", input, v);
  } else {
    return malformed("input {} '{}' is {}, int32 or int64 is needed", input, tensor.desc.name,
                     dtype_name(tensor.desc.dtype));
  }
  return out;
}

Result<std::vector<std::int64_t>> OpChecker::constant_ints(std::size_t input,
                                                           std::size_t count) const {
  DEPUTY_ASSIGN(auto values, constant_ints(input));
  if (values.size() != count)
    return malformed("input {} '{}' has {} values, {} are needed", input, in(input).desc.name,
                     values.size(), count);
  return values;
}

Result<std::int32_t> OpChecker::axis(std::int64_t axis, std::size_t rank) const {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r) return malformed("axis {} is outside the {} dimensions", axis, rank);
  return static_cast<std::int32_t>(axis < 0 ? axis + r : axis);
}

}  // namespace deputy::delegate
