// Runs operators one by one on the NPU and on the CPU, and says where the NPU is wrong.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "api/quirks.h"
#include "deputy/hw_port.h"

namespace deputy::api {

struct ProbeCase {
  std::string name;
  delegate::Graph graph;  ///< one operator
  Numerics numerics = Numerics::kTflite;
  std::vector<std::vector<std::uint8_t>> inputs;
};

enum class ProbeState : std::uint8_t { kPassed, kFailed, kSkipped };

struct ProbeOutcome {
  std::string name;
  ProbeState state = ProbeState::kPassed;
  std::string text;  ///< what was seen, or why it was skipped
};

struct ProbeReport {
  base::Version hardware, firmware;    ///< as REVISION reads
  std::vector<ProbeOutcome> outcomes;  ///< one a case
  std::vector<Quirk> findings;
};

/// Every case in turn; a fault of the NPU fails its case and the next one runs after a reset.
/// `progress` is called before each case. Blocks as long as the hardware takes; each case in the
/// driver's deadlines. Errors: kHardwareFault when there is no NPU.
base::Result<ProbeReport> probe(HwPort& port, std::span<const ProbeCase> cases,
                                const delegate::CompileOptions& options,
                                const std::function<void(std::size_t)>& progress);

/// The entries that the outcomes prove, for exactly this hardware version: by operator, the range
/// of one number that holds every case that failed and none that passed, as wide as no case
/// forbids; the whole operator where there is none.
std::vector<Quirk> locate_faults(std::span<const ProbeCase> cases,
                                 std::span<const ProbeOutcome> outcomes,
                                 const base::Version& hardware);

}  // namespace deputy::api
