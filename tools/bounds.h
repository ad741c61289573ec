// How fast an operator could have been: the least cycles that each resource of the NPU needs for
// what was computed and moved. docs/benchmarks.md defines the terms.
#pragma once

#include <cstdint>
#include <string>

#include "soc/run_record.h"
#include "soc/soc_config.h"

namespace deputy::tools {

/// NPU cycles that each resource needs at its full rate. Resources work in parallel, so the largest
/// is the bound.
struct Bounds {
  double compute = 0;  ///< MAC array and vector units, the slower of the two for each instruction
  double scratchpad = 0;  ///< scratchpad accesses of the units
  double decoder = 0;     ///< bytes that the weight decoder puts out
  double sram = 0;        ///< bytes moved from and to the shared SRAM
  double dram = 0;        ///< bytes moved from and to DRAM
  double cycles() const;
  /// "compute", "scratchpad", "decoder", "SRAM" or "DRAM"; "none" when nothing was computed or
  /// moved.
  std::string name() const;
  Bounds& operator+=(const Bounds& other);
};

/// Bytes an NPU cycle at the full rate: of a memory or the interconnect, whichever is slower; of
/// the weight decoder.
struct MemoryRates {
  double sram = 0, dram = 0, decoder = 1;
};
MemoryRates memory_rates(const soc::SocConfig& soc);

Bounds bounds_of(const soc::NpuOpRecord& record, const MemoryRates& rates);

}  // namespace deputy::tools
