// Normalisations and the softmax family.
#include <algorithm>
#include <cmath>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

template <class T>
double at(const T* x, std::int64_t i) {
  return static_cast<double>(static_cast<Wide<T>>(x[i]));
}
template <class T>
void set(T* y, std::int64_t i, double v) {
  y[i] = static_cast<Wide<T>>(v);
}

/// Operands [first, first + count) are vectors of one entry per channel, of the data's type.
Status need_channels(const Call& c, std::size_t first, std::size_t count) {
  if (c.rank() < 2) return c.fail("data of shape {}", shape_text(c.shape()));
  for (std::size_t i = first; i < first + count; ++i)
    if (!c.has(i) || c.count(i) != c.shape()[1])
      return c.fail("operand {} has not one entry per channel of {}", i, shape_text(c.shape()));
  return {};
}

Status batch_norm(const Call& c) {
  DEPUTY_TRY(need_channels(c, 1, 4));
  const bool training = c.node.integer("training_mode", 0) != 0;
  if (training && !c.wants(0)) return c.fail("training without a result");
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  const std::int64_t channels = c.shape()[1], inner = product(c.shape(), 2, c.rank());
  if (training) {
    DEPUTY_TRY(c.declare(1, c.dtype(3), c.shape(3)));
    DEPUTY_TRY(c.declare(2, c.dtype(4), c.shape(4)));
  }
  const double epsilon = c.node.real("epsilon", 1e-5f), momentum = c.node.real("momentum", 0.9f);
  for (std::size_t i = 1; i < 5; ++i)
    if (c.dtype(i) != c.dtype()) return c.fail("operand {} is {}", i, dtype_name(c.dtype(i)));
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    const std::int64_t n = channels ? c.count() / channels : 0;
    for (std::int64_t k = 0; k < channels; ++k) {
      double mean = at(c.in<T>(3), k), variance = at(c.in<T>(4), k);
      const auto place = [&](std::int64_t i) {
        return (i / inner * channels + k) * inner + i % inner;
      };
      if (training) {
        double sum = 0, squares = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += at(c.in<T>(), place(i));
        const double own = sum / static_cast<double>(n);
        for (std::int64_t i = 0; i < n; ++i) squares += std::pow(at(c.in<T>(), place(i)) - own, 2);
        const double spread = squares / static_cast<double>(n);
        set(c.out<T>(1), k, mean * momentum + own * (1 - momentum));
        set(c.out<T>(2), k, variance * momentum + spread * (1 - momentum));
        mean = own, variance = spread;
      }
      const double scale = at(c.in<T>(1), k) / std::sqrt(variance + epsilon);
      for (std::int64_t i = 0; i < n; ++i)
        set(c.out<T>(), place(i), (at(c.in<T>(), place(i)) - mean) * scale + at(c.in<T>(2), k));
    }
    return {};
  });
}

/// Normalises rows of n elements to mean 0 and variance 1.
template <class T>
std::pair<double, double> moments(const T* x, std::int64_t n, double epsilon) {
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += at(x, i);
  const double mean = sum / static_cast<double>(n);
  for (std::int64_t i = 0; i < n; ++i) squares += (at(x, i) - mean) * (at(x, i) - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<double>(n) + epsilon)};
}

Status instance_norm(const Call& c) {
  DEPUTY_TRY(need_channels(c, 1, 2));
  if (c.dtype(1) != c.dtype() || c.dtype(2) != c.dtype())
    return c.fail("scale or bias of another type");
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  const double epsilon = c.node.real("epsilon", 1e-5f);
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    const std::int64_t inner = product(c.shape(), 2, c.rank());
    for (std::int64_t k = 0; inner && k < c.count() / inner; ++k) {
      const T* x = c.in<T>() + k * inner;
      const auto [mean, scale] = moments(x, inner, epsilon);
      for (std::int64_t i = 0; i < inner; ++i)
        set(c.out<T>() + k * inner, i,
            (at(x, i) - mean) * scale * at(c.in<T>(1), k % c.shape()[1]) +
                at(c.in<T>(2), k % c.shape()[1]));
    }
    return {};
  });
}

Status layer_norm(const Call& c) {
  DEPUTY_ASSIGN(const std::int64_t axis, c.axis(c.node.integer("axis", -1), c.rank()));
  const auto a = static_cast<std::size_t>(axis);
  const Shape row(c.shape().begin() + axis, c.shape().end());
  for (const std::size_t i : {1, 2}) {
    if (!c.has(i)) continue;
    const auto both = broadcast(c.shape(i), row);
    if (!both || *both != row || c.dtype(i) != c.dtype())
      return c.fail("operand {} of {} {} for rows of {}", i, dtype_name(c.dtype(i)),
                    shape_text(c.shape(i)), shape_text(row));
  }
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  Shape stats = c.shape();
  std::fill(stats.begin() + axis, stats.end(), 1);
  const DType kept = c.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  DEPUTY_TRY(c.declare(1, kept, stats));
  DEPUTY_TRY(c.declare(2, kept, stats));
  const double epsilon = c.node.real("epsilon", 1e-5f);
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    const std::int64_t n = product(c.shape(), a, c.rank());
    for (std::int64_t k = 0; n && k < c.count() / n; ++k) {
      const T* x = c.in<T>() + k * n;
      T* y = c.out<T>() + k * n;
      const auto [mean, scale] = moments(x, n, epsilon);
      if (kept == DType::kFloat64)
        c.out<double>(1)[k] = mean, c.out<double>(2)[k] = scale;
      else
        c.out<float>(1)[k] = static_cast<float>(mean),
        c.out<float>(2)[k] = static_cast<float>(scale);
      const auto steps = [&](std::size_t i) {
        return c.has(i) ? broadcast_strides(c.shape(i), row) : Ints(row.size(), 0);
      };
      std::int64_t i = 0;
      for_each<2>(row, {steps(1), steps(2)}, [&, mean = mean, scale = scale](const auto& p) {
        double v = (at(x, i) - mean) * scale;
        if (c.has(1)) v *= at(c.in<T>(1), p[0]);
        if (c.has(2)) v += at(c.in<T>(2), p[1]);
        set(y, i++, v);
      });
    }
    return {};
  });
}

Status lrn(const Call& c) {
  const std::int64_t size = c.node.integer("size", 0);
  if (c.rank() < 2 || size < 1) return c.fail("size {} on shape {}", size, shape_text(c.shape()));
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  const double alpha = c.node.real("alpha", 1e-4f), beta = c.node.real("beta", 0.75f),
               bias = c.node.real("bias", 1);
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    const std::int64_t channels = c.shape()[1], inner = product(c.shape(), 2, c.rank());
    for (std::int64_t i = 0; i < c.count(); ++i) {
      const std::int64_t k = i / inner % channels;
      const std::int64_t lo = std::max<std::int64_t>(0, k - (size - 1) / 2),
                         hi = std::min(channels - 1, k + size / 2);
      double squares = 0;
      for (std::int64_t j = lo; j <= hi; ++j)
        squares += std::pow(at(c.in<T>(), i + (j - k) * inner), 2);
      set(c.out<T>(), i,
          at(c.in<T>(), i) / std::pow(bias + alpha / static_cast<double>(size) * squares, beta));
    }
    return {};
  });
}

/// Over the axes given, by default all but the channels.
Status mean_variance(const Call& c) {
  Ints axes = c.node.integers("axes", {0, 2, 3});
  std::vector<bool> gone(c.rank());
  for (const std::int64_t v : axes) {
    DEPUTY_ASSIGN(const std::int64_t axis, c.axis(v, c.rank()));
    gone[static_cast<std::size_t>(axis)] = true;
  }
  Shape kept = c.shape();
  for (std::size_t d = 0; d < kept.size(); ++d)
    if (gone[d]) kept[d] = 1;
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    const auto groups = static_cast<std::size_t>(element_count(kept));
    if (c.count() == 0) return {};
    const double n = static_cast<double>(c.count()) / static_cast<double>(groups);
    std::vector<double> sum(groups), squares(groups);
    const std::array<Ints, 1> to = {broadcast_strides(kept, c.shape())};
    const auto each = [&](auto&& f) {
      std::int64_t i = 0;
      for_each<1>(c.shape(), to, [&](const auto& p) { f(i++, static_cast<std::size_t>(p[0])); });
    };
    each([&](std::int64_t i, std::size_t g) { sum[g] += at(c.in<T>(), i); });
    each([&](std::int64_t i, std::size_t g) {
      squares[g] += std::pow(at(c.in<T>(), i) - sum[g] / n, 2);
    });
    each([&](std::int64_t i, std::size_t g) {
      set(c.out<T>(), i, (at(c.in<T>(), i) - sum[g] / n) / (std::sqrt(squares[g] / n) + 1e-9));
    });
    return {};
  });
}

enum class Row : std::uint8_t { kSoftmax, kLogSoftmax, kHardmax, kLp };

/// One axis since operator set 13; before, everything from the axis on is one row.
template <Row what>
Status rows(const Call& c) {
  const bool flat = c.node.opset < 13 && what != Row::kLp;
  DEPUTY_ASSIGN(const std::int64_t axis, c.axis(c.node.integer("axis", flat ? 1 : -1), c.rank()));
  const auto a = static_cast<std::size_t>(axis);
  const std::int64_t n = flat ? product(c.shape(), a, c.rank()) : c.shape()[a],
                     step = flat ? 1 : product(c.shape(), a + 1, c.rank());
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  const std::int64_t p = c.node.integer("p", 2);
  if (what == Row::kLp && p != 1 && p != 2) return c.fail("p {}", p);
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    for (std::int64_t line = 0; n && line < c.count() / n; ++line) {
      const std::int64_t from = line / step * n * step + line % step;
      const T* x = c.in<T>() + from;
      T* y = c.out<T>() + from;
      std::int64_t best = 0;
      double sum = 0;
      for (std::int64_t i = 1; i < n; ++i)
        if (at(x, i * step) > at(x, best * step)) best = i;
      const double top = at(x, best * step);
      for (std::int64_t i = 0; i < n; ++i) {
        const double v = at(x, i * step);
        sum += what == Row::kLp ? (p == 1 ? std::fabs(v) : v * v) : std::exp(v - top);
      }
      if (what == Row::kLp && p == 2) sum = std::sqrt(sum);
      for (std::int64_t i = 0; i < n; ++i) {
        const double v = at(x, i * step);
        if (what == Row::kSoftmax) set(y, i * step, std::exp(v - top) / sum);
        if (what == Row::kLogSoftmax) set(y, i * step, v - top - std::log(sum));
        if (what == Row::kHardmax) set(y, i * step, i == best);
        if (what == Row::kLp) set(y, i * step, sum == 0 ? 0 : v / sum);
      }
    }
    return {};
  });
}

constexpr Kernel kKernels[] = {{"BatchNormalization", 5, 5, 5, batch_norm},
                               {"Hardmax", 1, 1, 1, rows<Row::kHardmax>},
                               {"InstanceNormalization", 3, 3, 1, instance_norm},
                               {"LayerNormalization", 2, 3, 3, layer_norm},
                               {"LRN", 1, 1, 1, lrn},
                               {"LogSoftmax", 1, 1, 1, rows<Row::kLogSoftmax>},
                               {"LpNormalization", 1, 1, 1, rows<Row::kLp>},
                               {"MeanVarianceNormalization", 1, 1, 1, mean_variance},
                               {"Softmax", 1, 1, 1, rows<Row::kSoftmax>}};

}  // namespace

std::span<const Kernel> norm_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
