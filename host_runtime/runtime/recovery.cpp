#include "host_runtime/runtime/recovery.h"

#include "base/check.h"

namespace deputy::host_runtime {

const char* recovery_step_name(RecoveryStep step) {
  switch (step) {
    case RecoveryStep::kRetry:
      return "retry";
    case RecoveryStep::kRestartRing:
      return "restart ring";
    case RecoveryStep::kResetEngine:
      return "reset engine";
    case RecoveryStep::kGiveUp:
      return "give up";
    case RecoveryStep::kToCpu:
      return "to CPU";
  }
  DEPUTY_CHECK(false, "unknown recovery step");
}

RecoveryStep RecoveryPolicy::step(int attempts) const {
  if (attempts <= retries) return RecoveryStep::kRetry;
  int left = attempts - retries;
  if (restart_ring && left-- == 1) return RecoveryStep::kRestartRing;
  if (reset_engine && left == 1) return RecoveryStep::kResetEngine;
  return RecoveryStep::kGiveUp;
}

}  // namespace deputy::host_runtime
