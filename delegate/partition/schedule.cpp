#include "delegate/partition/schedule.h"

#include <fmt/format.h>

#include <set>

#include "base/check.h"

namespace deputy::delegate {
namespace {

class Scheduler {
 public:
  Scheduler(const Graph& graph, const std::vector<OpPlacement>& placements)
      : placements_(placements), consumers_(graph.ops.size()), missing_(graph.ops.size(), 0) {
    std::vector<std::ptrdiff_t> producer(graph.tensors.size(), -1);
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      std::set<std::ptrdiff_t> producers;
      for (const TensorId in : graph.ops[i].inputs)
        if (in != kNoTensor && producer[static_cast<std::size_t>(in)] >= 0)
          producers.insert(producer[static_cast<std::size_t>(in)]);
      for (const std::ptrdiff_t p : producers) consumers_[static_cast<std::size_t>(p)].push_back(i);
      missing_[i] = producers.size();
      for (const TensorId out : graph.ops[i].outputs)
        producer[static_cast<std::size_t>(out)] = static_cast<std::ptrdiff_t>(i);
    }
  }

  Schedule run(Engine first) {
    for (std::size_t i = 0; i < missing_.size(); ++i)
      if (missing_[i] == 0) ready_[index(i)].insert(i);
    Engine engine = first;
    while (!ready_[0].empty() || !ready_[1].empty() || !ready_[2].empty()) {
      Group group{engine, {}};
      for (;;) {
        // Aliases cost nothing: they never stand in the way.
        std::set<std::size_t>& aliases = ready_[static_cast<int>(Engine::kAlias)];
        std::set<std::size_t>& mine = ready_[static_cast<int>(engine)];
        std::set<std::size_t>& from = aliases.empty() ? mine : aliases;
        if (from.empty()) break;
        const std::size_t op = *from.begin();
        from.erase(from.begin());
        if (&from == &mine) group.ops.push_back(op);
        finish(op);
      }
      if (!group.ops.empty()) schedule_.groups.push_back(std::move(group));
      engine = engine == Engine::kNpu ? Engine::kCpu : Engine::kNpu;
    }
    DEPUTY_CHECK(schedule_.order.size() == missing_.size(), "the graph has a cycle");
    return std::move(schedule_);
  }

 private:
  int index(std::size_t op) const { return static_cast<int>(placements_[op].engine); }
  void finish(std::size_t op) {
    schedule_.order.push_back(op);
    for (const std::size_t consumer : consumers_[op])
      if (--missing_[consumer] == 0) ready_[index(consumer)].insert(consumer);
  }

  const std::vector<OpPlacement>& placements_;
  std::vector<std::vector<std::size_t>> consumers_;
  std::vector<std::size_t> missing_;  // producers that have not run
  std::set<std::size_t> ready_[3];    // by engine, in model order
  Schedule schedule_;
};

// A launch is writing registers, fetching the stream, an interrupt and a context switch: measured
// in thousands of cycles. A byte moved costs the NPU about a quarter of a cycle; an element costs
// the CPU about ten (load, requantise, clamp, store).
constexpr std::uint64_t kLaunchCycles = 3000, kCpuCyclesPerElement = 10;

std::uint64_t elements_of(const Graph& graph, const Op& op) {
  std::int64_t total = 0;
  for (const TensorId id : op.outputs) total += graph.tensor(id).desc.elements();
  return static_cast<std::uint64_t>(total);
}

}  // namespace

Schedule make_schedule(const Graph& graph, const std::vector<OpPlacement>& placements) {
  Schedule npu_first = Scheduler(graph, placements).run(Engine::kNpu);
  Schedule cpu_first = Scheduler(graph, placements).run(Engine::kCpu);
  return cpu_first.groups.size() < npu_first.groups.size() ? cpu_first : npu_first;
}

bool demote_small_groups(const Graph& graph, const Schedule& schedule,
                         std::vector<OpPlacement>& placements) {
  bool moved = false;
  for (std::size_t g = 1; g + 1 < schedule.groups.size(); ++g) {
    const Group& group = schedule.groups[g];
    if (group.engine != Engine::kNpu) continue;
    std::uint64_t elements = 0, macs = 0;
    for (const std::size_t op : group.ops) {
      elements += elements_of(graph, graph.ops[op]);
      macs += op_macs(graph, graph.ops[op]);
    }
    const std::uint64_t cpu = elements * kCpuCyclesPerElement, npu = kLaunchCycles + elements / 2;
    if (macs > 0 || cpu >= npu) continue;
    for (const std::size_t op : group.ops)
      placements[op] = {
          Engine::kCpu,
          fmt::format(
              "between CPU steps, about {} CPU cycles cost less than {} with a launch of the NPU",
              cpu, npu)};
    moved = true;
  }
  return moved;
}

}  // namespace deputy::delegate
