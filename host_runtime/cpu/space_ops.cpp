// BATCH_TO_SPACE_ND, SPACE_TO_BATCH_ND (NHWC, with crops or paddings), DEPTH_TO_SPACE and
// SPACE_TO_DEPTH. Any element type.
#include <algorithm>

#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

/// Batch-and-space operands as rank 4: spatial size 1 x W is implied for rank 3.
struct Space {
  std::int64_t batches, h, w, depth;         ///< the larger image (before splitting)
  std::int64_t small_h, small_w;             ///< each piece
  std::int64_t block_h, block_w, top, left;  ///< offset of the unpadded image in the larger one
};

struct Rank4 {
  std::int64_t n, h, w, c;
};
Rank4 rank4(const Shape& s) {
  return s.size() == 3 ? Rank4{s[0], s[1], 1, s[2]} : Rank4{s[0], s[1], s[2], s[3]};
}

base::Result<Space> plan(const OpCall& c, const IndexList& block, const IndexList& edges) {
  const std::size_t spatial = c.x().shape.size() - 2;
  DEPUTY_TRY(expect(c, block.values.size() == spatial && edges.values.size() == 2 * spatial,
                    "block shape or paddings do not fit the spatial dimensions"));
  for (auto v : block.values)
    DEPUTY_TRY(expect(c, v >= 1 && v < 65536, "a block size is not positive or too large"));
  for (auto v : edges.values)
    DEPUTY_TRY(expect(c, v >= 0 && v < 2147483648LL, "a padding or crop is negative or too large"));
  const bool split = c.kind == OpKind::SPACE_TO_BATCH_ND;
  const Rank4 big = rank4(split ? c.x().shape : c.y().shape),
              pieces = rank4(split ? c.y().shape : c.x().shape);
  Space s{big.n, big.h, big.w, big.c, pieces.h, pieces.w, block.values[0], 1, edges.values[0], 0};
  std::int64_t bottom = edges.values[1], right = 0;
  if (spatial == 2) s.block_w = block.values[1], s.left = edges.values[2], right = edges.values[3];
  DEPUTY_TRY(expect(c,
                    pieces.c == big.c && pieces.n == big.n * s.block_h * s.block_w &&
                        pieces.h * s.block_h == big.h + s.top + bottom &&
                        pieces.w * s.block_w == big.w + s.left + right,
                    "input and output shapes do not fit the block"));
  return s;
}

base::Status check_batch(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 3, 3, 1));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(expect_index_operand(c, 1));
  DEPUTY_TRY(expect_index_operand(c, 2));
  const std::size_t rank = c.x().shape.size();
  DEPUTY_TRY(expect(c, (rank == 3 || rank == 4) && c.y().shape.size() == rank,
                    "input and output must have rank 3 or 4"));
  DEPUTY_TRY(expect(c,
                    c.kind != OpKind::SPACE_TO_BATCH_ND || !is_quantised_type(c.y().dtype) ||
                        c.y().quant.scale.size() == 1,
                    "the output must have one scale"));
  const IndexList block = read_indices(c.inputs[1]), edges = read_indices(c.inputs[2]);
  if (block.known && edges.known) DEPUTY_TRY(plan(c, block, edges));
  return {};
}

/// Calls move(offset in the pieces, offset in the image or -1 outside it) for each pixel of the
/// pieces.
template <class F>
void for_each_pixel(const Space& s, F&& move) {
  std::int64_t piece = 0;
  for (std::int64_t b = 0; b < s.batches * s.block_h * s.block_w; ++b) {
    const std::int64_t image = b % s.batches, by = b / s.batches / s.block_w,
                       bx = b / s.batches % s.block_w;
    for (std::int64_t y = 0; y < s.small_h; ++y)
      for (std::int64_t x = 0; x < s.small_w; ++x, piece += s.depth) {
        const std::int64_t iy = y * s.block_h + by - s.top, ix = x * s.block_w + bx - s.left;
        const bool inside = iy >= 0 && iy < s.h && ix >= 0 && ix < s.w;
        move(piece, inside ? ((image * s.h + iy) * s.w + ix) * s.depth : -1);
      }
  }
}

base::Status run_batch(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const Space s, plan(c, read_indices(c.inputs[1]), read_indices(c.inputs[2])));
  with_element_size(c.y().dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* in = c.in<T>();
    T* out = c.out<T>();
    if (c.kind == OpKind::SPACE_TO_BATCH_ND) {
      const auto fill = static_cast<T>(is_quantised_type(c.y().dtype) ? zero_point_of(c.y()) : 0);
      for_each_pixel(s, [&](std::int64_t piece, std::int64_t at) {
        if (at < 0)
          std::fill_n(out + piece, s.depth, fill);
        else
          std::copy_n(in + at, s.depth, out + piece);
      });
    } else {
      for_each_pixel(s, [&](std::int64_t piece, std::int64_t at) {
        if (at >= 0) std::copy_n(in + piece, s.depth, out + at);
      });
    }
  });
  return {};
}

base::Status check_depth(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 1, 1, 1));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  const std::int64_t b = c.attrs.block_size;
  DEPUTY_TRY(expect(c, b >= 1 && b < 65536, "the block size is not positive or too large"));
  const bool to_space = c.kind == OpKind::DEPTH_TO_SPACE;
  const Shape &deep = to_space ? c.x().shape : c.y().shape,
              &wide = to_space ? c.y().shape : c.x().shape;
  DEPUTY_TRY(expect(c, deep.size() == 4 && wide.size() == 4, "input and output must have rank 4"));
  return expect(c,
                deep[0] == wide[0] && deep[1] * b == wide[1] && deep[2] * b == wide[2] &&
                    deep[3] == wide[3] * b * b,
                "input and output shapes do not fit the block size");
}

base::Status run_depth(const OpCall& c, Numerics) {
  const bool to_space = c.kind == OpKind::DEPTH_TO_SPACE;
  const Shape& wide = to_space ? c.y().shape : c.x().shape;
  const std::int64_t b = c.attrs.block_size, depth = wide[3];
  with_element_size(c.y().dtype, [&](auto zero) {
    using T = decltype(zero);
    std::int64_t at = 0;
    for (std::int64_t n = 0; n < wide[0]; ++n)
      for (std::int64_t y = 0; y < wide[1]; ++y)
        for (std::int64_t x = 0; x < wide[2]; ++x, at += depth) {
          const std::int64_t pixel = (n * (wide[1] / b) + y / b) * (wide[2] / b) + x / b;
          const std::int64_t deep = pixel * depth * b * b + (y % b * b + x % b) * depth;
          std::copy_n(c.in<T>() + (to_space ? deep : at), depth,
                      c.out<T>() + (to_space ? at : deep));
        }
  });
  return {};
}

constexpr HostOp kOps[] = {
    {OpKind::SPACE_TO_BATCH_ND, check_batch, run_batch},
    {OpKind::BATCH_TO_SPACE_ND, check_batch, run_batch},
    {OpKind::DEPTH_TO_SPACE, check_depth, run_depth},
    {OpKind::SPACE_TO_DEPTH, check_depth, run_depth},
};
}  // namespace

std::span<const HostOp> space_ops() { return kOps; }

}  // namespace deputy::host_runtime
