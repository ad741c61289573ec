// Which engine runs each operator, and why.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "delegate/compile.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

enum class Engine : std::uint8_t {
  kNpu,
  kCpu,
  kAlias,  ///< no work: the output is the input's storage
};

struct OpPlacement {
  Engine engine = Engine::kCpu;
  std::string reason;  ///< why it is on the CPU
};

/// One entry an operator. Errors: kUnsupported when neither engine takes an operator.
base::Result<std::vector<OpPlacement>> place_ops(const Graph& graph, const CompileOptions& options);

}  // namespace deputy::delegate
