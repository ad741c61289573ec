// The rows of the energy table at the operating point, and small facts that the charge by counters
// and the ledger share.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "soc/run_record.h"
#include "soc/soc_config.h"

namespace deputy::soc {

/// The table at the SoC's voltage: dynamic rows times (V / Vref)^2, leakage times V / Vref, of the
/// NPU and, when they share its rail, of interconnect, SRAM, DSP and host. DRAM has rails of its
/// own.
sim::EnergyTable effective_rows(const SocConfig& config);

double sram_static_mw(const SocConfig& config, const sim::EnergyTable& rows);
std::uint64_t npu_period_ps(const SocConfig& config);

/// Component, pJ and length in ps of one wake-up of "npu", "sram", "host" or "dsp".
std::tuple<const char*, double, std::uint64_t> wake_row(const SocConfig& config,
                                                        const sim::EnergyTable& rows,
                                                        const std::string& block);

/// Of the DRAM model's own components: whether one follows the bytes moved, or time.
bool moves_with_bytes(const std::string& dram_component);

/// When the NPU had power but no job.
std::vector<std::pair<std::uint64_t, std::uint64_t>> idle_spans(const RunRecord& record);

/// What the SoC takes asleep at an operating point: mW of `block` ("npu", "sram", "host", "dram",
/// "dsp") with the power on, and in its sleep state.
struct SleepPower {
  const char* block;
  double on_mw, sleep_mw;
  std::uint64_t idle_ps;  ///< how long it stays on first
};
std::vector<SleepPower> sleep_power(const SocConfig& config);

}  // namespace deputy::soc
