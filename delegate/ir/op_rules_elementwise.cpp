// Operators whose output has the shape of their (broadcast) inputs.
#include "delegate/ir/op_checker.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using base::Status;

/// Two operands and a result of one type, each with one scale.
Status check_pair(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 2));
  DEPUTY_TRY(c.same_type(c.in(0), c.in(1)));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  DEPUTY_TRY(c.per_tensor(c.in(0)));
  DEPUTY_TRY(c.per_tensor(c.in(1)));
  return c.per_tensor(c.out());
}

Status check_binary(const OpChecker& c) {
  DEPUTY_TRY(check_pair(c));
  const auto shape = broadcast(c.in_shape(0), c.in_shape(1));
  if (!shape)
    return c.malformed("shapes {} and {} do not broadcast", shape_text(c.in_shape(0)),
                       shape_text(c.in_shape(1)));
  return c.output_is(*shape);
}

Status check_unary(const OpChecker& c) {
  DEPUTY_TRY(c.operands(1, 1));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  DEPUTY_TRY(c.per_tensor(c.in(0)));
  DEPUTY_TRY(c.per_tensor(c.out()));
  return c.output_like(c.in_shape(0));
}

/// SOFTMAX, LOG_SOFTMAX, L2_NORMALIZATION work along the last dimension.
Status check_normalisation(const OpChecker& c) {
  DEPUTY_TRY(check_unary(c));
  if (c.in_shape(0).empty())
    return c.malformed("works along the last dimension, but the input is a scalar");
  return {};
}

Status check_prelu(const OpChecker& c) {
  DEPUTY_TRY(check_pair(c));
  const auto shape = broadcast(c.in_shape(0), c.in_shape(1));
  if (!shape || *shape != wide(c.in_shape(0)))
    return c.malformed("alpha {} does not broadcast to input {}", shape_text(c.in_shape(1)),
                       shape_text(c.in_shape(0)));
  return c.output_like(c.in_shape(0));
}

Status check_quantize(const OpChecker& c) {
  DEPUTY_TRY(c.operands(1, 1));
  const DType from = c.in_type(0), to = c.out_type();
  if ((from != DType::kFloat32 && !is_quantised_type(from)) || !is_quantised_type(to))
    return c.unsupported("from {} to {} is not supported", dtype_name(from), dtype_name(to));
  DEPUTY_TRY(c.per_tensor(c.in(0)));
  DEPUTY_TRY(c.per_tensor(c.out()));
  return c.output_like(c.in_shape(0));
}

Status check_dequantize(const OpChecker& c) {
  DEPUTY_TRY(c.operands(1, 1));
  const DType from = c.in_type(0), to = c.out_type();
  if (!(is_quantised_type(from) || from == DType::kFloat16) || to != DType::kFloat32)
    return c.unsupported("from {} to {} is not supported", dtype_name(from), dtype_name(to));
  DEPUTY_TRY(c.per_tensor(c.in(0)));
  return c.output_like(c.in_shape(0));
}

Status check_cast(const OpChecker& c) {
  DEPUTY_TRY(c.operands(1, 1));
  return c.output_like(c.in_shape(0));
}

}  // namespace

Status check_elementwise_op(const OpChecker& c) {
  switch (c.op().kind) {
    case OpKind::ADD:
    case OpKind::SUB:
    case OpKind::MUL:
    case OpKind::DIV:
    case OpKind::MINIMUM:
    case OpKind::MAXIMUM:
    case OpKind::SQUARED_DIFFERENCE:
      return check_binary(c);
    case OpKind::SOFTMAX:
    case OpKind::LOG_SOFTMAX:
    case OpKind::L2_NORMALIZATION:
      return check_normalisation(c);
    case OpKind::PRELU:
      return check_prelu(c);
    case OpKind::QUANTIZE:
      return check_quantize(c);
    case OpKind::DEQUANTIZE:
      return check_dequantize(c);
    case OpKind::CAST:
      return check_cast(c);
    default:
      return check_unary(c);
  }
}

}  // namespace deputy::delegate
