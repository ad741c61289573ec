// SOFTMAX: the passes of arch/softmax.h over each row, with the table from the scratchpad.
#include "arch/softmax.h"

#include <bit>
#include <cstring>

#include "npu_model/core/state.h"

namespace deputy::npu_model {

void run_softmax(const arch::Softmax& m, ExecutorState& s) {
  std::int32_t table[arch::kExpTableBytes / 4];
  std::memcpy(table, s.spm.data() + m.exp_addr, sizeof table);
  for (std::uint64_t row = 0; row < m.rows; ++row)
    arch::softmax_row(s.spm.data() + m.ifm_addr + row * m.ifm_row_stride, m.length, table,
                      static_cast<Numerics>(m.rounding), std::bit_cast<float>(m.scale),
                      flip_of(m.u8), s.spm.data() + m.ofm_addr + row * m.ofm_row_stride);
}

}  // namespace deputy::npu_model
