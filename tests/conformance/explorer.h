// The completion-order explorer. A scenario is a small host program over several queues; the
// explorer runs it once for every order in which its engines could complete their jobs and compares
// what came out.
//
// On the reference device completions are held back and released by choice: whenever the host
// touches a doorbell, a control register or a timeline, and whenever it sleeps, any engine that
// works may complete first, or none. The choices are enumerated depth first. On the simulated board
// fault plans make engines slow and interrupts and signals late instead.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/conformance/registry.h"

namespace deputy::conformance {

/// What a scenario came to: fences and memory, in words. Equal for every order, or the scenario is
/// wrong.
using Outcome = std::vector<std::string>;
using Scenario = std::function<base::Status(HwPort&, Outcome&)>;

struct Exploration {
  std::size_t runs = 0;  ///< of the scenario
  std::set<std::string>
      orders;  ///< distinct orders of completions seen ("N": the NPU's next job, "D": the DMA's)
  std::set<Outcome> outcomes;  ///< distinct; one is right
  bool complete = false;       ///< every choice was taken, within the bound
};

/// All orders on the reference device; at most `most` runs.
Exploration explore_fake(const Scenario& scenario, const sim::FaultPlan& faults = {},
                         std::size_t most = 5000);
/// Latencies varied on the board, on top of `faults`.
Exploration explore_tlm(const Scenario& scenario, const sim::FaultPlan& faults = {});

}  // namespace deputy::conformance
