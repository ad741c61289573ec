#include "delegate/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "delegate/codegen/lower.h"
#include "delegate/fusion/kernel.h"
#include "delegate/partition/placement.h"
#include "delegate/partition/schedule.h"
#include "delegate/passes/check_memory_plan.h"
#include "delegate/passes/place_buffers.h"

namespace deputy::delegate {
namespace {

constexpr std::size_t kMaxOps = 65536;  // the width of an instruction's tag

class Compiler {
 public:
  Compiler(const Graph& graph, const CompileOptions& options) : graph_(graph), options_(options) {}

  base::Result<arch::Executable> run() {
    if (graph_.ops.size() > kMaxOps)
      return base::Error{base::ErrorKind::kUnsupported, graph_.name,
                         fmt::format("{} operators", graph_.ops.size()),
                         fmt::format("the limit is {}", kMaxOps)};
    DEPUTY_ASSIGN(placements_, place_ops(graph_, options_));
    schedule_ = make_schedule(graph_, placements_);
    if (options_.engine == EnginePolicy::kAuto &&
        demote_small_groups(graph_, schedule_, placements_))
      schedule_ = make_schedule(graph_, placements_);
    for (const Group& group : schedule_.groups)
      kernels_.push_back(group.engine == Engine::kNpu
                             ? plan_kernels(graph_, group, options_, tilings_, notes())
                             : std::vector<Kernel>());
    describe_ops();
    describe_fusion();
    place_tensors();
    for (std::size_t g = 0; g < schedule_.groups.size(); ++g)
      schedule_.groups[g].engine == Engine::kNpu ? add_npu_step(g) : add_host_steps(g);
    for (const TensorId id : graph_.outputs)
      if (graph_.tensor(id).constant) place_constant(graph_, id, out_.tensors, constants_);
    out_.constants = constants_.take();
    const auto problem =
        check_memory_plan({graph_, out_, views_, actions(), options_.keep_all_tensors});
    DEPUTY_CHECK(!problem, problem->c_str());
    if (options_.trace) explain_fusion();
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
    Placing placing = place_buffers(graph_, actions(), storage_wishes(), options_);
    views_ = tensor_views(placing);
    storage_ = std::move(placing.storage);
    const MemoryPlan& plan = placing.plan;
    out_.fast_arena_bytes = plan.fast.bytes, out_.slow_arena_bytes = plan.slow.bytes;
    if (options_.trace)
      options_.trace->notes.push_back(
          {"memory", fmt::format("{}; {} results in place", plan_text(plan), placing.in_place)});
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

  // How the tensors share storage.
  StorageWishes storage_wishes() const {
    StorageWishes wishes;
    for (const std::size_t index : schedule_.order)
      if (placements_[index].engine == Engine::kAlias)
        wishes.aliases.emplace_back(graph_.ops[index].outputs[0], graph_.ops[index].inputs[0]);
    for (const std::vector<Kernel>& kernels : kernels_) {
      const std::vector<TensorId> inside = unstored_tensors(graph_, kernels);
      wishes.unstored.insert(wishes.unstored.end(), inside.begin(), inside.end());
    }
    return wishes;
  }

  // What runs, in order: kernels and host operators.
  std::vector<Action> actions() const {
    std::vector<Action> out;
    for (std::size_t g = 0; g < schedule_.groups.size(); ++g) {
      for (const Kernel& kernel : kernels_[g])
        out.push_back({kernel.reads, kernel.writes, {kernel.ops}, false});
      if (schedule_.groups[g].engine == Engine::kNpu) continue;
      for (const std::size_t op : schedule_.groups[g].ops)
        out.push_back({graph_.ops[op].inputs, graph_.ops[op].outputs, {{op}}, true});
    }
    return out;
  }

  TensorId root(TensorId id) const { return storage_.root(id); }

  // The tensor that stands for `id` in a step: parts without a dense place are named by their
  // whole.
  std::uint32_t placed(TensorId id) const {
    const bool own =
        out_.tensors[static_cast<std::size_t>(id)].placement == arch::Placement::kRegion;
    return static_cast<std::uint32_t>(own ? id : root(id));
  }

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

  void add_npu_step(std::size_t g) {
    ProgramBuilder builder(options_.npu, {options_.memory, options_.optimisations.prefetch});
    Lowering context{graph_, options_, out_.tensors, views_, constants_, builder, tilings_};
    std::set<TensorId> written, read;
    std::set<std::uint32_t> outputs;
    arch::Step step;
    step.kind = arch::StepKind::kNpu;
    step.program = static_cast<std::uint32_t>(out_.programs.size());
    arch::Program program;
    for (const Kernel& kernel : kernels_[g]) {
      builder.set_tag(static_cast<std::uint16_t>(kernel.main));
      if (options_.trace) {
        KernelTrace& trace = options_.trace->kernel(static_cast<std::uint32_t>(kernel.main));
        trace.ops.assign(kernel.ops.begin(), kernel.ops.end());
      }
      lower(context, kernel);
      for (const std::size_t op : kernel.ops)
        program.source_ops.push_back(static_cast<std::uint32_t>(op));
      for (const TensorId id : kernel.reads)
        if (!graph_.tensor(id).constant && read.insert(root(id)).second &&
            !written.contains(root(id)))
          step.inputs.push_back(placed(id));
      for (const TensorId id : kernel.writes) {
        written.insert(root(id));
        const bool used = last_use_[static_cast<std::size_t>(root(id))] > g;
        if ((options_.keep_all_tensors || used) && outputs.insert(placed(id)).second)
          step.outputs.push_back(placed(id));
      }
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
  std::vector<std::vector<Kernel>> kernels_;  // by group; empty for the CPU's
  StorageMap storage_;                        // which buffer each tensor lies in
  std::vector<TensorView> views_;             // of every tensor that is no constant
  ConstantPool constants_;
  TilingCache tilings_;
  std::vector<std::size_t> last_use_;  // by root tensor: the last group that reads it
  arch::Executable out_;
};

}  // namespace

base::Result<arch::Executable> compile(const Graph& graph, const CompileOptions& options) {
  DEPUTY_TRY(validate(graph));
  return Compiler(graph, options).run();
}

}  // namespace deputy::delegate
