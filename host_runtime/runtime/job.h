// One entry of an engine's ring, from the push to its end.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/queue_entry.h"
#include "base/result.h"

namespace deputy::host_runtime {

enum class EngineId : std::uint8_t { kNpu = 0, kDma = 1, kDsp = 2 };
const char* engine_name(EngineId engine);

/// What the watchdog needs to know of a job (verify_program.h computes it for an NPU's).
struct JobLimits {
  std::uint64_t budget_ps = 0;    ///< longer than this and it is stopped, however it moves
  std::uint64_t progress_ps = 0;  ///< no sign of life for this long and it hangs
  /// It can run again after it has run in part: it overwrites nothing that it reads from outside.
  bool restartable = true;
};

struct Job {
  enum class State : std::uint8_t {
    kQueued,    ///< in the ring, waiting or running
    kFinished,  ///< and its signals have fired
    kFailed,    ///< its signals have not fired and will not: whoever pushed it must see to its
                ///< timelines
    kUpstream,  ///< never ran, because a timeline it waited for failed; its signals failed
  };
  EngineId engine = EngineId::kNpu;
  std::uint32_t ring = 0;
  std::uint64_t number = 0;  ///< in the ring, see QueueDriver::push
  arch::QueueEntry entry;
  JobLimits limits;
  State state = State::kQueued;
  std::optional<base::Error> error;        ///< of the last attempt, when it failed
  std::optional<std::uint32_t> fault_tag;  ///< the source operator that the engine blamed
  int attempts = 0;                        ///< failed ones
  bool abandoned = false;                  ///< nobody wants its result any more
};

}  // namespace deputy::host_runtime
