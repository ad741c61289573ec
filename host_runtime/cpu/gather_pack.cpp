// CONCATENATION, PACK, UNPACK and GATHER. Any element type; only a fused activation of
// CONCATENATION is refused.
#include <algorithm>
#include <cstring>

#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

/// A copy between a tensor and its pieces along one axis: `outer` rows, each of the pieces' lengths
/// in turn.
std::size_t row_bytes(const arch::TensorDesc& t, std::size_t axis) {
  return static_cast<std::size_t>(span_count(t.shape, axis, t.shape.size())) * dtype_size(t.dtype);
}

base::Result<std::size_t> concat_axis(const OpCall& c) {
  DEPUTY_ASSIGN(const std::size_t axis, resolve_axis(c, c.attrs.axis, c.y().shape.size()));
  std::int64_t total = 0;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const Shape& shape = c.x(i).shape;
    DEPUTY_TRY(
        expect(c, shape.size() == c.y().shape.size(), "an input's rank differs from the output's"));
    Shape expected = c.y().shape;
    expected[axis] = shape[axis];
    DEPUTY_TRY(expect_shape(c, c.x(i), expected));
    total += shape[axis];
  }
  DEPUTY_TRY(expect(c, total == c.y().shape[axis], "the inputs do not add up to the output"));
  return axis;
}

base::Status check_concat(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, std::max<std::size_t>(c.inputs.size(), 1), 1));
  DEPUTY_TRY(expect(c, c.attrs.activation == 0, "a fused activation is not supported"));
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    DEPUTY_TRY(expect(c, c.has(i), "an input is missing"));
    DEPUTY_TRY(expect_same_dtype(c, c.x(i), c.y()));
    DEPUTY_TRY(expect_quantised(c, c.x(i)));
    DEPUTY_TRY(expect_quantised(c, c.y()));
    DEPUTY_TRY(expect(c, same_quantisation(c.x(i), c.y()),
                      "inputs and output must have equal quantisation"));
  }
  DEPUTY_TRY(concat_axis(c));
  return {};
}

/// Interleaves the inputs' rows into the output, each input a row of lengths[i] bytes.
void interleave(const OpCall& c, std::int64_t outer, const std::vector<std::size_t>& lengths) {
  std::uint8_t* out = c.outputs[0].data;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
      if (lengths[i] > 0)
        std::memcpy(out, c.inputs[i].data + static_cast<std::size_t>(o) * lengths[i], lengths[i]);
      out += lengths[i];
    }
}

base::Status run_concat(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const std::size_t axis, concat_axis(c));
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) lengths.push_back(row_bytes(c.x(i), axis));
  if (c.y().bytes() > 0) interleave(c, span_count(c.y().shape, 0, axis), lengths);
  return {};
}

/// PACK and UNPACK: one tensor `whole` with the piece count at `axis`, pieces without that
/// dimension.
base::Result<std::size_t> stack_axis(const OpCall& c, const arch::TensorDesc& whole,
                                     std::span<const arch::TensorView> pieces) {
  DEPUTY_ASSIGN(const std::size_t axis, resolve_axis(c, c.attrs.axis, whole.shape.size()));
  DEPUTY_TRY(expect(c, whole.shape[axis] == static_cast<std::int32_t>(pieces.size()),
                    "the number of pieces differs from the stacked dimension"));
  Shape piece = whole.shape;
  piece.erase(piece.begin() + static_cast<std::ptrdiff_t>(axis));
  for (const auto& p : pieces) {
    DEPUTY_TRY(expect(c, static_cast<bool>(p), "an operand is missing"));
    DEPUTY_TRY(expect_same_dtype(c, *p.desc, whole));
    DEPUTY_TRY(expect_shape(c, *p.desc, piece));
  }
  return axis;
}

base::Status check_pack(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, std::max<std::size_t>(c.inputs.size(), 1), 1));
  DEPUTY_TRY(stack_axis(c, c.y(), c.inputs));
  return {};
}
base::Status run_pack(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const std::size_t axis, stack_axis(c, c.y(), c.inputs));
  if (c.y().bytes() > 0)
    interleave(c, span_count(c.y().shape, 0, axis),
               std::vector<std::size_t>(c.inputs.size(), row_bytes(c.y(), axis + 1)));
  return {};
}

base::Status check_unpack(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, 1, c.outputs.size()));
  DEPUTY_TRY(stack_axis(c, c.x(), c.outputs));
  return {};
}
base::Status run_unpack(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const std::size_t axis, stack_axis(c, c.x(), c.outputs));
  const std::size_t length = row_bytes(c.x(), axis + 1);
  const std::uint8_t* in = c.inputs[0].data;
  if (length == 0) return {};
  for (std::int64_t o = 0; o < span_count(c.x().shape, 0, axis); ++o)
    for (const auto& output : c.outputs) {
      std::memcpy(output.data + static_cast<std::size_t>(o) * length, in, length);
      in += length;
    }
  return {};
}

struct GatherPlan {
  std::int64_t batch = 1, outer = 1, size = 0, indices = 1;
  std::size_t length = 0;  ///< bytes of one gathered row
};

base::Result<GatherPlan> plan_gather(const OpCall& c) {
  const Shape &x = c.x().shape, &index = c.x(1).shape;
  DEPUTY_ASSIGN(const std::size_t axis, resolve_axis(c, c.attrs.axis, x.size()));
  const auto batch_dims = static_cast<std::int64_t>(c.attrs.batch_dims);
  DEPUTY_TRY(expect(
      c, batch_dims >= 0 && batch_dims <= static_cast<std::int64_t>(std::min(axis, index.size())),
      "batch_dims is out of range"));
  const auto lead = static_cast<std::size_t>(batch_dims);
  for (std::size_t i = 0; i < lead; ++i)
    DEPUTY_TRY(expect(c, x[i] == index[i], "batch dimensions disagree"));
  Shape out(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), index.begin() + static_cast<std::ptrdiff_t>(lead), index.end());
  out.insert(out.end(), x.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.end());
  DEPUTY_TRY(expect_shape(c, c.y(), out));
  return GatherPlan{span_count(x, 0, lead), span_count(x, lead, axis), x[axis],
                    span_count(index, lead, index.size()), row_bytes(c.x(), axis + 1)};
}

base::Status indices_in_range(const OpCall& c, const IndexList& list, std::int64_t size) {
  for (auto v : list.values)
    if (v < 0 || v >= size)
      return op_error(
          c, "index " + std::to_string(v) + " is outside a dimension of " + std::to_string(size),
          base::ErrorKind::kInput);
  return {};
}

base::Status check_gather(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 2, 1));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(expect_index_operand(c, 1));
  DEPUTY_ASSIGN(const GatherPlan p, plan_gather(c));
  const IndexList list = read_indices(c.inputs[1]);
  return list.known ? indices_in_range(c, list, p.size) : base::Status{};
}

base::Status run_gather(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const GatherPlan p, plan_gather(c));
  const IndexList list = read_indices(c.inputs[1]);
  DEPUTY_TRY(indices_in_range(c, list, p.size));
  std::uint8_t* out = c.outputs[0].data;
  if (p.length == 0) return {};
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t o = 0; o < p.outer; ++o)
      for (std::int64_t i = 0; i < p.indices; ++i, out += p.length) {
        const std::int64_t row =
            (b * p.outer + o) * p.size + list.values[static_cast<std::size_t>(b * p.indices + i)];
        std::memcpy(out, c.inputs[0].data + static_cast<std::size_t>(row) * p.length, p.length);
      }
  return {};
}

constexpr HostOp kOps[] = {
    {OpKind::CONCATENATION, check_concat, run_concat},
    {OpKind::PACK, check_pack, run_pack},
    {OpKind::UNPACK, check_unpack, run_unpack},
    {OpKind::GATHER, check_gather, run_gather},
};
}  // namespace

std::span<const HostOp> gather_pack_ops() { return kOps; }

}  // namespace deputy::host_runtime
