// A placement in words: one reason for each cut, and the cost by component.
#pragma once

#include "delegate/compile.h"
#include "delegate/ir/graph.h"
#include "delegate/partition/problem.h"

namespace deputy::delegate {

/// Why each engine may not have an operator; empty when it may.
struct EngineAnswers {
  std::string cpu, npu, dsp;
  bool alias = false;  ///< it has no work to place
};

struct ExplainedPartition {
  const Graph& graph;
  const CompileOptions& options;
  const PartitionProblem& problem;
  const Partition& partition;
  const std::vector<EngineAnswers>& answers;
};

/// Adds notes of the topic "partition": a line for each component of the cost, then "cut before
/// SOFTMAX #12 ...".
void explain_partition(const ExplainedPartition& p, CompileTrace& trace);

}  // namespace deputy::delegate
