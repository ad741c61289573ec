// What the NPU's compute instructions do to the scratchpad: the functional half of the model, free of
// SystemC. Timing is arch/npu_timing.h; transfers are the shell's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arch/isa.h"
#include "arch/npu_config.h"
#include "arch/registers.h"

namespace deputy::npu_model {

/// Checks everything about an instruction that does not depend on time: scratchpad bounds, accumulator
/// capacity, supported combinations. Returns the fault the hardware raises, kNone if legal. Covers LOAD and
/// STORE (scratchpad side) too, so a legal instruction can never touch memory outside the scratchpad.
arch::NpuError check_instruction(const arch::Operation& op, const arch::NpuConfig& config);

/// The scratchpad, the accumulators and the datapath. Exact int32 accumulation with wrap-around.
class Executor {
 public:
  explicit Executor(const arch::NpuConfig& config);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  std::span<std::uint8_t> spm() { return spm_; }
  /// Executes a compute instruction that check_instruction accepted; other kinds are a CHECK failure.
  void execute(const arch::Operation& op);
  /// Clears scratchpad and accumulators (engine reset).
  void reset();

 private:
  arch::NpuConfig config_;
  std::vector<std::uint8_t> spm_;
  std::vector<std::int32_t> accumulators_;
  struct Scratch;                    ///< packed operands, kept between calls to avoid allocation
  Scratch* scratch_ = nullptr;       ///< owned
};

}  // namespace deputy::npu_model
