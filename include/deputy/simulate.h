// The simulated SoC. This is the one header that a program for real silicon would not use: there,
// somebody hands it a port. Link deputy::simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "deputy/hw_port.h"
#include "deputy/model.h"

namespace deputy {

struct SimulationOptions {
  std::vector<std::string> sets;  ///< "key=value" over the SoC's file, as --set
  std::string
      fault_plan;  ///< a YAML file of hardware faults to inject (docs/faults.md); empty: none
  bool timing_only = false;  ///< time without values
};

struct SimulationReport {
  std::uint64_t end_ps = 0;  ///< simulated time when the program returned
  double energy_nj = 0;      ///< of the whole SoC until then
  std::map<std::string, std::uint64_t>
      counters;                     ///< the hardware's, named as in `deputy list stats`
  std::vector<std::string> faults;  ///< planned faults that happened, in words
};

/// The target of a SoC file, for compiling without running. `soc`: a YAML file, or a name under
/// configs/soc. kIo: there is no such file; kConfig: it is wrong (file:line).
base::Result<Target> soc_target(const std::string& soc, const std::vector<std::string>& sets = {});

/// Builds the SoC, runs `program` as its host's first thread and tears the SoC down. The program's
/// calls of the port, and of everything made from it, take simulated time. Whatever it made from
/// the port must be gone when it returns. Blocks until then. Errors: the program's; soc_target()'s;
/// kHardwareFault: the program waits for something that can never happen; kBusy: another simulation
/// runs in this process; kInput: the program left a device open (whose handles must not be touched
/// any more); kMismatch: the books do not balance.
base::Result<SimulationReport> simulate(
    const std::string& soc, const SimulationOptions& options,
    const std::function<base::Status(HwPort& port, const Target& target)>& program);

}  // namespace deputy
