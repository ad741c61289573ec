// Checks a command stream before the NPU sees it. The stream comes from a file, and the engine is a
// bus master: what is not proven here to stay inside the executable's own memory is not run.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "arch/isa.h"
#include "arch/npu_config.h"
#include "base/result.h"

namespace deputy::host_runtime {

/// The memory a stream may touch.
struct ProgramLimits {
  arch::NpuConfig target;
  std::array<std::uint64_t, arch::kRegionCount> region_bytes{};  ///< 0: not bound
  std::array<bool, arch::kRegionCount> writable{};
  /// Bytes of regions that nobody writes, where they are known; empty elsewhere. LOADW's streams
  /// must be in them, unless all are empty: then their contents are left to the engine.
  std::array<std::span<const std::uint8_t>, arch::kRegionCount> contents{};
  std::uint64_t op_count = 0;                            ///< tags must be below
  std::uint64_t transaction_ps = 0, clock_division = 1;  ///< of the board, see BoardTimes
};

/// Bytes [begin, end) of a region.
struct RegionRange {
  int region = 0;
  std::uint64_t begin = 0, end = 0;
  auto operator<=>(const RegionRange&) const = default;
};

/// What a sound stream does to memory, and how long it may take.
struct ProgramFootprint {
  std::vector<RegionRange> reads,
      writes;                     ///< sorted and merged; strided transfers as their whole extent
  std::uint64_t budget_ps = 0;    ///< how long to wait for the job, see verify_program()
  std::uint64_t progress_ps = 0;  ///< how long it may show no progress
};

/// Decodes every instruction and checks: waits name earlier instructions only; transfers stay
/// inside bound regions and the scratchpad; stores go to writable regions; END is last and only
/// last. Every instruction is one that the engine takes (arch::check_instruction), reads only
/// scratchpad bytes and accumulators that the stream has set before, and decodes only streams that
/// decode. So nothing is left for the engine to fault on but the bus. kModel names the instruction.
///
/// The footprint's budget is how long the driver waits for the job: 100 ms plus sixteen times a
/// pessimistic estimate in which nothing overlaps, compute costs its formula, transfers cost 4
/// cycles a byte, 256 a row and 1000 an instruction, and decoding its own rate; at most 1000 s. A
/// job that needs longer hangs, or the memory is hopelessly slow. progress_ps is the same of its
/// largest instruction, with 1 ms for the 100 ms: the engine's PROGRESS counts instructions. It is
/// never less than arch/progress_bound.h says for the limits' board.
base::Result<ProgramFootprint> verify_program(std::span<const std::uint32_t> words,
                                              const ProgramLimits& limits,
                                              const std::string& where);

}  // namespace deputy::host_runtime
