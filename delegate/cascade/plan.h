// Chooses which kernels run as cascades. The search is a dynamic program over the kernels of a
// group: a segment runs as one kernel or as a cascade with some number of rows a stripe, and costs
// what its tiles cost (codegen/tile_search.h) with its operands in the fast or the slow arena and
// its weights fetched once a stripe. Which arena a tensor gets is only known when the memory is
// planned, so the program assumes a limit for what is alive at once; the caller plans the memory
// for several assumed limits and keeps the cheapest outcome.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "delegate/cascade/stripes.h"
#include "delegate/codegen/tile_search.h"
#include "delegate/compile.h"

namespace deputy::delegate {

/// Kernels [first, first + count) of a group: one kernel, or a cascade.
struct Run {
  std::size_t first = 0, count = 1;
  std::int64_t step = 0;  ///< rows of the last kernel's output that a stripe makes; cascades only
  bool skewed = false;    ///< plan_stripes()
  auto operator<=>(const Run&) const = default;
};
/// One run for each kernel.
std::vector<Run> single_runs(std::size_t kernels);

/// How cascades are taken to run.
struct CascadeStyle {
  bool skewed = false;  ///< stages overlap, so that filling and draining the queues costs once
  bool staged =
      false;  ///< the constants lie in SRAM from the first stripe to the last (schedule/staging.h)
};

/// What a kernel costs under a placement of its operands, in NPU cycles.
class KernelCosts {
 public:
  /// `spm_kept`: TransferRates.
  KernelCosts(const Graph& graph, const CompileOptions& options, TilingCache& tilings,
              std::int64_t spm_kept)
      : graph_(graph), options_(options), tilings_(tilings), spm_kept_(spm_kept) {}
  /// `rows`: of the output, 0: all.
  double cycles(const Kernel& kernel, std::int64_t rows, bool in_sram, bool out_sram);
  /// All `height` rows in `stripes` stripes of at most `rows`: the weights come with every stripe,
  /// however few rows it has.
  double striped(const Kernel& kernel, std::int64_t rows, std::int64_t height, std::int64_t stripes,
                 bool in_sram, bool out_sram, CascadeStyle style);
  /// Weights and parameters.
  std::int64_t constant_bytes(const Kernel& kernel);

 private:
  double estimate(const Kernel& kernel, std::int64_t rows, bool in_sram, bool out_sram);
  const Graph& graph_;
  const CompileOptions& options_;
  TilingCache& tilings_;
  const std::int64_t spm_kept_;
  std::map<std::tuple<std::size_t, std::int64_t, bool, bool>, double> known_;
  std::map<std::size_t, std::int64_t> constants_;  // by main operator
};

/// What the memory plan allows for: kernels of one group and the tensors that are alive beside
/// them.
struct CascadeProblem {
  const Graph& graph;
  const CompileOptions& options;
  const std::vector<Kernel>& kernels;
  std::function<TensorId(TensorId)> root;  ///< whose buffer a tensor lies in
  /// Tensors that may keep only some rows: made by one of the kernels, read by others, whole and no
  /// more.
  std::function<bool(TensorId)> may_ring;
  /// Tensors in external regions: they take no room in the arenas, and options.io says which memory
  /// they are in.
  std::function<bool(TensorId)> external;
  /// Bytes of tensors alive during each kernel that none of the kernels writes.
  std::vector<std::int64_t> others;
  CascadeStyle style;
};
/// The search. Everything that does not depend on the assumed limit is worked out once.
class CascadePlanner {
 public:
  /// `most`: the largest limit that will be asked for. `costs` must outlive the planner.
  CascadePlanner(CascadeProblem problem, KernelCosts& costs, std::int64_t most);
  ~CascadePlanner();
  CascadePlanner(CascadePlanner&&) noexcept;
  /// The cheapest runs if tensors alive at once are in the fast arena up to `limit` bytes.
  std::vector<Run> runs(std::int64_t limit);

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

/// The cycles of all runs of a group when `in_sram` says which tensors are in the fast arena.
double runs_cycles(const Graph& graph, Numerics numerics, const std::vector<Kernel>& kernels,
                   const std::vector<Run>& runs, KernelCosts& costs,
                   const std::function<bool(TensorId)>& in_sram, bool staged);

/// The stripes of a cascade.
Stripes run_stripes(const Graph& graph, Numerics numerics, const std::vector<Kernel>& kernels,
                    const Run& run);

/// Rings of a group's runs.
std::map<TensorId, std::int64_t> rings_of(const Graph& graph, Numerics numerics,
                                          const std::vector<Kernel>& kernels,
                                          const std::vector<Run>& runs);

}  // namespace deputy::delegate
