// Operators that change the spatial extent: pads, resizes, and moves between space, batch and
// depth.
#include "delegate/ir/op_checker.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using base::Status;

Status check_pad(const OpChecker& c) {
  const OpKind kind = c.op().kind;
  DEPUTY_TRY(kind == OpKind::PADV2 ? c.operands(3, 3) : c.operands(2, 2));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  auto shape = wide(c.in_shape(0));
  DEPUTY_TRY(c.rank(c.in(1), 2));
  DEPUTY_ASSIGN(const auto pads, c.constant_ints(1, shape.size() * 2));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t before = pads[2 * d], after = pads[2 * d + 1];
    if (before < 0 || after < 0)
      return c.malformed("pads dimension {} by {} and {}", d, before, after);
    const std::int64_t most = shape[d] - (c.attrs().reflect ? 1 : 0);
    if (kind == OpKind::MIRROR_PAD && (before > most || after > most))
      return c.malformed("mirrors {} and {} elements of dimension {}, which has {}", before, after,
                         d, shape[d]);
    shape[d] += before + after;
  }
  DEPUTY_TRY(c.output_is(shape));
  if (kind == OpKind::PAD) return c.per_tensor(c.out());  // the pad value is the zero point
  if (kind == OpKind::PADV2) {
    DEPUTY_TRY(c.same_type(c.in(2), c.out()));
    if (c.in(2).desc.elements() != 1)
      return c.malformed("its pad value has {} elements, one is needed", c.in(2).desc.elements());
  }
  return {};
}

Status check_resize(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 2));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  DEPUTY_TRY(c.rank(c.in(0), 4));
  DEPUTY_ASSIGN(const auto size, c.constant_ints(1, 2));
  const Shape& in = c.in_shape(0);
  DEPUTY_TRY(c.output_is({in[0], size[0], size[1], in[3]}));
  if (c.out().desc.elements() > 0 && (in[1] == 0 || in[2] == 0))
    return c.malformed("cannot resize an empty image {}", shape_text(in));
  if (c.attrs().align_corners && c.attrs().half_pixel_centers)
    return c.malformed("align_corners and half_pixel_centers exclude each other");
  return {};
}

/// BATCH_TO_SPACE_ND and SPACE_TO_BATCH_ND: operand 1 is the block of the m dimensions after the
/// batch, operand 2 their m x 2 crops or pads.
Status check_batch_space(const OpChecker& c) {
  const bool to_batch = c.op().kind == OpKind::SPACE_TO_BATCH_ND;
  DEPUTY_TRY(c.operands(3, 3));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  auto shape = wide(c.in_shape(0));
  DEPUTY_ASSIGN(const auto block, c.constant_ints(1));
  if (shape.size() < 3 || shape.size() > 4 || block.size() != shape.size() - 2)
    return c.unsupported("input {} with {} block sizes is not supported", shape_text(c.in_shape(0)),
                         block.size());
  DEPUTY_ASSIGN(const auto edges, c.constant_ints(2, block.size() * 2));
  for (std::size_t d = 0; d < block.size(); ++d) {
    const std::int64_t before = edges[2 * d], after = edges[2 * d + 1];
    if (block[d] < 1 || before < 0 || after < 0)
      return c.malformed("block {} with edges {} and {} in dimension {}", block[d], before, after,
                         d + 1);
    std::int64_t& dim = shape[d + 1];
    if (to_batch) {
      dim += before + after;
      if (dim % block[d] != 0)
        return c.malformed("{} padded elements do not divide into blocks of {}", dim, block[d]);
      dim /= block[d];
      shape[0] *= block[d];
    } else {
      if (shape[0] % block[d] != 0)
        return c.malformed("batch {} does not divide into blocks of {}", shape[0], block[d]);
      shape[0] /= block[d];
      dim = dim * block[d] - before - after;
    }
  }
  DEPUTY_TRY(c.output_is(shape));
  return to_batch ? c.per_tensor(c.out()) : Status{};  // pads take the zero point
}

Status check_depth_space(const OpChecker& c) {
  DEPUTY_TRY(c.operands(1, 1));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  DEPUTY_TRY(c.rank(c.in(0), 4));
  auto shape = wide(c.in_shape(0));
  const std::int64_t block = c.attrs().block_size;
  if (block < 1) return c.malformed("the block size {} is not positive", block);
  if (c.op().kind == OpKind::SPACE_TO_DEPTH) {
    if (shape[1] % block != 0 || shape[2] % block != 0)
      return c.malformed("{} does not divide into blocks of {}", shape_text(c.in_shape(0)), block);
    return c.output_is({shape[0], shape[1] / block, shape[2] / block, shape[3] * block * block});
  }
  if (shape[3] % (block * block) != 0)
    return c.malformed("{} channels do not divide into blocks of {}x{}", shape[3], block, block);
  return c.output_is({shape[0], shape[1] * block, shape[2] * block, shape[3] / (block * block)});
}

}  // namespace

Status check_space_op(const OpChecker& c) {
  switch (c.op().kind) {
    case OpKind::PAD:
    case OpKind::PADV2:
    case OpKind::MIRROR_PAD:
      return check_pad(c);
    case OpKind::RESIZE_BILINEAR:
    case OpKind::RESIZE_NEAREST_NEIGHBOR:
      return check_resize(c);
    case OpKind::BATCH_TO_SPACE_ND:
    case OpKind::SPACE_TO_BATCH_ND:
      return check_batch_space(c);
    default:
      return check_depth_space(c);
  }
}

}  // namespace deputy::delegate
