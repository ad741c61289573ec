// Strided copies (walk.h).
#include "host_runtime/cpu/walk.h"

#include <cstring>

namespace deputy::host_runtime {
namespace {
/// Length in elements of the contiguous run that ends each index, and how many dimensions it
/// covers.
std::pair<std::int64_t, std::size_t> contiguous_tail(const Shape& shape, const Walk& w) {
  std::int64_t run = 1;
  std::size_t dims = 0;
  for (std::size_t d = shape.size(); d-- > 0 && w.step[d] == run; ++dims) run *= shape[d];
  return {run, dims};
}

/// Calls copy(walk byte offset, dense byte offset, bytes) over contiguous runs, or element by
/// element.
template <class Run, class Element>
void for_each_run(std::size_t size, const Shape& shape, const Walk& w, Run&& run,
                  Element&& element) {
  const auto [length, dims] = contiguous_tail(shape, w);
  if (dims == 0 || length < 4) return element();
  const Shape outer(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(dims));
  for_each_step(outer, w, [&](std::int64_t at, std::int64_t o) {
    run(static_cast<std::size_t>(at) * size, static_cast<std::size_t>(o * length) * size,
        static_cast<std::size_t>(length) * size);
  });
}
}  // namespace

void gather_walk(const std::uint8_t* src, std::uint8_t* dst, std::size_t size, const Shape& shape,
                 const Walk& w) {
  if (element_count(shape) == 0) return;
  for_each_run(
      size, shape, w,
      [&](std::size_t at, std::size_t o, std::size_t bytes) {
        std::memcpy(dst + o, src + at, bytes);
      },
      [&] {
        with_element_size(size, [&](auto zero) {
          using T = decltype(zero);
          for_each_step(shape, w, [&](std::int64_t at, std::int64_t o) {
            reinterpret_cast<T*>(dst)[o] = reinterpret_cast<const T*>(src)[at];
          });
        });
      });
}

void scatter_walk(const std::uint8_t* src, std::uint8_t* dst, std::size_t size, const Shape& shape,
                  const Walk& w) {
  if (element_count(shape) == 0) return;
  for_each_run(
      size, shape, w,
      [&](std::size_t at, std::size_t o, std::size_t bytes) {
        std::memcpy(dst + at, src + o, bytes);
      },
      [&] {
        with_element_size(size, [&](auto zero) {
          using T = decltype(zero);
          for_each_step(shape, w, [&](std::int64_t at, std::int64_t o) {
            reinterpret_cast<T*>(dst)[at] = reinterpret_cast<const T*>(src)[o];
          });
        });
      });
}

}  // namespace deputy::host_runtime
