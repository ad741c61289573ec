// A scenario on its SoC, start to finish: signal, image and network, the platform, the host's
// program, the books.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host_runtime/runtime/recovery.h"
#include "sim/fault_plan.h"
#include "soc/run_record.h"
#include "soc/soc_config.h"
#include "tools/stream/chain.h"

namespace deputy::tools {

struct StreamOptions {
  StreamScenario scenario;
  soc::SocConfig soc;
  sim::FaultPlan faults;
};

struct StreamRun {
  const ChainInfo* chain = nullptr;
  StreamSignal signal;  ///< without its frames
  std::vector<StreamDecision> decisions;
  std::uint64_t offered = 0, taken = 0;     ///< frames that the sensor had, and that came through
  std::uint64_t dropped = 0, missed = 0;    ///< without a free buffer; not delivered by the source
  std::uint64_t failed = 0;                 ///< frames whose work was given up
  std::uint64_t given_up = 0;               ///< decisions lost to gaps and failures
  std::uint64_t first_ps = 0, last_ps = 0;  ///< the stream itself: sensor started, last frame done
  std::vector<std::string> failures;        ///< the first few, as texts
  std::vector<host_runtime::RecoveryEvent> recovery;
  soc::RunRecord record;
  double wall_s = 0;
};

/// Reads the SoC that the scenario names (`sets` override its keys) and checks that it has a DSP.
base::Result<StreamOptions> stream_options(StreamScenario scenario,
                                           const std::vector<std::string>& sets);

/// On a SoC that is there already, whatever the scenario says of one; `soc.name` is what errors
/// call it.
base::Result<StreamOptions> stream_on(StreamScenario scenario, const soc::SocConfig& soc);

/// Errors are those of set-up; what happens to frames is counted. Books that do not balance are an
/// error.
base::Result<StreamRun> run_stream(const StreamOptions& options);

}  // namespace deputy::tools
