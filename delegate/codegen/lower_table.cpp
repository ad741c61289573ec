// One-operand operators as a table: load a run of bytes, map it in place, store it.
#include <algorithm>

#include "arch/activation_table.h"
#include "base/check.h"
#include "delegate/codegen/lower.h"

namespace deputy::delegate {

void lower_table(Lowering& context, const Op& op) {
  const Tensor &in = context.tensor(op.inputs[0]), &out = context.tensor(op.outputs[0]);
  const auto table = arch::activation_table(op.kind, op.attrs, in.desc.quant, out.desc.quant,
                                            context.options.numerics);
  DEPUTY_CHECK(table, "not a table operator");
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(table->data()),
                                            table->size());
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
