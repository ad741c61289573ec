// Where in an arena the bytes lie that a kernel may touch, for looking up the stretches of a
// transfer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// Address begin + i holds the byte of number `number` + i (tensor_bytes.h); or, where `ring` names
/// a tensor, any of the rows that share the address.
struct Place {
  std::uint64_t begin = 0, end = 0;
  std::uint32_t number = 0;
  TensorId ring = kNoTensor;
};
using Places = std::vector<Place>;

/// Sorts by address and joins what tensors have in common; false when two want different bytes at
/// one address.
inline bool settle(Places& places) {
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.begin < b.begin; });
  const auto follows = [](const Place& a, const Place& b) {
    return a.ring == b.ring && a.number + static_cast<std::uint32_t>(b.begin - a.begin) == b.number;
  };
  Places out;
  for (const Place& p : places) {
    if (p.begin == p.end) continue;
    const bool joins = !out.empty() && p.begin <= out.back().end && follows(out.back(), p);
    if (joins) {
      out.back().end = std::max(out.back().end, p.end);
    } else {
      if (!out.empty() && p.begin < out.back().end) return false;
      out.push_back(p);
    }
  }
  places = std::move(out);
  return true;
}

/// Calls visit(place, begin, end) for the settled places that [at, at + bytes) meets, until one
/// returns false; false when some byte before that is in none.
template <class Visit>
bool cover(const Places& places, std::uint64_t at, std::uint64_t bytes, Visit&& visit) {
  auto it =
      std::upper_bound(places.begin(), places.end(), at,
                       [](std::uint64_t value, const Place& place) { return value < place.end; });
  for (const std::uint64_t end = at + bytes; at < end; ++it) {
    if (it == places.end() || it->begin > at) return false;
    const std::uint64_t until = std::min(end, it->end);
    if (!visit(*it, at, until)) return true;
    at = until;
  }
  return true;
}

}  // namespace deputy::delegate
