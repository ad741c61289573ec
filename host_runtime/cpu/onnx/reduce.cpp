// Reductions over axes, ArgMax and ArgMin, CumSum.
#include <cmath>
#include <limits>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

using Reducible = Types<float, double, Half, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t,
                        std::int64_t, std::uint64_t>;

enum class What : std::uint8_t {
  kSum,
  kMean,
  kMax,
  kMin,
  kProd,
  kL1,
  kL2,
  kLogSum,
  kLogSumExp,
  kSumSquare
};

template <class W, What what>
W start() {
  using L = std::numeric_limits<W>;
  if constexpr (what == What::kMax || what == What::kLogSumExp)
    return L::has_infinity ? -L::infinity() : L::lowest();
  if constexpr (what == What::kMin) return L::has_infinity ? L::infinity() : L::max();
  return what == What::kProd ? W{1} : W{0};
}
template <What what, class W>
W step(W sum, W x) {
  switch (what) {
    case What::kMax:
    case What::kLogSumExp:
      return x > sum || x != x ? x : sum;  // first pass of LogSumExp: the largest
    case What::kMin:
      return x < sum || x != x ? x : sum;
    case What::kProd:
      return static_cast<W>(sum * x);
    case What::kL1:
      return static_cast<W>(sum + (x < 0 ? -x : x));
    case What::kL2:
    case What::kSumSquare:
      return static_cast<W>(sum + x * x);
    default:
      return static_cast<W>(sum + x);
  }
}
template <What what, class W>
W finish(W sum, std::int64_t count) {
  if constexpr (what == What::kMean)
    return count ? static_cast<W>(sum / static_cast<W>(count)) : static_cast<W>(std::nan(""));
  if constexpr (what == What::kL2) return static_cast<W>(std::sqrt(static_cast<double>(sum)));
  if constexpr (what == What::kLogSum) return static_cast<W>(std::log(static_cast<double>(sum)));
  return sum;
}

/// Floats of any width are added up in double, so that the order of the axes does not show.
template <What what>
Status reduce(const Call& c) {
  const std::size_t rank = c.rank();
  DEPUTY_ASSIGN(Ints axes, c.axes(1, "axes", rank));
  if (axes.empty()) {
    if (c.node.integer("noop_with_empty_axes", 0)) {
      DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
      if (!c.infer_only() && c.count())
        std::memcpy(c.out<std::uint8_t>(), c.in<std::uint8_t>(),
                    static_cast<std::size_t>(c.count()) * dtype_size(c.dtype()));
      return {};
    }
    for (std::size_t d = 0; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
  }
  const bool keep = c.node.integer("keepdims", 1) != 0;
  std::vector<bool> gone(rank);
  for (const std::int64_t a : axes) gone[static_cast<std::size_t>(a)] = true;
  Shape kept(c.shape()), shape;
  std::int64_t reduced = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    if (gone[d]) reduced *= c.shape()[d], kept[d] = 1;
    if (!gone[d] || keep) shape.push_back(kept[d]);
  }
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  return with_type(c, c.dtype(), Reducible{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    using W =
        std::conditional_t<kReal<T>, double,
                           std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
    if (c.infer_only()) return {};
    const std::array<Ints, 1> to = {broadcast_strides(kept, c.shape())};
    std::vector<W> sums(static_cast<std::size_t>(c.out_count()), start<W, what>());
    const T* x = c.in<T>();
    for_each<1>(c.shape(), to, [&](const auto& at) {
      W& sum = sums[static_cast<std::size_t>(at[0])];
      sum = step<what>(sum, static_cast<W>(*x++));
    });
    if constexpr (what == What::kLogSumExp) {  // second pass: stable, because nothing exceeds 1
      std::vector<double> exps(sums.size(), 0);
      x = c.in<T>();
      for_each<1>(c.shape(), to, [&](const auto& at) {
        const auto k = static_cast<std::size_t>(at[0]);
        const double top = static_cast<double>(sums[k]);
        exps[k] += std::isinf(top) ? 0 : std::exp(static_cast<double>(*x) - top);
        ++x;
      });
      for (std::size_t k = 0; k < sums.size(); ++k)
        if (exps[k] > 0) sums[k] = static_cast<W>(static_cast<double>(sums[k]) + std::log(exps[k]));
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const W value = finish<what>(sums[k], reduced);
      if constexpr (std::is_same_v<T, Half>)
        c.out<T>()[k] = static_cast<float>(value);
      else
        c.out<T>()[k] = static_cast<T>(value);
    }
    return {};
  });
}

template <bool largest>
Status arg(const Call& c) {
  DEPUTY_ASSIGN(const std::int64_t axis, c.axis(c.node.integer("axis", 0), c.rank()));
  const auto a = static_cast<std::size_t>(axis);
  const bool last = c.node.integer("select_last_index", 0) != 0;
  Shape shape = c.shape();
  const std::int64_t n = shape[a], inner = product(c.shape(), a + 1, c.rank());
  if (n == 0) return c.fail("the axis has no elements");
  shape[a] = 1;
  if (!c.node.integer("keepdims", 1)) shape.erase(shape.begin() + axis);
  DEPUTY_TRY(c.declare(0, DType::kInt64, shape));
  return with_type(c, c.dtype(), Numbers{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    for (std::int64_t i = 0; i < c.out_count(); ++i) {
      const T* x = c.in<T>() + i / inner * n * inner + i % inner;
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < n; ++k) {
        const auto v = static_cast<Wide<T>>(x[k * inner]),
                   b = static_cast<Wide<T>>(x[best * inner]);
        if ((largest ? v > b : v < b) || (last && v == b)) best = k;
      }
      c.out<std::int64_t>()[i] = best;
    }
    return {};
  });
}

Status cum_sum(const Call& c) {
  if (c.count(1) != 1) return c.fail("the axis must be one number");
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  std::size_t a = 0;
  if (c.known(1)) {
    DEPUTY_ASSIGN(const Ints values, c.values(1));
    DEPUTY_ASSIGN(const std::int64_t axis, c.axis(values[0], c.rank()));
    a = static_cast<std::size_t>(axis);
  }
  const bool exclusive = c.node.integer("exclusive", 0) != 0,
             reverse = c.node.integer("reverse", 0) != 0;
  return with_type(
      c, c.dtype(),
      Types<float, double, Half, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{},
      [&](auto zero) -> Status {
        using T = decltype(zero);
        if (c.infer_only()) return {};
        using W = std::conditional_t<kReal<T>, Wide<T>, std::uint64_t>;
        const std::int64_t n = c.shape()[a], inner = product(c.shape(), a + 1, c.rank());
        for (std::int64_t line = 0; n && line < c.count() / n; ++line) {
          const std::int64_t at = line / inner * n * inner + line % inner;
          W sum = 0;
          for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t i = at + (reverse ? n - 1 - k : k) * inner;
            const W x = static_cast<W>(static_cast<Wide<T>>(c.in<T>()[i]));
            if (exclusive) c.out<T>()[i] = static_cast<Wide<T>>(sum);
            sum += x;
            if (!exclusive) c.out<T>()[i] = static_cast<Wide<T>>(sum);
          }
        }
        return {};
      });
}

constexpr Kernel kKernels[] = {{"ArgMax", 1, 1, 1, arg<true>},
                               {"ArgMin", 1, 1, 1, arg<false>},
                               {"CumSum", 2, 2, 1, cum_sum},
                               {"ReduceL1", 1, 2, 1, reduce<What::kL1>},
                               {"ReduceL2", 1, 2, 1, reduce<What::kL2>},
                               {"ReduceLogSum", 1, 2, 1, reduce<What::kLogSum>},
                               {"ReduceLogSumExp", 1, 2, 1, reduce<What::kLogSumExp>},
                               {"ReduceMax", 1, 2, 1, reduce<What::kMax>},
                               {"ReduceMean", 1, 2, 1, reduce<What::kMean>},
                               {"ReduceMin", 1, 2, 1, reduce<What::kMin>},
                               {"ReduceProd", 1, 2, 1, reduce<What::kProd>},
                               {"ReduceSum", 1, 2, 1, reduce<What::kSum>},
                               {"ReduceSumSquare", 1, 2, 1, reduce<What::kSumSquare>}};

}  // namespace

std::span<const Kernel> reduce_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
