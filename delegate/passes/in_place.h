// Which kernels may write their result over an operand.
//
// Legal when the operand's buffer is used for nothing else afterwards and every byte of it that the
// kernel still has to read lies where the kernel has not written yet. By kind of kernel:
// - Element-wise and table kernels, and the element-wise operators fused behind a window: tile i
// loads the
//   operand's bytes at exactly the addresses that tile i stores its result to, before it stores
//   them, and the tiles of a kernel are disjoint. So no store hits a byte that a later tile loads.
//   This needs equal shapes and equal strides (a broadcast operand is read by several tiles), and
//   that the operand enters the kernel nowhere else.
// - The map under a window (convolution, pool) is read with a halo, and again for other output
// channels:
//   never. PAD, copies and SOFTMAX: never. CPU operators: never; their kernels are not written for
//   it.
// Loads and stores of the same bytes are ordered by the hazard tracker, which goes by address
// alone.
//
// A graph input may be overwritten: the runtime copies inputs in at the start of every run, and the
// memory plan has always reused their bytes after the last reader. A graph output, a constant or an
// input in an external region (external_io.h) may not.
#pragma once

#include <utility>
#include <vector>

#include "delegate/fusion/kernel.h"
#include "delegate/passes/storage.h"

namespace deputy::delegate {

/// The operands of an action that its kind of kernel could overwrite with its result: (result,
/// operand). Says nothing of who else needs the operand.
std::vector<std::pair<TensorId, TensorId>> overwritable(const Graph& graph, Numerics numerics,
                                                        const Action& action);

/// The pairs that are also free of other readers, for StorageWishes::in_place. `storage` is what
/// the other wishes give. A result takes at most one operand, and an operand gives its buffer to at
/// most one result.
std::vector<std::pair<TensorId, TensorId>> in_place_pairs(const Graph& graph, Numerics numerics,
                                                          const std::vector<Action>& actions,
                                                          const StorageMap& storage,
                                                          IoPlacement io = IoPlacement::kArena);

}  // namespace deputy::delegate
