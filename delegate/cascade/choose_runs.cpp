#include "delegate/cascade/choose_runs.h"

#include <algorithm>
#include <set>

#include "delegate/passes/external_io.h"
#include "delegate/passes/memory_plan.h"
#include "delegate/schedule/emit_stream.h"

namespace deputy::delegate {
namespace {

constexpr std::size_t kTrials = 6, kStagedTrials = 2;  // of the proposals of a style
constexpr int kMoreTrials = 4;                         // of other stripes for the best
constexpr double kForTraffic = 1.02;  // cycles that fewer bytes of maps in DRAM are worth

// What may be alive in the fast arena at once, to be tried when cascades are chosen. The limits
// below the given one are the same for all given ones, so that more memory never loses a choice
// that less memory had.
std::vector<std::int64_t> cascade_limits(const CompileOptions& options) {
  const auto all = static_cast<std::int64_t>(options.sram_bytes);
  std::vector<std::int64_t> out = {all, all * 9 / 10, all * 3 / 4};
  if (options.effort == Effort::kFast) return out;
  for (const std::int64_t kib :
       {512, 384, 320, 256, 224, 192, 160, 128, 112, 96, 80, 64, 48, 32, 24, 16})
    if (kib * 1024 < all) out.push_back(kib * 1024);
  return out;
}

class Search {
 public:
  Search(const Graph& graph, const CompileOptions& options, const Schedule& schedule,
         const std::vector<std::vector<Kernel>>& kernels, TilingCache& tilings,
         const RunHooks& hooks)
      : graph_(graph),
        options_(options),
        schedule_(schedule),
        kernels_(kernels),
        tilings_(tilings),
        hooks_(hooks) {}

  RunChoice run() {
    for (const std::vector<Kernel>& kernels : kernels_)
      single_.runs.push_back(single_runs(kernels.size()));
    const bool staging = options_.optimisations.staging && options_.optimisations.prefetch;
    storage_ = plan_storage(graph_, hooks_.wishes(single_));
    external_ = external_io(graph_, storage_, options_.io);
    singly_ = live_ranges(graph_, hooks_.actions(single_), storage_, false);
    const MemoryPlan plan =
        plan_with_external(singly_, external_, options_.sram_bytes, Effort::kFast);
    room_ = staging ? staging_bytes(options_.npu) : 0;
    // Cascades pay where the fast arena overflows.
    if (options_.optimisations.cascade && plan.slow.bytes > 0) return with_cascades(plan, staging);
    if (!staging) return single_;
    if (options_.effort == Effort::kFast)
      return with(single_.runs, room_, true);  // what trials mostly find
    offer({single_}, true), offer({with(single_.runs, room_, true)}, true);
    return chosen();
  }

 private:
  struct Candidate {
    RunChoice choice;
    double cycles = 0;             // by the search's costs, or of the trial
    std::uint64_t slow_bytes = 0;  // of the trial
  };
  static RunChoice with(std::vector<std::vector<Run>> runs, std::int64_t kept, bool ahead) {
    return {std::move(runs), kept, ahead};
  }

  RunChoice with_cascades(const MemoryPlan& plan, bool staging) {
    const bool full = options_.effort == Effort::kFull;
    KernelCosts costs(graph_, options_, tilings_, room_);
    offer({single_, total_cycles(single_, plan, costs, false)}, full);
    for (const CascadeStyle style :
         {CascadeStyle{false, false}, CascadeStyle{false, true}, CascadeStyle{true, true}}) {
      if (style.staged && !(staging && full)) continue;
      const std::vector<Candidate> found = proposals(style, costs);
      const std::size_t worth = std::min(found.size(), style.staged ? kStagedTrials : kTrials);
      for (std::size_t i = 0; i < worth; ++i) {
        const auto try_with = [&](std::int64_t kept, bool ahead) {
          offer({with(found[i].choice.runs, kept, ahead), found[i].cycles}, full);
        };
        // The first tells what suits this network and NPU.
        if (i == 0 && !style.staged && staging && full) try_with(0, false), try_with(room_, true);
        try_with(room_, i > 0 && best_.choice.ahead);
      }
    }
    if (full) vary();
    return chosen();
  }

  // Of those that are about as fast as the best, the one that moves the fewest bytes of maps
  // through the DRAM: they cost energy, and more SRAM shall not move more of them for a few cycles.
  RunChoice chosen() const {
    const Candidate* out = &best_;
    for (const Candidate& other : tried_)
      if (other.cycles <= kForTraffic * best_.cycles &&
          std::pair(other.slow_bytes, other.cycles) < std::pair(out->slow_bytes, out->cycles))
        out = &other;
    return out->choice;
  }

  void offer(Candidate candidate, bool by_trial) {
    if (by_trial) {
      const Trial trial = hooks_.trial(candidate.choice);
      candidate.cycles = trial.cycles, candidate.slow_bytes = trial.slow_bytes;
      tried_.push_back(candidate);
    }
    if (best_.choice.runs.empty() || candidate.cycles < best_.cycles) best_ = std::move(candidate);
  }

  // Smaller stripes for the best one's cascades; where that does not help, skewed or not.
  void vary() {
    int left = kMoreTrials;
    for (std::size_t g = 0; g < best_.choice.runs.size(); ++g)
      for (std::size_t r = 0; r < best_.choice.runs[g].size(); ++r) {
        const Run run = best_.choice.runs[g][r];
        if (run.count == 1) continue;
        const std::int64_t half = std::max<std::int64_t>(1, run.step / 2);
        for (const bool skewed : {run.skewed, !run.skewed}) {
          if (left == 0 || (half == run.step && skewed == run.skewed)) continue;
          Candidate other = best_;
          other.choice.runs[g][r].step = half, other.choice.runs[g][r].skewed = skewed;
          offer(std::move(other), true), --left;
          if (best_.choice.runs[g][r] != run) break;
        }
      }
  }

  // What the search finds for each limit on the fast arena, the cheapest first.
  std::vector<Candidate> proposals(CascadeStyle style, KernelCosts& costs) const {
    std::vector<CascadePlanner> planners;  // by group
    std::ptrdiff_t action = 0;
    for (std::size_t g = 0; g < kernels_.size(); ++g) {
      planners.emplace_back(problem(g, action, style), costs,
                            static_cast<std::int64_t>(options_.sram_bytes));
      action += action_count(schedule_.groups[g], single_.runs[g]);
    }
    std::vector<Candidate> out;
    std::set<std::vector<std::vector<Run>>> seen;
    for (const std::int64_t limit : cascade_limits(options_)) {
      RunChoice choice = single_;
      for (std::size_t g = 0; g < kernels_.size(); ++g) choice.runs[g] = planners[g].runs(limit);
      if (!seen.insert(choice.runs).second) continue;
      const StorageMap storage = plan_storage(graph_, hooks_.wishes(choice));
      const MemoryPlan plan =
          plan_with_external(live_ranges(graph_, hooks_.actions(choice), storage, false), external_,
                             options_.sram_bytes, Effort::kFast);
      const double cycles = total_cycles(choice, plan, costs, style.staged);
      out.push_back({std::move(choice), cycles, 0});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cycles < b.cycles; });
    return out;
  }

  double total_cycles(const RunChoice& choice, const MemoryPlan& plan, KernelCosts& costs,
                      bool staged) const {
    std::set<TensorId> slow;
    for (const PlannedBuffer& buffer : plan.buffers)
      if (!region_in_sram(buffer.region, options_.io)) slow.insert(buffer.range.tensor);
    double sum = 0;
    for (std::size_t g = 0; g < kernels_.size(); ++g)
      sum += runs_cycles(
          graph_, options_.numerics, kernels_[g], choice.runs[g], costs,
          [&](TensorId id) { return !slow.contains(storage_.root(id)); }, staged);
    return sum;
  }

  // `action`: the position of the group's first kernel among the actions when all run singly.
  CascadeProblem problem(std::size_t g, std::ptrdiff_t action, CascadeStyle style) const {
    std::vector<int> sharers(graph_.tensors.size(), 0);  // by root
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i)
      ++sharers[static_cast<std::size_t>(storage_.tensors[i].root)];
    std::set<TensorId> fixed(graph_.inputs.begin(), graph_.inputs.end());
    fixed.insert(graph_.outputs.begin(), graph_.outputs.end());
    const std::set<std::size_t> inside(schedule_.groups[g].ops.begin(),
                                       schedule_.groups[g].ops.end());
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (!inside.contains(i))
        fixed.insert(graph_.ops[i].inputs.begin(), graph_.ops[i].inputs.end());
    CascadeProblem out{graph_,
                       options_,
                       kernels_[g],
                       [this](TensorId id) { return storage_.root(id); },
                       [this, sharers, fixed](TensorId id) {
                         return !fixed.contains(id) && storage_.root(id) == id &&
                                storage_.of(id).stored &&
                                sharers[static_cast<std::size_t>(id)] == 1;
                       },
                       [this](TensorId id) { return external_.has(storage_.root(id)); },
                       std::vector<std::int64_t>(kernels_[g].size(), 0),
                       style};
    std::set<TensorId> written;
    for (const Kernel& kernel : kernels_[g])
      for (const TensorId id : kernel.writes) written.insert(storage_.root(id));
    for (const LiveRange& range : singly_) {
      if (written.contains(range.tensor) || external_.has(range.tensor)) continue;
      for (std::size_t k = 0; k < out.others.size(); ++k) {
        const std::ptrdiff_t at = action + static_cast<std::ptrdiff_t>(k);
        if (range.begin <= at && at <= range.end)
          out.others[k] += static_cast<std::int64_t>(range.bytes);
      }
    }
    return out;
  }

  const Graph& graph_;
  const CompileOptions& options_;
  const Schedule& schedule_;
  const std::vector<std::vector<Kernel>>& kernels_;
  TilingCache& tilings_;
  const RunHooks& hooks_;
  RunChoice single_;    // no cascades
  StorageMap storage_;  // of that
  ExternalIo external_;
  std::vector<LiveRange> singly_;
  std::int64_t room_ = 0;  // of the scratchpad, for staging
  Candidate best_;
  std::vector<Candidate> tried_;
};

}  // namespace

RunChoice choose_runs(const Graph& graph, const CompileOptions& options, const Schedule& schedule,
                      const std::vector<std::vector<Kernel>>& kernels, TilingCache& tilings,
                      const RunHooks& hooks) {
  return Search(graph, options, schedule, kernels, tilings, hooks).run();
}

}  // namespace deputy::delegate
