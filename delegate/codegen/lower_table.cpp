// One-operand operators as a table: load a run of bytes, map it in place, store it. Dense or
// strided alike.
#include <algorithm>

#include "base/check.h"
#include "delegate/codegen/copy_emitter.h"
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
  // Small maps are not cut into more than four runs.
  const std::int64_t run = std::max<std::int64_t>(1024, (in.desc.elements() + 3) / 4);
  const TensorView from = context.view(op.inputs[0]), to = context.view(last);
  CopyEmitter(context, run, bytes).emit(from.at, to.at, view_dims(in.desc.shape, from, to));
}

}  // namespace deputy::delegate
