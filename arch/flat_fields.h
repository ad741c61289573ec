// An instruction's fields as one flat vector of bits, in order of fields(), least significant bit
// first, without gaps: how a decoded instruction enters the RTL of the compute path
// (rtl/include/npu_isa.svh has the same structs).
#pragma once

#include <cstdint>
#include <span>

#include "base/fields.h"

namespace deputy::arch {

template <class T>
int flat_bits() {
  int bits = 0;
  T value{};
  T::fields(value, [&](auto&, const base::Field& f) { bits += f.bits; });
  return bits;
}

/// Writes `value`'s fields into `words`, which must hold flat_bits<T>() bits; what is beyond them
/// becomes 0.
template <class T>
void flatten(const T& value, std::span<std::uint32_t> words) {
  for (std::uint32_t& word : words) word = 0;
  std::size_t at = 0;
  T::fields(value, [&](const auto& member, const base::Field& f) {
    const auto raw = static_cast<std::uint64_t>(member);
    for (int bit = 0; bit < f.bits; ++bit, ++at)
      words[at / 32] |= static_cast<std::uint32_t>(raw >> bit & 1) << at % 32;
  });
}

}  // namespace deputy::arch
