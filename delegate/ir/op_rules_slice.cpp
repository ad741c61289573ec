// Operators that take tensors apart or join them.
#include <algorithm>

#include "delegate/ir/op_checker.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using base::Status;

Status check_concatenation(const OpChecker& c) {
  DEPUTY_TRY(c.operands(c.inputs(), c.inputs()));
  if (c.inputs() == 0) return c.malformed("has no inputs");
  auto shape = wide(c.in_shape(0));
  DEPUTY_ASSIGN(const auto axis, c.axis(c.attrs().axis, shape.size()));
  std::int64_t total = 0;
  for (std::size_t i = 0; i < c.inputs(); ++i) {
    DEPUTY_TRY(c.same_type(c.in(i), c.out()));
    auto other = wide(c.in_shape(i));
    if (other.size() != shape.size())
      return c.malformed("inputs {} and {} have different ranks", shape_text(c.in_shape(0)),
                         shape_text(c.in_shape(i)));
    total += other[static_cast<std::size_t>(axis)];
    other[static_cast<std::size_t>(axis)] = shape[static_cast<std::size_t>(axis)];
    if (other != shape)
      return c.malformed("inputs {} and {} differ outside axis {}", shape_text(c.in_shape(0)),
                         shape_text(c.in_shape(i)), axis);
    DEPUTY_TRY(c.per_tensor(c.in(i)));
  }
  DEPUTY_TRY(c.per_tensor(c.out()));
  shape[static_cast<std::size_t>(axis)] = total;
  return c.output_is(shape);
}

Status check_slice(const OpChecker& c) {
  DEPUTY_TRY(c.operands(3, 3));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  const Shape& in = c.in_shape(0);
  DEPUTY_ASSIGN(const auto begin, c.constant_ints(1, in.size()));
  DEPUTY_ASSIGN(auto size, c.constant_ints(2, in.size()));
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (size[d] == -1) size[d] = in[d] - begin[d];
    if (begin[d] < 0 || size[d] < 0 || begin[d] + size[d] > in[d])
      return c.malformed("begin {} and size {} do not fit dimension {} of {}", begin[d], size[d], d,
                         shape_text(in));
  }
  return c.output_is(size);
}

/// Python's rule for start:stop:step in one dimension: the number of elements.
std::int64_t slice_count(std::int64_t begin, std::int64_t end, std::int64_t step, std::int64_t dim,
                         bool no_begin, bool no_end) {
  const std::int64_t lo = step > 0 ? 0 : -1, hi = step > 0 ? dim : dim - 1;
  const auto place = [&](std::int64_t v) { return std::clamp(v < 0 ? v + dim : v, lo, hi); };
  begin = no_begin ? (step > 0 ? lo : hi) : place(begin);
  end = no_end ? (step > 0 ? hi : lo) : place(end);
  const std::int64_t span = step > 0 ? end - begin : begin - end;
  const std::int64_t stride = step > 0 ? step : -step;
  return span <= 0 ? 0 : (span + stride - 1) / stride;
}

Status check_strided_slice(const OpChecker& c) {
  DEPUTY_TRY(c.operands(4, 4));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  const auto& a = c.attrs();
  if (a.ellipsis_mask != 0 || a.new_axis_mask != 0)
    return c.unsupported("ellipsis and new-axis masks are not supported");
  const Shape& in = c.in_shape(0);
  DEPUTY_ASSIGN(const auto begin, c.constant_ints(1));
  const std::size_t given = begin.size();
  if (given > in.size())
    return c.malformed("slices {} dimensions of input {}", given, shape_text(in));
  DEPUTY_ASSIGN(const auto end, c.constant_ints(2, given));
  DEPUTY_ASSIGN(const auto step, c.constant_ints(3, given));
  std::vector<std::int64_t> shape;
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (d >= given) {
      shape.push_back(in[d]);
      continue;
    }
    const auto bit = [&](std::int32_t mask) { return ((mask >> d) & 1) != 0; };
    if (step[d] == 0) return c.malformed("the step of dimension {} is 0", d);
    if (!bit(a.shrink_axis_mask)) {
      shape.push_back(
          slice_count(begin[d], end[d], step[d], in[d], bit(a.begin_mask), bit(a.end_mask)));
      continue;
    }
    const std::int64_t at = bit(a.begin_mask) ? 0 : begin[d] < 0 ? begin[d] + in[d] : begin[d];
    if (at < 0 || at >= in[d])
      return c.malformed("takes element {} of dimension {} of input {}", begin[d], d,
                         shape_text(in));
  }
  return c.output_is(shape);
}

Status check_split(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 2, c.outputs()));
  DEPUTY_ASSIGN(const auto values, c.constant_ints(0, 1));
  auto shape = wide(c.in_shape(1));
  DEPUTY_ASSIGN(const auto axis, c.axis(values[0], shape.size()));
  const auto parts = static_cast<std::int64_t>(c.outputs());
  auto& dim = shape[static_cast<std::size_t>(axis)];
  if (c.attrs().num != parts || dim % parts != 0)
    return c.malformed("{} outputs of a split into {} along {} elements", parts, c.attrs().num,
                       dim);
  dim /= parts;
  for (std::size_t i = 0; i < c.outputs(); ++i) {
    DEPUTY_TRY(c.same_type(c.in(1), c.out(i)));
    DEPUTY_TRY(c.output_is(shape, i));
  }
  return {};
}

Status check_split_v(const OpChecker& c) {
  DEPUTY_TRY(c.operands(3, 3, c.outputs()));
  DEPUTY_ASSIGN(auto sizes, c.constant_ints(1, c.outputs()));
  DEPUTY_ASSIGN(const auto values, c.constant_ints(2, 1));
  auto shape = wide(c.in_shape(0));
  DEPUTY_ASSIGN(const auto axis, c.axis(values[0], shape.size()));
  const std::int64_t whole = shape[static_cast<std::size_t>(axis)];
  std::int64_t known = 0, free = 0;
  for (const std::int64_t size : sizes) (size == -1 ? free : known) += size == -1 ? 1 : size;
  if (free > 1) return c.malformed("leaves {} of its sizes open", free);
  for (std::int64_t& size : sizes) {
    if (size == -1) size = whole - known;
    if (size < 0) return c.malformed("has a part of size {}", size);
  }
  if (free == 0 && known != whole)
    return c.malformed("its sizes add up to {}, not {}", known, whole);
  for (std::size_t i = 0; i < c.outputs(); ++i) {
    DEPUTY_TRY(c.same_type(c.in(0), c.out(i)));
    shape[static_cast<std::size_t>(axis)] = sizes[i];
    DEPUTY_TRY(c.output_is(shape, i));
  }
  return {};
}

/// Indices known here are checked here; others when the kernel meets them.
Status check_gather(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 2));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  const Shape& from = c.in_shape(0);
  const Shape& indices = c.in_shape(1);
  DEPUTY_ASSIGN(const auto axis, c.axis(c.attrs().axis, from.size()));
  const std::int32_t batch = c.attrs().batch_dims;
  if (batch < 0 || batch > axis || static_cast<std::size_t>(batch) > indices.size() ||
      !std::equal(indices.begin(), indices.begin() + batch, from.begin()))
    return c.malformed("batch_dims {} does not fit input {} and indices {}", batch,
                       shape_text(from), shape_text(indices));
  std::vector<std::int64_t> shape(from.begin(), from.begin() + axis);
  shape.insert(shape.end(), indices.begin() + batch, indices.end());
  shape.insert(shape.end(), from.begin() + axis + 1, from.end());
  DEPUTY_TRY(c.output_is(shape));
  if (c.in_type(1) != DType::kInt32 && c.in_type(1) != DType::kInt64)
    return c.unsupported("its indices are {}, int32 or int64 is needed", dtype_name(c.in_type(1)));
  if (!c.in(1).constant) return {};
  DEPUTY_ASSIGN(const auto values, c.constant_ints(1));
  for (const std::int64_t v : values)
    if (v < 0 || v >= from[static_cast<std::size_t>(axis)])
      return c.malformed("index {} is outside axis {} of input {}", v, axis, shape_text(from));
  return {};
}

Status check_pack(const OpChecker& c) {
  DEPUTY_TRY(c.operands(c.inputs(), c.inputs()));
  if (c.inputs() == 0 || c.attrs().num != static_cast<std::int64_t>(c.inputs()))
    return c.malformed("packs {} tensors but has {} inputs", c.attrs().num, c.inputs());
  for (std::size_t i = 0; i < c.inputs(); ++i) {
    DEPUTY_TRY(c.same_type(c.in(i), c.out()));
    if (c.in_shape(i) != c.in_shape(0))
      return c.malformed("inputs {} and {} differ", shape_text(c.in_shape(0)),
                         shape_text(c.in_shape(i)));
  }
  auto shape = wide(c.in_shape(0));
  DEPUTY_ASSIGN(const auto axis, c.axis(c.attrs().axis, shape.size() + 1));
  shape.insert(shape.begin() + axis, static_cast<std::int64_t>(c.inputs()));
  return c.output_is(shape);
}

Status check_unpack(const OpChecker& c) {
  DEPUTY_TRY(c.operands(1, 1, c.outputs()));
  auto shape = wide(c.in_shape(0));
  DEPUTY_ASSIGN(const auto axis, c.axis(c.attrs().axis, shape.size()));
  const std::int64_t parts = shape[static_cast<std::size_t>(axis)];
  if (parts != c.attrs().num || parts != static_cast<std::int64_t>(c.outputs()))
    return c.malformed("unpacks {} into {} outputs, the dimension has {}", c.attrs().num,
                       c.outputs(), parts);
  shape.erase(shape.begin() + axis);
  for (std::size_t i = 0; i < c.outputs(); ++i) {
    DEPUTY_TRY(c.same_type(c.in(0), c.out(i)));
    DEPUTY_TRY(c.output_is(shape, i));
  }
  return {};
}

}  // namespace

Status check_slice_op(const OpChecker& c) {
  switch (c.op().kind) {
    case OpKind::CONCATENATION:
      return check_concatenation(c);
    case OpKind::SLICE:
      return check_slice(c);
    case OpKind::STRIDED_SLICE:
      return check_strided_slice(c);
    case OpKind::SPLIT:
      return check_split(c);
    case OpKind::SPLIT_V:
      return check_split_v(c);
    case OpKind::GATHER:
      return check_gather(c);
    case OpKind::PACK:
      return check_pack(c);
    default:
      return check_unpack(c);
  }
}

}  // namespace deputy::delegate
