// What the NPU's compute instructions do to the scratchpad: the functional half of the model, free
// of SystemC. Timing is arch/npu_timing.h; transfers are the shell's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arch/isa.h"
#include "arch/npu_config.h"
#include "arch/registers.h"
#include "npu_model/core/kernels.h"

namespace deputy::npu_model {

/// Checks everything about an instruction that does not depend on time or data, and returns the
/// fault the hardware raises, kNone if legal. Covers LOAD, LOADW and STORE (scratchpad side) too, so
/// a legal instruction can never touch memory outside the scratchpad. Where several apply, the first
/// of these is reported:
///
/// kSpmBounds: any byte of an operand outside the scratchpad. An input counts with its whole
/// declared extent
///  (ifm_h x ifm_w x channels), a table with 256 bytes.
/// kAccumulators: acc_keep or acc_hold with more sums than accumulators.
/// kUnsupported:
///  - act_min > act_max;
///  - an output tile that writes a byte twice (zero or overlapping strides);
///  - DWCONV with ofm_c != ifm_c * depth_mult, or overlapping taps (w_tap_stride < ofm_c);
///  - POOL with a window of more than 2^22 taps, or an output pixel with no tap inside the image;
///  - POOL mean and ELTWISE mul: shift outside [-31, 30] or, in fp32, a scale that is not finite;
///  - ELTWISE add/sub: left_shift > 22, a_shift or b_shift outside [-31, 0], o_shift outside [-31,
///  30]; in
///    fp32, a multiplier beyond +-2^22 or o_shift outside [1, 62];
///  - SOFTMAX in fp32 with a scale that is not a normal positive number;
///  - LOADW with bytes that are no multiple of planes;
///  - an output that overlaps an operand, a table or parameters, save for in place: ELTWISE whose
///  output has
///    exactly the address, strides and channels of a or b, LUT with ofm_addr == ifm_addr, and
///    SOFTMAX with both address and row stride equal. Tiles
///    that interleave without sharing a byte (slices of one concatenated map) do not overlap.
///
/// Values in the scratchpad cannot fault, save for the table of LOADW (load_weights): the shift of a channel's parameters is taken as the
/// nearest in
/// [-31, 30], and a scale that is not a number saturates as arch/numerics.h says.
arch::NpuError check_instruction(const arch::Operation& op, const arch::NpuConfig& config);

struct ExecutorState;

/// The scratchpad, the accumulators and the datapath. Exact int32 accumulation with wrap-around.
///
/// Accumulators: CONV with acc_hold stores the sum of output (y, x, c) in accumulator (y*ofm_w +
/// x)*ofm_c + c; acc_keep starts from those instead of the bias. Every other instruction leaves
/// them alone. ELTWISE sub is scaled a minus scaled b; ELTWISE min and max are clamped but not
/// rescaled.
class Executor {
 public:
  /// `isa` chooses the host's inner loops, which all give the same bytes; the host must support it.
  explicit Executor(const arch::NpuConfig& config, Isa isa = best_isa());
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  std::span<std::uint8_t> spm();
  /// Decodes the stream that a LOADW has fetched into the scratchpad. The instruction passed
  /// check_instruction; after a fault its output bytes are undefined.
  arch::CodeFault load_weights(const arch::LoadWeights& op, std::span<const std::uint8_t> stream);
  /// Executes a compute instruction that check_instruction accepted; other kinds are a CHECK
  /// failure.
  void execute(const arch::Operation& op);
  /// Clears scratchpad and accumulators (engine reset).
  void reset();

 private:
  std::unique_ptr<ExecutorState> state_;
};

}  // namespace deputy::npu_model
