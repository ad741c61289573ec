// What a user may ask of the placement: operators forced to an engine or kept from it, and how
// finely the graph may be cut.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "arch/engine.h"
#include "base/result.h"

namespace deputy::delegate {

struct Graph;

using Target = arch::Engine;

/// One wish. `op` names operators by kind ("SOFTMAX"), by index ("#12"), or by the name of their
/// first output
/// ("conv/Relu"; one '*' at the end stands for any rest).
struct PlacementRule {
  std::string op;
  Target target = Target::kCpu;
  bool deny = false;  ///< keep it off the target, not on it
};

struct PlacementLimits {
  std::vector<PlacementRule> rules;
  std::size_t min_partition = 1;  ///< operators in an NPU program, those without work not counted
  std::size_t max_partitions = std::numeric_limits<std::size_t>::max();  ///< NPU programs
};

/// "SOFTMAX=cpu": force. The error (kUsage) says what is wrong with the text.
base::Result<PlacementRule> parse_force(const std::string& text);
/// "CONV_2D" (off the NPU) or "CONV_2D=cpu" (off the CPU).
base::Result<PlacementRule> parse_deny(const std::string& text);

/// Which engines the rules leave to an operator, with the rule that took the other away.
struct Allowed {
  bool cpu = true, npu = true, dsp = true;
  std::string cpu_rule, npu_rule,
      dsp_rule;  ///< "--force SOFTMAX=npu": the rule that forbids that engine
};
/// One entry an operator; `with_dsp`: there is one. Errors (kUsage): a rule that names no operator,
/// rules that leave none.
base::Result<std::vector<Allowed>> allowed_engines(const Graph& graph,
                                                   const std::vector<PlacementRule>& rules,
                                                   bool with_dsp);

}  // namespace deputy::delegate
