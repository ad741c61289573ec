// The system DMA engine's descriptor: a 1-D to 3-D strided copy between two bus addresses, chained.
// Descriptors lie in memory as packed little-endian words (bitpack.h), kDmaDescriptorWords each.
#pragma once

#include <cstdint>

#include "arch/bitpack.h"
#include "base/fields.h"

namespace deputy::arch {

struct DmaDescriptor {
  std::uint64_t src = 0, dst = 0, next = 0;
  std::uint32_t row_bytes = 1, rows = 1, planes = 1;
  std::uint32_t src_row_stride = 0, src_plane_stride = 0, dst_row_stride = 0, dst_plane_stride = 0;
  std::uint64_t bytes() const { return std::uint64_t{row_bytes} * rows * planes; }
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.src, Field{.name = "src", .doc = "first byte to read", .unit = "bytes", .bits = 48});
    v(s.dst, Field{.name = "dst", .doc = "first byte to write", .unit = "bytes", .bits = 48});
    v(s.next, Field{.name = "next",
                    .doc = "address of the next descriptor, 0 at the end",
                    .unit = "bytes",
                    .bits = 48});
    v(s.row_bytes, Field{.name = "row_bytes",
                         .doc = "contiguous bytes of a row",
                         .unit = "bytes",
                         .bits = 32,
                         .min = 1});
    v(s.rows, Field{.name = "rows", .doc = "rows of a plane", .bits = 16, .min = 1});
    v(s.planes, Field{.name = "planes", .doc = "planes", .bits = 16, .min = 1});
    v(s.src_row_stride, Field{.name = "src_row_stride",
                              .doc = "source bytes from row to row",
                              .unit = "bytes",
                              .bits = 32});
    v(s.src_plane_stride, Field{.name = "src_plane_stride",
                                .doc = "source bytes from plane to plane",
                                .unit = "bytes",
                                .bits = 32});
    v(s.dst_row_stride, Field{.name = "dst_row_stride",
                              .doc = "destination bytes from row to row",
                              .unit = "bytes",
                              .bits = 32});
    v(s.dst_plane_stride, Field{.name = "dst_plane_stride",
                                .doc = "destination bytes from plane to plane",
                                .unit = "bytes",
                                .bits = 32});
  }
};

}  // namespace deputy::arch
