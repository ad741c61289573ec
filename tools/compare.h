// `deputy run --compare`: what each optimisation is worth. The model runs with everything on, then
// once with each named switch off; outputs must be equal byte for byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/simulate.h"

namespace deputy::tools {

/// One run of the comparison.
struct CompareRun {
  std::string name;  ///< "baseline", or the switch that is off
  double latency_ns = 0, energy_nj = 0;
  std::uint64_t npu_cycles = 0, dram_bytes = 0, sram_bytes = 0;
  std::uint64_t launches = 0;      ///< NPU jobs
  std::uint64_t instructions = 0;  ///< completed by the NPU
};

struct Comparison {
  std::vector<CompareRun> runs;  ///< the baseline first
  bool outputs_checked = false;  ///< false when values were not computed
};

/// "no-fusion,no-cascade" -> names; "all": every switch. An unknown name is an error that lists the
/// legal ones.
base::Result<std::vector<std::string>> parse_switches(const std::string& list);

/// Turns off the optimisation of one such name.
void switch_off(delegate::Optimisations& optimisations, const std::string& name);

/// `options` may already have switches off: they stay off in every run. A difference in an output
/// is a kMismatch error.
base::Result<Comparison> compare(const delegate::Graph& graph, const SimulateOptions& options,
                                 const std::vector<std::string>& switches,
                                 const std::vector<std::vector<std::uint8_t>>& inputs);

}  // namespace deputy::tools
