// Option tables of the TFLite format. An absent table means that every field has its default.
#include "delegate/import/tflite_options.h"

#include <fmt/format.h>

#include <cmath>

#include "tflite_generated.h"

namespace deputy::delegate {
namespace {

using arch::OpAttrs;
using arch::OpKind;
using base::Error;
using base::ErrorKind;
using base::Status;

class Reader {
 public:
  Reader(const tflite::Operator& op, const std::string& where) : op_(op), where_(where) {}

  Error malformed(std::string message) const {
    return {ErrorKind::kModel, where_, std::move(message), ""};
  }
  Error unsupported(std::string message, std::string remedy = "") const {
    return {ErrorKind::kUnsupported, where_, std::move(message), std::move(remedy)};
  }

  /// The table as a `Table`; null when the operator has none.
  template <class Table>
  Status table(const Table*& out) const {
    out = nullptr;
    if (op_.options_type() == tflite::BuiltinOptions::NONE || op_.options() == nullptr) return {};
    if (op_.options_type() != tflite::BuiltinOptionsTraits<Table>::enum_value)
      return malformed(fmt::format("options table {} belongs to another operator",
                                   static_cast<int>(op_.options_type())));
    out = op_.options_as<Table>();
    return {};
  }

  Status activation(tflite::FusedActivation value, OpAttrs& attrs) const {
    if (value >= tflite::FusedActivation::NONE && value <= tflite::FusedActivation::RELU6) {
      attrs.activation = static_cast<std::uint8_t>(value);  // same numbers as arch::Activation
      return {};
    }
    if (value == tflite::FusedActivation::TANH || value == tflite::FusedActivation::SIGN_BIT)
      return unsupported(fmt::format("fused activation {} is not supported",
                                     value == tflite::FusedActivation::TANH ? "TANH" : "SIGN_BIT"),
                         "use a separate operator");
    return malformed(fmt::format("fused activation {} does not exist", static_cast<int>(value)));
  }

  Status no_activation(tflite::FusedActivation value) const {
    if (value == tflite::FusedActivation::NONE) return {};
    return unsupported(
        fmt::format("fused activation {} on an operator that has none", static_cast<int>(value)));
  }

  Status padding(tflite::Padding value, OpAttrs& attrs) const {
    if (value != tflite::Padding::SAME && value != tflite::Padding::VALID)
      return malformed(fmt::format("padding {} does not exist", static_cast<int>(value)));
    attrs.padding = static_cast<std::uint8_t>(
        value == tflite::Padding::SAME ? arch::Padding::kSame : arch::Padding::kValid);
    return {};
  }

  template <class Table>
  Status strides(const Table& table, OpAttrs& attrs) const {
    DEPUTY_TRY(padding(table.padding(), attrs));
    attrs.stride_h = table.stride_h();
    attrs.stride_w = table.stride_w();
    return {};
  }

 private:
  const tflite::Operator& op_;
  const std::string& where_;
};

Status read_conv(const Reader& reader, OpAttrs& attrs) {
  const tflite::Conv2DOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (!t) return reader.malformed("has no options table");
  DEPUTY_TRY(reader.strides(*t, attrs));
  attrs.dilation_h = t->dilation_h();
  attrs.dilation_w = t->dilation_w();
  return reader.activation(t->activation(), attrs);
}

Status read_depthwise(const Reader& reader, OpAttrs& attrs) {
  const tflite::DepthwiseConv2DOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (!t) return reader.malformed("has no options table");
  DEPUTY_TRY(reader.strides(*t, attrs));
  attrs.dilation_h = t->dilation_h();
  attrs.dilation_w = t->dilation_w();
  attrs.depth_multiplier = t->depth_multiplier();
  return reader.activation(t->activation(), attrs);
}

Status read_pool(const Reader& reader, OpAttrs& attrs) {
  const tflite::Pool2DOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (!t) return reader.malformed("has no options table");
  DEPUTY_TRY(reader.strides(*t, attrs));
  attrs.filter_h = t->filter_h();
  attrs.filter_w = t->filter_w();
  return reader.activation(t->activation(), attrs);
}

Status read_transpose_conv(const Reader& reader, OpAttrs& attrs) {
  const tflite::TransposeConvOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (!t) return reader.malformed("has no options table");
  DEPUTY_TRY(reader.strides(*t, attrs));
  return reader.activation(t->activation(), attrs);
}

Status read_fully_connected(const Reader& reader, OpAttrs& attrs) {
  const tflite::FullyConnectedOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (!t) return {};
  if (t->weights_format() != tflite::WeightsFormat::DEFAULT)
    return reader.unsupported("shuffled weights are not supported",
                              "convert the model with the default weight format");
  attrs.keep_num_dims = t->keep_num_dims();
  return reader.activation(t->activation(), attrs);
}

template <class Table>
Status read_activation_only(const Reader& reader, OpAttrs& attrs) {
  const Table* t;
  DEPUTY_TRY(reader.table(t));
  return t ? reader.activation(t->activation(), attrs) : Status{};
}

template <class Table>
Status read_resize(const Reader& reader, OpAttrs& attrs) {
  const Table* t;
  DEPUTY_TRY(reader.table(t));
  if (!t) return {};
  attrs.align_corners = t->align_corners();
  attrs.half_pixel_centers = t->half_pixel_centers();
  return {};
}

template <class Table>
Status read_block(const Reader& reader, OpAttrs& attrs) {
  const Table* t;
  DEPUTY_TRY(reader.table(t));
  if (t) attrs.block_size = t->block_size();
  return {};
}

template <class Table>
Status read_split(const Reader& reader, OpAttrs& attrs) {
  const Table* t;
  DEPUTY_TRY(reader.table(t));
  if (t) attrs.num = t->num_splits();
  return {};
}

template <class Table>
Status read_pack(const Reader& reader, OpAttrs& attrs) {
  const Table* t;
  DEPUTY_TRY(reader.table(t));
  if (!t) return {};
  attrs.num = t->count();
  attrs.axis = t->axis();
  return {};
}

Status read_softmax(const Reader& reader, OpAttrs& attrs) {
  const tflite::SoftmaxOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (!t) return reader.malformed("has no options table");
  attrs.beta = t->beta();
  if (!std::isfinite(attrs.beta) || attrs.beta <= 0)
    return reader.malformed(fmt::format("beta = {} is not a positive number", attrs.beta));
  return {};
}

Status read_concatenation(const Reader& reader, OpAttrs& attrs) {
  const tflite::ConcatenationOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (!t) return {};
  attrs.axis = t->axis();
  return reader.no_activation(t->activation());
}

Status read_l2_norm(const Reader& reader) {
  const tflite::L2NormOptions* t;
  DEPUTY_TRY(reader.table(t));
  return t ? reader.no_activation(t->activation()) : Status{};
}

Status read_gather(const Reader& reader, OpAttrs& attrs) {
  const tflite::GatherOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (!t) return {};
  attrs.axis = t->axis();
  attrs.batch_dims = t->batch_dims();
  return {};
}

Status read_reducer(const Reader& reader, OpAttrs& attrs) {
  const tflite::ReducerOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (t) attrs.keep_dims = t->keep_dims();
  return {};
}

Status read_strided_slice(const Reader& reader, OpAttrs& attrs) {
  const tflite::StridedSliceOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (!t) return {};
  if (t->offset())
    return reader.unsupported("ends given as offsets from the begins are not supported");
  attrs.begin_mask = t->begin_mask();
  attrs.end_mask = t->end_mask();
  attrs.ellipsis_mask = t->ellipsis_mask();
  attrs.new_axis_mask = t->new_axis_mask();
  attrs.shrink_axis_mask = t->shrink_axis_mask();
  return {};
}

Status read_leaky_relu(const Reader& reader, OpAttrs& attrs) {
  const tflite::LeakyReluOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (t) attrs.alpha = t->alpha();
  if (!std::isfinite(attrs.alpha))
    return reader.malformed(fmt::format("alpha = {} is not finite", attrs.alpha));
  return {};
}

Status read_mirror_pad(const Reader& reader, OpAttrs& attrs) {
  const tflite::MirrorPadOptions* t;
  DEPUTY_TRY(reader.table(t));
  const auto mode = t ? t->mode() : tflite::MirrorMode::REFLECT;
  if (mode != tflite::MirrorMode::REFLECT && mode != tflite::MirrorMode::SYMMETRIC)
    return reader.malformed(fmt::format("mirror mode {} does not exist", static_cast<int>(mode)));
  attrs.reflect = mode == tflite::MirrorMode::REFLECT;
  return {};
}

Status read_gelu(const Reader& reader, OpAttrs& attrs) {
  const tflite::GeluOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (t) attrs.approximate = t->approximate();
  return {};
}

Status read_batch_matmul(const Reader& reader, OpAttrs& attrs) {
  const tflite::BatchMatMulOptions* t;
  DEPUTY_TRY(reader.table(t));
  if (!t) return {};
  attrs.adj_x = t->adj_x();
  attrs.adj_y = t->adj_y();
  return {};
}

Status read(const Reader& reader, OpKind kind, OpAttrs& attrs) {
  switch (kind) {
    case OpKind::CONV_2D:
      return read_conv(reader, attrs);
    case OpKind::DEPTHWISE_CONV_2D:
      return read_depthwise(reader, attrs);
    case OpKind::FULLY_CONNECTED:
      return read_fully_connected(reader, attrs);
    case OpKind::TRANSPOSE_CONV:
      return read_transpose_conv(reader, attrs);
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
      return read_pool(reader, attrs);
    case OpKind::ADD:
      return read_activation_only<tflite::AddOptions>(reader, attrs);
    case OpKind::SUB:
      return read_activation_only<tflite::SubOptions>(reader, attrs);
    case OpKind::MUL:
      return read_activation_only<tflite::MulOptions>(reader, attrs);
    case OpKind::DIV:
      return read_activation_only<tflite::DivOptions>(reader, attrs);
    case OpKind::SOFTMAX:
      return read_softmax(reader, attrs);
    case OpKind::CONCATENATION:
      return read_concatenation(reader, attrs);
    case OpKind::L2_NORMALIZATION:
      return read_l2_norm(reader);
    case OpKind::RESIZE_BILINEAR:
      return read_resize<tflite::ResizeBilinearOptions>(reader, attrs);
    case OpKind::RESIZE_NEAREST_NEIGHBOR:
      return read_resize<tflite::ResizeNearestNeighborOptions>(reader, attrs);
    case OpKind::SPACE_TO_DEPTH:
      return read_block<tflite::SpaceToDepthOptions>(reader, attrs);
    case OpKind::DEPTH_TO_SPACE:
      return read_block<tflite::DepthToSpaceOptions>(reader, attrs);
    case OpKind::SPLIT:
      return read_split<tflite::SplitOptions>(reader, attrs);
    case OpKind::SPLIT_V:
      return read_split<tflite::SplitVOptions>(reader, attrs);
    case OpKind::PACK:
      return read_pack<tflite::PackOptions>(reader, attrs);
    case OpKind::UNPACK:
      return read_pack<tflite::UnpackOptions>(reader, attrs);
    case OpKind::GATHER:
      return read_gather(reader, attrs);
    case OpKind::MEAN:
    case OpKind::SUM:
    case OpKind::REDUCE_MAX:
    case OpKind::REDUCE_MIN:
      return read_reducer(reader, attrs);
    case OpKind::STRIDED_SLICE:
      return read_strided_slice(reader, attrs);
    case OpKind::LEAKY_RELU:
      return read_leaky_relu(reader, attrs);
    case OpKind::MIRROR_PAD:
      return read_mirror_pad(reader, attrs);
    case OpKind::GELU:
      return read_gelu(reader, attrs);
    case OpKind::BATCH_MATMUL:
      return read_batch_matmul(reader, attrs);
    default:
      return {};  // no options, or only what shapes and types already say
  }
}

}  // namespace

base::Result<OpAttrs> read_options(const tflite::Operator& op, OpKind kind,
                                   const std::string& where) {
  const Reader reader(op, where);
  OpAttrs attrs;
  if (auto status = read(reader, kind, attrs); !status.ok()) return status.error();
  return attrs;
}

}  // namespace deputy::delegate
