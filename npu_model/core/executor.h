// What the NPU's compute instructions do to the scratchpad: the functional half of the model, free
// of SystemC. Timing is arch/npu_timing.h; transfers are the shell's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arch/instruction_check.h"
#include "arch/isa.h"
#include "arch/npu_config.h"
#include "arch/registers.h"
#include "npu_model/core/compute_path.h"
#include "npu_model/core/kernels.h"

namespace deputy::npu_model {

using arch::check_instruction;

struct ExecutorState;

/// The scratchpad, the accumulators and the datapath. Exact int32 accumulation with wrap-around.
///
/// Accumulators: CONV with acc_hold stores the sum of output (y, x, c) in accumulator (y*ofm_w +
/// x)*ofm_c + c; acc_keep starts from those instead of the bias. Every other instruction leaves
/// them alone. ELTWISE sub is scaled a minus scaled b; ELTWISE min and max are clamped but not
/// rescaled.
class Executor : public ComputePath {
 public:
  /// `isa` chooses the host's inner loops, which all give the same bytes; the host must support it.
  explicit Executor(const arch::NpuConfig& config, Isa isa = best_isa());
  ~Executor() override;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  std::span<std::uint8_t> spm() override;
  arch::CodeFault load_weights(const arch::LoadWeights& op,
                               std::span<const std::uint8_t> stream) override;
  std::optional<std::uint64_t> execute(const arch::Operation& op) override;
  void reset() override;

 private:
  std::unique_ptr<ExecutorState> state_;
};

}  // namespace deputy::npu_model
