// Dispatch of the CPU's kernels through one table, and the checks that every operator needs.
#include "host_runtime/cpu/kernels.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/check.h"
#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;
using arch::TensorDesc;
using arch::TensorView;

constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

const HostOp* find_op(OpKind kind) {
  static const std::vector<const HostOp*> table = [] {
    std::vector<const HostOp*> rows;
    for (auto family : {conv_ops(), fully_connected_ops(), transpose_conv_ops(), pool_ops(),
                        elementwise_ops(), activation_ops(), softmax_ops(), normalisation_ops(),
                        reduce_ops(), shape_ops(), slice_ops(), pad_ops(), space_ops(),
                        resize_ops(), quantize_ops(), gather_pack_ops(), matmul_ops(), onnx_ops()})
      for (const HostOp& op : family) {
        const auto index = static_cast<std::size_t>(op.kind);
        if (rows.size() <= index) rows.resize(index + 1, nullptr);
        DEPUTY_CHECK(rows[index] == nullptr, "two CPU kernels for one operator");
        rows[index] = &op;
      }
    return rows;
  }();
  const auto index = static_cast<std::size_t>(kind);
  return index < table.size() ? table[index] : nullptr;
}

/// Sane in itself: a countable shape, a quantisation that arithmetic can use.
base::Status check_tensor(const OpCall& c, const TensorDesc& t) {
  if (t.shape.size() > kMaxRank)
    return op_error(c, fmt::format("tensor '{}' has rank {}, at most {} is supported", t.name,
                                   t.shape.size(), kMaxRank));
  std::int64_t count = 1;
  for (auto dim : t.shape) {
    if (dim < 0) return op_error(c, fmt::format("tensor '{}' has a negative dimension", t.name));
    count *= dim;
    if (count >= kMaxElements) return op_error(c, fmt::format("tensor '{}' is too large", t.name));
  }
  const auto& q = t.quant;
  if (q.scale.size() != q.zero_point.size())
    return op_error(c, fmt::format("tensor '{}' has {} scales but {} zero points", t.name,
                                   q.scale.size(), q.zero_point.size()));
  if (!is_quantised_type(t.dtype)) return {};
  const std::int32_t lo = t.dtype == DType::kUint8 ? 0 : t.dtype == DType::kInt8 ? -128 : -32768;
  const std::int32_t hi = t.dtype == DType::kUint8 ? 255 : t.dtype == DType::kInt8 ? 127 : 32767;
  for (std::size_t i = 0; i < q.scale.size(); ++i) {
    if (!std::isfinite(q.scale[i]) || q.scale[i] < 0)
      return op_error(c, fmt::format("tensor '{}' has scale {}", t.name, q.scale[i]));
    if (q.zero_point[i] < lo || q.zero_point[i] > hi)
      return op_error(c, fmt::format("tensor '{}' has zero point {}, outside its type", t.name,
                                     q.zero_point[i]));
  }
  // A channel may be all zero, with scale zero; a whole activation may not.
  if (q.scale.size() == 1 && q.scale[0] == 0)
    return op_error(c, fmt::format("tensor '{}' has scale 0", t.name));
  return {};
}
}  // namespace

base::Status check_host_op(OpKind kind, const arch::OpAttrs& attrs,
                           std::span<const TensorView> inputs,
                           std::span<const TensorView> outputs) {
  const OpCall c{kind, attrs, inputs, outputs};
  const HostOp* op = find_op(kind);
  if (op == nullptr) return op_error(c, "the operator has no CPU kernel");
  if (attrs.activation > static_cast<std::uint8_t>(arch::Activation::kRelu6))
    return op_error(c, fmt::format("unknown fused activation {}", attrs.activation));
  for (const auto& views : {inputs, outputs})
    for (const auto& view : views)
      if (view) DEPUTY_TRY(check_tensor(c, *view.desc));
  return op->check(c);
}

base::Status run_host_op(OpKind kind, const arch::OpAttrs& attrs,
                         std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                         Numerics mode) {
  const OpCall c{kind, attrs, inputs, outputs};
  const HostOp* op = find_op(kind);
  DEPUTY_CHECK(op != nullptr, "run_host_op of an operator that check_host_op refuses");
  return op->run(c, mode);
}

}  // namespace deputy::host_runtime
