// The energy of a run in parts: what it was spent in, priced by which row, caused by which
// operator, and when. Sums over parts give the report's columns and the power over time; the books
// compare them with the counters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "soc/run_record.h"
#include "soc/soc_config.h"

namespace deputy::soc {

inline constexpr std::int64_t kNoOp = -1;

/// Energy spent at constant power from `from_ps` to `to_ps`.
struct EnergyPart {
  const char* component = "";  ///< as in RunRecord::energy_nj
  const char* cause = "";   ///< who caused it: "npu", "host", "dma", "sensor", "dsp"; "leakage" for
                            ///< what time alone costs, "wake" for power switches
  std::int64_t op = kNoOp;  ///< the source operator whose NPU instructions caused it
  std::uint64_t from_ps = 0, to_ps = 0;
  double nj = 0;
};

/// Calls `use` for every part, in a fixed order. What an NPU operator's instructions did lies
/// between its first start and last end; what host, DMA, DSP and sensor did, in their busy
/// intervals. Activates follow the DRAM bytes of whoever moved them.
void each_energy_part(const SocConfig& config, const RunRecord& record,
                      const std::function<void(const EnergyPart&)>& use);

/// nJ of the part that fall into [from, to).
double energy_within(const EnergyPart& part, std::uint64_t from_ps, std::uint64_t to_ps);

/// Power over time: energy of each interval of `interval_ps` by component; the last interval may be
/// shorter.
struct PowerTrace {
  std::uint64_t interval_ps = 0, end_ps = 0;
  std::map<std::string, std::vector<double>> nj;  ///< component -> one value per interval
  std::size_t intervals() const { return nj.empty() ? 0 : nj.begin()->second.size(); }
  double total_nj(std::size_t interval) const;
  /// Length of interval i.
  std::uint64_t length_ps(std::size_t i) const;
  /// The highest power of one interval, in mW, and which.
  double peak_mw(std::size_t* where = nullptr) const;
  double average_mw() const;
};
/// The parts binned; the values of a component add up to its energy.
PowerTrace power_trace(const SocConfig& config, const RunRecord& record, std::uint64_t interval_ps);

/// One row per interval: start in us, mW of each component, mW of all.
std::string power_csv(const PowerTrace& trace);

}  // namespace deputy::soc
