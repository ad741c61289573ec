#include "delegate/partition/schedule.h"

#include <algorithm>

#include "delegate/partition/search.h"

namespace deputy::delegate {
PartitionProblem dataflow(const Graph& graph, const std::vector<bool>& alias) {
  PartitionProblem p;
  // Constants are in their place for every engine: no values.
  std::vector<std::size_t> value_of(graph.tensors.size(), PartitionValue::kOutside);
  const auto add = [&](TensorId id, std::size_t producer) {
    value_of[static_cast<std::size_t>(id)] = p.values.size();
    p.values.push_back({producer, {}, false, graph.tensor(id).desc.bytes(), {}});
  };
  for (const TensorId id : graph.inputs)
    if (!graph.tensor(id).constant) add(id, PartitionValue::kOutside);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    p.ops.push_back({{kNotPossible, kNotPossible, kNotPossible}, alias[i]});
    for (const TensorId id : graph.ops[i].inputs) {
      if (id == kNoTensor || value_of[static_cast<std::size_t>(id)] == PartitionValue::kOutside)
        continue;
      auto& consumers = p.values[value_of[static_cast<std::size_t>(id)]].consumers;
      if (consumers.empty() || consumers.back() != i) consumers.push_back(i);
    }
    for (const TensorId id : graph.ops[i].outputs) add(id, i);
  }
  for (const TensorId id : graph.outputs)
    if (const std::size_t v = value_of[static_cast<std::size_t>(id)]; v != PartitionValue::kOutside)
      p.values[v].read_outside = true;
  return p;
}

Schedule schedule_of(const Partition& partition) {
  Schedule out;
  out.order = partition.order;
  for (const PartitionGroup& group : partition.groups)
    out.groups.push_back({group.engine == kNpu   ? Engine::kNpu
                          : group.engine == kDsp ? Engine::kDsp
                                                 : Engine::kCpu,
                          group.ops});
  return out;
}

Schedule make_schedule(const Graph& graph, const std::vector<OpPlacement>& placements) {
  std::vector<bool> alias;
  std::vector<std::size_t> engines;
  for (const OpPlacement& p : placements) {
    alias.push_back(p.engine == Engine::kAlias);
    engines.push_back(p.engine == Engine::kNpu ? kNpu : kHost);
  }
  PartitionProblem problem = dataflow(graph, alias);
  for (PartitionOp& op : problem.ops) op.cost = {0, 0, kNotPossible};
  problem.launch = {1, 1, 0};
  return schedule_of(partition_for(problem, engines));
}

}  // namespace deputy::delegate
