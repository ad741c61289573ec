// Which buffer every tensor lies in, and how: aliases share their source's, parts lie strided
// inside a whole (CONCATENATION, SPLIT), an operator's result may overwrite its operand, a tensor
// between the stripes of a cascade keeps a ring of rows, a fused tensor has no storage at all. The
// memory plan places the buffers; everything after it reads the tensors through their views.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "delegate/fusion/kernel.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// A tensor that lies inside another: its index i runs along dimension axis[i] of the whole, from
/// begin[axis[i]], step[i] at a time; dimensions of the whole that no index runs along stay at
/// their begin.
struct Part {
  TensorId tensor = kNoTensor, whole = kNoTensor;
  std::vector<std::int64_t> begin;  ///< one a dimension of the whole
  std::vector<std::size_t> axis;    ///< one a dimension of the part
  std::vector<std::int64_t> step;   ///< one a dimension of the part
};
/// A part of the same rank that begins at `begin` along `axis` and is whole along the others.
Part slice_part(const Graph& graph, TensorId tensor, TensorId whole, std::size_t axis,
                std::int64_t begin);

/// What the passes before decided about storage. A tensor is the output of at most one alias and
/// the part of at most one whole. A whole may itself be a part or an alias; so may a part's
/// aliases.
struct StorageWishes {
  /// Each tensor whose bytes are those of another: (output, source), in execution order.
  std::vector<std::pair<TensorId, TensorId>> aliases;
  std::vector<Part> parts;
  /// (output, operand): the output is written over the operand, dense and of as many bytes.
  std::vector<std::pair<TensorId, TensorId>> in_place;
  std::vector<TensorId> unstored;          ///< tensors that live inside a kernel
  std::map<TensorId, std::int64_t> rings;  ///< rows of dimension 1 that a rank-4 tensor keeps
};

/// Where one tensor lies, relative to a buffer.
struct Storage {
  TensorId root = kNoTensor;          ///< the tensor whose buffer it is
  std::int64_t offset = 0;            ///< bytes from the buffer's start
  std::vector<std::int64_t> strides;  ///< bytes, one a dimension
  std::int64_t ring = 0;              ///< as in TensorView
  bool stored = true;
};
struct StorageMap {
  std::vector<Storage> tensors;      ///< by tensor; constants are their own roots
  std::vector<std::uint64_t> bytes;  ///< by root: the size of its buffer
  const Storage& of(TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
  TensorId root(TensorId id) const { return of(id).root; }
};

/// CHECKs that the wishes can be met: no cycles, parts inside their wholes, aliases of strided
/// parts that have strides in their own shape.
StorageMap plan_storage(const Graph& graph, const StorageWishes& wishes);

/// Whether the tensor is dense, no constant, and all there is in its buffer (aliases of it apart).
bool fills_buffer(const Graph& graph, const StorageMap& storage, TensorId id);

/// Tensors that only operators of their own kernel touch and that the kernel does not write.
std::vector<TensorId> unstored_tensors(const Graph& graph, const std::vector<Kernel>& kernels);

/// The strides of a strided tensor seen in another shape of as many elements, or nullopt when no
/// strides can express it.
std::optional<std::vector<std::int64_t>> reshaped_strides(const Shape& from,
                                                          const std::vector<std::int64_t>& strides,
                                                          const Shape& to);

}  // namespace deputy::delegate
