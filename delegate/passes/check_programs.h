// Proves that the NPU programs keep to the memory plan: replays every LOAD, LOADW and STORE of a
// compiled executable, step by step beside the CPU's operators, and follows whose byte lies at
// every address. Shares nothing with the code generation but the views; works from the graph, the
// words and needed_bytes().
#pragma once

#include <optional>
#include <string>

#include "delegate/passes/check_memory_plan.h"

namespace deputy::delegate {

/// What is wrong, or nullopt:
/// - a LOAD reads a byte that is no operand's of its kernel, or that another tensor has
/// overwritten, or
///   rows of a ring that are gone; a LOAD or LOADW of constants leaves them;
/// - a STORE writes outside its kernel's results, or a byte of them twice; at the end a result has
/// bytes
///   that nobody stored;
/// - a kernel has not loaded a byte of an operand that its operator needs (needed_bytes.h);
/// - a LOAD may start before the STORE whose byte it reads has completed, or a STORE before a LOAD
/// of the
///   byte that it overwrites: by the waits alone, whatever the queues' speeds;
/// - a tag names no operator of an NPU step.
/// What happens inside the scratchpad is not followed: which of its bytes a computation reads or a
/// STORE takes is for the tests of equality.
std::optional<std::string> check_programs(const MemoryUse& use);

}  // namespace deputy::delegate
