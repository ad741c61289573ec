// Which engine runs each operator, and why; and the steps that follow from it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "delegate/codegen/tile_search.h"
#include "delegate/compile.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

enum class Engine : std::uint8_t {
  kNpu,
  kCpu,
  kAlias,  ///< no work: the output is the input's storage
  kDsp,    ///< a host step that the DSP does
};

struct OpPlacement {
  Engine engine = Engine::kCpu;
  std::string reason;  ///< why it is not on the NPU
};

struct Group {
  Engine engine = Engine::kNpu;  ///< kNpu, kCpu or kDsp
  std::vector<std::size_t> ops;  ///< in execution order, without aliases
};

struct Schedule {
  std::vector<Group> groups;       ///< neighbours have different engines
  std::vector<std::size_t> order;  ///< all operators, aliases too, in execution order
};

struct Placement {
  std::vector<OpPlacement> ops;  ///< one an operator
  Schedule schedule;
};

/// Places every operator within the options' limits: under EnginePolicy::kAuto by cost, else and
/// without that optimisation on the first engine that takes it. With a trace, writes one note a cut
/// and the cost by component (topic "partition"). Errors: kUnsupported when no engine takes an
/// operator, or the one it is forced to does not; kUsage when rules contradict each other or name
/// nothing, or the limits cannot be met.
base::Result<Placement> place(const Graph& graph, const CompileOptions& options,
                              TilingCache& tilings);

}  // namespace deputy::delegate
