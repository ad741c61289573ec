// The operators of a model: what the compiler's graph, the executable's host-op records and the CPU
// kernels all speak. Names and meanings follow the TFLite builtin operators. ONNX stands for any
// operator as the ONNX specification defines it, for tensors of any rank, on the CPU; OpAttrs::onnx
// says which one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/types.h"

namespace deputy::arch {

// One row per operator. The numbers are part of the executable format: append only.
// clang-format off
#define DEPUTY_OP_KINDS(X)                                                                        \
  X(0, CONV_2D) X(1, DEPTHWISE_CONV_2D) X(2, FULLY_CONNECTED) X(3, ADD) X(4, SUB) X(5, MUL)       \
  X(6, AVERAGE_POOL_2D) X(7, MAX_POOL_2D) X(8, MEAN) X(9, PAD) X(10, PADV2) X(11, MIRROR_PAD)     \
  X(12, CONCATENATION) X(13, RESHAPE) X(14, SQUEEZE) X(15, EXPAND_DIMS) X(16, SOFTMAX)            \
  X(17, LOG_SOFTMAX) X(18, LOGISTIC) X(19, TANH) X(20, RELU) X(21, RELU6) X(22, RELU_N1_TO_1)     \
  X(23, LEAKY_RELU) X(24, PRELU) X(25, HARD_SWISH) X(26, ELU) X(27, GELU) X(28, MINIMUM)          \
  X(29, MAXIMUM) X(30, TRANSPOSE) X(31, SLICE) X(32, STRIDED_SLICE) X(33, SPLIT) X(34, SPLIT_V)   \
  X(35, RESIZE_BILINEAR) X(36, RESIZE_NEAREST_NEIGHBOR) X(37, TRANSPOSE_CONV) X(38, QUANTIZE)     \
  X(39, DEQUANTIZE) X(40, ARG_MAX) X(41, ARG_MIN) X(42, ABS) X(43, SQUARED_DIFFERENCE)            \
  X(44, SUM) X(45, REDUCE_MAX) X(46, REDUCE_MIN) X(47, L2_NORMALIZATION)                          \
  X(48, BATCH_TO_SPACE_ND) X(49, SPACE_TO_BATCH_ND) X(50, DEPTH_TO_SPACE) X(51, SPACE_TO_DEPTH)   \
  X(52, GATHER) X(53, PACK) X(54, UNPACK) X(55, REVERSE_V2) X(56, TILE) X(57, DIV) X(58, EXP)     \
  X(59, NEG) X(60, SQRT) X(61, RSQRT) X(62, CAST) X(63, SHAPE) X(64, FILL) X(65, BATCH_MATMUL)    \
  X(66, FLOOR) X(67, CEIL) X(68, ROUND) X(69, SIN) X(70, COS) X(71, ONNX)
// clang-format on

enum class OpKind : std::uint16_t {
#define DEPUTY_OP_ENUM(number, name) name = number,
  DEPUTY_OP_KINDS(DEPUTY_OP_ENUM)
#undef DEPUTY_OP_ENUM
};

std::string_view op_name(OpKind kind);  ///< "CONV_2D"
std::optional<OpKind> op_from_name(std::string_view name);
std::optional<OpKind> op_from_number(std::uint32_t number);  ///< for decoding untrusted files
std::vector<OpKind> all_ops();

enum class Padding : std::uint8_t { kValid = 0, kSame = 1, kExplicit = 2 };
enum class Activation : std::uint8_t { kNone = 0, kRelu = 1, kReluN1To1 = 2, kRelu6 = 3 };

/// Every attribute any operator has; an operator reads only its own. Pads are always resolved by
/// the importer (pad_*), whatever `padding` said. Constant operands (axes, shapes, begins) stay
/// input tensors, as in TFLite; attributes hold only what the format keeps as options.
struct OpAttrs {
  std::uint8_t padding = 0;     ///< Padding
  std::uint8_t activation = 0;  ///< Activation, fused
  std::int32_t stride_h = 1, stride_w = 1;
  std::int32_t dilation_h = 1, dilation_w = 1;
  std::int32_t filter_h = 1,
               filter_w = 1;  ///< pooling window; convolution filters come from the weight shape
  std::int32_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  std::int32_t depth_multiplier = 1;
  std::int32_t axis = 0;        ///< CONCATENATION, GATHER, PACK, UNPACK, (ARG_*: input tensor)
  std::int32_t batch_dims = 0;  ///< GATHER
  std::int32_t num = 0;         ///< SPLIT/UNPACK: number of outputs; PACK: of inputs
  std::int32_t block_size = 0;  ///< DEPTH_TO_SPACE, SPACE_TO_DEPTH
  bool keep_dims = false;       ///< MEAN, SUM, REDUCE_*
  bool align_corners = false;   ///< RESIZE_*
  bool half_pixel_centers = false;
  bool approximate = false;           ///< GELU: tanh form
  bool reflect = false;               ///< MIRROR_PAD: REFLECT (true) or SYMMETRIC
  bool adj_x = false, adj_y = false;  ///< BATCH_MATMUL
  bool keep_num_dims = false;         ///< FULLY_CONNECTED
  float alpha = 0;                    ///< LEAKY_RELU
  float beta = 1;                     ///< SOFTMAX
  std::string onnx;                   ///< ONNX: the node (arch/onnx_node.h)
  std::int32_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0,
               shrink_axis_mask = 0;

  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.padding, Field{.name = "padding"});
    v(s.activation, Field{.name = "activation"});
    v(s.stride_h, Field{.name = "stride_h"});
    v(s.stride_w, Field{.name = "stride_w"});
    v(s.dilation_h, Field{.name = "dilation_h"});
    v(s.dilation_w, Field{.name = "dilation_w"});
    v(s.filter_h, Field{.name = "filter_h"});
    v(s.filter_w, Field{.name = "filter_w"});
    v(s.pad_top, Field{.name = "pad_top"});
    v(s.pad_bottom, Field{.name = "pad_bottom"});
    v(s.pad_left, Field{.name = "pad_left"});
    v(s.pad_right, Field{.name = "pad_right"});
    v(s.depth_multiplier, Field{.name = "depth_multiplier"});
    v(s.axis, Field{.name = "axis"});
    v(s.batch_dims, Field{.name = "batch_dims"});
    v(s.num, Field{.name = "num"});
    v(s.block_size, Field{.name = "block_size"});
    v(s.keep_dims, Field{.name = "keep_dims"});
    v(s.align_corners, Field{.name = "align_corners"});
    v(s.half_pixel_centers, Field{.name = "half_pixel_centers"});
    v(s.approximate, Field{.name = "approximate"});
    v(s.reflect, Field{.name = "reflect"});
    v(s.adj_x, Field{.name = "adj_x"});
    v(s.adj_y, Field{.name = "adj_y"});
    v(s.keep_num_dims, Field{.name = "keep_num_dims"});
    v(s.alpha, Field{.name = "alpha"});
    v(s.beta, Field{.name = "beta"});
    v(s.onnx, Field{.name = "onnx"});
    v(s.begin_mask, Field{.name = "begin_mask"});
    v(s.end_mask, Field{.name = "end_mask"});
    v(s.ellipsis_mask, Field{.name = "ellipsis_mask"});
    v(s.new_axis_mask, Field{.name = "new_axis_mask"});
    v(s.shrink_axis_mask, Field{.name = "shrink_axis_mask"});
  }
};

/// What people call the operator: "CONV_2D", or "QuantizeLinear" where the kind is ONNX. A view
/// into `attrs`.
std::string_view op_word(OpKind kind, const OpAttrs& attrs);

/// A tensor's type without its data.
struct TensorDesc {
  std::string name;
  DType dtype = DType::kInt8;
  Shape shape;
  Quantisation quant;
  std::int64_t elements() const { return element_count(shape); }
  std::int64_t bytes() const { return elements() * static_cast<std::int64_t>(dtype_size(dtype)); }
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.name, Field{.name = "name"});
    v(s.dtype, Field{.name = "dtype"});
    v(s.shape, Field{.name = "shape", .min = 0});
    v(s.quant.scale, Field{.name = "scale"});
    v(s.quant.zero_point, Field{.name = "zero_point"});
    v(s.quant.axis, Field{.name = "quantised axis"});
  }
};

/// A tensor with data, not owned. `data` may be null only for an absent optional operand (desc ==
/// nullptr).
struct TensorView {
  const TensorDesc* desc = nullptr;
  std::uint8_t* data = nullptr;
  explicit operator bool() const { return desc != nullptr; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

}  // namespace deputy::arch
