// Parts of tensors and tensors of parts, and patterns.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

Status concat(const Call& c) {
  DEPUTY_ASSIGN(const std::int64_t axis,
                c.axis(c.node.integer("axis", c.node.opset < 4 ? 1 : 0), c.rank()));
  const auto a = static_cast<std::size_t>(axis);
  Shape shape = c.shape();
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < c.inputs(); ++k) {
    if (!c.has(k) || c.rank(k) != c.rank() || c.dtype(k) != c.dtype())
      return c.fail("operand {} does not go with operand 0", k);
    for (std::size_t d = 0; d < c.rank(); ++d)
      if (d != a && c.shape(k)[d] != shape[d])
        return c.fail("shapes {} and {}", shape_text(shape), shape_text(c.shape(k)));
    sum += c.shape(k)[a];
  }
  if (sum > 0x7FFFFFFF) return c.fail("the result is too large");
  shape[a] = static_cast<std::int32_t>(sum);
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  if (c.infer_only()) return {};
  const auto size = static_cast<std::int64_t>(dtype_size(c.dtype()));
  std::uint8_t* out = c.out<std::uint8_t>();
  for (std::int64_t outer = 0; outer < product(shape, 0, a); ++outer)
    for (std::size_t k = 0; k < c.inputs(); ++k) {
      const std::int64_t bytes = product(c.shape(k), a, c.rank()) * size;
      if (bytes == 0) continue;
      std::memcpy(out, c.in<std::uint8_t>(k) + outer * bytes, static_cast<std::size_t>(bytes));
      out += bytes;
    }
  return {};
}

Status split(const Call& c) {
  DEPUTY_ASSIGN(const std::int64_t axis, c.axis(c.node.integer("axis", 0), c.rank()));
  const auto a = static_cast<std::size_t>(axis);
  const auto n = static_cast<std::int64_t>(c.outputs());
  Ints sizes = c.node.integers("split");
  if (c.has(1)) {
    DEPUTY_ASSIGN(sizes, c.values(1));
  }
  if (sizes.empty())
    for (std::int64_t k = 0; k < n; ++k) sizes.push_back((c.shape()[a] + n - 1) / n);
  if (static_cast<std::int64_t>(sizes.size()) != n)
    return c.fail("{} sizes for {} results", sizes.size(), n);
  if (!c.given(1, "split") && c.shape()[a] % n)
    return c.fail("{} elements in {} equal parts", c.shape()[a], n);
  std::int64_t sum = 0;
  for (const std::int64_t s : sizes) {
    if (s < 0 || s > c.shape()[a]) return c.fail("a part of {}", s);
    sum += s;
  }
  if (sum != c.shape()[a])
    return c.fail("the parts add up to {}, the dimension is {}", sum, c.shape()[a]);
  const std::int64_t inner =
      product(c.shape(), a + 1, c.rank()) * static_cast<std::int64_t>(dtype_size(c.dtype()));
  std::int64_t from = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    Shape shape = c.shape();
    shape[a] = static_cast<std::int32_t>(sizes[k]);
    DEPUTY_TRY(c.declare(k, c.dtype(), shape));
    const std::int64_t bytes = sizes[k] * inner;
    if (!c.infer_only() && bytes)
      for (std::int64_t outer = 0; outer < product(shape, 0, a); ++outer)
        std::memcpy(c.out<std::uint8_t>(k) + outer * bytes,
                    c.in<std::uint8_t>() + (outer * c.shape()[a] + from) * inner,
                    static_cast<std::size_t>(bytes));
    from += sizes[k];
  }
  return {};
}

Status slice(const Call& c) {
  Ints starts = c.node.integers("starts"), ends = c.node.integers("ends"),
       axes = c.node.integers("axes"), steps;
  if (c.has(1)) {
    DEPUTY_ASSIGN(starts, c.values(1));
    DEPUTY_ASSIGN(ends, c.values(2));
  }
  if (c.has(3)) {
    DEPUTY_ASSIGN(axes, c.values(3));
  }
  if (c.has(4)) {
    DEPUTY_ASSIGN(steps, c.values(4));
  }
  if (axes.empty() && !c.has(3))
    for (std::size_t k = 0; k < starts.size(); ++k) axes.push_back(static_cast<std::int64_t>(k));
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return c.fail("starts, ends, axes and steps differ in length");
  Shape shape = c.shape();
  Ints step = strides(c.shape());
  std::int64_t from = 0;
  std::vector<bool> seen(c.rank());
  for (std::size_t k = 0; k < axes.size(); ++k) {
    DEPUTY_ASSIGN(const std::int64_t axis, c.axis(axes[k], c.rank()));
    const auto a = static_cast<std::size_t>(axis);
    if (seen[a]) return c.fail("axis {} is listed twice", axis);
    seen[a] = true;
    const std::int64_t n = c.shape()[a],
                       s = std::clamp<std::int64_t>(steps[k], -0x7FFFFFFF, 0x7FFFFFFF);
    if (s == 0) return c.fail("a step of 0");
    if (n == 0) continue;  // whatever is cut out of nothing is nothing
    const auto bound = [&](std::int64_t v, std::int64_t lo, std::int64_t hi) {
      return std::clamp(v < 0 ? v + n : v, lo, hi);
    };
    const std::int64_t start = s > 0 ? bound(starts[k], 0, n) : bound(starts[k], 0, n - 1);
    const std::int64_t end =
        s > 0 ? bound(ends[k], 0, n) : (ends[k] < -n ? -1 : bound(ends[k], -1, n - 1));
    const std::int64_t count =
        std::max<std::int64_t>(0, s > 0 ? (end - start + s - 1) / s : (start - end - s - 1) / -s);
    shape[a] = static_cast<std::int32_t>(count);
    if (count) from += start * step[a];
    step[a] *= s;
  }
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  if (c.infer_only()) return {};
  return with_width(c, c.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    T* out = c.out<T>();
    for_each<1>(shape, {step}, [&](const auto& at) { *out++ = c.in<T>()[from + at[0]]; });
    return {};
  });
}

/// Which element of a line of n a position outside it shows; -1: none.
std::int64_t reflected(const std::string& mode, std::int64_t i, std::int64_t n) {
  if (i >= 0 && i < n) return i;
  if (mode == "edge") return i < 0 ? 0 : n - 1;
  if (mode == "wrap") return ((i % n) + n) % n;
  if (mode != "reflect") return -1;
  if (n == 1) return 0;
  const std::int64_t period = 2 * (n - 1), k = ((i % period) + period) % period;
  return k < n ? k : period - k;
}

Status pad(const Call& c) {
  const std::string mode = c.node.text("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    return c.fail("mode {}", mode);
  DEPUTY_ASSIGN(
      const Ints given,
      c.has(1) ? c.values(1)
               : base::Result<Ints>(c.node.integers(c.node.has("pads") ? "pads" : "paddings")));
  Ints pads(2 * c.rank(), 0), axes;
  if (c.has(3)) {
    DEPUTY_ASSIGN(axes, c.axes(3, "", c.rank()));
  } else {
    for (std::size_t d = 0; d < c.rank(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  }
  if (given.size() != 2 * axes.size())
    return c.fail("{} pads for {} dimensions", given.size(), axes.size());
  Shape shape = c.shape();
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto d = static_cast<std::size_t>(axes[k]);
    pads[d] = given[k], pads[d + c.rank()] = given[k + axes.size()];
    for (const std::int64_t p : {pads[d], pads[d + c.rank()]})
      if (std::abs(p) > 1 << 28) return c.fail("pads of {}", p);
    const std::int64_t size = shape[d] + pads[d] + pads[d + c.rank()];
    if (size < 0)
      return c.fail("pads of {} and {} for a dimension of {}", pads[d], pads[d + c.rank()],
                    shape[d]);
    if (mode != "constant" && shape[d] == 0 && size > 0)
      return c.fail("mode {} has nothing to repeat", mode);
    shape[d] = static_cast<std::int32_t>(size);
  }
  if (c.has(2) && (c.dtype(2) != c.dtype() || c.count(2) != 1))
    return c.fail("the constant must be one element of the operand's type");
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  if (c.infer_only()) return {};
  return with_type(c, c.dtype(), Everything{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    T value{};
    if constexpr (kReal<T>) value = static_cast<Wide<T>>(c.node.real("value", 0));
    if (c.has(2)) value = *c.in<T>(2);
    const Ints to = strides(shape), from = strides(c.shape());
    for (std::int64_t i = 0; i < c.out_count(); ++i) {
      std::int64_t at = 0;
      bool inside = true;
      for (std::size_t d = 0; d < shape.size() && inside; ++d) {
        const std::int64_t k = reflected(mode, i / to[d] % shape[d] - pads[d], c.shape()[d]);
        inside = k >= 0;
        at += k * from[d];
      }
      c.out<T>()[i] = inside ? c.in<T>()[at] : value;
    }
    return {};
  });
}

Status reverse_sequence(const Call& c) {
  const std::int64_t batch = c.node.integer("batch_axis", 1), time = c.node.integer("time_axis", 0);
  if (c.rank() < 2 || batch < 0 || batch > 1 || time < 0 || time > 1 || batch == time)
    return c.fail("batch_axis {} and time_axis {}", batch, time);
  const std::int64_t n = c.shape()[static_cast<std::size_t>(batch)],
                     steps = c.shape()[static_cast<std::size_t>(time)];
  if (c.rank(1) != 1 || c.count(1) != n)
    return c.fail("lengths of shape {}", shape_text(c.shape(1)));
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  if (c.infer_only()) return {};
  DEPUTY_ASSIGN(const Ints lengths, c.values(1));
  const auto inner =
      static_cast<std::size_t>(product(c.shape(), 2, c.rank())) * dtype_size(c.dtype());
  for (std::int64_t b = 0; b < n; ++b)
    for (std::int64_t t = 0; t < steps; ++t) {
      const std::int64_t length =
          std::clamp<std::int64_t>(lengths[static_cast<std::size_t>(b)], 0, steps);
      const std::int64_t from = t < length ? length - 1 - t : t;
      const auto at = [&](std::int64_t k) {
        return static_cast<std::size_t>(batch == 1 ? k * n + b : b * steps + k) * inner;
      };
      if (inner) std::memcpy(c.out<std::uint8_t>() + at(t), c.in<std::uint8_t>() + at(from), inner);
    }
  return {};
}

Status range(const Call& c) {
  DEPUTY_ASSIGN(const double start, c.number(0));
  DEPUTY_ASSIGN(const double limit, c.number(1));
  DEPUTY_ASSIGN(const double delta, c.number(2));
  const double steps = std::ceil((limit - start) / delta);
  if (!(std::isfinite(steps)) || steps > 1 << 28)
    return c.fail("from {} to {} by {}", start, limit, delta);
  DEPUTY_TRY(c.declare(0, c.dtype(), {static_cast<std::int32_t>(std::max(0.0, steps))}));
  return with_type(c, c.dtype(), Types<float, double, std::int16_t, std::int32_t, std::int64_t>{},
                   [&](auto zero) -> Status {
                     using T = decltype(zero);
                     if (c.infer_only()) return {};
                     for (std::int64_t i = 0; i < c.out_count(); ++i)
                       c.out<T>()[i] =
                           static_cast<T>(*c.in<T>(0) + static_cast<T>(i) * *c.in<T>(2));
                     return {};
                   });
}

Status trilu(const Call& c) {
  if (c.rank() < 2) return c.fail("a matrix is needed");
  if (c.has(1) && c.count(1) != 1) return c.fail("k must be one number");
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  if (c.infer_only()) return {};
  std::int64_t k = 0;
  if (c.has(1)) {
    DEPUTY_ASSIGN(const Ints values, c.values(1));
    k = std::clamp<std::int64_t>(values[0], -0x7FFFFFFF, 0x7FFFFFFF);
  }
  const bool upper = c.node.integer("upper", 1) != 0;
  const std::int64_t w = c.shape()[c.rank() - 1], h = c.shape()[c.rank() - 2];
  return with_width(c, c.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < c.count(); ++i) {
      const std::int64_t x = i % w, y = i / w % h;
      c.out<T>()[i] = (upper ? x >= y + k : x <= y + k) ? c.in<T>()[i] : T{0};
    }
    return {};
  });
}

constexpr Kernel kKernels[] = {{"Concat", 1, kMany, 1, concat},
                               {"Pad", 1, 4, 1, pad},
                               {"Range", 3, 3, 1, range, "its operands are constant"},
                               {"ReverseSequence", 2, 2, 1, reverse_sequence},
                               {"Slice", 1, 5, 1, slice},
                               {"Split", 1, 2, kMany, split},
                               {"Trilu", 1, 2, 1, trilu}};

}  // namespace

std::span<const Kernel> slice_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
