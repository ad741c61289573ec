// Operators that fold one or more dimensions: MEAN, SUM, REDUCE_MAX, REDUCE_MIN, ARG_MAX, ARG_MIN.
#include "delegate/ir/op_checker.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using base::Status;

Status check_reduce(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 2));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  DEPUTY_TRY(c.per_tensor(c.in(0)));
  DEPUTY_TRY(c.per_tensor(c.out()));
  const Shape& in = c.in_shape(0);
  DEPUTY_ASSIGN(const auto axes, c.constant_ints(1));
  std::vector<bool> folded(in.size());
  for (const std::int64_t axis : axes) {
    DEPUTY_ASSIGN(const auto d, c.axis(axis, in.size()));
    folded[static_cast<std::size_t>(d)] = true;
  }
  std::vector<std::int64_t> shape;
  bool over_nothing = false;
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (!folded[d]) shape.push_back(in[d]);
    if (folded[d] && c.attrs().keep_dims) shape.push_back(1);
    over_nothing |= folded[d] && in[d] == 0;
  }
  DEPUTY_TRY(c.output_is(shape));
  if (over_nothing && c.out().desc.elements() > 0)
    return c.unsupported("reduces a dimension of size 0 of input {}", shape_text(in));
  return {};
}

Status check_arg(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 2));
  DEPUTY_ASSIGN(const auto values, c.constant_ints(1, 1));
  const Shape& in = c.in_shape(0);
  DEPUTY_ASSIGN(const auto axis, c.axis(values[0], in.size()));
  if (c.out_type() != DType::kInt32 && c.out_type() != DType::kInt64)
    return c.malformed("its output is {}, int32 or int64 is needed", dtype_name(c.out_type()));
  auto shape = wide(in);
  const std::int64_t size = shape[static_cast<std::size_t>(axis)];
  shape.erase(shape.begin() + axis);
  DEPUTY_TRY(c.output_is(shape));
  if (size == 0 && c.out().desc.elements() > 0)
    return c.unsupported("searches a dimension of size 0 of input {}", shape_text(in));
  return {};
}

}  // namespace

Status check_reduction_op(const OpChecker& c) {
  if (c.op().kind == OpKind::ARG_MAX || c.op().kind == OpKind::ARG_MIN) return check_arg(c);
  return check_reduce(c);
}

}  // namespace deputy::delegate
