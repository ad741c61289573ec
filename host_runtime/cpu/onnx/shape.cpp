// Results whose bytes are their operand's, in another shape or order, and operators that make
// shapes.
#include <algorithm>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

Status copy_as(const Call& c, const Shape& shape) {
  if (element_count(shape) != c.count())
    return c.fail("{} elements do not fit the shape {}", c.count(), shape_text(shape));
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  if (c.infer_only() || c.count() == 0) return {};
  std::memcpy(c.out<std::uint8_t>(), c.in<std::uint8_t>(),
              static_cast<std::size_t>(c.count()) * dtype_size(c.dtype()));
  return {};
}

base::Result<std::int32_t> dimension(const Call& c, std::int64_t value) {
  if (value < 0 || value > 0x7FFFFFFF) return c.fail("a dimension of {}", value);
  return static_cast<std::int32_t>(value);
}

Status reshape(const Call& c) {
  DEPUTY_ASSIGN(const Ints wanted,
                c.has(1) ? c.values(1) : base::Result<Ints>(c.node.integers("shape")));
  const bool zero_is_zero = c.node.integer("allowzero", 0) != 0;
  if (wanted.size() > 8) return c.fail("a result of {} dimensions", wanted.size());
  Shape shape;
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    std::int64_t dim = wanted[d];
    if (dim == 0 && !zero_is_zero) {
      if (d >= c.rank()) return c.fail("a 0 in the shape beyond the operand's dimensions");
      dim = c.shape()[d];
    }
    if (dim == -1) {
      if (open) return c.fail("two dimensions of -1");
      open = d;
      shape.push_back(1);
      continue;
    }
    DEPUTY_ASSIGN(const std::int32_t checked, dimension(c, dim));
    shape.push_back(checked);
    known *= checked;
    if (known > std::int64_t{1} << 31) return c.fail("the shape is too large");
  }
  if (open) {
    if (known == 0 || c.count() % known)
      return c.fail("{} elements do not fit the shape", c.count());
    shape[*open] = static_cast<std::int32_t>(c.count() / known);
  }
  return copy_as(c, shape);
}

Status flatten(const Call& c) {
  std::int64_t axis = c.node.integer("axis", 1);
  const auto rank = static_cast<std::int64_t>(c.rank());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return c.fail("axis {}", c.node.integer("axis", 1));
  const auto a = static_cast<std::size_t>(axis);
  return copy_as(c, {static_cast<std::int32_t>(product(c.shape(), 0, a)),
                     static_cast<std::int32_t>(product(c.shape(), a, c.rank()))});
}

Status squeeze(const Call& c) {
  DEPUTY_ASSIGN(const Ints axes, c.axes(1, "axes", c.rank()));
  const bool all = !c.given(1, "axes");
  Shape shape;
  for (std::size_t d = 0; d < c.rank(); ++d) {
    const bool named = std::count(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) > 0;
    if (named && c.shape()[d] != 1) return c.fail("dimension {} has {} elements", d, c.shape()[d]);
    if (!named && !(all && c.shape()[d] == 1)) shape.push_back(c.shape()[d]);
  }
  return copy_as(c, shape);
}

Status unsqueeze(const Call& c) {
  std::size_t more = c.node.integers("axes").size();
  if (c.has(1)) more = static_cast<std::size_t>(c.count(1));
  if (c.rank() + more > 8) return c.fail("a result of {} dimensions", c.rank() + more);
  DEPUTY_ASSIGN(const Ints axes, c.axes(1, "axes", c.rank() + more));
  Shape shape;
  std::size_t from = 0;
  for (std::size_t d = 0; d < c.rank() + more; ++d)
    shape.push_back(
        std::count(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) ? 1 : c.shape()[from++]);
  return copy_as(c, shape);
}

Status shape_of(const Call& c) {
  const auto rank = static_cast<std::int64_t>(c.rank());
  const auto bound = [&](std::int64_t v) {
    return std::clamp<std::int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  const std::int64_t start = bound(c.node.integer("start", 0)),
                     end = std::max(start, bound(c.node.integer("end", rank)));
  DEPUTY_TRY(c.declare(0, DType::kInt64, {static_cast<std::int32_t>(end - start)}));
  if (c.infer_only()) return {};
  for (std::int64_t d = start; d < end; ++d)
    c.out<std::int64_t>()[d - start] = c.shape()[static_cast<std::size_t>(d)];
  return {};
}
Status size_of(const Call& c) {
  DEPUTY_TRY(c.declare(0, DType::kInt64, {}));
  if (!c.infer_only()) *c.out<std::int64_t>() = c.count();
  return {};
}

Status transpose(const Call& c) {
  Ints order(c.rank());
  for (std::size_t d = 0; d < order.size(); ++d)
    order[d] = static_cast<std::int64_t>(order.size() - 1 - d);
  order = c.node.integers("perm", order);
  Ints sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t d = 0; d < sorted.size(); ++d)
    if (sorted.size() != c.rank() || sorted[d] != static_cast<std::int64_t>(d))
      return c.fail("perm is no order of the dimensions");
  if (order.size() != c.rank()) return c.fail("perm is no order of the dimensions");
  Shape shape;
  Ints step;
  const Ints own = strides(c.shape());
  for (const std::int64_t d : order)
    shape.push_back(c.shape()[static_cast<std::size_t>(d)]),
        step.push_back(own[static_cast<std::size_t>(d)]);
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  if (c.infer_only()) return {};
  return with_width(c, c.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    T* out = c.out<T>();
    for_each<1>(shape, {step}, [&](const auto& at) { *out++ = c.in<T>()[at[0]]; });
    return {};
  });
}

Status expand(const Call& c) {
  DEPUTY_ASSIGN(const Ints wanted, c.values(1));
  if (wanted.size() > 8) return c.fail("a result of {} dimensions", wanted.size());
  Shape to;
  for (const std::int64_t v : wanted) {
    DEPUTY_ASSIGN(const std::int32_t dim, dimension(c, v));
    to.push_back(dim);
  }
  const auto shape = broadcast(c.shape(), to);
  if (!shape)
    return c.fail("a tensor of shape {} does not expand to {}", shape_text(c.shape()),
                  shape_text(to));
  DEPUTY_TRY(c.declare(0, c.dtype(), *shape));
  if (c.infer_only()) return {};
  return with_width(c, c.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    T* out = c.out<T>();
    for_each<1>(*shape, {broadcast_strides(c.shape(), *shape)},
                [&](const auto& at) { *out++ = c.in<T>()[at[0]]; });
    return {};
  });
}

Status tile(const Call& c) {
  DEPUTY_ASSIGN(const Ints repeats, c.values(1));
  if (repeats.size() != c.rank())
    return c.fail("{} repeats for {} dimensions", repeats.size(), c.rank());
  Shape shape;
  for (std::size_t d = 0; d < c.rank(); ++d) {
    if (repeats[d] < 0 || repeats[d] > 1 << 24) return c.fail("{} repeats", repeats[d]);
    DEPUTY_ASSIGN(const std::int32_t dim, dimension(c, c.shape()[d] * repeats[d]));
    shape.push_back(dim);
  }
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  if (c.infer_only()) return {};
  return with_width(c, c.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Ints to = strides(shape), from = strides(c.shape());
    for (std::int64_t i = 0; i < c.out_count(); ++i) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < shape.size(); ++d)
        at += i / to[d] % shape[d] % c.shape()[d] * from[d];
      c.out<T>()[i] = c.in<T>()[at];
    }
    return {};
  });
}

/// Blocks of b x b pixels to channels and back. `first`: the channel index has the block's position
/// first (DCR).
template <bool to_space>
Status blocks(const Call& c) {
  const std::int64_t b = c.node.integer("blocksize", 0);
  const std::string mode = c.node.text("mode", "DCR");
  if (c.rank() != 4 || b < 1 || b > 4096)
    return c.fail("a block of {} on shape {}", b, shape_text(c.shape()));
  if (mode != "DCR" && mode != "CRD") return c.fail("mode {}", mode);
  const std::int64_t n = c.shape()[0], ch = c.shape()[1], h = c.shape()[2], w = c.shape()[3];
  if (to_space ? ch % (b * b) != 0 : (h % b != 0 || w % b != 0))
    return c.fail("shape {} is no multiple of the block {}", shape_text(c.shape()), b);
  const std::int64_t depth = to_space ? ch / (b * b) : ch, small_h = to_space ? h : h / b,
                     small_w = to_space ? w : w / b;
  const auto size = [](std::int64_t v) { return static_cast<std::int32_t>(v); };
  DEPUTY_TRY(c.declare(0, c.dtype(),
                       to_space ? Shape{size(n), size(depth), size(h * b), size(w * b)}
                                : Shape{size(n), size(ch * b * b), size(small_h), size(small_w)}));
  if (c.infer_only()) return {};
  return with_width(c, c.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    // Positions (n, by, bx, depth, y, x): the small side is [n][channel][y][x], the large one
    // [n][depth][y*b+by][x*b+bx].
    for (std::int64_t i = 0; i < c.count(); ++i) {
      const std::int64_t x = i % small_w, y = i / small_w % small_h,
                         k = i / (small_w * small_h) % (depth * b * b);
      const std::int64_t batch = i / (small_w * small_h * depth * b * b);
      const bool block_first = mode == "DCR" || !to_space;
      const std::int64_t d = block_first ? k % depth : k / (b * b),
                         block = block_first ? k / depth : k % (b * b);
      const std::int64_t large =
          ((batch * depth + d) * small_h * b + y * b + block / b) * small_w * b + x * b + block % b;
      if (to_space)
        c.out<T>()[large] = c.in<T>()[i];
      else
        c.out<T>()[i] = c.in<T>()[large];
    }
    return {};
  });
}

Status constant_of_shape(const Call& c) {  // the importer gives the value as operand 1
  DEPUTY_ASSIGN(const Ints wanted, c.values(0));
  Shape shape;
  for (const std::int64_t v : wanted) {
    DEPUTY_ASSIGN(const std::int32_t dim, dimension(c, v));
    shape.push_back(dim);
  }
  const DType type = c.has(1) ? c.dtype(1) : DType::kFloat32;
  if (c.has(1) && c.count(1) != 1) return c.fail("the value must have one element");
  DEPUTY_TRY(c.declare(0, type, shape));
  if (c.infer_only()) return {};
  c.clear();
  if (!c.has(1)) return {};
  return with_width(c, type, [&](auto zero) -> Status {
    using T = decltype(zero);
    std::fill_n(c.out<T>(), c.out_count(), *c.in<T>(1));
    return {};
  });
}

constexpr Kernel kKernels[] = {{"ConstantOfShape", 1, 2, 1, constant_of_shape},
                               {"DepthToSpace", 1, 1, 1, blocks<true>},
                               {"Expand", 2, 2, 1, expand},
                               {"Flatten", 1, 1, 1, flatten},
                               {"Reshape", 1, 2, 1, reshape},
                               {"Shape", 1, 1, 1, shape_of},
                               {"Size", 1, 1, 1, size_of},
                               {"SpaceToDepth", 1, 1, 1, blocks<false>},
                               {"Squeeze", 1, 2, 1, squeeze},
                               {"Tile", 2, 2, 1, tile},
                               {"Transpose", 1, 1, 1, transpose},
                               {"Unsqueeze", 1, 2, 1, unsqueeze}};

}  // namespace

std::span<const Kernel> shape_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
