#include "delegate/partition/placement.h"

#include <fmt/format.h>

#include "delegate/dsp/dsp_ops.h"
#include "delegate/fusion/kernel.h"
#include "delegate/ops/constraints.h"
#include "delegate/partition/engine_cost.h"
#include "delegate/partition/explain.h"
#include "delegate/partition/schedule.h"
#include "delegate/partition/search.h"

namespace deputy::delegate {
namespace {

using base::Error;
using base::ErrorKind;

class Placer {
 public:
  Placer(const Graph& graph, const CompileOptions& options, TilingCache& tilings)
      : graph_(graph), options_(options), tilings_(tilings) {}

  base::Result<Placement> run() {
    DEPUTY_TRY(ask_engines());
    std::vector<bool> alias;
    for (const EngineAnswers& a : answers_) alias.push_back(a.alias);
    problem_ = dataflow(graph_, alias);
    add_costs();
    if (by_cost()) add_joins();
    const auto partition = find_partition(problem_);
    if (!partition) return no_solution();
    Placement out;
    out.schedule = schedule_of(*partition);
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) out.ops.push_back(placed(*partition, i));
    if (options_.trace)
      explain_partition({graph_, options_, problem_, *partition, answers_}, *options_.trace);
    return out;
  }

 private:
  bool by_cost() const {
    return options_.engine == EnginePolicy::kAuto && options_.optimisations.placement;
  }

  // Why each engine does not take an operator: its own rules, the user's, the policy.
  base::Status ask_engines() {
    DEPUTY_ASSIGN(const auto allowed,
                  allowed_engines(graph_, options_.placement.rules, options_.dsp.present));
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const Op& op = graph_.ops[i];
      const Allowed& a = allowed[i];
      EngineAnswers answer;
      const std::optional<std::string> npu = npu_refusal(graph_, op, options_);
      const std::optional<std::string> cpu = cpu_refusal(graph_, op);
      const bool forced_dsp = a.dsp && !a.cpu && !a.npu;
      answer.dsp = dsp_answer(op, a, forced_dsp);
      if (forced_dsp && !answer.dsp.empty())
        return Error{ErrorKind::kUnsupported, op_label(graph_, op),
                     fmt::format("{}, but the DSP does not take it: {}", a.cpu_rule, answer.dsp),
                     "drop the rule"};
      if (!a.cpu && npu && !answer.dsp.empty())
        return Error{ErrorKind::kUnsupported, op_label(graph_, op),
                     fmt::format("{}, but the NPU does not take it: {}", a.cpu_rule, *npu),
                     "drop the rule"};
      if (!a.npu && cpu && !answer.dsp.empty())
        return Error{ErrorKind::kUnsupported, op_label(graph_, op),
                     fmt::format("{}, but the CPU does not take it: {}", a.npu_rule, *cpu),
                     "drop the rule"};
      answer.npu = npu.value_or(""), answer.cpu = cpu.value_or("");
      if (!a.npu) answer.npu = a.npu_rule;
      if (!a.cpu) answer.cpu = a.cpu_rule;
      // A rule for an operator counts for more than the policy for all.
      if (options_.engine == EnginePolicy::kCpu && answer.npu.empty() && a.cpu)
        answer.npu = "the CPU was asked for (engine cpu)";
      else if (!by_cost() && answer.npu.empty() && answer.cpu.empty())
        answer.cpu = "the NPU takes it and comes first";
      if (!answer.npu.empty() && !answer.cpu.empty() && !answer.dsp.empty())
        return Error{ErrorKind::kUnsupported, op_label(graph_, op),
                     fmt::format("no engine takes it. NPU: {}. CPU: {}", answer.npu, answer.cpu),
                     "quantise the whole model to int8, or keep it all float"};
      answer.alias = is_alias_kind(op.kind) && answer.npu.empty();
      answers_.push_back(std::move(answer));
    }
    return {};
  }

  // Why the DSP does not take an operator; empty: it does. Only its cost or a rule places one
  // there.
  std::string dsp_answer(const Op& op, const Allowed& a, bool forced) const {
    if (!options_.dsp.present) return "there is no DSP";
    if (!a.dsp) return a.dsp_rule;
    if (!forced && !by_cost()) return "another engine was asked for";
    if (!forced && (options_.placement.min_partition > 1 ||
                    options_.placement.max_partitions <= graph_.ops.size()))
      return "limits of partitions are the NPU's";
    return dsp_refusal(graph_, op, options_).value_or("");
  }

  void add_costs() {
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      if (answers_[i].alias) continue;
      const Op& op = graph_.ops[i];
      PartitionOp& out = problem_.ops[i];
      if (answers_[i].cpu.empty()) out.cost[kHost] = cpu_cost(graph_, op, options_);
      if (answers_[i].npu.empty())
        // Without a choice to make, nobody needs the tile search's answer early.
        out.cost[kNpu] = by_cost() || options_.trace ? npu_cost(graph_, op, options_, tilings_) : 0;
    }
    if (options_.dsp.present) problem_.engines = 3;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (!answers_[i].alias && answers_[i].dsp.empty())
        problem_.ops[i].cost[kDsp] = dsp_cost(graph_, graph_.ops[i], options_);
    problem_.launch[kNpu] = npu_launch_cost(options_);
    const Cost call = boundary_call_cost(options_), byte = boundary_byte_cost(options_);
    problem_.boundary_value[kHost][kNpu] = problem_.boundary_value[kNpu][kHost] = call;
    problem_.boundary_byte[kHost][kNpu] = problem_.boundary_byte[kNpu][kHost] = byte;
    problem_.boundary_value[kHost][kDsp] = problem_.boundary_value[kDsp][kHost] = call;
    problem_.boundary_byte[kHost][kDsp] = problem_.boundary_byte[kDsp][kHost] = byte;
    // All engines keep a tensor in the same form: there is nothing to convert at a boundary. The
    // runtime waits for each step before it starts the next: nothing overlaps.
    problem_.overlap_percent = 0;
    problem_.limits = {options_.placement.min_partition, options_.placement.max_partitions};
  }

  // What fusion would save if everything the NPU takes ran there: a fused operator costs its
  // computation only.
  void add_joins() {
    std::vector<OpPlacement> everything;
    for (const EngineAnswers& a : answers_)
      everything.push_back({a.alias         ? Engine::kAlias
                            : a.npu.empty() ? Engine::kNpu
                                            : Engine::kCpu,
                            ""});
    for (const Group& group : make_schedule(graph_, everything).groups) {
      if (group.engine != Engine::kNpu) continue;
      for (const Kernel& kernel : plan_kernels(graph_, group, options_, tilings_))
        for (const std::size_t op : kernel.ops) {
          if (op == kernel.main || answers_[op].alias || answers_[kernel.main].alias) continue;
          const Cost alone = problem_.ops[op].cost[kNpu];
          const Cost saving = alone - npu_compute_cost(graph_, graph_.ops[op], options_);
          if (saving > 0) problem_.joins.push_back({kernel.main, op, kNpu, saving});
        }
    }
  }

  OpPlacement placed(const Partition& partition, std::size_t i) const {
    const EngineAnswers& a = answers_[i];
    if (a.alias) return {Engine::kAlias, ""};
    if (partition.engine[i] == kNpu) return {Engine::kNpu, ""};
    if (partition.engine[i] == kDsp) return {Engine::kDsp, dsp_reason(i)};
    if (!a.npu.empty()) return {Engine::kCpu, a.npu};
    const PartitionOp& op = problem_.ops[i];
    return {Engine::kCpu,
            fmt::format("chosen by cost: about {} NPU cycles on the CPU, {} on the NPU, {} for a "
                        "launch",
                        npu_cycles(op.cost[kHost], options_), npu_cycles(op.cost[kNpu], options_),
                        npu_cycles(problem_.launch[kNpu], options_))};
  }

  std::string dsp_reason(std::size_t i) const {
    const EngineAnswers& a = answers_[i];
    const PartitionOp& op = problem_.ops[i];
    const auto cost = [&](std::size_t engine, const std::string& refused) {
      return refused.empty() ? fmt::format("about {}", npu_cycles(op.cost[engine], options_))
                             : "refused";
    };
    return fmt::format("on the DSP: about {} NPU cycles there, CPU {}, NPU {}",
                       npu_cycles(op.cost[kDsp], options_), cost(kHost, a.cpu),
                       a.npu.empty() ? cost(kNpu, "") : a.npu);
  }

  Error no_solution() const {
    const PlacementLimits& l = options_.placement;
    std::string limits;
    if (l.min_partition > 1) limits += fmt::format("--min-partition {}", l.min_partition);
    if (l.max_partitions <= graph_.ops.size())
      limits +=
          fmt::format("{}--max-partitions {}", limits.empty() ? "" : " and ", l.max_partitions);
    std::size_t bound = 0;
    for (const EngineAnswers& a : answers_) bound += !a.alias && !a.cpu.empty();
    return Error{ErrorKind::kUsage, graph_.name,
                 fmt::format("no placement found that meets {}: {} operators must run on the NPU",
                             limits, bound),
                 by_cost()
                     ? "loosen the limits or drop --force rules"
                     : "loosen the limits, or let operators move to the CPU with --engine auto"};
  }

  const Graph& graph_;
  const CompileOptions& options_;
  TilingCache& tilings_;
  std::vector<EngineAnswers> answers_;
  PartitionProblem problem_;
};

}  // namespace

base::Result<Placement> place(const Graph& graph, const CompileOptions& options,
                              TilingCache& tilings) {
  return Placer(graph, options, tilings).run();
}

}  // namespace deputy::delegate
