// Convolutions and pools: weight layouts, group and channel counts, window arithmetic.
#include "delegate/ir/op_checker.h"
#include "delegate/ir/padding.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using base::Status;

Status check_output(const OpChecker& c, std::int32_t kernel_h, std::int32_t kernel_w,
                    std::int32_t channels) {
  const auto& a = c.attrs();
  const Shape& in = c.in_shape(0);
  const std::int64_t out_h = window_output(in[1], std::int64_t{a.pad_top} + a.pad_bottom, kernel_h,
                                           a.stride_h, a.dilation_h);
  const std::int64_t out_w = window_output(in[2], std::int64_t{a.pad_left} + a.pad_right, kernel_w,
                                           a.stride_w, a.dilation_w);
  if ((out_h <= 0 && in[1] > 0) || (out_w <= 0 && in[2] > 0))
    return c.malformed("a {}x{} kernel does not fit the {} input", kernel_h, kernel_w,
                       shape_text(in));
  return c.output_is({in[0], in[1] > 0 ? out_h : 0, in[2] > 0 ? out_w : 0, channels});
}

Status check_conv(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 3));
  DEPUTY_TRY(c.rank(c.in(0), 4));
  DEPUTY_TRY(c.rank(c.in(1), 4));
  const Shape& in = c.in_shape(0);
  const Shape& w = c.in_shape(1);
  if (w[3] < 1 || w[0] < 1 || in[3] % w[3] != 0 || in[3] == 0 || w[0] % (in[3] / w[3]) != 0)
    return c.malformed("weights {} do not fit {} input channels", shape_text(w), in[3]);
  DEPUTY_TRY(c.conv_types(c.in(0), c.in(1), 2, 0, w[0]));
  return check_output(c, w[1], w[2], w[0]);
}

Status check_depthwise(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 3));
  DEPUTY_TRY(c.rank(c.in(0), 4));
  DEPUTY_TRY(c.rank(c.in(1), 4));
  const Shape& in = c.in_shape(0);
  const Shape& w = c.in_shape(1);
  if (w[0] != 1)
    return c.malformed("depthwise weights are {}, the first dimension must be 1", shape_text(w));
  if (w[3] < 1 || std::int64_t{in[3]} * c.attrs().depth_multiplier != w[3])
    return c.malformed("{} filters are not {} input channels times multiplier {}", w[3], in[3],
                       c.attrs().depth_multiplier);
  DEPUTY_TRY(c.conv_types(c.in(0), c.in(1), 2, 3, w[3]));
  return check_output(c, w[1], w[2], w[3]);
}

Status check_transpose_conv(const OpChecker& c) {
  DEPUTY_TRY(c.operands(3, 4));
  const Tensor& input = c.in(2);
  DEPUTY_TRY(c.rank(input, 4));
  DEPUTY_TRY(c.rank(c.in(1), 4));
  DEPUTY_TRY(c.rank(c.out(), 4));
  const Shape& in = input.desc.shape;
  const Shape& w = c.in_shape(1);
  const Shape& out = c.out_shape();
  if (w[0] < 1 || w[3] < 1 || w[3] != in[3])
    return c.malformed("weights {} do not fit {} input channels", shape_text(w), in[3]);
  if (c.in(0).constant) {  // computed at run time, it can only repeat the static output shape
    DEPUTY_ASSIGN(const auto declared, c.constant_ints(0, 4));
    DEPUTY_TRY(c.output_is(declared));
  }
  if (out[0] != in[0] || out[3] != w[0])
    return c.malformed("input {} and weights {} cannot make output {}", shape_text(in),
                       shape_text(w), shape_text(out));
  DEPUTY_TRY(c.conv_types(input, c.in(1), 3, 0, w[0]));
  // The forward convolution of the output must give back the input's size.
  const auto& a = c.attrs();
  const std::int64_t back_h =
      window_output(out[1], std::int64_t{a.pad_top} + a.pad_bottom, w[1], a.stride_h, 1);
  const std::int64_t back_w =
      window_output(out[2], std::int64_t{a.pad_left} + a.pad_right, w[2], a.stride_w, 1);
  if (back_h != in[1] || back_w != in[2])
    return c.malformed("output {} with strides {}x{} needs a {}x{} input, not {}", shape_text(out),
                       a.stride_h, a.stride_w, back_h, back_w, shape_text(in));
  return {};
}

Status check_pool(const OpChecker& c) {
  DEPUTY_TRY(c.operands(1, 1));
  DEPUTY_TRY(c.rank(c.in(0), 4));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  if (c.in_type(0) != DType::kFloat32 && !is_quantised_type(c.in_type(0)))
    return c.unsupported("works on float32, int8, uint8 or int16, not on {}",
                         dtype_name(c.in_type(0)));
  DEPUTY_TRY(c.per_tensor(c.in(0)));
  DEPUTY_TRY(c.per_tensor(c.out()));
  return check_output(c, c.attrs().filter_h, c.attrs().filter_w, c.in_shape(0)[3]);
}

}  // namespace

Status check_window_op(const OpChecker& c) {
  switch (c.op().kind) {
    case OpKind::CONV_2D:
      return check_conv(c);
    case OpKind::DEPTHWISE_CONV_2D:
      return check_depthwise(c);
    case OpKind::TRANSPOSE_CONV:
      return check_transpose_conv(c);
    default:
      return check_pool(c);
  }
}

}  // namespace deputy::delegate
