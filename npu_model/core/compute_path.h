// What works on the NPU's scratchpad: the fast executor (executor.h), whose time the formulas of
// arch/npu_timing.h give, or the RTL (npu_model/rtl), which takes its own time. The engine's shell
// drives either through this.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "arch/isa.h"
#include "arch/weight_codec.h"

namespace deputy::npu_model {

class ComputePath {
 public:
  virtual ~ComputePath() = default;

  virtual std::span<std::uint8_t> spm() = 0;
  /// Decodes the stream that a LOADW has fetched into the scratchpad. The instruction passed
  /// check_instruction; after a fault its output bytes are undefined.
  virtual arch::CodeFault load_weights(const arch::LoadWeights& op,
                                       std::span<const std::uint8_t> stream) = 0;
  /// Executes a compute instruction that check_instruction accepted; other kinds are a CHECK
  /// failure. Returns the cycles it took where measures_time(), else nothing: those of the formula.
  virtual std::optional<std::uint64_t> execute(const arch::Operation& op) = 0;
  /// True: how long an instruction takes is known only by executing it, which is done when it
  /// starts.
  virtual bool measures_time() const { return false; }
  /// Clears scratchpad and accumulators (engine reset).
  virtual void reset() = 0;
};

}  // namespace deputy::npu_model
