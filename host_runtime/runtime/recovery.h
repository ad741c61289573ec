// What is done about a job that failed or hangs, step by step, each bounded in time:
//
//   retry          the ring runs the entry again
//   restart ring   its context begins afresh: ring and address space are set up again
//   reset engine   and every ring in front of it; innocent jobs are given to it again
//   give up        the job has failed; whoever pushed it may compute its part on the CPU
//   to CPU         a copy that the DMA engine gave up is the CPU's
//
// A job that has overwritten its own operands is not run again by itself: its owner starts it from
// inputs that are whole (Job::State::kFailed), after the same step has been taken for the engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace deputy::host_runtime {

enum class RecoveryStep : std::uint8_t { kRetry, kRestartRing, kResetEngine, kGiveUp, kToCpu };
const char* recovery_step_name(RecoveryStep step);

struct RecoveryPolicy {
  int retries = 0;
  bool restart_ring = false, reset_engine = false;
  bool cpu_fallback =
      false;  ///< an executable's fallback programs take over (compile with fallback), and copies
  /// Jobs given up in a row after which an engine is taken out of service; 0: never.
  int unhealthy_after = 0;
  std::uint64_t readmit_after_ps = 0;  ///< then the self-test decides whether it comes back

  /// The whole ladder.
  static RecoveryPolicy full() { return {1, true, true, true, 3, 100'000'000'000}; }

  /// The step after `attempts` failures of one job, 1 or more.
  RecoveryStep step(int attempts) const;
  /// How often one job may run.
  int most_attempts() const {
    return 1 + retries + (restart_ring ? 1 : 0) + (reset_engine ? 1 : 0);
  }
};

/// What happened, for the report.
struct RecoveryEvent {
  std::uint64_t time_ps = 0;
  RecoveryStep step = RecoveryStep::kRetry;
  std::string engine, what;
};

}  // namespace deputy::host_runtime
