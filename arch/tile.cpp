#include "arch/tile.h"

#include <initializer_list>

namespace deputy::arch {
namespace {

// Whether [a, a+na) and [b, b+nb), repeated every `period` bytes, never meet.
bool apart_modulo(std::uint64_t a, std::uint64_t na, std::uint64_t b, std::uint64_t nb,
                  std::uint64_t period) {
  if (na + nb > period) return false;
  const std::uint64_t distance = (b % period + period - a % period) % period;  // from a up to b
  return distance >= na && distance + nb <= period;
}

// The pitch a tile's pixels keep over the whole tile, when they keep one.
bool keeps_pitch(const Tile& t, std::uint64_t pitch) {
  return (t.w == 1 || t.px_stride % pitch == 0) && (t.h == 1 || t.row_stride % pitch == 0);
}

std::uint64_t row_bytes(const Tile& t) { return (t.w - 1) * t.px_stride + t.c; }

}  // namespace

bool writes_once(const Tile& t) {
  const bool pixels_apart = t.w == 1 || t.px_stride >= t.c;
  const bool rows_apart = t.h == 1 || t.row_stride >= t.c;
  const bool row_major = t.h == 1 || t.row_stride >= row_bytes(t);
  const bool column_major = t.w == 1 || t.px_stride >= (t.h - 1) * t.row_stride + t.c;
  return pixels_apart && rows_apart && (row_major || column_major);
}

bool may_overlap(const Tile& a, const Tile& b) {
  if (a.end() <= b.addr || b.end() <= a.addr) return false;
  for (const std::uint64_t pitch : {a.px_stride, b.px_stride})  // slices of channels
    if (pitch != 0 && keeps_pitch(a, pitch) && keeps_pitch(b, pitch) &&
        apart_modulo(a.addr, a.c, b.addr, b.c, pitch))
      return false;
  for (const std::uint64_t pitch : {a.row_stride, b.row_stride})  // slices of columns
    if (pitch != 0 && (a.h == 1 || a.row_stride % pitch == 0) &&
        (b.h == 1 || b.row_stride % pitch == 0) &&
        apart_modulo(a.addr, row_bytes(a), b.addr, row_bytes(b), pitch))
      return false;
  return true;
}

}  // namespace deputy::arch
