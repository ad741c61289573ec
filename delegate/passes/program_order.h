// What must have completed before an instruction of a stream starts, by its waits and all they
// entail.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "arch/isa.h"

namespace deputy::delegate {

class ProgramOrder {
 public:
  using Clock =
      std::array<std::uint32_t, 3>;  ///< by queue (load, compute, store): how many have completed

  /// Takes the next instruction of the stream; what has completed when it starts. A queue runs one
  /// after the other; a wait for an instruction that does not exist yet counts as none.
  Clock add(const arch::Instruction& instruction) {
    Clock clock{};
    if (instruction.queue() == arch::Queue::kControl) return clock;
    const auto own = static_cast<std::size_t>(instruction.queue()) - 1;
    const arch::Header& h = instruction.header;
    Clock waits{h.wait_load, h.wait_compute, h.wait_store};
    waits[own] =
        static_cast<std::uint32_t>(starts_[own].size());  // at least all of its own before it
    for (std::size_t q = 0; q < 3; ++q) {
      if (waits[q] == 0 || waits[q] > starts_[q].size()) continue;
      clock[q] = std::max(clock[q], waits[q]);
      const Clock& before = starts_[q][waits[q] - 1];
      for (std::size_t i = 0; i < 3; ++i) clock[i] = std::max(clock[i], before[i]);
    }
    starts_[own].push_back(clock);
    return clock;
  }
  /// The number of the instruction that add() took last in this queue, from 1.
  std::uint32_t last(arch::Queue queue) const {
    return static_cast<std::uint32_t>(starts_[static_cast<std::size_t>(queue) - 1].size());
  }

 private:
  std::array<std::vector<Clock>, 3> starts_;
};

}  // namespace deputy::delegate
