// Operators that only move bytes: strided LOADs into the scratchpad, strided STOREs out of it.
// Parts that are views of the whole are left out.
#include <algorithm>
#include <optional>

#include "base/check.h"
#include "delegate/codegen/copy_emitter.h"
#include "delegate/codegen/lower.h"
#include "delegate/ops/copies.h"

namespace deputy::delegate {

void lower_copies(Lowering& context, const Kernel& kernel) {
  constexpr std::int64_t kChunk = 65536;
  const auto list = copies(context.graph, kernel.main_op(context.graph));
  DEPUTY_CHECK(list, "not a copying operator");
  const auto viewed = [&](TensorId id) {
    return std::find(kernel.views.begin(), kernel.views.end(), id) != kernel.views.end();
  };
  std::optional<CopyEmitter> emitter;
  for (const Copy& copy : *list) {
    if (viewed(copy.from) || viewed(copy.to)) continue;
    if (const auto e = exchange(copy, context.options.npu.spm.bytes)) {
      lower_exchange(context, copy, *e);
      emitter.reset();  // the scratchpad went to the exchange
      continue;
    }
    if (!emitter) emitter.emplace(context, kChunk);
    emitter->emit(shifted(context.memory(copy.from), copy.from_offset),
                  shifted(context.memory(copy.to), copy.to_offset), copy.dims);
  }
}

}  // namespace deputy::delegate
