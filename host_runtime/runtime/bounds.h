// How long things take at most, recovery included: what the runtime promises of every wait.
// docs/recovery.md derives the terms.
#pragma once

#include <cstdint>
#include <span>

#include "arch/host_config.h"
#include "arch/host_timing.h"
#include "host_runtime/runtime/job.h"

namespace deputy::host_runtime {

struct DeviceOptions;
struct LoadedModel;

/// What the host knows of the board it is on. The defaults are generous for
/// configs/soc/wearable.yaml; who has the board's own figures (soc/progress_bound.h) gives them.
struct BoardTimes {
  arch::HostConfig host;  ///< the CPU that the runtime runs on
  /// The longest a bus transaction takes, translation included, with everybody else competing.
  std::uint64_t transaction_ps = 100'000'000;
  std::uint64_t clock_division = 16;  ///< the largest throttling that is not a hang
};

/// The driver's own work around one job or one wait: register accesses, a ring set up again.
std::uint64_t driver_bound_ps(const DeviceOptions& options);
/// One attempt at a job, from when its ring could run it until the host knows how it ended and has
/// done what follows.
std::uint64_t attempt_bound_ps(const DeviceOptions& options, const JobLimits& limits);
/// All attempts that the policy allows.
std::uint64_t job_bound_ps(const DeviceOptions& options, const JobLimits& limits);

/// CPU work and the bytes that it moves or maintains.
std::uint64_t host_bound_ps(const BoardTimes& board, std::span<const arch::HostWork> work,
                            std::uint64_t bytes);

/// One inference with the SoC to itself, from its submission to its fence: every step, every
/// attempt, every beginning again, and every program's fallback.
std::uint64_t inference_bound_ps(const DeviceOptions& options, const LoadedModel& model);

}  // namespace deputy::host_runtime
