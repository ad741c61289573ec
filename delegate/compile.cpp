#include "delegate/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/check.h"
#include "delegate/cascade/plan.h"
#include "delegate/codegen/lower.h"
#include "delegate/describe.h"
#include "delegate/fallback.h"
#include "delegate/fusion/cancel_transposes.h"
#include "delegate/fusion/kernel.h"
#include "delegate/fusion/views_pass.h"
#include "delegate/partition/placement.h"
#include "delegate/passes/check_memory_plan.h"
#include "delegate/passes/check_programs.h"
#include "delegate/passes/place_buffers.h"
#include "delegate/passes/program_operands.h"

namespace deputy::delegate {
namespace {

constexpr std::size_t kTrials = 6;      // of each way to run cascades
constexpr int kMoreTrials = 4;         // of other stripes
constexpr std::size_t kMaxOps = 65536;  // the width of an instruction's tag

// What may be alive in the fast arena at once, to be tried when cascades are chosen. The limits below the given one
// are the same for all given ones, so that more memory never loses a choice that less memory had.
std::vector<std::int64_t> cascade_limits(const CompileOptions& options) {
  const auto all = static_cast<std::int64_t>(options.sram_bytes);
  std::vector<std::int64_t> out = {all, all * 9 / 10, all * 3 / 4};
  if (options.effort == Effort::kFast) return out;
  for (const std::int64_t kib : {512, 384, 320, 256, 224, 192, 160, 128, 112, 96, 80, 64, 48, 32, 24, 16})
    if (kib * 1024 < all) out.push_back(kib * 1024);
  return out;
}

class Compiler {
 public:
  Compiler(const Graph& graph, const CompileOptions& options)
      : graph_(graph), options_(options), operands_(graph, out_, views_plan_, storage_) {}

  base::Result<arch::Executable> run() {
    if (graph_.ops.size() > kMaxOps)
      return base::Error{base::ErrorKind::kUnsupported, graph_.name,
                         fmt::format("{} operators", graph_.ops.size()),
                         fmt::format("the limit is {}", kMaxOps)};
    DEPUTY_ASSIGN(Placement placement, place(graph_, options_, tilings_));
    placements_ = std::move(placement.ops), schedule_ = std::move(placement.schedule);
    for (const Group& group : schedule_.groups)
      kernels_.push_back(group.engine == Engine::kNpu
                             ? plan_kernels(graph_, group, options_, tilings_, notes())
                             : std::vector<Kernel>());
    // A view takes an operator out of its program, which would then be smaller than the user allows.
    if (options_.placement.min_partition <= 1)
      views_plan_ = plan_views(graph_, options_, placements_, kernels_);
    else if (options_.trace && options_.optimisations.views)
      options_.trace->notes.push_back(
          {"views", fmt::format("none: a view takes an operator out of its program, which must keep {} operators",
                                options_.placement.min_partition)});
    describe_ops(graph_, options_, placements_, out_);
    describe_fusion(kernels_, views_plan_, out_);
    place_tensors();
    for (std::size_t g = 0; g < schedule_.groups.size(); ++g)
      schedule_.groups[g].engine == Engine::kNpu ? add_npu_step(g) : add_host_steps(g);
    for (const TensorId id : graph_.outputs)
      if (graph_.tensor(id).constant) place_constant(graph_, id, out_.tensors, constants_);
    out_.constants = constants_.take();
    const std::vector<Action> all = actions();
    const MemoryUse use{graph_, out_, views_, all, options_.keep_all_tensors};
    auto problem = check_memory_plan(use);
    if (!problem) problem = check_programs(use);
    if (options_.trace && options_.trace->checked) options_.trace->checked(use);
    DEPUTY_CHECK(!problem, problem->c_str());
    if (options_.trace) explain_fusion(graph_, views_plan_, fusion_notes_, *options_.trace);
    if (options_.fallback)
      for (const arch::Step& step : out_.steps)  // programs are numbered in the order of their steps
        if (step.kind == arch::StepKind::kNpu) {
          DEPUTY_ASSIGN(auto file, compile_fallback(graph_, out_, step, options_));
          out_.fallbacks.push_back(std::move(file));
        }
    return std::move(out_);
  }

 private:
  struct Candidate {
    double cycles = 0;                   // by the search's costs
    std::vector<std::vector<Run>> runs;  // by group
    std::int64_t spm_kept = 0;
    bool ahead = false;
    bool as_best = false;                // `ahead` as the best before it has it
  };

  std::vector<FusionNote>* notes() { return options_.trace ? &fusion_notes_ : nullptr; }

  void place_tensors() {
    for (const Tensor& tensor : graph_.tensors) {
      arch::PlacedTensor placed;
      placed.desc = tensor.desc;
      placed.source_index = tensor.source_index;
      placed.constant = tensor.constant;
      out_.tensors.push_back(std::move(placed));
    }
    for (const TensorId id : graph_.inputs) out_.inputs.push_back(static_cast<std::uint32_t>(id));
    for (const TensorId id : graph_.outputs) out_.outputs.push_back(static_cast<std::uint32_t>(id));
    choose_runs();
    Placing placing = place_buffers(graph_, actions(), storage_wishes(), options_);
    views_ = tensor_views(placing);
    storage_ = std::move(placing.storage);
    const MemoryPlan& plan = placing.plan;
    out_.fast_arena_bytes = plan.fast.bytes, out_.slow_arena_bytes = plan.slow.bytes;
    fast_buffers_ = fast_buffers(plan);
    if (options_.trace)
      options_.trace->notes.push_back(
          {"memory", fmt::format("{}; {} results in place", plan_text(plan), placing.in_place)});
    describe_external(placing.external);
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      if (!views_[i].stored) continue;
      // The runtime copies tensors that are dense; the others it has no use for.
      if (!is_dense(views_[i], graph_.tensors[i].desc)) continue;
      out_.tensors[i].placement = arch::Placement::kRegion;
      out_.tensors[i].region = views_[i].at.region;
      out_.tensors[i].offset = views_[i].at.offset;
    }
    // Which group needs each buffer last, for the outputs of NPU steps.
    last_use_.assign(graph_.tensors.size(), 0);
    for (std::size_t g = 0; g < schedule_.groups.size(); ++g)
      for (const std::size_t op : schedule_.groups[g].ops)
        for (const TensorId id : graph_.ops[op].inputs)
          if (id != kNoTensor) last_use_[static_cast<std::size_t>(root(id))] = g;
    for (const TensorId id : graph_.outputs)
      last_use_[static_cast<std::size_t>(root(id))] = schedule_.groups.size();
  }

  void describe_external(const ExternalIo& external) {
    const bool sram = options_.io == IoPlacement::kSram;
    for (const ExternalBuffer& buffer : external.buffers)
      out_.externals.push_back({static_cast<std::uint32_t>(buffer.tensor),
                                static_cast<std::uint64_t>(graph_.tensor(buffer.tensor).desc.bytes()), buffer.written,
                                arch::kExternalAlign, sram ? arch::ExternalMemory::kSram : arch::ExternalMemory::kDram});
    if (options_.trace)
      for (const std::string& text : external.kept) options_.trace->notes.push_back({"memory", text});
  }

  // How the tensors share storage.
  StorageWishes storage_wishes() const {
    StorageWishes wishes;
    wishes.parts = views_plan_.parts;
    for (const std::size_t index : schedule_.order)
      if (placements_[index].engine == Engine::kAlias)
        wishes.aliases.emplace_back(graph_.ops[index].outputs[0], graph_.ops[index].inputs[0]);
    for (const std::vector<Kernel>& kernels : kernels_) {
      const std::vector<TensorId> inside = unstored_tensors(graph_, kernels);
      wishes.unstored.insert(wishes.unstored.end(), inside.begin(), inside.end());
    }
    for (std::size_t g = 0; g < kernels_.size(); ++g) wishes.rings.merge(rings_of(graph_, options_.numerics, kernels_[g], runs_[g]));
    return wishes;
  }

  // How the kernels run, and what their tilings leave and expect. Cascades pay where the fast arena overflows; room in
  // the scratchpad where constants can be staged (schedule/staging.h). The searches' own costs rank what they find; the
  // best of each kind are then compiled and timed.
  void choose_runs() {
    for (const std::vector<Kernel>& kernels : kernels_) runs_.push_back(single_runs(kernels.size()));
    if (options_.keep_all_tensors) return;
    const bool full = options_.effort == Effort::kFull, staging = options_.optimisations.staging && options_.optimisations.prefetch;
    storage_ = plan_storage(graph_, storage_wishes());
    external_ = external_io(graph_, storage_, options_.io);
    const std::vector<LiveRange> singly = live_ranges(graph_, actions(), storage_, false);
    const MemoryPlan plan = plan_with_external(singly, external_, options_.sram_bytes, Effort::kFast);
    const bool cascades = options_.optimisations.cascade && plan.slow.bytes > 0;
    if (!staging && !cascades) return;
    const std::int64_t room = staging ? staging_bytes(options_.npu) : 0;
    std::vector<Candidate> found = {{0, runs_, 0, false, false}};
    if (staging) found.push_back({0, runs_, room, true, false});
    if (cascades) {
      KernelCosts costs(graph_, options_, tilings_, room);
      const std::vector<CascadeStyle> styles = {{false, false}, {false, true}, {true, true}};
      found.resize(1);
      found.front().cycles = total_cycles(plan, costs, false);
      for (const CascadeStyle style : styles) {
        if (style.staged && !(staging && full)) continue;
        std::vector<Candidate> these = candidates(style, singly, costs);
        std::stable_sort(these.begin(), these.end(), [](const Candidate& a, const Candidate& b) { return a.cycles < b.cycles; });
        for (std::size_t i = 0; i < std::min(these.size(), style.staged ? kTrials / 3 : kTrials); ++i) {
          if (staging && i == 0 && !style.staged)
            for (const std::int64_t kept : {std::int64_t{0}, room})
              found.push_back(these[i]), found.back().spm_kept = kept, found.back().ahead = false;
          found.push_back(these[i]);
          found.back().spm_kept = room, found.back().ahead = staging, found.back().as_best = i > 0;
        }
      }
    }
    choose(found, full || !cascades);
  }

  // The cheapest, by its estimate or by trial; then, by trial, cascades of it with other stripes.
  void choose(std::vector<Candidate>& found, bool by_trial) {
    Candidate best;
    const auto offer = [&](Candidate candidate) {
      if (candidate.as_best) candidate.ahead = best.ahead;
      take(candidate);
      if (by_trial) candidate.cycles = trial();
      if (!best.runs.empty() && candidate.cycles >= best.cycles) return false;
      best = std::move(candidate);
      return true;
    };
    for (const Candidate& candidate : found) offer(candidate);
    int left = by_trial ? kMoreTrials : 0;
    for (std::size_t g = 0; g < best.runs.size(); ++g)
      for (std::size_t r = 0; r < best.runs[g].size(); ++r) {
        if (best.runs[g][r].count == 1) continue;
        const auto with = [&](std::int64_t step, bool skewed) {
          if (left-- <= 0) return false;
          Candidate other = best;
          other.runs[g][r].step = step, other.runs[g][r].skewed = skewed, other.as_best = false;
          return offer(std::move(other));
        };
        const Run run = best.runs[g][r];
        if (run.step > 1 && with(run.step / 2, run.skewed)) continue;
        with(std::max<std::int64_t>(1, run.step / 2), !run.skewed);
      }
    take(best);
  }
  void take(const Candidate& candidate) {
    runs_ = candidate.runs, spm_kept_ = candidate.spm_kept, ahead_ = candidate.ahead;
  }

  // What the search finds for each limit on the fast arena.
  std::vector<Candidate> candidates(CascadeStyle style, const std::vector<LiveRange>& singly, KernelCosts& costs) {
    std::vector<CascadePlanner> planners;  // by group
    std::ptrdiff_t action = 0;
    for (std::size_t g = 0; g < kernels_.size(); ++g) {
      planners.emplace_back(cascade_problem(g, action, singly, style), costs, static_cast<std::int64_t>(options_.sram_bytes));
      action += static_cast<std::ptrdiff_t>(schedule_.groups[g].engine == Engine::kNpu ? kernels_[g].size()
                                                                                      : schedule_.groups[g].ops.size());
    }
    std::vector<Candidate> out;
    std::set<std::vector<std::vector<Run>>> seen;
    for (const std::int64_t limit : cascade_limits(options_)) {
      for (std::size_t g = 0; g < kernels_.size(); ++g) runs_[g] = planners[g].runs(limit);
      if (!seen.insert(runs_).second) continue;
      const StorageMap storage = plan_storage(graph_, storage_wishes());
      const MemoryPlan plan = plan_with_external(live_ranges(graph_, actions(), storage, false), external_, options_.sram_bytes,
                                                 Effort::kFast);
      out.push_back({total_cycles(plan, costs, style.staged), runs_, 0, false, false});
    }
    return out;
  }

  double total_cycles(const MemoryPlan& plan, KernelCosts& costs, bool staged) const {
    std::set<TensorId> slow;
    for (const PlannedBuffer& buffer : plan.buffers)
      if (!region_in_sram(buffer.region, options_.io)) slow.insert(buffer.range.tensor);
    double sum = 0;
    for (std::size_t g = 0; g < kernels_.size(); ++g)
      sum += runs_cycles(graph_, options_.numerics, kernels_[g], runs_[g], costs, [&](TensorId id) { return !slow.contains(root(id)); }, staged);
    return sum;
  }

  // `action`: the position of the group's first kernel among the actions when all run singly.
  CascadeProblem cascade_problem(std::size_t g, std::ptrdiff_t action, const std::vector<LiveRange>& singly, CascadeStyle style) const {
    std::vector<int> sharers(graph_.tensors.size(), 0);  // by root
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) ++sharers[static_cast<std::size_t>(storage_.tensors[i].root)];
    std::set<TensorId> fixed(graph_.inputs.begin(), graph_.inputs.end());
    fixed.insert(graph_.outputs.begin(), graph_.outputs.end());
    const std::set<std::size_t> inside(schedule_.groups[g].ops.begin(), schedule_.groups[g].ops.end());
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (!inside.contains(i)) fixed.insert(graph_.ops[i].inputs.begin(), graph_.ops[i].inputs.end());
    CascadeProblem problem{graph_, options_, kernels_[g], [this](TensorId id) { return root(id); },
                           [this, sharers, fixed](TensorId id) {
                             return !fixed.contains(id) && root(id) == id && storage_.of(id).stored &&
                                    sharers[static_cast<std::size_t>(id)] == 1;
                           },
                           [this](TensorId id) { return external_.has(root(id)); },
                           std::vector<std::int64_t>(kernels_[g].size(), 0), style};
    std::set<TensorId> written;
    for (const Kernel& kernel : kernels_[g])
      for (const TensorId id : kernel.writes) written.insert(root(id));
    for (const LiveRange& range : singly) {
      if (written.contains(range.tensor) || external_.has(range.tensor)) continue;
      for (std::size_t k = 0; k < problem.others.size(); ++k) {
        const std::ptrdiff_t at = action + static_cast<std::ptrdiff_t>(k);
        if (range.begin <= at && at <= range.end) problem.others[k] += static_cast<std::int64_t>(range.bytes);
      }
    }
    return problem;
  }

  // What runs, in order: kernels and host operators.
  std::vector<Action> actions() const {
    std::vector<Action> out;
    for (std::size_t g = 0; g < schedule_.groups.size(); ++g) {
      for (const Run& run : runs_[g]) {
        Action action;
        for (std::size_t k = run.first; k < run.first + run.count; ++k) {
          const Kernel& kernel = kernels_[g][k];
          action.reads.insert(action.reads.end(), kernel.reads.begin(), kernel.reads.end());
          action.writes.insert(action.writes.end(), kernel.writes.begin(), kernel.writes.end());
          action.kernels.push_back(kernel.ops);
        }
        out.push_back(std::move(action));
      }
      // A program that failed half way is run again, or its fallback is: its operands stay as they were until its end.
      if (options_.fallback && !runs_[g].empty()) out.back().keeps = operands_.inputs(kernels_[g]);
      if (schedule_.groups[g].engine == Engine::kNpu) continue;
      for (const std::size_t op : schedule_.groups[g].ops)
        out.push_back({graph_.ops[op].inputs, graph_.ops[op].outputs, {{op}}, true});
    }
    return out;
  }

  // The position of a group's first action among actions().
  std::ptrdiff_t first_action(std::size_t g) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < g; ++i)
      at += schedule_.groups[i].engine == Engine::kNpu ? runs_[i].size() : schedule_.groups[i].ops.size();
    return static_cast<std::ptrdiff_t>(at);
  }

  TensorId root(TensorId id) const { return storage_.root(id); }

  std::uint32_t placed(TensorId id) const { return operands_.placed(id); }

  void add_host_steps(std::size_t g) {
    for (const std::size_t index : schedule_.groups[g].ops) {
      const Op& op = graph_.ops[index];
      arch::Step step;
      step.kind = arch::StepKind::kHost;
      step.source_op = static_cast<std::uint32_t>(index);
      step.attrs = op.attrs;
      for (const TensorId id : op.inputs) {
        if (id != kNoTensor && graph_.tensor(id).constant)
          place_constant(graph_, id, out_.tensors, constants_);
        step.inputs.push_back(id == kNoTensor ? arch::kNoTensor : static_cast<std::uint32_t>(id));
      }
      for (const TensorId id : op.outputs) step.outputs.push_back(static_cast<std::uint32_t>(id));
      out_.steps.push_back(std::move(step));
    }
  }

  // The instructions of one kernel, or of a cascade stripe by stripe.
  void emit(Lowering& context, const std::vector<Kernel>& kernels, const Run& run) {
    const auto kernel = [&](std::size_t i) -> const Kernel& { return kernels[run.first + i]; };
    const auto lower_rows = [&](std::size_t i, RowRange rows) {
      context.program.set_tag(static_cast<std::uint16_t>(kernel(i).main));
      if (options_.trace) {
        KernelTrace& trace = options_.trace->kernel(static_cast<std::uint32_t>(kernel(i).main));
        trace.ops.assign(kernel(i).ops.begin(), kernel(i).ops.end());
      }
      lower(context, kernel(i), rows);
    };
    if (run.count == 1) return lower_rows(0, {});
    for (const StripeStep& step : run_stripes(graph_, options_.numerics, kernels, run).order) lower_rows(step.stage, step.rows);
  }

  // The instructions of a group.
  void emit_group(Lowering& context, std::size_t g) {
    std::ptrdiff_t action = first_action(g);
    for (const Run& run : runs_[g]) {
      context.program.set_action(action++);
      emit(context, kernels_[g], run);
    }
  }
  StreamOptions stream_options(std::vector<LiveBuffer> live) const {
    return {options_.memory, options_.optimisations.prefetch, options_.io, options_.optimisations.staging, options_.sram_bytes, std::move(live)};
  }
  static std::vector<LiveBuffer> fast_buffers(const MemoryPlan& plan) {
    std::vector<LiveBuffer> out;
    for (const PlannedBuffer& buffer : plan.buffers)
      if (buffer.region == arch::Region::kFastArena)
        out.push_back({buffer.range.begin, buffer.range.end, buffer.offset, buffer.range.bytes});
    return out;
  }

  // The estimate of all programs if the kernels run as runs_ says: everything is placed and lowered, and thrown away.
  double trial() {
    CompileOptions quick = options_, quiet = options_;
    quick.effort = Effort::kFast, quick.trace = quiet.trace = nullptr;
    Placing placing = place_buffers(graph_, actions(), storage_wishes(), quick);
    const std::vector<TensorView> views = tensor_views(placing);
    std::vector<arch::PlacedTensor> tensors = out_.tensors;
    ConstantPool constants;
    double cycles = 0;
    for (std::size_t g = 0; g < kernels_.size(); ++g) {
      if (kernels_[g].empty()) continue;
      ProgramBuilder builder(options_.npu, stream_options(fast_buffers(placing.plan)));
      Lowering context{graph_, quiet, tensors, views, constants, builder, tilings_, spm_kept_, ahead_};
      emit_group(context, g);
      cycles += builder.finish(1).cycles;
    }
    return cycles;
  }

  void add_npu_step(std::size_t g) {
    if (kernels_[g].empty()) return;  // views left nothing to do
    ProgramBuilder builder(options_.npu, stream_options(fast_buffers_));
    Lowering context{graph_, options_, out_.tensors, views_, constants_, builder, tilings_, spm_kept_, ahead_};
    std::set<std::tuple<arch::Region, std::uint64_t, std::int64_t>> read;  // places
    std::set<std::uint32_t> outputs;
    arch::Step step;
    step.kind = arch::StepKind::kNpu;
    step.program = static_cast<std::uint32_t>(out_.programs.size());
    arch::Program program;
    emit_group(context, g);
    for (const Kernel& kernel : kernels_[g]) {
      for (const std::size_t op : kernel.ops)
        program.source_ops.push_back(static_cast<std::uint32_t>(op));
      for (const TensorId id : kernel.writes) {
        const bool used = last_use_[static_cast<std::size_t>(root(id))] > g;
        if ((options_.keep_all_tensors || used) && outputs.insert(placed(id)).second)
          step.outputs.push_back(placed(id));
      }
    }
    operands_.drop_overwritten(step.outputs);
    for (const TensorId id : operands_.inputs(kernels_[g])) {
      const arch::PlacedTensor& place = out_.tensors[placed(id)];
      const bool fresh = read.emplace(place.region, place.offset, place.desc.bytes()).second;
      // A fallback needs each by its name.
      if (options_.fallback ? !std::count(step.inputs.begin(), step.inputs.end(), placed(id)) : fresh)
        step.inputs.push_back(placed(id));
    }
    Stream stream = builder.finish();
    program.words = std::move(stream.words);
    out_.fast_arena_bytes = std::max(out_.fast_arena_bytes, arena_bytes(stream.staged_top));
    out_.programs.push_back(std::move(program));
    out_.steps.push_back(std::move(step));
  }

  const Graph& graph_;
  const CompileOptions& options_;
  std::vector<OpPlacement> placements_;
  Schedule schedule_;
  std::vector<FusionNote> fusion_notes_;
  ViewPlan views_plan_;
  std::vector<std::vector<Kernel>> kernels_;  // by group; empty for the CPU's
  std::int64_t spm_kept_ = 0;                 // TransferRates
  bool ahead_ = false;
  std::vector<std::vector<Run>> runs_;        // by group: which kernels run together
  ExternalIo external_;                       // while cascades are chosen
  std::vector<LiveBuffer> fast_buffers_;      // of the memory plan
  StorageMap storage_;                        // which buffer each tensor lies in
  std::vector<TensorView> views_;             // of every tensor that is no constant
  ConstantPool constants_;
  TilingCache tilings_;
  std::vector<std::size_t> last_use_;  // by root tensor: the last group that reads it
  arch::Executable out_;
  ProgramOperands operands_;
};

}  // namespace

base::Result<arch::Executable> compile(const Graph& graph, const CompileOptions& options) {
  DEPUTY_TRY(validate(graph));
  std::optional<Graph> without;
  if (options.optimisations.views && !options.keep_all_tensors && options.engine != EnginePolicy::kCpu)
    without = cancel_transposes(graph);
  // A cancelled transpose is an alias, which no rule of the user's can place on an engine.
  if (without && !options.placement.rules.empty()) {
    without.reset();
    if (options.trace)
      options.trace->notes.push_back({"views", "transposes are not cancelled, because there are rules for the placement"});
  }
  if (!without) return Compiler(graph, options).run();
  DEPUTY_ASSIGN(arch::Executable out, Compiler(*without, options).run());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) out.ops[i].kind = graph.ops[i].kind;
  return out;
}

}  // namespace deputy::delegate
