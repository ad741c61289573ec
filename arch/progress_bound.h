// The longest time that PROGRESS of a queue manager stands still while its engine works: what a
// watchdog has to wait before it calls a job hung. docs/faults.md derives the terms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "arch/npu_config.h"

namespace deputy::arch {

/// `chunk_ps`: the longest a bus transaction takes from its issue to its end, everyone else
/// competing. `compute_cycles`: of the longest compute instruction (npu_timing.h).
/// `clock_division`: the largest throttling.
inline std::uint64_t npu_progress_gap_ps(const NpuConfig& c, std::uint64_t compute_cycles,
                                         std::uint64_t chunk_ps, std::uint64_t clock_division) {
  constexpr std::uint64_t kLongestInstruction = 256;  // bytes; the longest encoding has fewer
  const auto period = static_cast<std::uint64_t>(std::llround(1e6 / c.clock_mhz));
  const auto n = [](std::int32_t v) { return static_cast<std::uint64_t>(v); };
  const std::uint64_t decoding =
      n(c.wdec.setup_cycles) + n(c.spm.bytes) / n(c.wdec.bytes_per_cycle) + 1;
  const std::uint64_t cycles =
      n(c.ctrl.decode_cycles) + n(c.dma.issue_cycles) + std::max(compute_cycles, decoding);
  // Commands: the fetch in flight and as many more as an instruction spans, each in two parts at a
  // 4 KiB boundary. Then a chunk's issue, and the wait for the last one's end.
  const std::uint64_t fetches = 2 * (2 + kLongestInstruction / n(c.ctrl.fetch_bytes));
  // Before a context's first fetch, another's bytes may be cleared from the scratchpad.
  const std::uint64_t scrub = n(c.spm.bytes) / n(c.spm.bytes_per_cycle) + 1;
  return (cycles + scrub) * period * clock_division + (fetches + 2) * chunk_ps;
}

/// Two parts of a descriptor's fetch, its decode, a read, its write, and the wait for the last
/// write's end.
inline std::uint64_t dma_progress_gap_ps(double clock_mhz, std::int32_t descriptor_cycles,
                                         std::uint64_t chunk_ps) {
  const auto period = static_cast<std::uint64_t>(std::llround(1e6 / clock_mhz));
  return static_cast<std::uint64_t>(descriptor_cycles) * period + 5 * chunk_ps;
}

/// A slice of a program (kDspSlice cycles, and a packet over them), or a fetch or transfer: two
/// parts of it in flight. Programs that wait for mail or events longer than that hang.
inline constexpr std::uint64_t kDspSlice = 2048;
inline std::uint64_t dsp_progress_gap_ps(double clock_mhz, std::int32_t tcm_bytes,
                                         std::uint64_t chunk_ps, std::uint64_t clock_division) {
  const auto period = static_cast<std::uint64_t>(std::llround(1e6 / clock_mhz));
  const std::uint64_t scrub = static_cast<std::uint64_t>(tcm_bytes) / 128 + 1;
  return (kDspSlice + 512 + scrub) * period * clock_division + 4 * chunk_ps;
}

}  // namespace deputy::arch
