// What operators and the DSP's kernels cost on each engine that runs them: `deputy bench engines`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/simulate.h"

namespace deputy::tools {

/// Of one operator or kernel on one engine.
struct EngineCost {
  double us = 0, nj = 0;
  std::uint64_t cycles = 0;  ///< of the engine's own clock
};

/// An operator as a network of its own, on each engine by a rule; launch, hand-over and waiting
/// included, copies of the network's input and output not.
struct OperatorRow {
  std::string what;
  std::optional<EngineCost> cpu, dsp, npu;  ///< none: the engine does not take it
  std::string chosen;                       ///< by the scheduler
  std::string fastest() const;
  /// How much slower what was chosen is than the fastest; 0: it is the fastest.
  double excess() const;
  bool equal_outputs = true;  ///< of all engines
};
base::Result<std::vector<OperatorRow>> measure_operators(const SimulateOptions& options);

/// A kernel with its data in place: cycles of the DSP's model, and what the CPU would be charged
/// for the operations that the method names (host.*). No launch, no transfers, no leakage.
struct KernelRow {
  std::string what;
  EngineCost cpu, dsp;
};
base::Result<std::vector<KernelRow>> measure_kernels(const soc::SocConfig& soc);

}  // namespace deputy::tools
