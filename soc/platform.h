// A SoC built from YAML, and one host program run on it. No SystemC in this header.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arch/npu_config.h"
#include "base/config.h"
#include "base/result.h"
#include "deputy/hw_port.h"
#include "sim/fault_plan.h"
#include "sim/trace.h"
#include "soc/run_record.h"
#include "soc/soc_config.h"

namespace deputy::soc {

struct PlatformOptions {
  bool timing_only = false;  ///< move no data, compute no values; every cycle and byte still counts
  std::uint64_t seed = 1;
  /// What the sensor sees, samples in two's complement; frame n is element n mod size. Empty:
  /// seeded noise.
  std::vector<std::vector<std::uint8_t>> sensor_frames;
  sim::FaultPlan faults;        ///< hardware faults to inject; an empty plan changes no cycle
  sim::Trace* trace = nullptr;  ///< records the run; must outlive the platform. Changes no cycle
  bool cache_errors =
      true;  ///< mistakes of cache maintenance are imbalances of the run, not findings alone
};

/// How a run ended: what the hardware counted until then, and the error, if any.
struct RunOutcome {
  RunRecord record;
  base::Status status;
};

/// One platform exists at a time in a process (the SystemC kernel is global); destroying it makes
/// room for the next one. Memory contents live as long as the platform.
class Platform {
 public:
  Platform(const SocConfig& config, const PlatformOptions& options);
  ~Platform();
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  /// Runs `program` as the host CPU's thread until it returns, once per platform. The error is the
  /// program's own, or kHardwareFault when the simulation ended without it returning; the record is
  /// complete up to there. (Only a defect of the simulator itself leaves it empty.)
  RunOutcome run_to_end(const std::function<base::Status(HwPort&)>& program);
  /// The same for callers that have no use for the record of a failed run.
  base::Result<RunRecord> run(const std::function<base::Status(HwPort&)>& program);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deputy::soc
