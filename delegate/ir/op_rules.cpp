// Dispatch of the operator rules by family, and the completion of attributes.
#include "delegate/ir/op_rules.h"

#include "delegate/ir/op_checker.h"
#include "delegate/ir/padding.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using arch::Padding;
using base::Status;

constexpr std::int64_t kMaxWindow = 1 << 24;  ///< taps of a dilated kernel in one direction

Status check_window(const OpChecker& c, std::int64_t kernel, std::int64_t stride,
                    std::int64_t dilation) {
  if (kernel < 1) return c.malformed("the kernel size {} is not positive", kernel);
  if (stride < 1) return c.malformed("the stride {} is not positive", stride);
  if (dilation < 1) return c.malformed("the dilation {} is not positive", dilation);
  if ((kernel - 1) * dilation + 1 > kMaxWindow)
    return c.unsupported("a kernel of {} with dilation {} is too large", kernel, dilation);
  return {};
}

/// `image`: the tensor that the pads belong to (the output of a TRANSPOSE_CONV).
Status resolve_pads(const OpChecker& c, const Shape& image, std::int64_t kernel_h,
                    std::int64_t kernel_w, arch::OpAttrs& attrs) {
  DEPUTY_TRY(check_window(c, kernel_h, attrs.stride_h, attrs.dilation_h));
  DEPUTY_TRY(check_window(c, kernel_w, attrs.stride_w, attrs.dilation_w));
  if (attrs.padding == static_cast<std::uint8_t>(Padding::kExplicit)) return {};
  const auto padding = static_cast<Padding>(attrs.padding);
  const auto h = window_extent(padding, image[1], kernel_h, attrs.stride_h, attrs.dilation_h);
  const auto w = window_extent(padding, image[2], kernel_w, attrs.stride_w, attrs.dilation_w);
  attrs.pad_top = static_cast<std::int32_t>(h.pad_before);
  attrs.pad_bottom = static_cast<std::int32_t>(h.pad_after);
  attrs.pad_left = static_cast<std::int32_t>(w.pad_before);
  attrs.pad_right = static_cast<std::int32_t>(w.pad_after);
  return {};
}

Status normalise_window_op(const OpChecker& c, Op& op) {
  if (op.kind == OpKind::AVERAGE_POOL_2D || op.kind == OpKind::MAX_POOL_2D) {
    DEPUTY_TRY(c.operands(1, 1));
    DEPUTY_TRY(c.rank(c.in(0), 4));
    return resolve_pads(c, c.in_shape(0), op.attrs.filter_h, op.attrs.filter_w, op.attrs);
  }
  const bool transposed = op.kind == OpKind::TRANSPOSE_CONV;
  DEPUTY_TRY(transposed ? c.operands(3, 4) : c.operands(2, 3));
  DEPUTY_TRY(c.rank(c.in(1), 4));
  const Tensor& image = transposed ? c.out() : c.in(0);
  DEPUTY_TRY(c.rank(image, 4));
  const Shape& weights = c.in_shape(1);
  if (op.kind == OpKind::DEPTHWISE_CONV_2D) {
    const std::int32_t channels = c.in_shape(0)[3];
    if (channels < 1 || weights[3] % channels != 0)
      return c.malformed("{} filters cannot be shared out among {} input channels", weights[3],
                         channels);
    const std::int32_t multiplier = weights[3] / channels;
    if (op.attrs.depth_multiplier != multiplier && op.attrs.depth_multiplier != 0)
      return c.malformed("depth multiplier {} contradicts the weights, which have {}",
                         op.attrs.depth_multiplier, multiplier);
    op.attrs.depth_multiplier = multiplier;
  }
  return resolve_pads(c, image.desc.shape, weights[1], weights[2], op.attrs);
}

}  // namespace

Status normalise_op(const Graph& graph, Op& op) {
  const OpChecker c(graph, op);
  switch (op.kind) {
    case OpKind::CONV_2D:
    case OpKind::DEPTHWISE_CONV_2D:
    case OpKind::TRANSPOSE_CONV:
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
      return normalise_window_op(c, op);
    case OpKind::CONCATENATION: {
      DEPUTY_TRY(c.operands(1, op.inputs.size()));
      DEPUTY_ASSIGN(op.attrs.axis, c.axis(op.attrs.axis, c.in_shape(0).size()));
      return {};
    }
    case OpKind::GATHER: {
      DEPUTY_TRY(c.operands(2, 2));
      DEPUTY_ASSIGN(op.attrs.axis, c.axis(op.attrs.axis, c.in_shape(0).size()));
      if (op.attrs.batch_dims < 0)
        op.attrs.batch_dims += static_cast<std::int32_t>(c.in_shape(1).size());
      return {};
    }
    case OpKind::PACK: {
      DEPUTY_TRY(c.operands(1, op.inputs.size()));
      DEPUTY_ASSIGN(op.attrs.axis, c.axis(op.attrs.axis, c.in_shape(0).size() + 1));
      return {};
    }
    case OpKind::UNPACK: {
      DEPUTY_TRY(c.operands(1, 1, op.outputs.size()));
      DEPUTY_ASSIGN(op.attrs.axis, c.axis(op.attrs.axis, c.in_shape(0).size()));
      return {};
    }
    default:
      return {};
  }
}

Status check_op(const Graph& graph, const Op& op) {
  const OpChecker c(graph, op);
  switch (op.kind) {
    case OpKind::CONV_2D:
    case OpKind::DEPTHWISE_CONV_2D:
    case OpKind::TRANSPOSE_CONV:
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
      return check_window_op(c);
    case OpKind::FULLY_CONNECTED:
    case OpKind::BATCH_MATMUL:
      return check_matrix_op(c);
    case OpKind::MEAN:
    case OpKind::SUM:
    case OpKind::REDUCE_MAX:
    case OpKind::REDUCE_MIN:
    case OpKind::ARG_MAX:
    case OpKind::ARG_MIN:
      return check_reduction_op(c);
    case OpKind::RESHAPE:
    case OpKind::SQUEEZE:
    case OpKind::EXPAND_DIMS:
    case OpKind::TRANSPOSE:
    case OpKind::REVERSE_V2:
    case OpKind::SHAPE:
    case OpKind::FILL:
    case OpKind::TILE:
      return check_reshape_op(c);
    case OpKind::CONCATENATION:
    case OpKind::SLICE:
    case OpKind::STRIDED_SLICE:
    case OpKind::SPLIT:
    case OpKind::SPLIT_V:
    case OpKind::GATHER:
    case OpKind::PACK:
    case OpKind::UNPACK:
      return check_slice_op(c);
    case OpKind::PAD:
    case OpKind::PADV2:
    case OpKind::MIRROR_PAD:
    case OpKind::RESIZE_BILINEAR:
    case OpKind::RESIZE_NEAREST_NEIGHBOR:
    case OpKind::BATCH_TO_SPACE_ND:
    case OpKind::SPACE_TO_BATCH_ND:
    case OpKind::DEPTH_TO_SPACE:
    case OpKind::SPACE_TO_DEPTH:
      return check_space_op(c);
    case OpKind::ADD:
    case OpKind::SUB:
    case OpKind::MUL:
    case OpKind::DIV:
    case OpKind::MINIMUM:
    case OpKind::MAXIMUM:
    case OpKind::SQUARED_DIFFERENCE:
    case OpKind::SOFTMAX:
    case OpKind::LOG_SOFTMAX:
    case OpKind::L2_NORMALIZATION:
    case OpKind::LOGISTIC:
    case OpKind::TANH:
    case OpKind::RELU:
    case OpKind::RELU6:
    case OpKind::RELU_N1_TO_1:
    case OpKind::LEAKY_RELU:
    case OpKind::PRELU:
    case OpKind::HARD_SWISH:
    case OpKind::ELU:
    case OpKind::GELU:
    case OpKind::ABS:
    case OpKind::EXP:
    case OpKind::NEG:
    case OpKind::SQRT:
    case OpKind::RSQRT:
    case OpKind::FLOOR:
    case OpKind::CEIL:
    case OpKind::ROUND:
    case OpKind::SIN:
    case OpKind::COS:
    case OpKind::QUANTIZE:
    case OpKind::DEQUANTIZE:
    case OpKind::CAST:
      return check_elementwise_op(c);
    case OpKind::ONNX:
      return {};  // the importer has run the operator's own rules
  }
  return c.unsupported("operator number {} has no rule", static_cast<int>(op.kind));
}

}  // namespace deputy::delegate
