// FULLY_CONNECTED: the last dimension (or the flattened input) against each weight row. int8/uint8:
// exact int32 sums; int16 activations: 64-bit sums. float32: sums in input order, bias last.
#include <fmt/format.h>

#include "host_runtime/cpu/gemm.h"
#include "host_runtime/cpu/requant_channels.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

base::Status check(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 3, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), {DType::kInt8, DType::kUint8, DType::kInt16, DType::kFloat32}));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(expect(c, c.x(1).shape.size() == 2, "weights must have rank 2"));
  DEPUTY_TRY(expect_quantised(c, c.x()));
  DEPUTY_TRY(expect_quantised(c, c.y()));
  DEPUTY_TRY(expect_weights(c, 1, 2, 0));
  const std::int64_t rows = c.x(1).shape[0], depth = c.x(1).shape[1];
  DEPUTY_TRY(expect(c, rows > 0 && depth > 0, "weights must not be empty"));
  if (c.x().elements() % depth != 0)
    return op_error(c, fmt::format("input of {} elements does not split into rows of {}",
                                   c.x().elements(), depth));
  const std::int64_t batches = c.x().elements() / depth;
  DEPUTY_TRY(expect(c, !c.y().shape.empty() && c.y().shape.back() == rows,
                    "the output's last dimension must be the number of weight rows"));
  return expect(c, c.y().elements() == batches * rows,
                "output size differs from input rows x weight rows");
}

template <class T>
void run_quantised(const OpCall& c, std::int64_t batches, std::int64_t rows, std::int64_t depth,
                   Numerics mode) {
  const ChannelRequant requant(c.x(), c.x(1), c.y(), rows, c.attrs.activation,
                               ProductRule::kFullyConnected, mode);
  const auto x = widened(c.inputs[0], zero_point_of(c.x()));
  const auto w = widened_weights(c.inputs[1], depth, rows);
  std::vector<std::int32_t> acc(static_cast<std::size_t>(batches * rows));
  gemm_i16(x.data(), batches, w.data(), rows, depth, acc.data());
  const std::int32_t* bias = c.has(2) ? c.in<std::int32_t>(2) : nullptr;
  for (std::int64_t b = 0; b < batches; ++b)
    requant.row(acc.data() + b * rows, bias, rows, c.out<T>() + b * rows);
}

void run_int16(const OpCall& c, std::int64_t batches, std::int64_t rows, std::int64_t depth,
               Numerics mode) {
  const ChannelRequant requant(c.x(), c.x(1), c.y(), rows, c.attrs.activation,
                               ProductRule::kFullyConnected, builtin_rule(mode));
  const std::int32_t zx = zero_point_of(c.x());
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < depth; ++k)
        sum += std::int64_t{c.in<std::int16_t>()[b * depth + k] - zx} *
               c.in<std::int8_t>(1)[r * depth + k];
      std::int16_t& out = c.out<std::int16_t>()[b * rows + r];
      if (c.has(2) && c.x(2).dtype == DType::kInt32)
        out = static_cast<std::int16_t>(
            requant.one(static_cast<std::int32_t>(sum + c.in<std::int32_t>(2)[r]), r));
      else
        out = requant.wide(arch::add_wrapping(sum, c.has(2) ? c.in<std::int64_t>(2)[r] : 0), r);
    }
}

void run_float(const OpCall& c, std::int64_t batches, std::int64_t rows, std::int64_t depth) {
  const FloatRange range = float_activation_range(c.attrs.activation);
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t r = 0; r < rows; ++r) {
      float sum = 0;
      for (std::int64_t k = 0; k < depth; ++k)
        sum += c.in<float>()[b * depth + k] * c.in<float>(1)[r * depth + k];
      c.out<float>()[b * rows + r] =
          clamp_float(sum + (c.has(2) ? c.in<float>(2)[r] : 0.0f), range);
    }
}

base::Status run(const OpCall& c, Numerics mode) {
  const std::int64_t rows = c.x(1).shape[0], depth = c.x(1).shape[1],
                     batches = c.x().elements() / depth;
  switch (c.x().dtype) {
    case DType::kInt8:
      run_quantised<std::int8_t>(c, batches, rows, depth, mode);
      break;
    case DType::kUint8:
      run_quantised<std::uint8_t>(c, batches, rows, depth, mode);
      break;
    case DType::kInt16:
      run_int16(c, batches, rows, depth, mode);
      break;
    default:
      run_float(c, batches, rows, depth);
  }
  return {};
}

constexpr HostOp kOps[] = {{OpKind::FULLY_CONNECTED, check, run}};
}  // namespace

std::span<const HostOp> fully_connected_ops() { return kOps; }

}  // namespace deputy::host_runtime
