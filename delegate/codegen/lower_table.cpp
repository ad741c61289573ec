// One-operand operators as a table: load a run of bytes, map it in place, store it.
#include <algorithm>

#include "base/check.h"
#include "delegate/codegen/epilogue.h"
#include "delegate/codegen/lower.h"
#include "delegate/ops/operands.h"

namespace deputy::delegate {

void lower_table(Lowering& context, const Kernel& kernel) {
  const Op& op = kernel.main_op(context.graph);
  const Tensor& in = context.tensor(op.inputs[0]);
  const auto table = table_of(context.graph, context.options.numerics, op, op.inputs[0]);
  DEPUTY_CHECK(table, "not a table operator");
  Finish finish{-128, 127, *table};
  TensorId last = op.outputs[0];
  for (const std::size_t index : kernel.epilogue) {
    const Op& next = context.graph.ops[index];
    const auto then = table_of(context.graph, context.options.numerics, next, last);
    DEPUTY_CHECK(then, "not a table operator");
    finish.then(*then);
    last = next.outputs[0];
  }
  // LUT takes raw bytes: unsigned ones permute the table.
  ByteTable bytes;
  const std::int8_t flip = is_u8(context.tensor(last)) ? -128 : 0;
  for (std::size_t index = 0; index < bytes.size(); ++index)
    bytes[index ^ (is_u8(in) ? 0x80 : 0)] = static_cast<std::int8_t>((*finish.table)[index] ^ flip);
  const MemoryRef table_at = table_constant(context, bytes);
  const MemoryRef from = context.memory(op.inputs[0]), to = context.memory(last);

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
