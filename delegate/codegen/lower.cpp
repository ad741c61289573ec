#include "delegate/codegen/lower.h"

#include "base/check.h"

namespace deputy::delegate {

using arch::OpKind;

TensorView Lowering::view(TensorId id) {
  if (!tensor(id).constant) return views[static_cast<std::size_t>(id)];
  place_constant(graph, id, tensors, constants);
  const arch::PlacedTensor& place = tensors[static_cast<std::size_t>(id)];
  return dense_view(place.desc, {place.region, place.offset});
}

MemoryRef Lowering::memory(TensorId id) {
  const TensorView v = view(id);
  DEPUTY_CHECK(v.stored && is_dense(v, tensor(id).desc), "a dense tensor is needed");
  return v.at;
}

MapView Lowering::map(TensorId id, std::int64_t h, std::int64_t w, std::int64_t c) {
  return map_view(view(id), tensor(id).desc, h, w, c);
}

void place_constant(const Graph& graph, TensorId id, std::vector<arch::PlacedTensor>& tensors,
                    ConstantPool& constants) {
  arch::PlacedTensor& place = tensors[static_cast<std::size_t>(id)];
  if (place.placement == arch::Placement::kRegion) return;
  place.placement = arch::Placement::kRegion;
  place.region = arch::Region::kConstants;
  place.offset = constants.add(graph.tensor(id).data);
}

void lower(Lowering& context, const Kernel& kernel, RowRange rows) {
  const Op& op = kernel.main_op(context.graph);
  switch (op.kind) {
    case OpKind::CONV_2D:
    case OpKind::DEPTHWISE_CONV_2D:
    case OpKind::FULLY_CONNECTED:
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
    case OpKind::MEAN:
      return lower_window(context, kernel, rows);
    case OpKind::ADD:
    case OpKind::SUB:
    case OpKind::MUL:
    case OpKind::MINIMUM:
    case OpKind::MAXIMUM:
      return lower_eltwise(context, kernel, rows);
    case OpKind::SOFTMAX:
      return lower_softmax(context, op);
    case OpKind::PAD:
    case OpKind::PADV2:
      return lower_pad(context, op);
    default:
      return moves_only(op.kind) ? lower_copies(context, kernel) : lower_table(context, kernel);
  }
}

}  // namespace deputy::delegate
