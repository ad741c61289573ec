// MEAN, SUM, REDUCE_MAX, REDUCE_MIN over a list of axes; ARG_MAX, ARG_MIN over one.
#include <algorithm>
#include <cmath>

#include "arch/kernel_rules.h"
#include "host_runtime/cpu/broadcast.h"
#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

/// Which dimensions go, and how many elements make one output.
struct Reduction {
  std::vector<bool> reduced;
  Shape kept;  ///< the input's shape with 1 where reduced
  std::int64_t count = 1;
};

base::Result<Reduction> plan(const OpCall& c, const IndexList& axes) {
  const Shape& shape = c.x().shape;
  Reduction r;
  r.reduced.assign(shape.size(), false);
  for (auto axis : axes.values) {
    DEPUTY_ASSIGN(const std::size_t a, resolve_axis(c, axis, shape.size()));
    r.reduced[a] = true;
  }
  Shape dropped;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    r.kept.push_back(r.reduced[i] ? 1 : shape[i]);
    if (r.reduced[i])
      r.count *= shape[i];
    else
      dropped.push_back(shape[i]);
  }
  DEPUTY_TRY(expect_shape(c, c.y(), c.attrs.keep_dims ? r.kept : dropped));
  return r;
}

base::Status check_reduce(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 2, 1));
  DEPUTY_TRY(expect_index_operand(c, 1));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(expect_quantised(c, c.x()));
  DEPUTY_TRY(expect_quantised(c, c.y()));
  const IndexList axes = read_indices(c.inputs[1]);
  if (!axes.known)
    return expect(c, c.y().shape.size() <= c.x().shape.size(),
                  "the output has more dimensions than the input");
  DEPUTY_TRY(plan(c, axes));
  return {};
}
base::Status check_sum(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 2, 1));
  DEPUTY_TRY(expect_dtype(
      c, c.x(), {DType::kInt8, DType::kUint8, DType::kInt16, DType::kInt32, DType::kFloat32}));
  return check_reduce(c);
}
base::Status check_max(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 2, 1));
  DEPUTY_TRY(expect_dtype(
      c, c.x(), {DType::kInt8, DType::kUint8, DType::kInt16, DType::kInt32, DType::kFloat32}));
  DEPUTY_TRY(check_reduce(c));
  return expect(c, same_quantisation(c.x(), c.y()),
                "input and output must have equal quantisation");
}

/// merge(acc of the output element, input value) in input order.
template <class T, class Sum, class Merge>
std::vector<Sum> reduce(const OpCall& c, const Reduction& r, Sum start, Merge&& merge) {
  std::vector<Sum> acc(static_cast<std::size_t>(c.y().elements()), start);
  for_each_broadcast(c.x().shape, r.kept, c.x().shape,
                     [&](std::int64_t i, std::int64_t o, std::int64_t) {
                       merge(acc[static_cast<std::size_t>(o)], c.in<T>()[i]);
                     });
  return acc;
}

template <class T>
T saturated(double v) {
  return static_cast<T>(
      std::clamp(v, static_cast<double>(kLowest<T>), static_cast<double>(kHighest<T>)));
}

/// One output of MEAN from its raw sum, by the rule that applies.
template <class T>
T mean_of(const OpCall& c, std::int64_t sum, std::int32_t n, arch::MeanRule rule,
          const arch::Requant& requant, Numerics mode) {
  const std::int64_t zx = zero_point_of(c.x()), zy = zero_point_of(c.y());
  const float scale = scale_of(c.x()) / scale_of(c.y());
  switch (rule) {
    case arch::MeanRule::kMeanRequant: {
      const std::int64_t v =
          arch::requantize(static_cast<std::int32_t>(sum - zx * n), requant, mode);
      return static_cast<T>(arch::clamp_i32(v + zy, kLowest<T>, kHighest<T>));
    }
    case arch::MeanRule::kSplitBias: {
      const float shifted = static_cast<float>(zx) * scale_of(c.x()) / scale_of(c.y());
      const auto bias =
          zy - static_cast<std::int64_t>(shifted > 0 ? shifted + 0.5f : shifted - 0.5f);
      const std::int64_t v = arch::requantize_double(static_cast<std::int32_t>(sum), requant);
      return static_cast<T>(arch::clamp_i32(v + bias, kLowest<T>, kHighest<T>));
    }
    case arch::MeanRule::kTruncated:
      return static_cast<T>(sum / n);
    case arch::MeanRule::kFloat:
      break;
  }
  const float mean = static_cast<float>(sum) / static_cast<float>(n);
  return saturated<T>(std::round(mean * scale + static_cast<float>(-zx) * scale) +
                      static_cast<float>(zy));
}

template <class T>
void mean_quantised(const OpCall& c, const Reduction& r, const IndexList& axes, Numerics mode) {
  if (r.count == 0) {
    std::fill_n(c.out<T>(), c.y().elements(), static_cast<T>(zero_point_of(c.y())));
    return;
  }
  if (c.x().dtype == DType::kInt16) mode = builtin_rule(mode);
  const auto rule = arch::mean_rule(c.x().shape.size(), axes.values, c.attrs.keep_dims,
                                    same_quantisation(c.x(), c.y()), mode);
  const auto n = static_cast<std::int32_t>(r.count);
  const float s_x = scale_of(c.x()), s_y = scale_of(c.y());
  const arch::Requant requant =
      rule == arch::MeanRule::kSplitBias
          ? arch::quantize_multiplier(static_cast<double>(s_x / (static_cast<float>(n) * s_y)))
          : arch::mean_requant(s_x, s_y, n, mode);
  const auto sums = reduce<T, std::int64_t>(c, r, 0, [](std::int64_t& a, T v) { a += v; });
  for (std::size_t i = 0; i < sums.size(); ++i)
    c.out<T>()[i] = mean_of<T>(c, sums[i], n, rule, requant, mode);
}

/// SUM: one multiplier on the centred sum; in `fp32` TFLite's builtin kernel, which works in
/// float32.
template <class T>
void sum_quantised(const OpCall& c, const Reduction& r, Numerics mode) {
  const auto sums = reduce<T, std::int64_t>(c, r, 0, [](std::int64_t& a, T v) { a += v; });
  const float scale = scale_of(c.x()) / scale_of(c.y());
  const std::int64_t zx = zero_point_of(c.x()), zy = zero_point_of(c.y());
  const arch::Requant requant = arch::quantize_multiplier(static_cast<double>(scale_of(c.x())) /
                                                          static_cast<double>(scale_of(c.y())));
  const float bias = static_cast<float>(-zx) * scale * static_cast<float>(r.count);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (mode == Numerics::kFp32) {
      c.out<T>()[i] = saturated<T>(std::round(static_cast<float>(sums[i]) * scale + bias) +
                                   static_cast<float>(zy));
      continue;
    }
    const std::int64_t v =
        arch::requantize(static_cast<std::int32_t>(sums[i] - zx * r.count), requant, mode);
    c.out<T>()[i] = static_cast<T>(arch::clamp_i32(v + zy, kLowest<T>, kHighest<T>));
  }
}

base::Status run_mean_sum(const OpCall& c, Numerics mode) {
  const IndexList axes = read_indices(c.inputs[1]);
  DEPUTY_ASSIGN(const Reduction r, plan(c, axes));
  const bool mean = c.kind == OpKind::MEAN;
  if (c.x().dtype == DType::kFloat32) {
    const auto sums = reduce<float, float>(c, r, 0.0f, [](float& a, float v) { a += v; });
    for (std::size_t i = 0; i < sums.size(); ++i)
      c.out<float>()[i] = mean ? sums[i] / static_cast<float>(r.count) : sums[i];
  } else if (c.x().dtype == DType::kInt32) {
    const auto sums = reduce<std::int32_t, std::int64_t>(
        c, r, 0, [](std::int64_t& a, std::int32_t v) { a += v; });
    for (std::size_t i = 0; i < sums.size(); ++i)
      c.out<std::int32_t>()[i] =
          static_cast<std::int32_t>(mean ? (r.count == 0 ? 0 : sums[i] / r.count) : sums[i]);
  } else {
    with_quantised_type(c.x().dtype, [&](auto zero) {
      using T = decltype(zero);
      mean ? mean_quantised<T>(c, r, axes, mode) : sum_quantised<T>(c, r, mode);
    });
  }
  return {};
}

template <class T>
void extreme(const OpCall& c, const Reduction& r, bool maximum) {
  const T start = maximum ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  const auto best =
      reduce<T, T>(c, r, start, [=](T& a, T v) { a = maximum ? std::max(a, v) : std::min(a, v); });
  std::copy(best.begin(), best.end(), c.out<T>());
}

base::Status run_extreme(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const Reduction r, plan(c, read_indices(c.inputs[1])));
  const bool maximum = c.kind == OpKind::REDUCE_MAX;
  switch (c.x().dtype) {
    case DType::kFloat32:
      extreme<float>(c, r, maximum);
      break;
    case DType::kInt32:
      extreme<std::int32_t>(c, r, maximum);
      break;
    default:
      with_quantised_type(c.x().dtype, [&](auto zero) { extreme<decltype(zero)>(c, r, maximum); });
  }
  return {};
}

base::Result<std::size_t> arg_axis(const OpCall& c, const IndexList& axes) {
  if (axes.values.size() != 1) return op_error(c, "expected exactly one axis");
  DEPUTY_ASSIGN(const std::size_t axis, resolve_axis(c, axes.values[0], c.x().shape.size()));
  Shape shape = c.x().shape;
  DEPUTY_TRY(expect(c, shape[axis] > 0, "the reduced dimension is empty"));
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  DEPUTY_TRY(expect_shape(c, c.y(), shape));
  return axis;
}

base::Status check_arg(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 2, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), {DType::kInt8, DType::kUint8, DType::kInt32, DType::kFloat32}));
  DEPUTY_TRY(expect_dtype(c, c.y(), {DType::kInt32, DType::kInt64}));
  DEPUTY_TRY(expect_index_operand(c, 1));
  const IndexList axes = read_indices(c.inputs[1]);
  if (!axes.known) return expect(c, !c.x().shape.empty(), "the input must have at least rank 1");
  DEPUTY_TRY(arg_axis(c, axes));
  return {};
}

template <class T>
void arg_extreme(const OpCall& c, std::size_t axis) {
  const Shape& shape = c.x().shape;
  const std::int64_t outer = span_count(shape, 0, axis), size = shape[axis];
  const std::int64_t inner = span_count(shape, axis + 1, shape.size());
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      const T* in = c.in<T>() + o * size * inner + i;
      std::int64_t best = 0;  // strict comparison: the first of equals wins
      for (std::int64_t k = 1; k < size; ++k) {
        const T v = in[k * inner], b = in[best * inner];
        if (c.kind == OpKind::ARG_MAX ? v > b : v < b) best = k;
      }
      if (c.y().dtype == DType::kInt32)
        c.out<std::int32_t>()[o * inner + i] = static_cast<std::int32_t>(best);
      else
        c.out<std::int64_t>()[o * inner + i] = best;
    }
}

base::Status run_arg(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const std::size_t axis, arg_axis(c, read_indices(c.inputs[1])));
  switch (c.x().dtype) {
    case DType::kFloat32:
      arg_extreme<float>(c, axis);
      break;
    case DType::kInt32:
      arg_extreme<std::int32_t>(c, axis);
      break;
    case DType::kUint8:
      arg_extreme<std::uint8_t>(c, axis);
      break;
    default:
      arg_extreme<std::int8_t>(c, axis);
  }
  return {};
}

constexpr HostOp kOps[] = {
    {OpKind::MEAN, check_sum, run_mean_sum},      {OpKind::SUM, check_sum, run_mean_sum},
    {OpKind::REDUCE_MAX, check_max, run_extreme}, {OpKind::REDUCE_MIN, check_max, run_extreme},
    {OpKind::ARG_MAX, check_arg, run_arg},        {OpKind::ARG_MIN, check_arg, run_arg},
};
}  // namespace

std::span<const HostOp> reduce_ops() { return kOps; }

}  // namespace deputy::host_runtime
