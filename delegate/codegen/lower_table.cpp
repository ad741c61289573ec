// One-operand operators as a table: load a run of bytes, map it in place, store it.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "delegate/codegen/lower.h"
#include "delegate/ops/operands.h"

namespace deputy::delegate {

void lower_table(Lowering& context, const Op& op) {
  const Tensor &in = context.tensor(op.inputs[0]), &out = context.tensor(op.outputs[0]);
  const auto table = signed_table(context.graph, op, context.options.numerics);
  DEPUTY_CHECK(table, "not a table operator");
  // LUT takes raw bytes: unsigned ones permute the table.
  std::array<std::uint8_t, 256> bytes;
  for (std::size_t index = 0; index < 256; ++index)
    bytes[index ^ (is_u8(in) ? 0x80 : 0)] =
        static_cast<std::uint8_t>((*table)[index]) ^ (is_u8(out) ? 0x80 : 0);
  const MemoryRef table_at{arch::Region::kConstants, context.constants.add(bytes)};
  const MemoryRef from = context.memory(op.inputs[0]), to = context.memory(op.outputs[0]);

  // Three runs in flight (arriving, in work, leaving); small maps are not cut into more than four.
  constexpr std::int64_t kSlots = 3;
  const std::int64_t total = in.desc.elements();
  const std::int64_t limit =
      (context.options.npu.spm.bytes - 256) / kSlots / kBufferAlign * kBufferAlign;
  const std::int64_t run =
      std::min(limit, align_up(std::max<std::int64_t>(1024, (total + 3) / 4), kBufferAlign));
  const auto slots = context.program.allocate(std::vector<std::int64_t>{256, run, run, run});
  context.program.load(table_at, slots[0], Box::bytes(256), arch::Traffic::kParams);
  for (std::int64_t at = 0, i = 0; at < total; at += run, ++i) {
    const std::int64_t count = std::min(run, total - at);
    const std::uint32_t spm = slots[static_cast<std::size_t>(1 + i % kSlots)];
    context.program.load({from.region, from.offset + static_cast<std::uint64_t>(at)}, spm,
                         Box::bytes(count), arch::Traffic::kFeatureMap);
    arch::Lut lut;
    lut.ifm_addr = lut.ofm_addr = spm, lut.count = static_cast<std::uint32_t>(count),
    lut.lut_addr = slots[0];
    context.program.emit(lut);
    context.program.store({to.region, to.offset + static_cast<std::uint64_t>(at)}, spm,
                          Box::bytes(count));
  }
}

}  // namespace deputy::delegate
