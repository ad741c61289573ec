// Runs a graph operator by operator on the CPU's kernels, without a SoC: for calibration, and for
// the figures of a report. The NPU's results are the same bytes (tests/system), so an int8 graph's
// accuracy here is its accuracy there.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "delegate/ir/graph.h"

namespace deputy::quantize {

using Bytes = std::vector<std::uint8_t>;

class Executor {
 public:
  /// `graph` must outlive the executor.
  Executor(const delegate::Graph& graph, Numerics numerics);

  /// kUnsupported: an operator without a kernel.
  base::Status check() const;

  /// Called with every computed tensor and graph input, in order of their making.
  using Observer = std::function<base::Status(delegate::TensorId, std::span<const std::uint8_t>)>;

  /// inputs[i] are graph input i's bytes. Memory is held from a tensor's maker to its last user, so
  /// it is bounded by the network's widest place.
  base::Result<std::vector<Bytes>> run(std::span<const Bytes> inputs,
                                       const Observer& observe = {}) const;

 private:
  const delegate::Graph& graph_;
  Numerics numerics_;
  std::vector<std::size_t> last_use_;  ///< by tensor: the operator after which it goes
};

}  // namespace deputy::quantize
