// Does a graph give the same bytes however it is compiled? One setting at a time, against the
// kernels run operator by operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delegate/compile.h"

namespace deputy::graphs {

/// One way to compile and run.
struct Setting {
  delegate::CompileOptions options;
  int order = 0;  ///< test::Order of the queues
  std::string text() const;
};

/// Every setting of one graph: each engine policy with everything on, everything off, `singles`
/// switches alone off, `random` random combinations; on random NPUs, arenas and memories. Follows
/// from the seed. `singles` < 0: every switch. All have one rounding mode.
std::vector<Setting> settings(std::uint64_t seed, int singles, int random);

/// What went wrong, nullopt if all outputs (and with keep_all_tensors every tensor) are equal.
/// Exceptions of the machinery are differences too.
std::optional<std::string> disagreement(const delegate::Graph& graph, const Setting& setting,
                                        std::uint64_t input_seed);

/// The same for many settings; the reference runs once. The first that disagrees, with its number.
struct Failure {
  std::size_t setting = 0;
  std::string text;
};
std::optional<Failure> first_disagreement(const delegate::Graph& graph,
                                          const std::vector<Setting>& settings,
                                          std::uint64_t input_seed);

/// A smaller graph that still disagrees under `setting`: outputs dropped, the rest cut off,
/// operators replaced by inputs, until nothing can go.
delegate::Graph shrink(delegate::Graph graph, const Setting& setting, std::uint64_t input_seed);

}  // namespace deputy::graphs
