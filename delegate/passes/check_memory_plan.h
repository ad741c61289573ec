// Proves a memory plan by replaying the schedule: whose value each byte of the arenas holds is
// followed write by write, and every read must find its own tensor's. Knows nothing of live ranges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/executable.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// What is wrong with where `executable.tensors` are, or nullopt. `order`: operators as they
/// execute. With keep_all, every tensor must still hold its value at the end.
std::optional<std::string> check_memory_plan(const Graph& graph, const arch::Executable& executable,
                                             const std::vector<std::size_t>& order, bool keep_all);

}  // namespace deputy::delegate
