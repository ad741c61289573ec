// SOFTMAX: the table of exponentials is made here and loaded once; runs of whole rows pass through
// the scratchpad and are worked on in place.
#include <algorithm>
#include <bit>
#include <cstring>

#include "arch/softmax.h"
#include "delegate/codegen/lower.h"
#include "delegate/ops/operands.h"

namespace deputy::delegate {

void lower_softmax(Lowering& context, const Op& op) {
  const Tensor &in = context.tensor(op.inputs[0]), &out = context.tensor(op.outputs[0]);
  const Numerics mode = context.options.numerics;
  const auto table = arch::softmax_table(op.attrs.beta, in.desc.quant.scale[0], mode);
  std::uint8_t bytes[arch::kExpTableBytes];
  std::memcpy(bytes, table.data(), sizeof bytes);
  const MemoryRef table_at{arch::Region::kConstants, context.constants.add(bytes)};
  const MemoryRef from = context.memory(op.inputs[0]), to = context.memory(op.outputs[0]);

  // Up to three runs in flight (arriving, in work, leaving); not more than four runs of small maps.
  constexpr std::int64_t kSlots = 3, kMaxRows = 65535;
  const std::int64_t length = in.desc.shape.back(), rows = in.desc.elements() / length;
  const std::int64_t room = context.options.npu.spm.bytes - arch::kExpTableBytes;
  const std::int64_t slots =
      std::clamp<std::int64_t>(room / align_up(length, kBufferAlign), 1, kSlots);
  const std::int64_t limit = room / slots / kBufferAlign * kBufferAlign / length;
  const std::int64_t wanted = std::max(ceil_div(1024, length), ceil_div(rows, 4));
  const std::int64_t run = std::min({limit, wanted, rows, kMaxRows});
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(slots) + 1, run * length);
  sizes[0] = arch::kExpTableBytes;
  const auto buffers = context.program.allocate(sizes);
  context.program.load(table_at, buffers[0], Box::bytes(arch::kExpTableBytes),
                       arch::Traffic::kParams);
  arch::Softmax m;
  m.length = static_cast<std::uint32_t>(length), m.exp_addr = buffers[0];
  m.ifm_row_stride = m.ofm_row_stride = m.length;
  m.rounding = static_cast<std::uint32_t>(mode), m.u8 = is_u8(in);
  m.scale = std::bit_cast<std::int32_t>(out.desc.quant.scale[0]);
  for (std::int64_t row = 0, i = 0; row < rows; row += run, ++i) {
    const std::int64_t count = std::min(run, rows - row);
    m.ifm_addr = m.ofm_addr = buffers[static_cast<std::size_t>(1 + i % slots)];
    m.rows = static_cast<std::uint32_t>(count);
    const Box box = Box::bytes(count * length);
    context.program.load(shifted(from, row * length), m.ifm_addr, box, arch::Traffic::kFeatureMap);
    context.program.emit(m);
    context.program.store(shifted(to, row * length), m.ofm_addr, box);
  }
}

}  // namespace deputy::delegate
