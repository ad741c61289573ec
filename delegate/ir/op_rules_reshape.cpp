// Operators that keep the elements and change their arrangement, and those that make a tensor from
// a shape.
#include "delegate/ir/op_checker.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using base::Status;

Status same_elements(const OpChecker& c) {
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  if (c.in(0).desc.elements() != c.out().desc.elements())
    return c.malformed("{} elements cannot become shape {}", c.in(0).desc.elements(),
                       shape_text(c.out_shape()));
  return {};
}

/// A shape operand may be computed at run time: it can then only repeat the declared shape.
Status check_reshape(const OpChecker& c) {
  DEPUTY_TRY(c.operands(1, 2));
  DEPUTY_TRY(same_elements(c));
  if (!c.has(1) || !c.in(1).constant) return {};
  DEPUTY_ASSIGN(const auto wanted, c.constant_ints(1));
  const Shape& out = c.out_shape();
  bool agrees = wanted.size() == out.size();
  int free = 0;
  for (std::size_t d = 0; agrees && d < out.size(); ++d) {
    free += wanted[d] == -1;
    agrees = wanted[d] == -1 || wanted[d] == out[d];
  }
  if (!agrees || free > 1)
    return c.malformed("its shape operand does not describe the declared output {}",
                       shape_text(out));
  return {};
}

Status check_squeeze(const OpChecker& c) {
  DEPUTY_TRY(c.operands(1, 1));
  DEPUTY_TRY(same_elements(c));
  const Shape& in = c.in_shape(0);
  const Shape& out = c.out_shape();
  std::size_t matched = 0;
  for (const std::int32_t dim : in) {
    if (matched < out.size() && out[matched] == dim)
      ++matched;
    else if (dim != 1)
      return c.malformed("cannot squeeze {} to {}", shape_text(in), shape_text(out));
  }
  if (matched != out.size())
    return c.malformed("cannot squeeze {} to {}", shape_text(in), shape_text(out));
  return {};
}

Status check_expand_dims(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 2));
  DEPUTY_TRY(same_elements(c));
  DEPUTY_ASSIGN(const auto values, c.constant_ints(1, 1));
  auto shape = wide(c.in_shape(0));
  DEPUTY_ASSIGN(const auto axis, c.axis(values[0], shape.size() + 1));
  shape.insert(shape.begin() + axis, 1);
  return c.output_is(shape);
}

Status check_transpose(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 2));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  const Shape& in = c.in_shape(0);
  DEPUTY_ASSIGN(const auto order, c.constant_ints(1, in.size()));
  std::vector<bool> used(in.size());
  std::vector<std::int64_t> shape;
  for (const std::int64_t from : order) {
    DEPUTY_ASSIGN(const auto d, c.axis(from, in.size()));
    if (used[static_cast<std::size_t>(d)])
      return c.malformed("its order names dimension {} twice", d);
    used[static_cast<std::size_t>(d)] = true;
    shape.push_back(in[static_cast<std::size_t>(d)]);
  }
  return c.output_is(shape);
}

Status check_reverse(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 2));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  DEPUTY_ASSIGN(const auto axes, c.constant_ints(1));
  std::vector<bool> used(c.in_shape(0).size());
  for (const std::int64_t axis : axes) {
    DEPUTY_ASSIGN(const auto d, c.axis(axis, used.size()));
    if (used[static_cast<std::size_t>(d)]) return c.malformed("reverses dimension {} twice", d);
    used[static_cast<std::size_t>(d)] = true;
  }
  return c.output_like(c.in_shape(0));
}

Status check_tile(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 2));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  auto shape = wide(c.in_shape(0));
  DEPUTY_ASSIGN(const auto times, c.constant_ints(1, shape.size()));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (times[d] < 0) return c.malformed("repeats dimension {} {} times", d, times[d]);
    shape[d] *= times[d];
  }
  return c.output_is(shape);
}

Status check_shape(const OpChecker& c) {
  DEPUTY_TRY(c.operands(1, 1));
  if (c.out_type() != DType::kInt32 && c.out_type() != DType::kInt64)
    return c.malformed("its output is {}, int32 or int64 is needed", dtype_name(c.out_type()));
  return c.output_is({static_cast<std::int64_t>(c.in_shape(0).size())});
}

Status check_fill(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 2));
  DEPUTY_TRY(c.same_type(c.in(1), c.out()));
  if (c.in(1).desc.elements() != 1)
    return c.malformed("its value has {} elements, one is needed", c.in(1).desc.elements());
  if (!c.in(0).constant) return {};
  DEPUTY_ASSIGN(const auto shape, c.constant_ints(0));
  return c.output_is(shape);
}

}  // namespace

Status check_reshape_op(const OpChecker& c) {
  switch (c.op().kind) {
    case OpKind::RESHAPE:
      return check_reshape(c);
    case OpKind::SQUEEZE:
      return check_squeeze(c);
    case OpKind::EXPAND_DIMS:
      return check_expand_dims(c);
    case OpKind::TRANSPOSE:
      return check_transpose(c);
    case OpKind::REVERSE_V2:
      return check_reverse(c);
    case OpKind::TILE:
      return check_tile(c);
    case OpKind::SHAPE:
      return check_shape(c);
    default:
      return check_fill(c);
  }
}

}  // namespace deputy::delegate
