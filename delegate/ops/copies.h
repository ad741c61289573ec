// Operators that only move bytes (CONCATENATION, SLICE, SPLIT, TRANSPOSE ...) as strided copies
// between tensors of one-byte elements.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// One loop of a copy, outermost first.
struct CopyDim {
  std::int64_t size = 1;
  std::int64_t from = 0, to = 0;  ///< bytes from one index to the next
};
struct Copy {
  TensorId from = kNoTensor, to = kNoTensor;
  std::int64_t from_offset = 0, to_offset = 0;  ///< bytes
  std::vector<CopyDim> dims;
};

/// Whether operators of this kind compute nothing but put bytes somewhere else: those copies()
/// takes.
bool moves_only(arch::OpKind kind);

/// The same loops without dimensions of size 1 and without one that continues the next; the last
/// one contiguous on both sides.
std::vector<CopyDim> simplified(const std::vector<CopyDim>& dims);

/// SLICE and STRIDED_SLICE: what they take along each dimension of the input. nullopt for any other
/// operator, or when it is not constant or leaves the input.
struct SliceBox {
  std::vector<std::int64_t> begin, step, size;
};
std::optional<SliceBox> slice_box(const Graph& graph, const Op& op);

/// SPLIT and SPLIT_V: the tensor that is cut, and the dimension along which. nullopt when that is
/// not constant or there is no such dimension.
struct SplitOperands {
  TensorId value = kNoTensor;
  std::size_t axis = 0;
};
std::optional<SplitOperands> split_operands(const Graph& graph, const Op& op);

/// The copies that compute `op`, simplified (no dimension of size 1, none that continues the next,
/// the last one contiguous on both sides), or nullopt when it is no such operator, its operands are
/// not constant, or they make no sense. Every tensor's elements must be one byte.
std::optional<std::vector<Copy>> copies(const Graph& graph, const Op& op);

/// A copy of short runs in which one dimension is contiguous in the source and another in the sink
/// (a matrix transposed): both sides move long rows, and the scratchpad exchanges the two.
struct Exchange {
  std::vector<CopyDim> outer;
  CopyDim source;  ///< its runs follow each other in the source
  CopyDim sink;    ///< its runs follow each other in the sink
  std::int64_t run = 1;
  std::int64_t source_tile = 1, sink_tile = 1;  ///< how many of each fit together
  /// Bytes that one side moves at once, the shorter.
  std::int64_t shortest_row() const;
  std::int64_t tiles() const;
};
/// `copy` as an exchange through two pairs of buffers in a scratchpad of `spm` bytes; nullopt when
/// it is none or moves long runs as it is.
std::optional<Exchange> exchange(const Copy& copy, std::int64_t spm);

/// PAD and PADV2: bytes before each dimension's data and the byte that fills them. nullopt if not
/// constant.
struct Padding4 {
  std::int64_t out[4] = {1, 1, 1, 1}, in[4] = {1, 1, 1, 1}, before[4] = {0, 0, 0, 0};
  std::int8_t value = 0;
};
std::optional<Padding4> pad_box(const Graph& graph, const Op& op);

}  // namespace deputy::delegate
