// How the kernels of all groups run: which of them as cascades, and what their tilings leave free
// and expect. Searches with the kernels' own costs propose (cascade/plan.h); what they cannot see,
// how neighbours overlap and what constants staged in SRAM save, is found out by compiling the best
// proposals and timing their streams.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "delegate/cascade/plan.h"
#include "delegate/compile.h"
#include "delegate/fusion/kernel.h"
#include "delegate/partition/schedule.h"
#include "delegate/passes/storage.h"

namespace deputy::delegate {

struct RunChoice {
  std::vector<std::vector<Run>> runs;  ///< by group; empty for the CPU's
  std::int64_t spm_kept = 0;           ///< TransferRates
  bool ahead = false;                  ///< TransferRates
};

/// How many actions (fusion/kernel.h) a group is.
inline std::ptrdiff_t action_count(const Group& group, const std::vector<Run>& runs) {
  return static_cast<std::ptrdiff_t>(group.engine == Engine::kNpu ? runs.size() : group.ops.size());
}

/// What a trial finds: everything is placed, lowered, timed and thrown away.
struct Trial {
  double cycles = 0;             ///< by the timer
  std::uint64_t slow_bytes = 0;  ///< of feature maps that the DRAM moves
};
/// What the compiler answers if the kernels run like that.
struct RunHooks {
  std::function<StorageWishes(const RunChoice&)> wishes;
  std::function<std::vector<Action>(const RunChoice&)> actions;
  std::function<Trial(const RunChoice&)> trial;
};

/// `kernels`: by group. With Effort::kFast there are no trials.
RunChoice choose_runs(const Graph& graph, const CompileOptions& options, const Schedule& schedule,
                      const std::vector<std::vector<Kernel>>& kernels, TilingCache& tilings,
                      const RunHooks& hooks);

}  // namespace deputy::delegate
