#include "delegate/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/check.h"
#include "delegate/cascade/plan.h"
#include "delegate/codegen/lower.h"
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
    describe_ops();
    describe_fusion();
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
    if (options_.trace) explain_fusion();
    if (options_.fallback)
      for (const arch::Step& step : out_.steps)  // programs are numbered in the order of their steps
        if (step.kind == arch::StepKind::kNpu) {
          DEPUTY_ASSIGN(auto file, compile_fallback(graph_, out_, step, options_));
          out_.fallbacks.push_back(std::move(file));
        }
    return std::move(out_);
  }

 private:
  void describe_ops() {
    out_.model_name = graph_.name;
    out_.numerics = options_.numerics;
    out_.target = options_.npu;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const Op& op = graph_.ops[i];
      arch::SourceOp source;
      source.name = graph_.tensor(op.outputs[0]).desc.name;
      source.kind = op.kind;
      source.source_index = op.source_index;
      source.on_npu = placements_[i].engine != Engine::kCpu;
      source.aliased = placements_[i].engine == Engine::kAlias;
      source.reason = placements_[i].reason;
      source.macs = op_macs(graph_, op);
      out_.ops.push_back(std::move(source));
    }
  }

  std::vector<FusionNote>* notes() { return options_.trace ? &fusion_notes_ : nullptr; }

  void explain_fusion() {
    for (const FusionNote& note : views_plan_.notes)
      options_.trace->notes.push_back(
          {"views", fmt::format("{}: {}", op_label(graph_, graph_.ops[note.op]), note.text)});
    for (const FusionNote& note : fusion_notes_)
      options_.trace->kernel(static_cast<std::uint32_t>(note.into))
          .notes.push_back(
              {"fusion", fmt::format("{} {}: {}", op_label(graph_, graph_.ops[note.op]),
                                     note.done ? "is fused" : "is not fused", note.text)});
  }

  void describe_fusion() {
    for (const std::vector<Kernel>& kernels : kernels_)
      for (const Kernel& kernel : kernels)
        for (const std::size_t op : kernel.ops)
          if (op != kernel.main) out_.ops[op].fused_into = static_cast<std::int32_t>(kernel.main);
    for (const std::size_t op : views_plan_.elided) out_.ops[op].aliased = true;
  }

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

  // Which kernels run as cascades. That pays where the fast arena overflows.
  void choose_runs() {
    for (const std::vector<Kernel>& kernels : kernels_) runs_.push_back(single_runs(kernels.size()));
    if (!options_.optimisations.cascade || options_.keep_all_tensors) return;
    storage_ = plan_storage(graph_, storage_wishes());
    external_ = external_io(graph_, storage_, options_.io);
    const std::vector<LiveRange> singly = live_ranges(graph_, actions(), storage_, false);
    MemoryPlan plan = plan_with_external(singly, external_, options_.sram_bytes, Effort::kFast);
    if (plan.slow.bytes == 0) return;
    KernelCosts costs(graph_, options_, tilings_);
    std::vector<std::vector<Run>> best = runs_;
    double least = total_cycles(plan, costs);
    std::vector<CascadePlanner> planners;  // by group
    std::ptrdiff_t action = 0;
    for (std::size_t g = 0; g < kernels_.size(); ++g) {
      planners.emplace_back(cascade_problem(g, action, singly), costs, static_cast<std::int64_t>(options_.sram_bytes));
      action += static_cast<std::ptrdiff_t>(schedule_.groups[g].engine == Engine::kNpu ? kernels_[g].size()
                                                                                      : schedule_.groups[g].ops.size());
    }
    std::set<std::vector<std::vector<Run>>> seen;
    for (const std::int64_t limit : cascade_limits(options_)) {
      for (std::size_t g = 0; g < kernels_.size(); ++g) runs_[g] = planners[g].runs(limit);
      if (!seen.insert(runs_).second) continue;
      const StorageMap storage = plan_storage(graph_, storage_wishes());
      plan = plan_with_external(live_ranges(graph_, actions(), storage, false), external_, options_.sram_bytes,
                                Effort::kFast);
      const double cycles = total_cycles(plan, costs);
      if (cycles < least) least = cycles, best = runs_;
    }
    runs_ = std::move(best);
  }

  double total_cycles(const MemoryPlan& plan, KernelCosts& costs) const {
    std::set<TensorId> slow;
    for (const PlannedBuffer& buffer : plan.buffers)
      if (!region_in_sram(buffer.region, options_.io)) slow.insert(buffer.range.tensor);
    double sum = 0;
    for (std::size_t g = 0; g < kernels_.size(); ++g)
      sum += runs_cycles(graph_, options_.numerics, kernels_[g], runs_[g], costs, [&](TensorId id) { return !slow.contains(root(id)); });
    return sum;
  }

  // `action`: the position of the group's first kernel among the actions when all run singly.
  CascadeProblem cascade_problem(std::size_t g, std::ptrdiff_t action, const std::vector<LiveRange>& singly) const {
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
                           std::vector<std::int64_t>(kernels_[g].size(), 0)};
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
    const Stripes stripes = run_stripes(graph_, options_.numerics, kernels, run);
    for (const std::vector<RowRange>& stripe : stripes.rows)
      for (std::size_t i = 0; i < run.count; ++i)
        if (stripe[i].end > stripe[i].begin) lower_rows(i, stripe[i]);
  }

  void add_npu_step(std::size_t g) {
    if (kernels_[g].empty()) return;  // views left nothing to do
    ProgramBuilder builder(options_.npu, {options_.memory, options_.optimisations.prefetch, options_.io});
    Lowering context{graph_, options_, out_.tensors, views_, constants_, builder, tilings_};
    std::set<std::tuple<arch::Region, std::uint64_t, std::int64_t>> read;  // places
    std::set<std::uint32_t> outputs;
    arch::Step step;
    step.kind = arch::StepKind::kNpu;
    step.program = static_cast<std::uint32_t>(out_.programs.size());
    arch::Program program;
    for (const Run& run : runs_[g]) emit(context, kernels_[g], run);
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
    program.words = builder.finish();
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
  std::vector<std::vector<Run>> runs_;        // by group: which kernels run together
  ExternalIo external_;                       // while cascades are chosen
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
