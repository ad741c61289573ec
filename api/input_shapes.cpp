#include "api/input_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "delegate/ir/op_rules.h"
#include "delegate/ir/padding.h"

namespace deputy::api {
namespace {

using arch::OpKind;
using delegate::Graph;
using delegate::Op;
using delegate::Tensor;
using MaybeShape = std::optional<Shape>;

std::optional<std::vector<std::int32_t>> constant_ints(const Graph& g, const Op& op,
                                                       std::size_t i) {
  if (!g.has_input(op, i)) return std::nullopt;
  const Tensor& t = g.tensor(op.inputs[i]);
  if (!t.constant || t.desc.dtype != DType::kInt32) return std::nullopt;
  std::vector<std::int32_t> out(t.data.size() / 4);
  if (!out.empty()) std::memcpy(out.data(), t.data.data(), 4 * out.size());
  return out;
}

std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  if (axis < 0) axis += static_cast<std::int64_t>(rank);
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
  return static_cast<std::size_t>(axis);
}

// TFLite's element-wise rule: dimensions from the back are equal, or one of them is 1.
MaybeShape broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int32_t x = i < a.size() ? a[a.size() - 1 - i] : 1,
                       y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

// Resolves SAME pads anew.
MaybeShape window(const Shape& in, Op& op, std::int32_t kernel_h, std::int32_t kernel_w,
                  std::int32_t channels) {
  if (in.size() != 4) return std::nullopt;
  arch::OpAttrs& a = op.attrs;
  const auto padding = static_cast<arch::Padding>(a.padding);
  if (padding == arch::Padding::kSame) {
    const auto h = delegate::window_extent(padding, in[1], kernel_h, a.stride_h, a.dilation_h);
    const auto w = delegate::window_extent(padding, in[2], kernel_w, a.stride_w, a.dilation_w);
    a.pad_top = static_cast<std::int32_t>(h.pad_before),
    a.pad_bottom = static_cast<std::int32_t>(h.pad_after);
    a.pad_left = static_cast<std::int32_t>(w.pad_before),
    a.pad_right = static_cast<std::int32_t>(w.pad_after);
  }
  const auto h = delegate::window_output(in[1], std::int64_t{a.pad_top} + a.pad_bottom, kernel_h,
                                         a.stride_h, a.dilation_h);
  const auto w = delegate::window_output(in[2], std::int64_t{a.pad_left} + a.pad_right, kernel_w,
                                         a.stride_w, a.dilation_w);
  if (h <= 0 || w <= 0) return std::nullopt;
  return Shape{in[0], static_cast<std::int32_t>(h), static_cast<std::int32_t>(w), channels};
}

MaybeShape reduced(const Graph& g, const Op& op, const Shape& in) {
  const auto axes = constant_ints(g, op, 1);
  if (!axes) return std::nullopt;
  std::vector<bool> gone(in.size());
  for (const std::int32_t axis : *axes) {
    const auto d = axis_of(axis, in.size());
    if (!d) return std::nullopt;
    gone[*d] = true;
  }
  Shape out;
  for (std::size_t d = 0; d < in.size(); ++d)
    if (!gone[d] || op.attrs.keep_dims) out.push_back(gone[d] ? 1 : in[d]);
  return out;
}

MaybeShape padded(const Graph& g, const Op& op, Shape shape) {
  const auto sides = constant_ints(g, op, 1);
  if (!sides || sides->size() != 2 * shape.size()) return std::nullopt;
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d] += (*sides)[2 * d] + (*sides)[2 * d + 1];
  return shape;
}

// A -1 in the shape operand takes what is left; anything else is fixed.
MaybeShape reshaped(const Graph& g, const Op& op, const Shape& in) {
  auto wanted = constant_ints(g, op, 1);
  if (!wanted) return std::nullopt;
  std::int64_t known = 1;
  std::optional<std::size_t> free;
  for (std::size_t d = 0; d < wanted->size(); ++d) {
    if ((*wanted)[d] == -1)
      free = d;
    else
      known *= (*wanted)[d];
  }
  if (free) {
    if (known <= 0 || element_count(in) % known != 0) return std::nullopt;
    (*wanted)[*free] = static_cast<std::int32_t>(element_count(in) / known);
  }
  return Shape(wanted->begin(), wanted->end());
}

MaybeShape joined(const Graph& g, const Op& op) {
  Shape out = g.tensor(op.inputs[0]).desc.shape;
  const auto axis = axis_of(op.attrs.axis, out.size());
  if (!axis) return std::nullopt;
  for (std::size_t i = 1; i < op.inputs.size(); ++i) {
    const Shape& other = g.tensor(op.inputs[i]).desc.shape;
    if (other.size() != out.size()) return std::nullopt;
    out[*axis] += other[*axis];
  }
  return out;
}

MaybeShape matrix(const Graph& g, const Op& op, Shape in) {
  const Shape& weights = g.tensor(op.inputs[1]).desc.shape;
  if (weights.size() != 2 || weights[1] == 0 || in.empty() || element_count(in) % weights[1] != 0)
    return std::nullopt;
  if (op.attrs.keep_num_dims) {
    if (in.back() != weights[1]) return std::nullopt;
    in.back() = weights[0];
    return in;
  }
  return Shape{static_cast<std::int32_t>(element_count(in) / weights[1]), weights[0]};
}

MaybeShape transposed(const Graph& g, const Op& op, const Shape& in) {
  const auto order = constant_ints(g, op, 1);
  if (!order || order->size() != in.size()) return std::nullopt;
  Shape out;
  for (const std::int32_t from : *order) {
    const auto d = axis_of(from, in.size());
    if (!d) return std::nullopt;
    out.push_back(in[*d]);
  }
  return out;
}

MaybeShape blocks(const Op& op, const Shape& in) {
  const std::int32_t b = op.attrs.block_size;
  if (in.size() != 4 || b < 1) return std::nullopt;
  if (op.kind == OpKind::DEPTH_TO_SPACE)
    return in[3] % (b * b) ? MaybeShape() : Shape{in[0], in[1] * b, in[2] * b, in[3] / (b * b)};
  return in[1] % b || in[2] % b ? MaybeShape() : Shape{in[0], in[1] / b, in[2] / b, in[3] * b * b};
}

// The first result's shape. nullopt: it does not follow from the operands' shapes.
MaybeShape result_shape(const Graph& g, Op& op) {
  const Shape in = g.tensor(op.inputs[0]).desc.shape;
  switch (op.kind) {
    case OpKind::CONV_2D: {
      const Shape& w = g.tensor(op.inputs[1]).desc.shape;
      return window(in, op, w[1], w[2], w[0]);
    }
    case OpKind::DEPTHWISE_CONV_2D: {
      const Shape& w = g.tensor(op.inputs[1]).desc.shape;
      return window(in, op, w[1], w[2], w[3]);
    }
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
      return in.size() == 4 ? window(in, op, op.attrs.filter_h, op.attrs.filter_w, in[3])
                            : MaybeShape();
    case OpKind::FULLY_CONNECTED:
      return matrix(g, op, in);
    case OpKind::ADD:
    case OpKind::SUB:
    case OpKind::MUL:
    case OpKind::DIV:
    case OpKind::MINIMUM:
    case OpKind::MAXIMUM:
    case OpKind::SQUARED_DIFFERENCE:
      return broadcast(in, g.tensor(op.inputs[1]).desc.shape);
    case OpKind::SOFTMAX:
    case OpKind::LOG_SOFTMAX:
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
    case OpKind::QUANTIZE:
    case OpKind::DEQUANTIZE:
    case OpKind::ABS:
    case OpKind::EXP:
    case OpKind::NEG:
    case OpKind::SQRT:
    case OpKind::RSQRT:
    case OpKind::CAST:
    case OpKind::FLOOR:
    case OpKind::CEIL:
    case OpKind::ROUND:
    case OpKind::SIN:
    case OpKind::COS:
    case OpKind::L2_NORMALIZATION:
      return in;
    case OpKind::MEAN:
    case OpKind::SUM:
    case OpKind::REDUCE_MAX:
    case OpKind::REDUCE_MIN:
      return reduced(g, op, in);
    case OpKind::PAD:
    case OpKind::PADV2:
    case OpKind::MIRROR_PAD:
      return padded(g, op, in);
    case OpKind::RESHAPE:
      return reshaped(g, op, in);
    case OpKind::CONCATENATION:
      return joined(g, op);
    case OpKind::TRANSPOSE:
      return transposed(g, op, in);
    case OpKind::SPACE_TO_DEPTH:
    case OpKind::DEPTH_TO_SPACE:
      return blocks(op, in);
    case OpKind::RESIZE_BILINEAR:
    case OpKind::RESIZE_NEAREST_NEIGHBOR: {
      const auto size = constant_ints(g, op, 1);
      if (!size || size->size() != 2 || in.size() != 4) return std::nullopt;
      return Shape{in[0], (*size)[0], (*size)[1], in[3]};
    }
    default:
      return std::nullopt;
  }
}

base::Status set_input(Graph& g, std::size_t i, const Shape& shape) {
  Tensor& t = g.tensor(g.inputs[i]);
  const auto bad = [&](const char* what, const char* remedy) {
    return base::Error{base::ErrorKind::kInput, fmt::format("input {} '{}'", i, t.desc.name),
                       fmt::format("{} is {}, the model has {}", shape_text(shape), what,
                                   shape_text(t.desc.shape)),
                       remedy};
  };
  if (shape.size() != t.desc.shape.size())
    return bad("of another rank", "give as many dimensions as the model has");
  std::int64_t elements = 1;
  for (const std::int32_t d : shape) {
    if (d < 1) return bad("empty", "every dimension is at least 1");
    elements *= d;
    if (elements * static_cast<std::int64_t>(dtype_size(t.desc.dtype)) >
        std::numeric_limits<std::int32_t>::max())
      return bad("too large", "a tensor has less than 2 GiB");
  }
  t.desc.shape = shape;
  return {};
}

}  // namespace

std::vector<Shape> input_shapes(const Graph& graph) {
  std::vector<Shape> out;
  for (const delegate::TensorId id : graph.inputs) out.push_back(graph.tensor(id).desc.shape);
  return out;
}

base::Result<Graph> with_input_shapes(const Graph& graph, const std::vector<Shape>& shapes) {
  if (shapes.size() != graph.inputs.size())
    return base::Error{base::ErrorKind::kInput, graph.name,
                       fmt::format("{} shapes for {} inputs", shapes.size(), graph.inputs.size()),
                       "give one for each input"};
  Graph out = graph;
  for (std::size_t i = 0; i < shapes.size(); ++i) DEPUTY_TRY(set_input(out, i, shapes[i]));
  for (Op& op : out.ops) {
    const bool same = std::all_of(op.inputs.begin(), op.inputs.end(), [&](delegate::TensorId id) {
      return id == delegate::kNoTensor || out.tensor(id).desc.shape == graph.tensor(id).desc.shape;
    });
    if (same) continue;
    const MaybeShape shape = result_shape(out, op);
    const auto refused = [&](const std::string& why) {
      return base::Error{base::ErrorKind::kUnsupported, delegate::op_label(out, op),
                         fmt::format("its result cannot follow the input from {} to {}{}",
                                     shape_text(graph.tensor(op.inputs[0]).desc.shape),
                                     shape_text(out.tensor(op.inputs[0]).desc.shape), why),
                         "give the model's own shape, or convert a model for this one"};
    };
    if (!shape) return refused("");
    out.tensor(op.outputs[0]).desc.shape = *shape;
    if (const base::Status status = delegate::check_op(out, op); !status.ok())
      return refused(": " + status.error().message);
  }
  DEPUTY_TRY(delegate::validate(out));
  return out;
}

}  // namespace deputy::api
