#include "delegate/codegen/lower.h"

namespace deputy::delegate {

using arch::OpKind;

MemoryRef Lowering::memory(TensorId id) {
  if (tensor(id).constant) place_constant(graph, id, tensors, constants);
  const arch::PlacedTensor& place = tensors[static_cast<std::size_t>(id)];
  return {place.region, place.offset};
}

void place_constant(const Graph& graph, TensorId id, std::vector<arch::PlacedTensor>& tensors,
                    ConstantPool& constants) {
  arch::PlacedTensor& place = tensors[static_cast<std::size_t>(id)];
  if (place.placement == arch::Placement::kRegion) return;
  place.placement = arch::Placement::kRegion;
  place.region = arch::Region::kConstants;
  place.offset = constants.add(graph.tensor(id).data);
}

void lower(Lowering& context, const Op& op) {
  switch (op.kind) {
    case OpKind::CONV_2D:
    case OpKind::DEPTHWISE_CONV_2D:
    case OpKind::FULLY_CONNECTED:
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
    case OpKind::MEAN:
      return lower_window(context, op);
    case OpKind::ADD:
    case OpKind::SUB:
    case OpKind::MUL:
    case OpKind::MINIMUM:
    case OpKind::MAXIMUM:
      return lower_eltwise(context, op);
    case OpKind::PAD:
    case OpKind::PADV2:
      return lower_pad(context, op);
    case OpKind::CONCATENATION:
    case OpKind::PACK:
    case OpKind::UNPACK:
    case OpKind::SPLIT:
    case OpKind::SPLIT_V:
    case OpKind::SLICE:
    case OpKind::STRIDED_SLICE:
    case OpKind::TRANSPOSE:
    case OpKind::SPACE_TO_DEPTH:
    case OpKind::DEPTH_TO_SPACE:
      return lower_copies(context, op);
    default:
      return lower_table(context, op);
  }
}

}  // namespace deputy::delegate
