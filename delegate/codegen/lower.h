// From operators to instructions. Each lowering assumes that the operator passed npu_refusal().
#pragma once

#include <map>
#include <vector>

#include "arch/executable.h"
#include "delegate/codegen/constant_pool.h"
#include "delegate/codegen/program_builder.h"
#include "delegate/codegen/tile_search.h"
#include "delegate/codegen/views.h"
#include "delegate/compile.h"
#include "delegate/fusion/kernel.h"
#include "delegate/ir/graph.h"
#include "delegate/ops/copies.h"
#include "delegate/weights/weight_encoder.h"

namespace deputy::delegate {

/// The codes of weights that are compressed, each fitted once for all trials and stripes.
using FittedCodes = std::map<TensorId, FittedCode>;

/// What a lowering reads and adds to. Nothing is owned.
struct Lowering {
  const Graph& graph;
  const CompileOptions& options;
  std::vector<arch::PlacedTensor>& tensors;  ///< arenas are placed; constants when first used
  const std::vector<TensorView>& views;      ///< of every tensor that is no constant
  ConstantPool& constants;
  ProgramBuilder& program;
  TilingCache& tilings;
  FittedCodes& codes;
  std::int64_t spm_kept = 0;  ///< TransferRates::spm_kept
  bool ahead = false;         ///< TransferRates::ahead

  const Tensor& tensor(TensorId id) const { return graph.tensor(id); }
  /// How the tensor lies in memory; a constant gets its place now.
  TensorView view(TensorId id);
  /// Where a dense tensor starts; a constant gets its place now.
  MemoryRef memory(TensorId id);
  MapView map(TensorId id, std::int64_t h, std::int64_t w, std::int64_t c);
  bool in_sram(TensorId id) const {
    return region_in_sram(views[static_cast<std::size_t>(id)].at.region, options.io);
  }
};

/// Gives a constant tensor its place among the executable's constants.
void place_constant(const Graph& graph, TensorId id, std::vector<arch::PlacedTensor>& tensors,
                    ConstantPool& constants);

/// Emits the instructions of `kernel`; `rows` other than all only for what stage_of() takes
/// (cascade/stripes.h).
void lower(Lowering& context, const Kernel& kernel, RowRange rows = {});

/// Convolutions, fully connected, pooling, mean, with everything fused around them.
void lower_window(Lowering& context, const Kernel& kernel, RowRange rows);
void lower_eltwise(Lowering& context, const Kernel& kernel,
                   RowRange rows);  ///< two operands, then tables
void lower_table(Lowering& context,
                 const Kernel& kernel);  ///< one operand through a 256-entry table
void lower_copies(Lowering& context, const Kernel& kernel);                   ///< strided moves
void lower_exchange(Lowering& context, const Copy& copy, const Exchange& e);  ///< a transposition
void lower_pad(Lowering& context, const Op& op);
void lower_softmax(Lowering& context, const Op& op);  ///< over the last dimension

}  // namespace deputy::delegate
