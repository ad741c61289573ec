#include "delegate/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/check.h"
#include "delegate/cascade/choose_runs.h"
#include "delegate/codegen/lower.h"
#include "delegate/contract/convert.h"
#include "delegate/describe.h"
#include "delegate/dsp/dsp_jobs.h"
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
    // A view takes an operator out of its program, which would then be smaller than the user
    // allows.
    if (options_.placement.min_partition <= 1)
      views_plan_ = plan_views(graph_, options_, placements_, kernels_);
    else if (options_.trace && options_.optimisations.views)
      options_.trace->notes.push_back(
          {"views",
           fmt::format(
               "none: a view takes an operator out of its program, which must keep {} operators",
               options_.placement.min_partition)});
    describe_ops(graph_, options_, placements_, out_);
    describe_fusion(kernels_, views_plan_, out_);
    place_tensors();
    for (std::size_t g = 0; g < schedule_.groups.size(); ++g)
      schedule_.groups[g].engine == Engine::kNpu ? add_npu_step(g) : add_host_steps(g);
    for (const TensorId id : graph_.outputs)
      if (graph_.tensor(id).constant) place_constant(graph_, id, out_.tensors, constants_);
    DEPUTY_TRY(dsp_jobs_.finish(graph_, options_, constants_, out_));
    out_.constants = constants_.take();
    const std::vector<Action> all = actions();
    const MemoryUse use{graph_, out_, views_, all, options_.keep_all_tensors};
    auto problem = check_memory_plan(use);
    if (!problem) problem = check_programs(use);
    if (options_.trace && options_.trace->checked) options_.trace->checked(use);
    DEPUTY_CHECK(!problem, problem->c_str());
    if (options_.trace) explain_fusion(graph_, views_plan_, fusion_notes_, *options_.trace);
    if (options_.fallback)
      for (const arch::Step& step :
           out_.steps)  // programs are numbered in the order of their steps
        if (step.kind == arch::StepKind::kNpu) {
          DEPUTY_ASSIGN(auto file, compile_fallback(graph_, out_, step, options_));
          out_.fallbacks.push_back(std::move(file));
        }
    return std::move(out_);
  }

 private:
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
    if (options_.keep_all_tensors)
      for (const std::vector<Kernel>& kernels : kernels_)
        how_.runs.push_back(single_runs(kernels.size()));
    else
      adopt(choose_runs(graph_, options_, schedule_, kernels_, tilings_,
                        {[this](const RunChoice& how) { return adopt(how), storage_wishes(); },
                         [this](const RunChoice& how) { return adopt(how), actions(); },
                         [this](const RunChoice& how) { return adopt(how), trial(); }}));
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
      out_.externals.push_back(
          {static_cast<std::uint32_t>(buffer.tensor),
           static_cast<std::uint64_t>(graph_.tensor(buffer.tensor).desc.bytes()), buffer.written,
           arch::kExternalAlign, sram ? arch::ExternalMemory::kSram : arch::ExternalMemory::kDram});
    if (options_.trace)
      for (const std::string& text : external.kept)
        options_.trace->notes.push_back({"memory", text});
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
    for (std::size_t g = 0; g < kernels_.size(); ++g)
      wishes.rings.merge(rings_of(graph_, options_.numerics, kernels_[g], how_.runs[g]));
    return wishes;
  }

  void adopt(RunChoice how) { how_ = std::move(how); }

  // What runs, in order: kernels and host operators.
  std::vector<Action> actions() const {
    std::vector<Action> out;
    for (std::size_t g = 0; g < schedule_.groups.size(); ++g) {
      for (const Run& run : how_.runs[g]) {
        Action action;
        for (std::size_t k = run.first; k < run.first + run.count; ++k) {
          const Kernel& kernel = kernels_[g][k];
          action.reads.insert(action.reads.end(), kernel.reads.begin(), kernel.reads.end());
          action.writes.insert(action.writes.end(), kernel.writes.begin(), kernel.writes.end());
          action.kernels.push_back(kernel.ops);
        }
        out.push_back(std::move(action));
      }
      // A program that failed half way is run again, or its fallback is: its operands stay as they
      // were until its end.
      if (options_.fallback && !how_.runs[g].empty())
        out.back().keeps = operands_.inputs(kernels_[g]);
      if (schedule_.groups[g].engine == Engine::kNpu) continue;
      for (const std::size_t op : schedule_.groups[g].ops)
        out.push_back({graph_.ops[op].inputs, graph_.ops[op].outputs, {{op}}, true});
    }
    return out;
  }

  // The position of a group's first action among actions().
  std::ptrdiff_t first_action(std::size_t g) const {
    std::ptrdiff_t at = 0;
    for (std::size_t i = 0; i < g; ++i) at += action_count(schedule_.groups[i], how_.runs[i]);
    return at;
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
      if (schedule_.groups[g].engine == Engine::kDsp) step.dsp_job = dsp_jobs_.add(op);
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
    for (const StripeStep& step : run_stripes(graph_, options_.numerics, kernels, run).order)
      lower_rows(step.stage, step.rows);
  }

  // The instructions of a group.
  void emit_group(Lowering& context, std::size_t g) {
    std::ptrdiff_t action = first_action(g);
    for (const Run& run : how_.runs[g]) {
      context.program.set_action(action++);
      emit(context, kernels_[g], run);
    }
  }
  StreamOptions stream_options(std::vector<LiveBuffer> live, int passes) const {
    return {options_.memory,
            options_.optimisations.prefetch,
            options_.io,
            options_.optimisations.staging,
            options_.sram_bytes,
            std::move(live),
            passes};
  }
  static std::vector<LiveBuffer> fast_buffers(const MemoryPlan& plan) {
    std::vector<LiveBuffer> out;
    for (const PlannedBuffer& buffer : plan.buffers)
      if (buffer.region == arch::Region::kFastArena)
        out.push_back({buffer.range.begin, buffer.range.end, buffer.offset, buffer.range.bytes});
    return out;
  }

  // The estimate of all programs as the kernels run now: everything is placed and lowered, and
  // thrown away.
  Trial trial() {
    CompileOptions quick = options_, quiet = options_;
    quick.effort = Effort::kFast, quick.trace = quiet.trace = nullptr;
    Placing placing = place_buffers(graph_, actions(), storage_wishes(), quick);
    const std::vector<TensorView> views = tensor_views(placing);
    std::vector<arch::PlacedTensor> tensors = out_.tensors;
    ConstantPool constants;
    Trial out;
    for (const PlannedBuffer& buffer : placing.plan.buffers)
      if (!region_in_sram(buffer.region, options_.io)) out.slow_bytes += buffer.range.traffic;
    for (std::size_t g = 0; g < kernels_.size(); ++g) {
      if (kernels_[g].empty()) continue;
      ProgramBuilder builder(options_.npu, stream_options(fast_buffers(placing.plan), 1));
      Lowering context{graph_,  quiet,    tensors, views,         constants,
                       builder, tilings_, codes_,  how_.spm_kept, how_.ahead};
      emit_group(context, g);
      out.cycles += builder.finish().cycles;
    }
    return out;
  }

  void add_npu_step(std::size_t g) {
    if (kernels_[g].empty()) return;  // views left nothing to do
    ProgramBuilder builder(options_.npu,
                           stream_options(fast_buffers_, options_.effort == Effort::kFull ? 4 : 1));
    Lowering context{graph_,  options_, out_.tensors, views_,        constants_,
                     builder, tilings_, codes_,       how_.spm_kept, how_.ahead};
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
      if (options_.fallback ? !std::count(step.inputs.begin(), step.inputs.end(), placed(id))
                            : fresh)
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
  RunChoice how_;                             // the kernels run
  std::vector<LiveBuffer> fast_buffers_;      // of the memory plan
  StorageMap storage_;                        // which buffer each tensor lies in
  std::vector<TensorView> views_;             // of every tensor that is no constant
  FittedCodes codes_;
  ConstantPool constants_;
  DspJobs dsp_jobs_;
  TilingCache tilings_;
  std::vector<std::size_t> last_use_;  // by root tensor: the last group that reads it
  arch::Executable out_;
  ProgramOperands operands_;
};

}  // namespace

namespace {

base::Result<arch::Executable> compile_as_it_is(const Graph& graph, const CompileOptions& options) {
  std::optional<Graph> without;
  if (options.optimisations.views && !options.keep_all_tensors &&
      options.engine != EnginePolicy::kCpu)
    without = cancel_transposes(graph);
  // A cancelled transpose is an alias, which no rule of the user's can place on an engine.
  if (without && !options.placement.rules.empty()) {
    without.reset();
    if (options.trace)
      options.trace->notes.push_back(
          {"views", "transposes are not cancelled, because there are rules for the placement"});
  }
  if (!without) return Compiler(graph, options).run();
  DEPUTY_ASSIGN(arch::Executable out, Compiler(*without, options).run());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) out.ops[i].kind = graph.ops[i].kind;
  return out;
}

}  // namespace

base::Result<arch::Executable> compile(const Graph& graph, const CompileOptions& options) {
  DEPUTY_TRY(validate(graph));
  if (options.contract == ContractPolicy::kCpu) return compile_as_it_is(graph, options);
  if (options.contract == ContractPolicy::kReject) {
    const auto mismatches = check_contract(graph, options);
    if (mismatches.empty()) return compile_as_it_is(graph, options);
    const Mismatch& m = mismatches[0];
    return base::Error{
        base::ErrorKind::kUnsupported, op_label(graph, graph.ops[m.op]),
        fmt::format("{} tensors are not as the NPU's contract wants them; the first: {} ({})",
                    mismatches.size(), m.required, m.found),
        m.remedy + "; 'deputy check' lists all"};
  }
  const Converted converted = convert_to_contract(graph, options);
  if (options.trace)
    for (const Conversion& c : converted.conversions)
      options.trace->notes.push_back(
          {"contract", fmt::format("{}: {}", op_label(graph, graph.ops[c.op]), c.text)});
  return compile_as_it_is(converted.graph, options);
}

}  // namespace deputy::delegate
