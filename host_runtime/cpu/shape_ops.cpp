// Operators that move elements without computing: RESHAPE, SQUEEZE, EXPAND_DIMS, TRANSPOSE, TILE,
// REVERSE_V2, and SHAPE and FILL, which make index and constant tensors. Any element type.
#include <algorithm>
#include <cstring>

#include "host_runtime/cpu/op_call.h"
#include "host_runtime/cpu/walk.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

base::Status check_reshape(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, 2, 1));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  return expect(c, c.x().elements() == c.y().elements(),
                "input and output have different numbers of elements");
}

base::Status run_reshape(const OpCall& c, Numerics) {
  if (c.y().bytes() > 0)
    std::memcpy(c.outputs[0].data, c.inputs[0].data, static_cast<std::size_t>(c.y().bytes()));
  return {};
}

base::Result<Walk> plan_transpose(const OpCall& c, const IndexList& perm) {
  const Shape& shape = c.x().shape;
  DEPUTY_TRY(expect(c, perm.values.size() == shape.size(),
                    "the permutation's length differs from the rank"));
  std::vector<bool> seen(shape.size(), false);
  const auto strides = strides_of(shape);
  Walk w;
  Shape out;
  for (auto p : perm.values) {
    DEPUTY_ASSIGN(const std::size_t axis, resolve_axis(c, p, shape.size()));
    DEPUTY_TRY(expect(c, !seen[axis], "the permutation names an axis twice"));
    seen[axis] = true;
    w.step.push_back(strides[axis]);
    out.push_back(shape[axis]);
  }
  DEPUTY_TRY(expect_shape(c, c.y(), out));
  return w;
}

base::Result<Walk> plan_reverse(const OpCall& c, const IndexList& axes) {
  const Shape& shape = c.x().shape;
  Walk w;
  w.step = strides_of(shape);
  const auto strides = w.step;
  for (auto a : axes.values) {
    DEPUTY_ASSIGN(const std::size_t axis, resolve_axis(c, a, shape.size()));
    DEPUTY_TRY(expect(c, w.step[axis] >= 0, "an axis is named twice"));
    w.step[axis] = -strides[axis];
    w.start += strides[axis] * std::max(shape[axis] - 1, 0);
  }
  DEPUTY_TRY(expect_shape(c, c.y(), shape));
  return w;
}

/// check and run of a two-operand mover whose second operand decides the walk.
template <base::Result<Walk> (*plan)(const OpCall&, const IndexList&)>
base::Status check_walk(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 2, 1));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(expect_index_operand(c, 1));
  const IndexList list = read_indices(c.inputs[1]);
  if (list.known) DEPUTY_TRY(plan(c, list));
  return {};
}
template <base::Result<Walk> (*plan)(const OpCall&, const IndexList&)>
base::Status run_walk(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const Walk w, plan(c, read_indices(c.inputs[1])));
  gather_walk(c.inputs[0].data, c.outputs[0].data, dtype_size(c.y().dtype), c.y().shape, w);
  return {};
}

base::Status tile_shape(const OpCall& c, const IndexList& multiples) {
  const Shape& shape = c.x().shape;
  DEPUTY_TRY(expect(c,
                    multiples.values.size() == shape.size() && c.y().shape.size() == shape.size(),
                    "the multiples' length differs from the rank"));
  for (std::size_t i = 0; i < shape.size(); ++i)
    DEPUTY_TRY(expect(c,
                      multiples.values[i] >= 0 && multiples.values[i] < (std::int64_t{1} << 31) &&
                          multiples.values[i] * shape[i] == c.y().shape[i],
                      "the output's shape is not the input's times the multiples"));
  return {};
}
base::Status check_tile(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 2, 1));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(expect_index_operand(c, 1));
  const IndexList multiples = read_indices(c.inputs[1]);
  if (multiples.known) DEPUTY_TRY(tile_shape(c, multiples));
  return {};
}
template <class T>
void tile(const OpCall& c) {
  const Shape &in = c.x().shape, &out = c.y().shape;
  const std::int64_t total = c.y().elements();
  const auto strides = strides_of(in);
  std::vector<std::int32_t> index(out.size(), 0);
  for (std::int64_t o = 0; o < total; ++o) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < out.size(); ++d) at += index[d] % in[d] * strides[d];
    c.out<T>()[o] = c.in<T>()[at];
    for (std::size_t d = out.size(); d-- > 0;) {
      if (++index[d] < out[d]) break;
      index[d] = 0;
    }
  }
}
base::Status run_tile(const OpCall& c, Numerics) {
  DEPUTY_TRY(tile_shape(c, read_indices(c.inputs[1])));
  with_element_size(c.y().dtype, [&](auto zero) { tile<decltype(zero)>(c); });
  return {};
}

base::Status check_shape(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, 1, 1));
  DEPUTY_TRY(expect_dtype(c, c.y(), {DType::kInt32, DType::kInt64}));
  return expect_shape(c, c.y(), {static_cast<std::int32_t>(c.x().shape.size())});
}
base::Status run_shape(const OpCall& c, Numerics) {
  for (std::size_t i = 0; i < c.x().shape.size(); ++i)
    if (c.y().dtype == DType::kInt32)
      c.out<std::int32_t>()[i] = c.x().shape[i];
    else
      c.out<std::int64_t>()[i] = c.x().shape[i];
  return {};
}

base::Status fill_shape(const OpCall& c, const IndexList& dims) {
  return expect(
      c, std::equal(dims.values.begin(), dims.values.end(), c.y().shape.begin(), c.y().shape.end()),
      "the output's shape differs from the dims operand");
}
base::Status check_fill(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 2, 1));
  DEPUTY_TRY(expect_index_operand(c, 0));
  DEPUTY_TRY(expect_same_dtype(c, c.x(1), c.y()));
  DEPUTY_TRY(expect(c, c.x(1).elements() == 1, "the value must be a scalar"));
  const IndexList dims = read_indices(c.inputs[0]);
  if (dims.known) DEPUTY_TRY(fill_shape(c, dims));
  return {};
}
base::Status run_fill(const OpCall& c, Numerics) {
  DEPUTY_TRY(fill_shape(c, read_indices(c.inputs[0])));
  with_element_size(c.y().dtype, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(c.out<T>(), c.y().elements(), c.in<T>(1)[0]);
  });
  return {};
}

constexpr HostOp kOps[] = {
    {OpKind::RESHAPE, check_reshape, run_reshape},
    {OpKind::SQUEEZE, check_reshape, run_reshape},
    {OpKind::EXPAND_DIMS, check_reshape, run_reshape},
    {OpKind::TRANSPOSE, check_walk<plan_transpose>, run_walk<plan_transpose>},
    {OpKind::REVERSE_V2, check_walk<plan_reverse>, run_walk<plan_reverse>},
    {OpKind::TILE, check_tile, run_tile},
    {OpKind::SHAPE, check_shape, run_shape},
    {OpKind::FILL, check_fill, run_fill},
};
}  // namespace

std::span<const HostOp> shape_ops() { return kOps; }

}  // namespace deputy::host_runtime
