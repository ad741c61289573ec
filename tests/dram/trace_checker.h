// Replays a command trace against the standard's rules, the way DRAM trace checkers do: every pair
// of commands near enough to matter is held against a table of least distances. Shares nothing with
// the scheduler but the device's rows.
#pragma once

#include <string>
#include <vector>

#include "soc/dram/command.h"
#include "soc/dram/spec.h"

namespace deputy::dram_test {

/// What a trace breaks, first `most` findings: "clock: command rank/bank: rule". Refreshes are
/// looked at when `refresh` names a scheme ("all_bank", "per_bank"), up to `end`.
std::vector<std::string> check_trace(const soc::dram::Spec& spec,
                                     const std::vector<soc::dram::TraceEntry>& trace,
                                     const std::string& refresh, soc::dram::Ck end,
                                     std::size_t most = 5);

}  // namespace deputy::dram_test
