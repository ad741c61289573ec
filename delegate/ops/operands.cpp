#include "delegate/ops/operands.h"

#include <cstring>

#include "arch/activation_table.h"

namespace deputy::delegate {

using arch::OpKind;

std::optional<std::vector<std::int64_t>> constant_ints(const Graph& graph, TensorId id) {
  if (id == kNoTensor) return std::nullopt;
  const Tensor& t = graph.tensor(id);
  if (!t.constant) return std::nullopt;
  std::vector<std::int64_t> out(static_cast<std::size_t>(t.desc.elements()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (t.desc.dtype == DType::kInt64) {
      std::memcpy(&out[i], t.data.data() + 8 * i, 8);
    } else if (t.desc.dtype == DType::kInt32) {
      std::int32_t value;
      std::memcpy(&value, t.data.data() + 4 * i, 4);
      out[i] = value;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::vector<TensorId> data_inputs(const Op& op) {
  switch (op.kind) {
    case OpKind::ADD:
    case OpKind::SUB:
    case OpKind::MUL:
    case OpKind::MINIMUM:
    case OpKind::MAXIMUM:
    case OpKind::CONCATENATION:
    case OpKind::PACK:
      return op.inputs;
    case OpKind::SPLIT:
      return {op.inputs[1]};
    default:
      return {op.inputs[0]};
  }
}

bool same_quantisation(const Tensor& a, const Tensor& b) {
  const Quantisation &qa = a.desc.quant, &qb = b.desc.quant;
  if (!qa.present() && !qb.present()) return true;
  return qa.scale.size() == 1 && qb.scale.size() == 1 && qa.scale == qb.scale &&
         qa.zero_point == qb.zero_point;
}

Quantisation signed_quantisation(const Tensor& t) {
  Quantisation q = t.desc.quant;
  if (is_u8(t))
    for (std::int32_t& zero : q.zero_point) zero -= 128;
  return q;
}

Tensor other_signedness(Tensor t) {
  const bool to_signed = is_u8(t);
  for (std::uint8_t& byte : t.data) byte ^= 0x80;
  for (std::int32_t& zero : t.desc.quant.zero_point) zero += to_signed ? -128 : 128;
  t.desc.dtype = to_signed ? DType::kInt8 : DType::kUint8;
  return t;
}

std::vector<std::uint8_t> signed_bytes(const Tensor& t) {
  std::vector<std::uint8_t> out = t.data;
  if (is_u8(t))
    for (std::uint8_t& byte : out) byte ^= 0x80;
  return out;
}

std::optional<std::array<std::int8_t, 256>> signed_table(const Graph& graph, const Op& op,
                                                         Numerics mode) {
  const Tensor &in = graph.tensor(op.inputs[0]), &out = graph.tensor(op.outputs[0]);
  // XNNPACK converts within a type only; between types the builtin kernel runs.
  if (op.kind == OpKind::QUANTIZE && in.desc.dtype != out.desc.dtype && mode == Numerics::kFp32)
    mode = Numerics::kTflite;
  return arch::activation_table(op.kind, op.attrs, signed_quantisation(in),
                                signed_quantisation(out), mode);
}

std::optional<std::size_t> resolve_axis(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

std::vector<std::int64_t> byte_strides(const Shape& shape) {
  std::vector<std::int64_t> out(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) out[i - 1] = out[i] * shape[i];
  return out;
}

}  // namespace deputy::delegate
