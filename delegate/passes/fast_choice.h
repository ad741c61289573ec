// Which buffers get the fast arena when not all fit: those whose transfers would cost the slow
// memory most, as long as the bytes alive at any time stay within the arena.
#pragma once

#include <cstdint>
#include <vector>

#include "delegate/passes/arena_packer.h"

namespace deputy::delegate {

struct FastCandidate {
  PackItem item;
  std::uint64_t value =
      0;  ///< bytes that slow memory need not move when the buffer is in the fast arena
};

/// By candidate: whether it is chosen. The bytes alive at any time stay within `limit`; the sum of
/// values is the largest possible where few buffers live at a time (a sweep over time that keeps
/// every choice among the live buffers), and close to it elsewhere (it keeps the best choices
/// only).
std::vector<bool> choose_fast(const std::vector<FastCandidate>& candidates, std::uint64_t limit);

}  // namespace deputy::delegate
