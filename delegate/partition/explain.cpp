#include "delegate/partition/explain.h"

#include <fmt/format.h>

#include "arch/engine.h"
#include "delegate/partition/engine_cost.h"
#include "delegate/partition/search.h"

namespace deputy::delegate {
namespace {

constexpr std::size_t kOutside = PartitionValue::kOutside;
// The problem's numbers of engines are those of arch::Engine.
const char* engine_name(std::size_t engine) {
  return arch::engine_word(static_cast<arch::Engine>(engine));
}
const char* engine_title(std::size_t engine) {
  return arch::engine_title(static_cast<arch::Engine>(engine));
}
static_assert(kHost == static_cast<std::size_t>(arch::Engine::kCpu) &&
              kNpu == static_cast<std::size_t>(arch::Engine::kNpu) &&
              kDsp == static_cast<std::size_t>(arch::Engine::kDsp));

class Explainer {
 public:
  Explainer(const ExplainedPartition& p, CompileTrace& trace)
      : p_(p), trace_(trace), group_(p.graph.ops.size(), 0) {
    for (std::size_t g = 0; g < p.partition.groups.size(); ++g)
      for (const std::size_t op : p.partition.groups[g].ops) group_[op] = g;
    // An alias is where what it reads is.
    for (const std::size_t op : p.partition.order) {
      if (!p.problem.ops[op].alias) continue;
      for (const PartitionValue& v : p.problem.values)
        for (const std::size_t c : v.consumers)
          if (c == op && v.producer != kOutside) group_[op] = group_[v.producer];
    }
  }

  void run() {
    const PartitionCost& c = p_.partition.cost;
    std::size_t programs = 0;
    for (const PartitionGroup& g : p_.partition.groups) programs += g.engine == kNpu;
    note(
        "estimate in NPU cycles: {} = {} on the NPU + {} on the CPU{} + {} for {} launches + {} at "
        "boundaries + {} for conversions - {} fused - {} overlapped",
        cycles(c.total()), cycles(c.compute[kNpu]), cycles(c.compute[kHost]),
        p_.problem.engines > kDsp ? fmt::format(" + {} on the DSP", cycles(c.compute[kDsp])) : "",
        cycles(c.launch), programs, cycles(c.boundary), cycles(c.conversion), cycles(c.joined),
        cycles(c.overlapped));
    for (std::size_t g = 1; g < p_.partition.groups.size(); ++g) explain_cut(g);
  }

 private:
  template <class... A>
  void note(fmt::format_string<A...> format, A&&... args) {
    trace_.notes.push_back({"partition", fmt::format(format, std::forward<A>(args)...)});
  }
  std::int64_t cycles(Cost cost) const { return npu_cycles(cost, p_.options); }

  void explain_cut(std::size_t g) {
    const PartitionGroup& group = p_.partition.groups[g];
    std::size_t first = group.ops[0];
    for (const std::size_t op : group.ops)
      if (!refusal(op, group.engine).empty()) {
        first = op;  // the one that cannot be elsewhere
        break;
      }
    const Op& op = p_.graph.ops[first];
    note("cut before {} #{} '{}' ({} -> {}): {}, boundary {} B", arch::op_word(op.kind, op.attrs),
         first, p_.graph.tensor(op.outputs[0]).desc.name,
         engine_name(p_.partition.groups[g - 1].engine), engine_name(group.engine), why(g, first),
         boundary_bytes(g));
  }

  // The engine that the group would else be on, and why an operator may not be there.
  static std::size_t other_than(std::size_t engine) { return engine == kHost ? kNpu : kHost; }
  const std::string& refusal(std::size_t op, std::size_t engine) const {
    return other_than(engine) == kHost ? p_.answers[op].cpu : p_.answers[op].npu;
  }

  std::string why(std::size_t g, std::size_t first) const {
    const PartitionGroup& group = p_.partition.groups[g];
    const std::size_t other = other_than(group.engine);
    if (const std::string& refused = refusal(first, group.engine); !refused.empty())
      return fmt::format("not on the {}: {}", engine_title(other), refused);
    std::vector<std::size_t> engines = p_.partition.engine;
    for (const std::size_t op : group.ops) engines[op] = other;
    const Cost moved = partition_for(p_.problem, engines).cost.total();
    return fmt::format("the {} saves about {} NPU cycles", engine_title(group.engine),
                       cycles(moved - p_.partition.cost.total()));
  }

  // What the group reads of others and of the graph's inputs.
  std::int64_t boundary_bytes(std::size_t g) const {
    const std::size_t engine = p_.partition.groups[g].engine;
    std::int64_t bytes = 0;
    for (const PartitionValue& v : p_.problem.values) {
      bool read = false;
      for (const std::size_t c : v.consumers) read |= !p_.problem.ops[c].alias && group_[c] == g;
      if (!read) continue;
      const bool outside = v.producer == kOutside;
      if (outside ? engine != kHost : p_.partition.groups[group_[v.producer]].engine != engine)
        bytes += v.bytes;
    }
    return bytes;
  }

  const ExplainedPartition& p_;
  CompileTrace& trace_;
  std::vector<std::size_t> group_;  // of every operator
};

}  // namespace

void explain_partition(const ExplainedPartition& p, CompileTrace& trace) {
  Explainer(p, trace).run();
}

}  // namespace deputy::delegate
