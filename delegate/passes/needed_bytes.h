// Which bytes of an operand an operator cannot do without: worked out from the operator's meaning,
// not from how it is lowered.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "delegate/ir/graph.h"
#include "delegate/ops/copies.h"

namespace deputy::delegate {

/// Stretches [begin, end) of the dense tensor `operand` in C order that `op`, which reads it,
/// needs. `behind_pad`: op is a PAD whose only reader is the window operator given here, which
/// takes it as its own padding; else null. `in_place`: whether a copying operator finds a copy's
/// bytes where they have to go. Bytes that no window covers are not needed, nor those that a
/// copying operator leaves out or in their place; every other operator needs all.
std::vector<std::pair<std::uint64_t, std::uint64_t>> needed_bytes(
    const Graph& graph, const Op& op, TensorId operand, const Op* behind_pad,
    const std::function<bool(const Copy&)>& in_place);

}  // namespace deputy::delegate
