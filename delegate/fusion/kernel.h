// What the NPU runs as one: an operator and those that are fused into it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "delegate/compile.h"
#include "delegate/ir/graph.h"
#include "delegate/partition/schedule.h"

namespace deputy::delegate {

class TilingCache;

struct Kernel {
  std::vector<std::size_t> ops;    ///< indices into Graph::ops, in execution order
  std::size_t main = 0;            ///< the one whose lowering emits the instructions
  std::optional<std::size_t> pad;  ///< a PAD before it that became the window's own padding
  std::optional<std::size_t>
      expand;  ///< a 1x1 convolution that makes each tile of its input in the scratchpad
  std::vector<std::size_t> epilogue;  ///< what follows on each tile of its output, in order

  const Op& main_op(const Graph& graph) const { return graph.ops[main]; }
  std::vector<TensorId> views;  ///< operands or results of a copying operator that need no copy

  /// The feature map that the main operator reads (the PAD's or the expansion's when there is one).
  TensorId input(const Graph& graph) const {
    return graph.ops[expand ? *expand : pad.value_or(main)].inputs[0];
  }
  /// What the last operator writes.
  TensorId output(const Graph& graph) const { return graph.ops[ops.back()].outputs[0]; }

  std::vector<TensorId> reads, writes;  ///< tensors with storage (or constants) that it touches
};

/// One fusion that was done or refused, in words.
struct FusionNote {
  std::size_t op = 0;    ///< the operator that was to be fused
  std::size_t into = 0;  ///< the kernel's main operator
  bool done = false;
  std::string text;
};

/// The kernels of one group of NPU operators, in execution order; every operator is in exactly one.
/// Notes are added to `notes` when it is given. `tilings` are those the lowering will ask for.
std::vector<Kernel> plan_kernels(const Graph& graph, const Group& group,
                                 const CompileOptions& options, TilingCache& tilings,
                                 std::vector<FusionNote>* notes = nullptr);

/// One entry of the execution order as the memory plan sees it: everything that is read or written
/// while it runs is alive together.
struct Action {
  std::vector<TensorId> reads, writes;
  /// The operators, by kernel: of one kernel, of all those that a cascade interleaves, or one CPU
  /// operator.
  std::vector<std::vector<std::size_t>> kernels;
  bool host = false;                 ///< on the CPU
  std::vector<TensorId> keeps = {};  ///< must be intact after it, whether it reads them or not
};

}  // namespace deputy::delegate
