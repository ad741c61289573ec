// Option tables, and the padding word that gives an operator's explicit pads.
#include "delegate/import/tflite_export_options.h"

#include "delegate/ir/op_rules.h"

namespace deputy::delegate {
namespace {

using arch::OpAttrs;
using arch::OpKind;
using arch::Padding;
using base::Result;

/// SAME or VALID, whichever resolves to the pads the operator has.
Result<tflite::Padding> padding_word(const Graph& graph, const Op& op) {
  const OpAttrs& a = op.attrs;
  for (const Padding padding : {Padding::kValid, Padding::kSame}) {
    if (a.padding != static_cast<std::uint8_t>(padding) &&
        a.padding != static_cast<std::uint8_t>(Padding::kExplicit))
      continue;
    Op trial = op;
    trial.attrs.padding = static_cast<std::uint8_t>(padding);
    if (auto status = normalise_op(graph, trial); !status.ok()) return status.error();
    const OpAttrs& t = trial.attrs;
    if (t.pad_top == a.pad_top && t.pad_bottom == a.pad_bottom && t.pad_left == a.pad_left &&
        t.pad_right == a.pad_right)
      return padding == Padding::kSame ? tflite::Padding::SAME : tflite::Padding::VALID;
  }
  return base::Error{
      base::ErrorKind::kUnsupported, op_label(graph, op),
      "its pads are neither those of SAME nor of VALID, and the format has no others",
      "use a PAD operator before it"};
}

template <class Table>
WrittenOptions written(flatbuffers::Offset<Table> table) {
  return {tflite::BuiltinOptionsTraits<Table>::enum_value, table.Union()};
}

Result<WrittenOptions> write_window(flatbuffers::FlatBufferBuilder& b, const Graph& graph,
                                    const Op& op) {
  const OpAttrs& a = op.attrs;
  const auto activation = static_cast<tflite::FusedActivation>(a.activation);
  DEPUTY_ASSIGN(const auto padding, padding_word(graph, op));
  switch (op.kind) {
    case OpKind::CONV_2D:
      return written(tflite::CreateConv2DOptions(b, padding, a.stride_w, a.stride_h, activation,
                                                 a.dilation_w, a.dilation_h));
    case OpKind::DEPTHWISE_CONV_2D:
      return written(tflite::CreateDepthwiseConv2DOptions(b, padding, a.stride_w, a.stride_h,
                                                          a.depth_multiplier, activation,
                                                          a.dilation_w, a.dilation_h));
    case OpKind::TRANSPOSE_CONV:
      return written(
          tflite::CreateTransposeConvOptions(b, padding, a.stride_w, a.stride_h, activation));
    default:
      return written(tflite::CreatePool2DOptions(b, padding, a.stride_w, a.stride_h, a.filter_w,
                                                 a.filter_h, activation));
  }
}

/// The format names the dimensions that go; any choice of 1s that leaves the output's shape will
/// do.
WrittenOptions write_squeeze(flatbuffers::FlatBufferBuilder& b, const Graph& graph, const Op& op) {
  const Shape& in = graph.tensor(op.inputs[0]).desc.shape;
  const Shape& out = graph.tensor(op.outputs[0]).desc.shape;
  std::vector<std::int32_t> gone;
  std::size_t kept = 0;
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (kept < out.size() && in[d] == out[kept])
      ++kept;
    else
      gone.push_back(static_cast<std::int32_t>(d));
  }
  return written(tflite::CreateSqueezeOptionsDirect(b, &gone));
}

}  // namespace

tflite::TensorType tensor_type(DType type) {
  switch (type) {
    case DType::kInt8:
      return tflite::TensorType::INT8;
    case DType::kUint8:
      return tflite::TensorType::UINT8;
    case DType::kInt16:
      return tflite::TensorType::INT16;
    case DType::kInt32:
      return tflite::TensorType::INT32;
    case DType::kInt64:
      return tflite::TensorType::INT64;
    case DType::kFloat32:
      return tflite::TensorType::FLOAT32;
    case DType::kFloat16:
      return tflite::TensorType::FLOAT16;
    case DType::kBool:
      return tflite::TensorType::BOOL;
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
    case DType::kFloat64:
      break;  // refused before
  }
  DEPUTY_CHECK(false, "unknown element type");
}

Result<WrittenOptions> write_options(flatbuffers::FlatBufferBuilder& b, const Graph& graph,
                                     const Op& op) {
  const OpAttrs& a = op.attrs;
  const auto activation = static_cast<tflite::FusedActivation>(a.activation);
  const auto out_type = tensor_type(graph.tensor(op.outputs[0]).desc.dtype);
  switch (op.kind) {
    case OpKind::CONV_2D:
    case OpKind::DEPTHWISE_CONV_2D:
    case OpKind::TRANSPOSE_CONV:
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
      return write_window(b, graph, op);
    case OpKind::FULLY_CONNECTED:
      return written(tflite::CreateFullyConnectedOptions(
          b, activation, tflite::WeightsFormat::DEFAULT, a.keep_num_dims));
    // Left as it is, pot_scale_int16 says that int16 scales are powers of two.
    case OpKind::ADD:
      return written(
          tflite::CreateAddOptions(b, activation, out_type != tflite::TensorType::INT16));
    case OpKind::SUB:
      return written(
          tflite::CreateSubOptions(b, activation, out_type != tflite::TensorType::INT16));
    case OpKind::MUL:
      return written(tflite::CreateMulOptions(b, activation));
    case OpKind::DIV:
      return written(tflite::CreateDivOptions(b, activation));
    case OpKind::SOFTMAX:
      return written(tflite::CreateSoftmaxOptions(b, a.beta));
    case OpKind::CONCATENATION:
      return written(tflite::CreateConcatenationOptions(b, a.axis));
    case OpKind::RESHAPE:
      return written(
          tflite::CreateReshapeOptionsDirect(b, &graph.tensor(op.outputs[0]).desc.shape));
    case OpKind::SQUEEZE:
      return write_squeeze(b, graph, op);
    case OpKind::RESIZE_BILINEAR:
      return written(tflite::CreateResizeBilinearOptions(b, a.align_corners, a.half_pixel_centers));
    case OpKind::RESIZE_NEAREST_NEIGHBOR:
      return written(
          tflite::CreateResizeNearestNeighborOptions(b, a.align_corners, a.half_pixel_centers));
    case OpKind::SPACE_TO_DEPTH:
      return written(tflite::CreateSpaceToDepthOptions(b, a.block_size));
    case OpKind::DEPTH_TO_SPACE:
      return written(tflite::CreateDepthToSpaceOptions(b, a.block_size));
    case OpKind::SPLIT:
      return written(tflite::CreateSplitOptions(b, a.num));
    case OpKind::SPLIT_V:
      return written(tflite::CreateSplitVOptions(b, a.num));
    case OpKind::PACK:
      return written(tflite::CreatePackOptions(b, a.num, a.axis));
    case OpKind::UNPACK:
      return written(tflite::CreateUnpackOptions(b, a.num, a.axis));
    case OpKind::GATHER:
      return written(tflite::CreateGatherOptions(b, a.axis, a.batch_dims));
    case OpKind::MEAN:
    case OpKind::SUM:
    case OpKind::REDUCE_MAX:
    case OpKind::REDUCE_MIN:
      return written(tflite::CreateReducerOptions(b, a.keep_dims));
    case OpKind::STRIDED_SLICE:
      return written(tflite::CreateStridedSliceOptions(b, a.begin_mask, a.end_mask, a.ellipsis_mask,
                                                       a.new_axis_mask, a.shrink_axis_mask));
    case OpKind::LEAKY_RELU:
      return written(tflite::CreateLeakyReluOptions(b, a.alpha));
    case OpKind::MIRROR_PAD:
      return written(tflite::CreateMirrorPadOptions(
          b, a.reflect ? tflite::MirrorMode::REFLECT : tflite::MirrorMode::SYMMETRIC));
    case OpKind::GELU:
      return written(tflite::CreateGeluOptions(b, a.approximate));
    case OpKind::BATCH_MATMUL:
      return written(tflite::CreateBatchMatMulOptions(b, a.adj_x, a.adj_y));
    case OpKind::ARG_MAX:
      return written(tflite::CreateArgMaxOptions(b, out_type));
    case OpKind::ARG_MIN:
      return written(tflite::CreateArgMinOptions(b, out_type));
    case OpKind::SHAPE:
      return written(tflite::CreateShapeOptions(b, out_type));
    case OpKind::CAST:
      return written(tflite::CreateCastOptions(
          b, tensor_type(graph.tensor(op.inputs[0]).desc.dtype), out_type));
    default:
      return WrittenOptions{};
  }
}

}  // namespace deputy::delegate
