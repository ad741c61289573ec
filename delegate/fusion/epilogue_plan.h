// What a kernel does to each tile of its main operator's output while the tile is in the
// scratchpad: the arithmetic of the operators fused behind it.
//
// Every instruction that produces a tile ends in a clamp and an optional table. One-operand
// operators melt into these (a chain of them is one table); operators of two feature maps become an
// ELTWISE on the tile, pools a POOL.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/isa.h"
#include "delegate/codegen/window.h"
#include "delegate/compile.h"
#include "delegate/fusion/kernel.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

using ByteTable = std::array<std::int8_t, 256>;  ///< indexed by value + 128

/// How an instruction ends: clamp, then the table.
struct Finish {
  std::int32_t act_min = -128, act_max = 127;
  std::optional<ByteTable> table;
  /// Does `next` to every value afterwards: a tighter clamp when that is all it is, else a table.
  void then(const ByteTable& next);
};

/// The table that `op` is as a function of the tensor `from` alone: one-operand operators, and
/// element-wise ones whose other operand is a constant scalar or `from` again. nullopt for any
/// other.
std::optional<ByteTable> table_of(const Graph& graph, Numerics numerics, const Op& op,
                                  TensorId from);

/// One instruction behind the main one.
struct Stage {
  std::size_t op = 0;
  // Element-wise with another feature map or with one value a channel.
  std::optional<arch::Eltwise> eltwise;
  TensorId other = kNoTensor;
  bool other_first = false;  ///< the tile is the second operand
  bool per_channel = false;
  // Pooling.
  std::optional<WindowShape> pool;
  WindowMath pool_math;

  Finish finish;
};

struct EpiloguePlan {
  Finish main;  ///< how the main instruction ends
  std::vector<Stage> stages;

  EpilogueShape shape() const;  ///< its needs, for the tile search
};

/// The plan of a main operator with nothing behind it that clamps to [act_min, act_max].
inline EpiloguePlan bare_epilogue(std::int32_t act_min, std::int32_t act_max) {
  return {{act_min, act_max, {}}, {}};
}

/// Adds the operator `index`, which reads the result `from` so far, to `plan`. `window` is the main
/// operator's geometry; null for one that is no window, which takes tables only. Returns why it is
/// not possible, or nullopt when done.
std::optional<std::string> append(const Graph& graph, Numerics numerics, const WindowShape* window,
                                  std::size_t index, TensorId from, EpiloguePlan& plan);

/// The epilogue of a planned kernel whose main operator alone clamps to [act_min, act_max].
EpiloguePlan epilogue_plan(const Graph& graph, Numerics numerics, const Kernel& kernel,
                           const WindowShape* window, std::int32_t act_min, std::int32_t act_max);

}  // namespace deputy::delegate
