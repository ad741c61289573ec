// Reading an operator's operands: which tensors carry data, what the constant ones say.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// Elements of a constant int32 or int64 tensor, nullopt for any other.
std::optional<std::vector<std::int64_t>> constant_ints(const Graph& graph, TensorId id);

/// The inputs that carry feature maps (not weights, axes, shapes ...).
std::vector<TensorId> data_inputs(const Op& op);

/// Operators with weights and maybe a bias behind their feature map.
inline bool is_weighted_kind(arch::OpKind kind) {
  return kind == arch::OpKind::CONV_2D || kind == arch::OpKind::DEPTHWISE_CONV_2D ||
         kind == arch::OpKind::FULLY_CONNECTED;
}
/// Along which dimension of a weighted operator's weights its output channels lie.
inline std::size_t output_axis(arch::OpKind kind) {
  return kind == arch::OpKind::DEPTHWISE_CONV_2D ? 3 : 0;
}

/// Whether both are quantised per tensor with equal scale and zero point, or both not at all.
bool same_quantisation(const Tensor& a, const Tensor& b);

/// Whether a feature map's bytes are unsigned.
inline bool is_u8(const Tensor& t) { return t.desc.dtype == DType::kUint8; }
/// The quantisation that the NPU's datapath sees: an unsigned byte b counts as b - 128, so zero
/// points move with it.
Quantisation signed_quantisation(const Tensor& t);
/// The same numbers in bytes of the other signedness; a constant's data follow.
Tensor other_signedness(Tensor t);
/// Constant 8-bit data as the datapath's signed bytes.
std::vector<std::uint8_t> signed_bytes(const Tensor& t);

/// The one-input operator as a table of the datapath's signed values, indexed by input + 128;
/// nullopt when it has none (arch/activation_table.h).
std::optional<std::array<std::int8_t, 256>> signed_table(const Graph& graph, const Op& op,
                                                         Numerics mode);

inline std::int64_t dim(const Tensor& t, std::size_t i) { return t.desc.shape[i]; }
inline std::size_t rank(const Tensor& t) { return t.desc.shape.size(); }
/// -rank..rank-1 to 0..rank-1; nullopt outside.
std::optional<std::size_t> resolve_axis(std::int64_t axis, std::size_t rank);

/// Bytes from one index to the next along each dimension of a dense tensor of one-byte elements.
std::vector<std::int64_t> byte_strides(const Shape& shape);

}  // namespace deputy::delegate
