// SLICE, STRIDED_SLICE, SPLIT and SPLIT_V: regions of one tensor. Any element type.
#include <algorithm>

#include "host_runtime/cpu/walk.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

void copy_region(const OpCall& c, const Walk& w, std::size_t output, const arch::TensorView& source,
                 const Shape& region) {
  gather_walk(source.data, c.outputs[output].data, dtype_size(c.y(output).dtype), region, w);
}

base::Result<Walk> plan_slice(const OpCall& c, const IndexList& begin, const IndexList& size) {
  const Shape& shape = c.x().shape;
  DEPUTY_TRY(expect(c, begin.values.size() == shape.size() && size.values.size() == shape.size(),
                    "begin's or size's length differs from the rank"));
  Walk w;
  w.step = strides_of(shape);
  Shape out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t b = begin.values[i];
    DEPUTY_TRY(expect(c, b >= 0 && b <= shape[i], "begin is outside the input"));
    const std::int64_t n = size.values[i] == -1 ? shape[i] - b : size.values[i];
    DEPUTY_TRY(expect(c, n >= 0 && n <= shape[i] - b, "begin + size is outside the input"));
    w.start += b * w.step[i];
    out.push_back(static_cast<std::int32_t>(n));
  }
  DEPUTY_TRY(expect_shape(c, c.y(), out));
  return w;
}

base::Status check_slice(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 3, 3, 1));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(expect_index_operand(c, 1));
  DEPUTY_TRY(expect_index_operand(c, 2));
  const IndexList begin = read_indices(c.inputs[1]), size = read_indices(c.inputs[2]);
  if (begin.known && size.known) DEPUTY_TRY(plan_slice(c, begin, size));
  return {};
}

base::Status run_slice(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const Walk w, plan_slice(c, read_indices(c.inputs[1]), read_indices(c.inputs[2])));
  copy_region(c, w, 0, c.inputs[0], c.y().shape);
  return {};
}

/// A region whose shape still has the dimensions that the output drops.
struct Region {
  Walk walk;
  Shape shape;
};

base::Result<Region> plan_strided(const OpCall& c, const IndexList& begins, const IndexList& ends,
                                  const IndexList& strides) {
  const Shape& shape = c.x().shape;
  const std::size_t n = begins.values.size();
  DEPUTY_TRY(expect(c, n <= shape.size() && ends.values.size() == n && strides.values.size() == n,
                    "begin, end and strides must have one length, at most the rank"));
  Region r;
  r.walk.step = strides_of(shape);
  Shape out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t dim = shape[i];
    std::int64_t begin = 0, end = dim, stride = 1;
    bool shrink = false;
    if (i < n) {
      const auto bit = [&](std::int32_t mask) { return (mask >> i & 1) != 0; };
      stride = strides.values[i];
      shrink = bit(c.attrs.shrink_axis_mask);
      DEPUTY_TRY(expect(c, stride != 0 && stride >= -2147483648LL && stride <= 2147483647LL,
                        "a stride is 0 or too large"));
      const auto resolve = [&](std::int64_t v) {
        v = std::clamp<std::int64_t>(v, -4294967296LL, 4294967296LL);
        return std::clamp(v < 0 ? v + dim : v, stride > 0 ? 0 : std::int64_t{-1},
                          stride > 0 ? dim : dim - 1);
      };
      begin = bit(c.attrs.begin_mask) ? (stride > 0 ? 0 : dim - 1) : resolve(begins.values[i]);
      end = bit(c.attrs.end_mask) ? (stride > 0 ? dim : -1) : resolve(ends.values[i]);
      if (shrink) {
        DEPUTY_TRY(expect(c, stride > 0 && begin >= 0 && begin < dim,
                          "a single index is outside the input"));
        end = begin + 1;
      }
    }
    const std::int64_t span = stride > 0 ? end - begin : begin - end,
                       pace = stride > 0 ? stride : -stride;
    const auto count = static_cast<std::int32_t>(span <= 0 ? 0 : (span + pace - 1) / pace);
    r.walk.start += begin * r.walk.step[i];
    r.walk.step[i] *= stride;
    r.shape.push_back(count);
    if (!shrink) out.push_back(count);
  }
  DEPUTY_TRY(expect_shape(c, c.y(), out));
  return r;
}

base::Status check_strided(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 4, 4, 1));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  for (std::size_t i = 1; i < 4; ++i) DEPUTY_TRY(expect_index_operand(c, i));
  DEPUTY_TRY(expect(c, c.attrs.ellipsis_mask == 0 && c.attrs.new_axis_mask == 0,
                    "ellipsis and new-axis masks are not supported"));
  const IndexList b = read_indices(c.inputs[1]), e = read_indices(c.inputs[2]),
                  s = read_indices(c.inputs[3]);
  if (b.known && e.known && s.known) DEPUTY_TRY(plan_strided(c, b, e, s));
  return {};
}

base::Status run_strided(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const Region r, plan_strided(c, read_indices(c.inputs[1]),
                                             read_indices(c.inputs[2]), read_indices(c.inputs[3])));
  copy_region(c, r.walk, 0, c.inputs[0], r.shape);
  return {};
}

/// Output sizes along the split axis, by the outputs' own shapes; everything else must agree.
base::Result<std::size_t> plan_split(const OpCall& c, const arch::TensorDesc& x,
                                     const IndexList& axis) {
  DEPUTY_TRY(expect(c, axis.values.size() == 1, "expected exactly one axis"));
  DEPUTY_ASSIGN(const std::size_t a, resolve_axis(c, axis.values[0], x.shape.size()));
  std::int64_t total = 0;
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    Shape expected = x.shape;
    DEPUTY_TRY(expect(c, c.y(i).shape.size() == expected.size(),
                      "an output's rank differs from the input's"));
    expected[a] = c.kind == OpKind::SPLIT ? x.shape[a] / static_cast<std::int32_t>(c.outputs.size())
                                          : c.y(i).shape[a];
    DEPUTY_TRY(expect_shape(c, c.y(i), expected));
    total += expected[a];
  }
  DEPUTY_TRY(expect(c, total == x.shape[a], "the outputs do not add up to the input"));
  return a;
}

base::Status split_outputs(const OpCall& c, const arch::TensorDesc& x) {
  DEPUTY_TRY(expect(c, !c.outputs.empty(), "has no outputs"));
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    DEPUTY_TRY(expect(c, static_cast<bool>(c.outputs[i]), "an output is missing"));
    DEPUTY_TRY(expect_same_dtype(c, x, c.y(i)));
  }
  return {};
}

base::Status run_split_on(const OpCall& c, std::size_t input, std::size_t axis_input) {
  const auto& x = c.x(input);
  DEPUTY_ASSIGN(const std::size_t axis, plan_split(c, x, read_indices(c.inputs[axis_input])));
  Walk w;
  w.step = strides_of(x.shape);
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    copy_region(c, w, i, c.inputs[input], c.y(i).shape);
    w.start += w.step[axis] * c.y(i).shape[axis];
  }
  return {};
}

base::Status check_split(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 2, c.outputs.size()));
  DEPUTY_TRY(expect_index_operand(c, 0));
  DEPUTY_TRY(split_outputs(c, c.x(1)));
  const IndexList axis = read_indices(c.inputs[0]);
  if (axis.known) DEPUTY_TRY(plan_split(c, c.x(1), axis));
  return {};
}
base::Status run_split(const OpCall& c, Numerics) { return run_split_on(c, 1, 0); }

/// The sizes operand may hold one -1 for "the rest".
base::Status split_sizes(const OpCall& c, const IndexList& sizes, std::size_t axis) {
  DEPUTY_TRY(expect(c, sizes.values.size() == c.outputs.size(),
                    "the number of sizes differs from the outputs'"));
  for (std::size_t i = 0; i < sizes.values.size(); ++i)
    DEPUTY_TRY(expect(c, sizes.values[i] == -1 || sizes.values[i] == c.y(i).shape[axis],
                      "an output's size differs from the sizes operand"));
  return {};
}

base::Status check_split_v(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 3, 3, c.outputs.size()));
  DEPUTY_TRY(expect_index_operand(c, 1));
  DEPUTY_TRY(expect_index_operand(c, 2));
  DEPUTY_TRY(split_outputs(c, c.x()));
  const IndexList sizes = read_indices(c.inputs[1]), axis = read_indices(c.inputs[2]);
  if (!axis.known) return {};
  DEPUTY_ASSIGN(const std::size_t a, plan_split(c, c.x(), axis));
  return sizes.known ? split_sizes(c, sizes, a) : base::Status{};
}
base::Status run_split_v(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const std::size_t a, plan_split(c, c.x(), read_indices(c.inputs[2])));
  DEPUTY_TRY(split_sizes(c, read_indices(c.inputs[1]), a));
  return run_split_on(c, 0, 2);
}

constexpr HostOp kOps[] = {
    {OpKind::SLICE, check_slice, run_slice},
    {OpKind::STRIDED_SLICE, check_strided, run_strided},
    {OpKind::SPLIT, check_split, run_split},
    {OpKind::SPLIT_V, check_split_v, run_split_v},
};
}  // namespace

std::span<const HostOp> slice_ops() { return kOps; }

}  // namespace deputy::host_runtime
