// Convolutions, matrix products, pools and reductions as ONNX operators.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "delegate/import/onnx/exporter.h"

namespace deputy::delegate::onnx_import {
namespace {

using arch::OpKind;

std::vector<std::int64_t> int_list(const Tensor& t) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.desc.elements()); ++i) {
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    if (t.desc.dtype == DType::kInt64)
      std::memcpy(&wide, &t.data[i * 8], 8);
    else
      std::memcpy(&narrow, &t.data[i * 4], 4), wide = narrow;
    out.push_back(wide);
  }
  return out;
}

std::vector<arch::OnnxAttr> window_attrs(const arch::OpAttrs& a, std::int64_t h, std::int64_t w) {
  return {ints_attr("kernel_shape", {h, w}), ints_attr("strides", {a.stride_h, a.stride_w}),
          ints_attr("pads", {a.pad_top, a.pad_left, a.pad_bottom, a.pad_right})};
}

bool transposed_convolution(Exporter& e, const Op& op) {
  const TensorId w = op.inputs[1], x = op.inputs[2], y = op.outputs[0];
  const Shape &ws = e.shape(w), &in = e.shape(x), &out = e.shape(y);
  const arch::OpAttrs& a = op.attrs;
  auto attrs = window_attrs(a, ws[1], ws[2]);
  const std::int64_t more_h =
      out[1] - (std::int64_t{in[1] - 1} * a.stride_h + ws[1] - a.pad_top - a.pad_bottom);
  const std::int64_t more_w =
      out[2] - (std::int64_t{in[2] - 1} * a.stride_w + ws[2] - a.pad_left - a.pad_right);
  if (more_h < 0 || more_w < 0 || more_h >= a.stride_h || more_w >= a.stride_w) return false;
  attrs.push_back(ints_attr("output_padding", {more_h, more_w}));
  std::vector<int> inputs = {e.get(x, Exporter::image()), e.get(w, {3, 0, 1, 2})};
  if (e.graph.has_input(op, 3)) inputs.push_back(e.get(op.inputs[3]));
  e.put(y, Exporter::image(),
        e.activated(op, e.add("ConvTranspose", std::move(inputs), std::move(attrs))));
  return true;
}

bool matrix(Exporter& e, const Op& op) {
  const TensorId x = op.inputs[0], w = op.inputs[1], y = op.outputs[0];
  const std::int64_t k = e.shape(w)[1], n = e.shape(w)[0];
  const std::int64_t rows = k ? e.desc(x).elements() / k : 0;
  int value = e.get(x);
  if (e.rank(x) != 2 || e.shape(x)[1] != k)
    value = e.quantised(x, e.add("Reshape", {value, e.add_ints("rows", {rows, k})}));
  std::vector<int> inputs = {value, e.get(w)};
  if (e.graph.has_input(op, 2)) inputs.push_back(e.get(op.inputs[2]));
  value = e.activated(op, e.add("Gemm", std::move(inputs), {ints_attr("transB", {1})}));
  if (e.rank(y) != 2) {
    const Shape& out = e.shape(y);
    value =
        e.add("Reshape", {e.quantised(y, value), e.add_ints("result", {out.begin(), out.end()})});
  }
  (void)n;
  e.put(y, Exporter::plain(e.rank(y)), value);
  return true;
}

bool reduction(Exporter& e, const Op& op, const char* name) {
  const TensorId x = op.inputs[0], y = op.outputs[0];
  if (!e.graph.tensor(op.inputs[1]).constant) return false;
  const auto r = static_cast<std::int64_t>(e.rank(x));
  std::vector<std::int64_t> axes = int_list(e.graph.tensor(op.inputs[1]));
  for (std::int64_t& a : axes) a += a < 0 ? r : 0;
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  const Order order = e.order_of({x}, e.rank(x));
  const int value = e.get(x, order);
  if (op.kind == OpKind::MEAN && op.attrs.keep_dims && order == Exporter::image() &&
      axes == std::vector<std::int64_t>{1, 2}) {
    e.put(y, order, e.add("GlobalAveragePool", {value}));
    return true;
  }
  std::vector<std::int64_t> places;
  Order result;
  for (std::size_t d = 0; d < order.size(); ++d) {
    const bool gone = std::count(axes.begin(), axes.end(), order[d]) > 0;
    if (gone) places.push_back(static_cast<std::int64_t>(d));
    if (op.attrs.keep_dims)
      result.push_back(order[d]);
    else if (!gone)
      result.push_back(order[d] -
                       static_cast<int>(std::count_if(axes.begin(), axes.end(),
                                                      [&](auto a) { return a < order[d]; })));
  }
  const arch::OnnxAttr keep = ints_attr("keepdims", {op.attrs.keep_dims});
  const int out = op.kind == OpKind::SUM ? e.add(name, {value, e.add_ints("axes", places)}, {keep})
                                         : e.add(name, {value}, {ints_attr("axes", places), keep});
  e.put(y, result, out);
  return true;
}

}  // namespace

bool export_weighted(Exporter& e, const Op& op) {
  if (op.kind == OpKind::TRANSPOSE_CONV) return transposed_convolution(e, op);
  if (op.kind == OpKind::FULLY_CONNECTED) return matrix(e, op);
  if (op.kind != OpKind::CONV_2D && op.kind != OpKind::DEPTHWISE_CONV_2D) return false;
  const bool depthwise = op.kind == OpKind::DEPTHWISE_CONV_2D;
  const TensorId x = op.inputs[0], w = op.inputs[1];
  const Shape& ws = e.shape(w);
  auto attrs = window_attrs(op.attrs, ws[1], ws[2]);
  attrs.push_back(ints_attr("dilations", {op.attrs.dilation_h, op.attrs.dilation_w}));
  attrs.push_back(ints_attr("group", {depthwise ? e.shape(x)[3] : e.shape(x)[3] / ws[3]}));
  std::vector<int> inputs = {e.get(x, Exporter::image()),
                             e.get(w, depthwise ? Order{3, 0, 1, 2} : Exporter::image())};
  if (e.graph.has_input(op, 2)) inputs.push_back(e.get(op.inputs[2]));
  e.put(op.outputs[0], Exporter::image(),
        e.activated(op, e.add("Conv", std::move(inputs), std::move(attrs))));
  return true;
}

bool export_window(Exporter& e, const Op& op) {
  switch (op.kind) {
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D: {
      const char* name = op.kind == OpKind::MAX_POOL_2D ? "MaxPool" : "AveragePool";
      const int value = e.add(name, {e.get(op.inputs[0], Exporter::image())},
                              window_attrs(op.attrs, op.attrs.filter_h, op.attrs.filter_w));
      e.put(op.outputs[0], Exporter::image(), e.activated(op, value));
      return true;
    }
    case OpKind::RESIZE_BILINEAR:
    case OpKind::RESIZE_NEAREST_NEIGHBOR: {
      const bool nearest = op.kind == OpKind::RESIZE_NEAREST_NEIGHBOR;
      if (nearest && (op.attrs.half_pixel_centers || op.attrs.align_corners)) return false;
      const Shape& out = e.shape(op.outputs[0]);
      std::vector<arch::OnnxAttr> attrs = {
          text_attr("mode", nearest ? "nearest" : "linear"),
          text_attr("coordinate_transformation_mode", op.attrs.half_pixel_centers ? "half_pixel"
                                                      : op.attrs.align_corners    ? "align_corners"
                                                                                  : "asymmetric")};
      if (nearest) attrs.push_back(text_attr("nearest_mode", "floor"));
      const int sizes = e.add_ints("sizes", {out[0], out[3], out[1], out[2]});
      e.put(op.outputs[0], Exporter::image(),
            e.add("Resize", {e.get(op.inputs[0], Exporter::image()), kNoValue, kNoValue, sizes},
                  std::move(attrs)));
      return true;
    }
    case OpKind::DEPTH_TO_SPACE:
    case OpKind::SPACE_TO_DEPTH: {
      const char* name = op.kind == OpKind::DEPTH_TO_SPACE ? "DepthToSpace" : "SpaceToDepth";
      e.put(op.outputs[0], Exporter::image(),
            e.add(name, {e.get(op.inputs[0], Exporter::image())},
                  {ints_attr("blocksize", {op.attrs.block_size})}));
      return true;
    }
    case OpKind::MEAN:
      return reduction(e, op, "ReduceMean");
    case OpKind::SUM:
      return reduction(e, op, "ReduceSum");
    case OpKind::REDUCE_MAX:
      return reduction(e, op, "ReduceMax");
    case OpKind::REDUCE_MIN:
      return reduction(e, op, "ReduceMin");
    default:
      return false;
  }
}

base::Status export_op(Exporter& e, const Op& op) {
  if (op.kind == OpKind::ONNX) {
    const auto node = arch::parse_onnx(op.attrs.onnx);
    DEPUTY_CHECK(node, "an operator's line of text is damaged");
    if (const auto why = changed_meaning(*node))
      return base::Error{base::ErrorKind::kUnsupported, op_label(e.graph, op), *why,
                         "export the model with operator set 17"};
    std::vector<int> inputs;
    for (const TensorId id : op.inputs) inputs.push_back(id == kNoTensor ? kNoValue : e.get(id));
    const int first = e.add(op, *node, std::move(inputs));
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
      if (op.outputs[i] != kNoTensor)
        e.put(op.outputs[i], Exporter::plain(e.rank(op.outputs[i])), first + static_cast<int>(i));
    return {};
  }
  if (export_weighted(e, op) || export_window(e, op) || export_elementwise(e, op) ||
      export_movement(e, op) || export_rows(e, op))
    return {};
  return base::Error{base::ErrorKind::kUnsupported, op_label(e.graph, op),
                     "the exporter has no ONNX operators for it", "write a .tflite file"};
}

}  // namespace deputy::delegate::onnx_import
