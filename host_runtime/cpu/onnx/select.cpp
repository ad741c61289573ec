// Results whose size depends on values: they run where the model says the size, or where the
// operand is constant. And TopK, EyeLike.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

Status non_zero(const Call& c) {
  if (!c.known(0)) return c.unknown(0);
  Ints found;
  DEPUTY_TRY(with_type(c, c.dtype(), Everything{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < c.count(); ++i)
      if (static_cast<Wide<T>>(c.in<T>()[i]) != static_cast<Wide<T>>(T{})) found.push_back(i);
    return {};
  }));
  // A scalar counts as a vector of one, as in ONNX Runtime.
  DEPUTY_TRY(c.declare(0, DType::kInt64,
                       {static_cast<std::int32_t>(std::max<std::size_t>(1, c.rank())),
                        static_cast<std::int32_t>(found.size())}));
  if (c.infer_only()) return {};
  if (c.rank() == 0) c.clear();
  const Ints step = strides(c.shape());
  for (std::size_t d = 0; d < c.rank(); ++d)
    for (std::size_t k = 0; k < found.size(); ++k)
      c.out<std::int64_t>()[d * found.size() + k] = found[k] / step[d] % c.shape()[d];
  return {};
}

Status compress(const Call& c) {
  if (c.dtype(1) != DType::kBool || c.rank(1) != 1)
    return c.fail("a condition of {} {}", dtype_name(c.dtype(1)), shape_text(c.shape(1)));
  if (!c.known(1)) return c.unknown(1);
  const bool flat = !c.node.has("axis");
  std::int64_t axis = 0;
  if (!flat) {
    DEPUTY_ASSIGN(axis, c.axis(c.node.integer("axis", 0), c.rank()));
  }
  const auto a = static_cast<std::size_t>(axis);
  Shape data = flat ? Shape{static_cast<std::int32_t>(c.count())} : c.shape();
  Ints kept;
  for (std::int64_t i = 0; i < c.count(1); ++i)
    if (c.in<Bool>(1)[i]) {
      if (i >= data[a]) return c.fail("the condition is longer than the dimension");
      kept.push_back(i);
    }
  Shape shape = data;
  shape[a] = static_cast<std::int32_t>(kept.size());
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  if (c.infer_only()) return {};
  const auto inner =
      static_cast<std::size_t>(product(data, a + 1, data.size())) * dtype_size(c.dtype());
  std::uint8_t* out = c.out<std::uint8_t>();
  for (std::int64_t outer = 0; inner && outer < product(data, 0, a); ++outer)
    for (const std::int64_t i : kept) {
      std::memcpy(out, c.in<std::uint8_t>() + static_cast<std::size_t>(outer * data[a] + i) * inner,
                  inner);
      out += inner;
    }
  return {};
}

/// Slices along an axis (or elements), each once.
Status unique(const Call& c) {
  if (!c.known(0)) return c.unknown(0);
  const bool flat = !c.node.has("axis"), sorted = c.node.integer("sorted", 1) != 0;
  std::int64_t axis = 0;
  if (!flat) {
    DEPUTY_ASSIGN(axis, c.axis(c.node.integer("axis", 0), c.rank()));
  }
  const Shape data = flat ? Shape{static_cast<std::int32_t>(c.count())} : c.shape();
  const auto a = static_cast<std::size_t>(axis);
  return with_type(c, c.dtype(), Everything{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    const std::int64_t n = data[a], inner = product(data, a + 1, data.size()),
                       outer = product(data, 0, a);
    const auto value = [&](std::int64_t i, std::int64_t k) {  // element k of slice i
      return static_cast<Wide<T>>(c.in<T>()[(k / inner * n + i) * inner + k % inner]);
    };
    const auto less = [&](std::int64_t x, std::int64_t y) {
      for (std::int64_t k = 0; k < outer * inner; ++k)
        if (value(x, k) != value(y, k)) return value(x, k) < value(y, k);
      return false;
    };
    Ints order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), less);
    Ints first, counts, group(static_cast<std::size_t>(n));  // by group, in sorted order
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k == 0 || less(order[k - 1], order[k])) first.push_back(order[k]), counts.push_back(0);
      ++counts.back();
      group[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(first.size()) - 1;
    }
    Ints shown(first.size()),
        place(first.size());  // the groups in the order of the result, and back
    std::iota(shown.begin(), shown.end(), 0);
    if (!sorted)
      std::sort(shown.begin(), shown.end(), [&](auto x, auto y) {
        return first[static_cast<std::size_t>(x)] < first[static_cast<std::size_t>(y)];
      });
    for (std::size_t k = 0; k < shown.size(); ++k)
      place[static_cast<std::size_t>(shown[k])] = static_cast<std::int64_t>(k);
    Shape shape = data;
    shape[a] = static_cast<std::int32_t>(first.size());
    const Shape list = {static_cast<std::int32_t>(first.size())};
    DEPUTY_TRY(c.declare(0, c.dtype(), shape));
    DEPUTY_TRY(c.declare(1, DType::kInt64, list));
    DEPUTY_TRY(c.declare(2, DType::kInt64, {static_cast<std::int32_t>(n)}));
    DEPUTY_TRY(c.declare(3, DType::kInt64, list));
    if (c.infer_only()) return {};
    const auto groups = static_cast<std::int64_t>(first.size());
    for (std::int64_t g = 0; g < groups; ++g) {
      const auto from = static_cast<std::size_t>(shown[static_cast<std::size_t>(g)]);
      for (std::int64_t k = 0; k < outer * inner; ++k)
        c.out<T>()[(k / inner * groups + g) * inner + k % inner] =
            c.in<T>()[(k / inner * n + first[from]) * inner + k % inner];
      c.out<std::int64_t>(1)[g] = first[from], c.out<std::int64_t>(3)[g] = counts[from];
    }
    for (std::int64_t i = 0; i < n; ++i)
      c.out<std::int64_t>(2)[i] =
          place[static_cast<std::size_t>(group[static_cast<std::size_t>(i)])];
    return {};
  });
}

Status top_k(const Call& c) {
  std::int64_t k = c.node.integer("k", 0);
  if (c.has(1)) {
    if (c.count(1) != 1) return c.fail("k must be one number");
    DEPUTY_ASSIGN(const Ints values, c.values(1));
    k = values[0];
  }
  DEPUTY_ASSIGN(const std::int64_t axis, c.axis(c.node.integer("axis", -1), c.rank()));
  const auto a = static_cast<std::size_t>(axis);
  const std::int64_t n = c.shape()[a], inner = product(c.shape(), a + 1, c.rank());
  if (k < 0 || k > n) return c.fail("{} of {} elements", k, n);
  Shape shape = c.shape();
  shape[a] = static_cast<std::int32_t>(k);
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  DEPUTY_TRY(c.declare(1, DType::kInt64, shape));
  const bool largest = c.node.integer("largest", 1) != 0;
  return with_type(c, c.dtype(), Numbers{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    Ints order(static_cast<std::size_t>(n));
    for (std::int64_t line = 0; n && line < c.count() / n; ++line) {
      const T* x = c.in<T>() + line / inner * n * inner + line % inner;
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) {
        const auto p = static_cast<Wide<T>>(x[i * inner]), q = static_cast<Wide<T>>(x[j * inner]);
        return largest ? p > q : p < q;
      });
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int64_t at = (line / inner * k + i) * inner + line % inner;
        c.out<T>(0)[at] = x[order[static_cast<std::size_t>(i)] * inner];
        c.out<std::int64_t>(1)[at] = order[static_cast<std::size_t>(i)];
      }
    }
    return {};
  });
}

struct Box {
  float x0, y0, x1, y1;
};
float overlap(const Box& a, const Box& b) {
  const float w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0),
              h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (w <= 0 || h <= 0) return 0;
  return w * h / ((a.x1 - a.x0) * (a.y1 - a.y0) + (b.x1 - b.x0) * (b.y1 - b.y0) - w * h);
}
Status non_max_suppression(const Call& c) {
  if (c.rank(0) != 3 || c.rank(1) != 3 || c.shape(0)[2] != 4 || c.shape(0)[0] != c.shape(1)[0] ||
      c.shape(0)[1] != c.shape(1)[2] || c.dtype(0) != DType::kFloat32 ||
      c.dtype(1) != DType::kFloat32)
    return c.fail("boxes of shape {} with scores of {}", shape_text(c.shape(0)),
                  shape_text(c.shape(1)));
  for (const std::size_t i : {0, 1})
    if (!c.known(i)) return c.unknown(i);
  std::int64_t most = 0;
  float iou = 0, floor = -HUGE_VALF;
  if (c.has(2)) {
    DEPUTY_ASSIGN(const double v, c.number(2));
    most = static_cast<std::int64_t>(v);
  }
  if (c.has(3)) {
    DEPUTY_ASSIGN(const double v, c.number(3));
    iou = static_cast<float>(v);
  }
  if (c.has(4)) {
    DEPUTY_ASSIGN(const double v, c.number(4));
    floor = static_cast<float>(v);
  }
  const bool centres = c.node.integer("center_point_box", 0) != 0;
  const std::int64_t boxes = c.shape(0)[1], classes = c.shape(1)[1];
  const auto box = [&](std::int64_t batch, std::int64_t i) {
    const float* b = c.in<float>(0) + (batch * boxes + i) * 4;
    if (centres) return Box{b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2};
    return Box{std::min(b[1], b[3]), std::min(b[0], b[2]), std::max(b[1], b[3]),
               std::max(b[0], b[2])};
  };
  Ints found;
  for (std::int64_t batch = 0; batch < c.shape(0)[0]; ++batch)
    for (std::int64_t k = 0; k < classes; ++k) {
      const float* score = c.in<float>(1) + (batch * classes + k) * boxes;
      Ints order(static_cast<std::size_t>(boxes));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](auto i, auto j) { return score[i] > score[j]; });
      Ints chosen;
      for (const std::int64_t i : order) {
        if (static_cast<std::int64_t>(chosen.size()) >= most) break;
        if (!(score[i] > floor)) continue;
        if (std::any_of(chosen.begin(), chosen.end(),
                        [&](auto j) { return overlap(box(batch, i), box(batch, j)) > iou; }))
          continue;
        chosen.push_back(i);
        found.insert(found.end(), {batch, k, i});
      }
    }
  DEPUTY_TRY(c.declare(0, DType::kInt64, {static_cast<std::int32_t>(found.size() / 3), 3}));
  if (!c.infer_only()) std::copy(found.begin(), found.end(), c.out<std::int64_t>());
  return {};
}

Status eye_like(const Call& c) {
  if (c.rank() != 2)
    return c.fail("a matrix is needed, the operand has shape {}", shape_text(c.shape()));
  constexpr DType kNumbers[] = {DType::kFloat32, DType::kFloat32, DType::kUint8,   DType::kInt8,
                                DType::kUint16,  DType::kInt16,   DType::kInt32,   DType::kInt64,
                                DType::kFloat32, DType::kBool,    DType::kFloat16, DType::kFloat64,
                                DType::kUint32,  DType::kUint64};
  DType type = c.dtype();
  if (c.node.has("dtype")) {
    const std::int64_t number = c.node.integer("dtype", 1);
    if (number < 1 || number > 13 || number == 8) return c.fail("element type number {}", number);
    type = kNumbers[number];
  }
  DEPUTY_TRY(c.declare(0, type, c.shape()));
  return with_type(c, type, Everything{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    const std::int64_t w = c.shape()[1], k = std::clamp<std::int64_t>(c.node.integer("k", 0),
                                                                      -0x7FFFFFFF, 0x7FFFFFFF);
    for (std::int64_t i = 0; i < c.count(); ++i) {
      const bool on = i % w == i / w + k;
      if constexpr (std::is_same_v<T, Bool>)
        c.out<T>()[i] = on;
      else
        c.out<T>()[i] = static_cast<Wide<T>>(on);
    }
    return {};
  });
}

constexpr const char* kSize =
    "the result's size must be known: constant operands, or a fixed shape in the model";
constexpr Kernel kKernels[] = {
    {"Compress", 2, 2, 1, compress, kSize},
    {"EyeLike", 1, 1, 1, eye_like},
    {"NonMaxSuppression", 2, 5, 1, non_max_suppression, kSize},
    {"NonZero", 1, 1, 1, non_zero, kSize},
    {"TopK", 1, 2, 2, top_k, "k is constant, or the model says the shape"},
    {"Unique", 1, 1, 4, unique, kSize}};

}  // namespace

std::span<const Kernel> select_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
