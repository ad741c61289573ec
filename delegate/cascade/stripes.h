// Depth-first execution of several kernels: the last one's output is made a few rows at a time, and
// each kernel before it just the rows that are needed and not there yet. What lies between two of
// them keeps only its last rows, in a ring.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "delegate/codegen/lower.h"
#include "delegate/fusion/kernel.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// How a kernel reads one of its feature maps, row by row: output rows [a, b) read rows a * stride
/// - pad up to (b - 1) * stride + reach - pad, those that the map has.
struct StageInput {
  TensorId tensor = kNoTensor;
  std::int64_t stride = 1, reach = 1, pad = 0, height = 1;
  RowRange rows(RowRange out) const;
};
/// A kernel that can be made row by row.
struct CascadeStage {
  TensorId output = kNoTensor;
  std::int64_t height = 1;     ///< rows of the output
  std::int64_t row_bytes = 1;  ///< of the output
  std::vector<StageInput> inputs;
};
/// nullopt when the kernel cannot be made row by row.
std::optional<CascadeStage> stage_of(const Graph& graph, Numerics numerics, const Kernel& kernel);

/// A window kernel's geometry with what is fused behind it, as its lowering has it; nullopt for
/// other kernels.
std::optional<WindowShape> fused_window(const Graph& graph, Numerics numerics,
                                        const Kernel& kernel);

struct StripeStep {
  std::size_t stage = 0;
  RowRange rows;
};
struct Stripes {
  /// By stripe and stage: the output rows it makes; empty ones are skipped.
  std::vector<std::vector<RowRange>> rows;
  /// What runs, in order.
  std::vector<StripeStep> order;
  /// Rows that each tensor made and read inside must keep.
  std::map<TensorId, std::int64_t> rings;
};
/// The stripes that make the last stage's output `step` rows at a time. Every stage makes all its
/// rows by the end. Skewed: each stage is a stripe behind the one before it, and the last one goes
/// first, so that of three or more none needs what was made just before it; the rings are longer.
/// Two stages run in the same order.
Stripes plan_stripes(const std::vector<CascadeStage>& stages, std::int64_t step, bool skewed);

}  // namespace deputy::delegate
