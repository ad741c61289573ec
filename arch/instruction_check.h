// What the NPU refuses of a single instruction, and which bytes of the scratchpad it touches. The
// model faults by this table, the driver's verifier refuses by it before anything runs, and the
// simulator notices by it two instructions in flight at the same time that should have waited for
// each other (hardware would not notice).
#pragma once

#include <array>
#include <cstddef>

#include "arch/isa.h"
#include "arch/npu_config.h"
#include "arch/registers.h"
#include "arch/tile.h"
#include "base/check.h"

namespace deputy::arch {

/// Checks everything about an instruction that does not depend on time or data, and returns the
/// fault the hardware raises, kNone if legal. Covers LOAD, LOADW and STORE (scratchpad side) too,
/// so a legal instruction can never touch memory outside the scratchpad. Where several apply, the
/// first of these is reported:
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
/// Values in the scratchpad cannot fault, save for the table of LOADW (load_weights): the shift of
/// a channel's parameters is taken as the nearest in
/// [-31, 30], and a scale that is not a number saturates as arch/numerics.h says.
NpuError check_instruction(const Operation& op, const NpuConfig& config);

struct SpmAccess {
  Tile tile;
  bool write = false;
};

/// At most five: input, weights, parameters, output, table.
class AccessList {
 public:
  void push_back(const SpmAccess& access) {
    DEPUTY_CHECK(size_ < items_.size(), "an instruction with more operands than any has");
    items_[size_++] = access;
  }
  const SpmAccess* begin() const { return items_.data(); }
  const SpmAccess* end() const { return items_.data() + size_; }

 private:
  std::array<SpmAccess, 5> items_;
  std::size_t size_ = 0;
};

/// Every operand of an instruction that check_instruction accepts.
AccessList spm_accesses(const Operation& op);

/// Whether one may write a byte that the other reads or writes (tile.h: false only when provably
/// not).
bool conflict(const AccessList& a, const AccessList& b);

}  // namespace deputy::arch
