// Element by element, along rows, and what only moves elements, as ONNX operators.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "delegate/import/onnx/exporter.h"
#include "delegate/ops/copies.h"

namespace deputy::delegate::onnx_import {
namespace {

using arch::OpKind;

struct Row {
  OpKind kind;
  const char* op;
  std::size_t operands;
};
constexpr Row kRows[] = {{OpKind::ADD, "Add", 2},
                         {OpKind::SUB, "Sub", 2},
                         {OpKind::MUL, "Mul", 2},
                         {OpKind::DIV, "Div", 2},
                         {OpKind::MAXIMUM, "Max", 2},
                         {OpKind::MINIMUM, "Min", 2},
                         {OpKind::PRELU, "PRelu", 2},
                         {OpKind::RELU, "Relu", 1},
                         {OpKind::LOGISTIC, "Sigmoid", 1},
                         {OpKind::TANH, "Tanh", 1},
                         {OpKind::HARD_SWISH, "HardSwish", 1},
                         {OpKind::ELU, "Elu", 1},
                         {OpKind::ABS, "Abs", 1},
                         {OpKind::EXP, "Exp", 1},
                         {OpKind::NEG, "Neg", 1},
                         {OpKind::SQRT, "Sqrt", 1},
                         {OpKind::FLOOR, "Floor", 1},
                         {OpKind::CEIL, "Ceil", 1},
                         {OpKind::ROUND, "Round", 1},
                         {OpKind::SIN, "Sin", 1},
                         {OpKind::COS, "Cos", 1},
                         {OpKind::LEAKY_RELU, "LeakyRelu", 1}};

/// The place of a tensor's dimension.
std::int64_t place(const Order& order, std::int64_t dimension) {
  return std::find(order.begin(), order.end(), static_cast<int>(dimension)) - order.begin();
}
std::int64_t from_front(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

std::vector<std::int64_t> constant_ints(const Exporter& e, TensorId id) {
  const Tensor& t = e.graph.tensor(id);
  std::vector<std::int64_t> out(static_cast<std::size_t>(t.desc.elements()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::int32_t v = 0;
    if (t.desc.dtype == DType::kInt64)
      std::memcpy(&out[i], &t.data[i * 8], 8);
    else
      std::memcpy(&v, &t.data[i * 4], 4), out[i] = v;
  }
  return out;
}
float real_of(const Tensor& t) {  // one 8-bit number
  const int q = t.desc.dtype == DType::kUint8 ? t.data[0] : static_cast<std::int8_t>(t.data[0]);
  return t.desc.quant.scale[0] * static_cast<float>(q - t.desc.quant.zero_point[0]);
}

/// A constant of Pad's type: floats where integers stand for reals, else as it is.
int pad_value(Exporter& e, TensorId id) {
  const Tensor& t = e.graph.tensor(id);
  if (t.desc.quant.present()) return e.add_floats("pad/value", {}, {real_of(t)});
  return e.add_constant("pad/value", t.desc.dtype, {}, t.data);
}

bool pad(Exporter& e, const Op& op) {
  const TensorId x = op.inputs[0];
  if (!e.graph.tensor(op.inputs[1]).constant ||
      (op.kind == OpKind::MIRROR_PAD && !op.attrs.reflect))
    return false;
  if (op.kind == OpKind::PADV2 && !e.graph.tensor(op.inputs[2]).constant) return false;
  const auto edges = constant_ints(e, op.inputs[1]);
  const Order order = e.order_of({x}, e.rank(x));
  std::vector<std::int64_t> pads;
  for (const std::size_t side : {0u, 1u})
    for (const int d : order) pads.push_back(edges[2 * static_cast<std::size_t>(d) + side]);
  std::vector<int> inputs = {e.get(x, order), e.add_ints("pads", pads)};
  std::vector<arch::OnnxAttr> attrs;
  if (op.kind == OpKind::MIRROR_PAD)
    attrs.push_back(text_attr("mode", "reflect"));
  else if (op.kind == OpKind::PADV2)
    inputs.push_back(pad_value(e, op.inputs[2]));  // without one ONNX pads by zeros of x's type
  e.put(op.outputs[0], order, e.add("Pad", std::move(inputs), std::move(attrs)));
  return true;
}

bool reshape(Exporter& e, TensorId x, TensorId y, int value) {
  const Shape& out = e.shape(y);
  if (e.desc(x).elements() == 0) return false;  // a 0 in a shape means another thing to ONNX
  e.put(y, Exporter::plain(out.size()),
        e.add("Reshape", {value, e.add_ints("shape", {out.begin(), out.end()})}));
  return true;
}

bool slice(Exporter& e, const Op& op) {
  const auto box = slice_box(e.graph, op);
  if (!box) return false;
  const TensorId x = op.inputs[0], y = op.outputs[0];
  const bool same_rank = e.rank(x) == e.rank(y);
  const Order order = same_rank ? e.order_of({x}, e.rank(x)) : Exporter::plain(e.rank(x));
  std::vector<std::int64_t> starts, ends, axes, steps;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto d = static_cast<std::size_t>(order[k]);
    if (box->step[d] <= 0) return false;
    starts.push_back(box->begin[d]), steps.push_back(box->step[d]),
        axes.push_back(static_cast<std::int64_t>(k));
    ends.push_back(box->begin[d] + (box->size[d] - 1) * box->step[d] + 1);
  }
  const int value =
      e.add("Slice", {e.get(x, order), e.add_ints("starts", starts), e.add_ints("ends", ends),
                      e.add_ints("axes", axes), e.add_ints("steps", steps)});
  if (same_rank) {
    e.put(y, order, value);
    return true;
  }
  return reshape(e, x, y, e.quantised(y, value));
}

bool split(Exporter& e, const Op& op) {
  const auto operands = split_operands(e.graph, op);
  if (!operands) return false;
  const TensorId x = operands->value;
  const Order order = e.order_of({x}, e.rank(x));
  std::vector<std::int64_t> sizes;
  for (const TensorId id : op.outputs) sizes.push_back(e.shape(id)[operands->axis]);
  const int first =
      e.add("Split", {e.get(x, order), e.add_ints("sizes", sizes)},
            {ints_attr("axis", {place(order, static_cast<std::int64_t>(operands->axis))})},
            op.outputs.size());
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    e.put(op.outputs[i], order, first + static_cast<int>(i));
  return true;
}

bool batch_matmul(Exporter& e, const Op& op) {
  if (e.rank(op.inputs[0]) < 2 || e.rank(op.inputs[1]) < 2) return false;
  const auto operand = [&](std::size_t i, bool turned) {
    Order order = Exporter::plain(e.rank(op.inputs[i]));
    if (turned) std::swap(order[order.size() - 1], order[order.size() - 2]);
    return e.get(op.inputs[i], order);
  };
  const int a = operand(0, op.attrs.adj_x), b = operand(1, op.attrs.adj_y);
  e.put(op.outputs[0], Exporter::plain(e.rank(op.outputs[0])), e.add("MatMul", {a, b}));
  return true;
}

}  // namespace

bool export_elementwise(Exporter& e, const Op& op) {
  const TensorId y = op.outputs[0];
  if (op.kind == OpKind::RELU6 || op.kind == OpKind::RELU_N1_TO_1) {
    Op clipped = op;
    clipped.attrs.activation = static_cast<std::uint8_t>(
        op.kind == OpKind::RELU6 ? arch::Activation::kRelu6 : arch::Activation::kReluN1To1);
    const Order order = e.order_of({op.inputs[0]}, e.rank(y));
    e.put(y, order, e.activated(clipped, e.get(op.inputs[0], order)));
    return true;
  }
  if (op.kind == OpKind::RSQRT) {
    const Order order = e.order_of({op.inputs[0]}, e.rank(y));
    e.put(y, order, e.add("Reciprocal", {e.add("Sqrt", {e.get(op.inputs[0], order)})}));
    return true;
  }
  if (op.kind == OpKind::GELU && !op.attrs.approximate) {
    const Order order = e.order_of({op.inputs[0]}, e.rank(y));
    const int x = e.get(op.inputs[0], order);
    const int erf = e.add("Erf", {e.add("Mul", {x, e.add_floats("gelu/root", {}, {0.70710678f})})});
    const int one = e.add("Add", {erf, e.add_floats("gelu/one", {}, {1.0f})});
    e.put(y, order, e.add("Mul", {e.add("Mul", {x, one}), e.add_floats("gelu/half", {}, {0.5f})}));
    return true;
  }
  if (op.kind == OpKind::QUANTIZE || op.kind == OpKind::DEQUANTIZE) {
    const Order order = e.order_of({op.inputs[0]}, e.rank(y));
    const int x = e.get(op.inputs[0], order);
    if (op.kind == OpKind::QUANTIZE)
      e.put(y, order, x);
    else
      e.alias(y, order, x);
    return true;
  }
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& r) { return r.kind == op.kind; });
  if (row == std::end(kRows)) return false;
  Order order = e.order_of(op.inputs, e.rank(y));
  for (std::size_t i = 0; i < row->operands; ++i)
    if (!e.graph.tensor(op.inputs[i]).constant && e.rank(op.inputs[i]) < order.size())
      order = Exporter::plain(order.size());
  std::vector<int> inputs;
  for (std::size_t i = 0; i < row->operands; ++i) {
    const auto value = e.get_repeated(op.inputs[i], order);
    if (!value) return false;
    inputs.push_back(*value);
  }
  std::vector<arch::OnnxAttr> attrs;
  if (op.kind == OpKind::LEAKY_RELU) attrs.push_back(float_attr("alpha", op.attrs.alpha));
  e.put(y, order, e.activated(op, e.add(row->op, std::move(inputs), std::move(attrs))));
  return true;
}

bool export_movement(Exporter& e, const Op& op) {
  const TensorId y = op.outputs[0];
  switch (op.kind) {
    case OpKind::PAD:
    case OpKind::PADV2:
    case OpKind::MIRROR_PAD:
      return pad(e, op);
    case OpKind::SLICE:
    case OpKind::STRIDED_SLICE:
      return slice(e, op);
    case OpKind::SPLIT:
    case OpKind::SPLIT_V:
      return split(e, op);
    case OpKind::RESHAPE:
    case OpKind::SQUEEZE:
    case OpKind::EXPAND_DIMS:
      return reshape(e, op.inputs[0], y, e.get(op.inputs[0]));
    case OpKind::CONCATENATION: {
      const Order order = e.order_of(op.inputs, e.rank(y));
      std::vector<int> inputs;
      for (const TensorId id : op.inputs) inputs.push_back(e.get(id, order));
      e.put(y, order,
            e.add("Concat", std::move(inputs),
                  {ints_attr("axis", {place(order, from_front(op.attrs.axis, e.rank(y)))})}));
      return true;
    }
    case OpKind::TRANSPOSE: {
      if (!e.graph.tensor(op.inputs[1]).constant) return false;
      const auto perm = constant_ints(e, op.inputs[1]);
      const Order from = e.order_of({op.inputs[0]}, e.rank(y));
      Order order;
      for (const int d : from)
        order.push_back(static_cast<int>(std::find(perm.begin(), perm.end(), d) - perm.begin()));
      if (!(e.desc(op.inputs[0]).quant == e.desc(y).quant)) return false;
      // The value is the result already, in another order.
      e.alias(y, order, e.get(op.inputs[0], from));
      return true;
    }
    case OpKind::GATHER: {
      if (op.attrs.batch_dims) return false;
      e.put(y, Exporter::plain(e.rank(y)),
            e.add("Gather", {e.get(op.inputs[0]), e.get(op.inputs[1])},
                  {ints_attr("axis", {from_front(op.attrs.axis, e.rank(op.inputs[0]))})}));
      return true;
    }
    default:
      return false;
  }
}

bool export_rows(Exporter& e, const Op& op) {
  if (op.kind == OpKind::BATCH_MATMUL) return batch_matmul(e, op);
  if ((op.kind != OpKind::SOFTMAX && op.kind != OpKind::LOG_SOFTMAX) ||
      (op.kind == OpKind::SOFTMAX && op.attrs.beta != 1))
    return false;
  const TensorId y = op.outputs[0];
  const Order order = e.order_of({op.inputs[0]}, e.rank(y));
  const char* name = op.kind == OpKind::SOFTMAX ? "Softmax" : "LogSoftmax";
  e.put(y, order,
        e.add(name, {e.get(op.inputs[0], order)},
              {ints_attr("axis", {place(order, static_cast<std::int64_t>(e.rank(y)) - 1)})}));
  return true;
}

}  // namespace deputy::delegate::onnx_import
