// Where tensors lie in system memory. Most are dense; a part of a concatenated tensor has the
// strides of the whole, and a tensor between two layers of a cascade keeps only its last rows in a
// ring.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/memory_map.h"
#include "arch/ops.h"

namespace deputy::delegate {

/// Where a tensor starts in system memory.
struct MemoryRef {
  arch::Region region = arch::Region::kConstants;
  std::uint64_t offset = 0;
};
inline MemoryRef shifted(MemoryRef ref, std::int64_t bytes) {
  ref.offset += static_cast<std::uint64_t>(bytes);
  return ref;
}

/// A tensor in memory: index (i0, i1, ...) lies at `at` + sum of i * stride.
struct TensorView {
  MemoryRef at;
  std::vector<std::int64_t> strides;  ///< bytes from one index to the next, one a dimension
  std::int64_t ring =
      0;  ///< rank 4 only: rows of dimension 1 that are kept, row y at y % ring; 0: all
  bool stored = false;  ///< false: no storage, the tensor lives inside a kernel
};
/// The dense view of a tensor of one-byte or wider elements.
TensorView dense_view(const arch::TensorDesc& desc, MemoryRef at);
bool is_dense(const TensorView& view, const arch::TensorDesc& desc);

/// A feature map [n, h, w, c] of one-byte elements; channels are contiguous.
struct MapView {
  MemoryRef at;
  std::int64_t image = 0, row = 0, pixel = 1;  ///< bytes from one to the next
  std::int64_t ring = 0;                       ///< as in TensorView
};
/// The view of a dense or rank-4 tensor seen as [n, h, w, c]; CHECKs that it can be seen so.
MapView map_view(const TensorView& view, const arch::TensorDesc& desc, std::int64_t h,
                 std::int64_t w, std::int64_t c);

}  // namespace deputy::delegate
