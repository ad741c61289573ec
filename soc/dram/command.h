// The commands on a DRAM's command bus, and the trace that a checker reads.
#pragma once

#include <cstdint>

namespace deputy::soc::dram {

/// Clocks of the device.
using Ck = std::int64_t;

enum class Command : std::uint8_t {
  kActivate,
  kPrecharge,
  kPrechargeAll,  ///< of a rank
  kRead,
  kWrite,
  kRefreshAll,
  kRefreshBank,
  kPowerDown,
  kPowerDownExit,
  kSelfRefresh,
  kSelfRefreshExit,
};

/// `bank` counts within the rank; -1 where the command is the rank's. `row` of activates, reads and
/// writes.
struct TraceEntry {
  Ck at = 0;
  Command command = Command::kActivate;
  std::int32_t rank = 0, bank = -1;
  std::int64_t row = -1;
};

}  // namespace deputy::soc::dram
