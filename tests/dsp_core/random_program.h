// Random programs for the DSP: every operation of the table, dependences everywhere, mostly legal
// addresses, nested loops and forward branches; a few that go wrong on purpose.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace deputy::dsp_test {

inline constexpr int kRandomTcmBytes = 16384;

struct RandomProgram {
  std::vector<std::uint32_t> words;
  std::vector<std::uint8_t> tcm;
  std::vector<std::uint32_t> mail;  ///< from the host, before the start
};
/// The same for the same seed, on every host. `wild`: with operations that fault.
RandomProgram random_program(std::uint64_t seed, bool wild);

}  // namespace deputy::dsp_test
