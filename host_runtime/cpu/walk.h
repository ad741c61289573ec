// Copying a strided region of one tensor to a whole other one, or the reverse.
#pragma once

#include <cstdint>
#include <vector>

#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {

/// Offsets in elements: element (i0, i1, ...) of the walked index space sits at start + sum(i *
/// step).
struct Walk {
  std::vector<std::int64_t> step;  ///< one per dimension
  std::int64_t start = 0;
};

/// Calls f(walk offset, dense offset) for every index of `shape`, last dimension fastest.
template <class F>
void for_each_step(const Shape& shape, const Walk& w, F&& f) {
  const std::int64_t total = element_count(shape);
  std::vector<std::int32_t> index(shape.size(), 0);
  std::int64_t at = w.start;
  for (std::int64_t o = 0; o < total; ++o) {
    f(at, o);
    for (std::size_t d = shape.size(); d-- > 0;) {
      at += w.step[d];
      if (++index[d] < shape[d]) break;
      at -= w.step[d] * shape[d];
      index[d] = 0;
    }
  }
}

/// dst[dense] = src[walk] over `shape`, elements of `size` bytes (1, 2, 4 or 8).
void gather_walk(const std::uint8_t* src, std::uint8_t* dst, std::size_t size, const Shape& shape,
                 const Walk& w);
/// dst[walk] = src[dense].
void scatter_walk(const std::uint8_t* src, std::uint8_t* dst, std::size_t size, const Shape& shape,
                  const Walk& w);

}  // namespace deputy::host_runtime
