// Packs a struct's fields() into 32-bit words and back: the one encoding rule of instructions and
// descriptors. Fields are laid down in order, least significant bit first; a field never straddles
// a word boundary unless it is wider than 32 bits, in which case it starts a word.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/fields.h"

namespace deputy::arch {

struct BitCursor {
  int word = 0;
  int bit = 0;
  /// Moves to where a field of `bits` starts.
  void align(int bits) {
    if (bit != 0 && (bits > 32 || bit + bits > 32)) ++word, bit = 0;
  }
  void advance(int bits) {
    bit += bits;
    word += bit / 32;
    bit %= 32;
  }
  int words() const { return word + (bit != 0); }
};

/// Words an encoded T takes.
template <class T>
int packed_words() {
  BitCursor cursor;
  T t{};
  T::fields(t, [&](auto&, const base::Field& f) {
    cursor.align(f.bits);
    cursor.advance(f.bits);
  });
  return cursor.words();
}

/// Appends T's fields to `out`. Values must be in range: see first_bad_field().
template <class T>
void pack(const T& value, std::vector<std::uint32_t>& out) {
  const std::size_t start = out.size();
  out.resize(start + packed_words<T>(), 0);
  BitCursor cursor;
  T::fields(value, [&](const auto& member, const base::Field& f) {
    cursor.align(f.bits);
    auto raw = static_cast<std::uint64_t>(member);
    if (f.bits < 64) raw &= (std::uint64_t{1} << f.bits) - 1;
    out[start + cursor.word] |= static_cast<std::uint32_t>(raw << cursor.bit);
    if (f.bits > 32) out[start + cursor.word + 1] |= static_cast<std::uint32_t>(raw >> 32);
    cursor.advance(f.bits);
  });
}

/// Reads T's fields from `words` (at least packed_words<T>() of them).
template <class T>
T unpack(std::span<const std::uint32_t> words) {
  T value{};
  BitCursor cursor;
  T::fields(value, [&](auto& member, const base::Field& f) {
    cursor.align(f.bits);
    std::uint64_t raw = words[cursor.word] >> cursor.bit;
    if (f.bits > 32) raw |= static_cast<std::uint64_t>(words[cursor.word + 1]) << 32;
    if (f.bits < 64) {
      raw &= (std::uint64_t{1} << f.bits) - 1;
      if (f.is_signed && (raw >> (f.bits - 1)) != 0) raw |= ~std::uint64_t{0} << f.bits;
    }
    member = static_cast<std::remove_reference_t<decltype(member)>>(static_cast<std::int64_t>(raw));
    cursor.advance(f.bits);
  });
  return value;
}

/// The smallest and largest value a field's bits can hold, narrowed by its own range.
inline double field_low(const base::Field& f) {
  const double low = f.is_signed ? -static_cast<double>(std::uint64_t{1} << (f.bits - 1)) : 0.0;
  return f.min > low ? f.min : low;
}
inline double field_high(const base::Field& f) {
  const int magnitude = f.is_signed ? f.bits - 1 : f.bits;
  double high = 1;
  for (int i = 0; i < magnitude; ++i) high *= 2;
  high -= 1;
  return f.max < high ? f.max : high;
}

/// The first field whose value does not fit its bits or range; nullptr when all do.
template <class T>
const char* first_bad_field(const T& value) {
  const char* bad = nullptr;
  T::fields(value, [&](const auto& member, const base::Field& f) {
    const double v = static_cast<double>(static_cast<std::int64_t>(member));
    if (!bad && (v < field_low(f) || v > field_high(f))) bad = f.name;
  });
  return bad;
}

}  // namespace deputy::arch
