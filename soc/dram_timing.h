// DRAM command timing, plain C++ in picoseconds: bank row state, activate/precharge/column spacing,
// four-activate window, read/write turnaround, all-bank refresh. Open-page policy; consecutive rows
// of the address space lie in consecutive banks. Parameters and their names are JEDEC's (JESD209-4
// for the LPDDR4 defaults).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "soc/soc_config.h"

namespace deputy::soc {

class DramTiming {
 public:
  explicit DramTiming(const DramConfig& config);

  /// Serves `bytes` at `offset` for a request that arrives at `arrival_ps`; returns when the last
  /// data beat is over. Walks every burst the bytes touch. Arrivals must not decrease.
  std::uint64_t access(std::uint64_t offset, std::uint32_t bytes, bool write,
                       std::uint64_t arrival_ps);

  /// When the data bus is free, less the idle latency of a row hit: a request granted then streams
  /// without a gap.
  std::uint64_t accepts_at_ps() const;

  /// When the first beat of the last access was on the data bus.
  std::uint64_t first_data_ps() const { return first_data_; }

  std::uint64_t hits = 0, misses = 0, conflicts = 0, activates = 0, refreshes = 0;

 private:
  struct Bank {
    std::int64_t row = -1;              ///< open row, -1 when precharged
    std::uint64_t activate_ready = 0;   ///< earliest activate
    std::uint64_t column_ready = 0;     ///< earliest column command to the open row
    std::uint64_t precharge_ready = 0;  ///< earliest precharge
  };
  void refresh_until(std::uint64_t t);
  std::uint64_t burst(std::uint64_t burst_index, bool write, std::uint64_t arrival);
  std::uint64_t fixed(std::uint64_t offset, std::uint32_t bytes, std::uint64_t arrival);
  std::uint64_t ck(std::int64_t n) const { return static_cast<std::uint64_t>(n) * tck_ps_; }

  DramConfig config_;
  std::uint64_t tck_ps_, burst_bytes_, burst_ps_;
  bool fixed_;
  std::vector<Bank> banks_;
  std::uint64_t bus_free_ = 0;     ///< end of the last data burst
  std::uint64_t last_column_ = 0;  ///< last column command
  bool any_column_ = false, last_write_ = false;
  std::array<std::uint64_t, 4>
      last_activates_{};  ///< a ring: the next activate replaces the fourth last
  std::uint64_t first_data_ = 0;
  std::uint64_t next_refresh_;
};

}  // namespace deputy::soc
