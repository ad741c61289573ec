// Which values are quantised numbers: the scales that Q and DQ nodes give to integer values, the
// integer origin of floats.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "delegate/import/onnx/model.h"

namespace deputy::delegate::onnx_import {
namespace {

std::vector<float> floats_of(const Value& value) {
  std::vector<float> out(value.data.size() / sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), value.data.data(), out.size() * sizeof(float));
  return out;
}
std::vector<std::int32_t> integers_of(const Value& value) {
  std::vector<std::int32_t> out;
  const std::size_t count = static_cast<std::size_t>(value.desc.elements());
  for (std::size_t i = 0; i < count; ++i) {
    if (value.desc.dtype == DType::kInt8)
      out.push_back(static_cast<std::int8_t>(value.data[i]));
    else if (value.desc.dtype == DType::kUint8)
      out.push_back(value.data[i]);
    else if (sixteen_bits(value.desc.dtype)) {
      std::uint16_t v = 0;
      std::memcpy(&v, value.data.data() + i * sizeof v, sizeof v);
      out.push_back(value.desc.dtype == DType::kInt16 ? static_cast<std::int16_t>(v) : v);
    } else {
      std::int32_t v = 0;
      std::memcpy(&v, value.data.data() + i * 4, 4);
      out.push_back(v);
    }
  }
  return out;
}

/// Operators that move integers without looking at them: their operand and result have one
/// quantisation.
bool moves(const Node& node) {
  for (const char* op : {"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity",
                         "Slice", "MaxPool", "Gather", "DepthToSpace", "SpaceToDepth"})
    if (node.node.op == op) return true;
  return false;
}
/// A file may leave out any operand or result.
bool has_ends(const Node& node) {
  return !node.inputs.empty() && node.inputs[0] != kNoValue && !node.outputs.empty() &&
         node.outputs[0] != kNoValue;
}
bool is_byte(const Value& value) {
  return value.desc.dtype == DType::kInt8 || value.desc.dtype == DType::kUint8;
}
/// Integer operators know bytes and symmetric int16; other 16-bit maps are floats between the
/// operators.
bool is_map(const Value& value, const Quantisation& quant) {
  return is_byte(value) || (value.desc.dtype == DType::kInt16 &&
                            std::all_of(quant.zero_point.begin(), quant.zero_point.end(),
                                        [](auto z) { return z == 0; }));
}

int add_constant(Model& model, std::string name, DType dtype, Shape shape,
                 std::vector<std::uint8_t> data) {
  const int id = model.add_value(std::move(name));
  Value& value = model.value(id);
  value.desc.dtype = dtype, value.desc.shape = std::move(shape), value.data = std::move(data);
  value.constant = value.shaped = true;
  return id;
}

/// A constant made from a quantised one by Transpose, Reshape or Identity: the same done to the
/// integers.
std::optional<Twin> moved_twin(Model& model, const OnnxOptions& options, const Node& node,
                               const Twin& from) {
  Twin out{kNoValue, from.quant};
  const Shape before = model.value(from.value).desc.shape,
              after = model.value(node.outputs[0]).desc.shape;
  if (node.node.op == "Transpose") {
    std::vector<std::int64_t> perm(before.size());
    for (std::size_t d = 0; d < perm.size(); ++d)
      perm[d] = static_cast<std::int64_t>(perm.size() - 1 - d);
    perm = node.node.integers("perm", perm);
    for (std::size_t d = 0; d < perm.size(); ++d)
      if (perm[d] == from.quant.axis && from.quant.per_channel()) {
        out.quant.axis = static_cast<std::int32_t>(d);
        break;
      }
  } else if (from.quant.per_channel() && before != after) {
    // The axis survives when as many elements lie before it as did, and it is as long as it was.
    const auto axis = static_cast<std::size_t>(from.quant.axis);
    std::int64_t outer = 1, seen = 1;
    for (std::size_t d = 0; d < axis; ++d) outer *= before[d];
    std::size_t d = 0;
    while (d < after.size() && (seen < outer || (after[d] == 1 && before[axis] != 1)))
      seen *= after[d++];
    if (d == after.size() || seen != outer || after[d] != before[axis]) return std::nullopt;
    out.quant.axis = static_cast<std::int32_t>(d);
  }
  const Value& source = model.value(from.value);
  std::vector<arch::TensorView> inputs = {
      {&source.desc, const_cast<std::uint8_t*>(source.data.data())}};
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) return std::nullopt;
    const Value& operand = model.value(node.inputs[i]);
    inputs.push_back({&operand.desc, const_cast<std::uint8_t*>(operand.data.data())});
  }
  const arch::OnnxOutput output;
  auto moved = options.evaluate(node.node, inputs, std::span(&output, 1), false);
  if (!moved.ok()) return std::nullopt;
  const DType dtype = source.desc.dtype;
  out.value = add_constant(model, model.value(node.outputs[0]).desc.name + "/quantised", dtype,
                           after, std::move((*moved)[0].data));
  return out;
}

}  // namespace

std::optional<Quantisation> quantisation_of(const Model& model, const Node& node) {
  if (!has_ends(node) || node.inputs.size() < 2 || node.inputs[1] == kNoValue) return std::nullopt;
  const Value& scale = model.value(node.inputs[1]);
  if (!scale.constant || scale.desc.dtype != DType::kFloat32) return std::nullopt;
  Quantisation out;
  out.scale = floats_of(scale);
  for (const float s : out.scale)
    if (!std::isfinite(s) || s <= 0) return std::nullopt;
  out.zero_point.assign(out.scale.size(), 0);
  if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
    const Value& zero = model.value(node.inputs[2]);
    if (!zero.constant ||
        (!is_byte(zero) && !sixteen_bits(zero.desc.dtype) && zero.desc.dtype != DType::kInt32))
      return std::nullopt;
    out.zero_point = integers_of(zero);
    if (out.zero_point.size() != out.scale.size()) return std::nullopt;
  }
  if (out.scale.empty()) return std::nullopt;
  const Shape& shape = model.value(node.inputs[0]).desc.shape;
  if (out.per_channel()) {
    std::int64_t axis = node.node.integer("axis", 1);
    if (axis < 0) axis += static_cast<std::int64_t>(shape.size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size())) return std::nullopt;
    out.axis = static_cast<std::int32_t>(axis);
  }
  return out;
}

QuantInfo find_quantisation(Model& model, const OnnxOptions& options) {
  QuantInfo out;
  for (const Node& node : model.nodes)
    if (node.node.op == "QuantizeLinear")
      if (const auto quant = quantisation_of(model, node);
          quant && !quant->per_channel() && is_map(model.value(node.outputs[0]), *quant))
        out.integers[node.outputs[0]] = *quant;
  for (const Node& node : model.nodes)
    if (node.node.op == "DequantizeLinear" && has_ends(node) &&
        !model.value(node.inputs[0]).constant)
      if (const auto quant = quantisation_of(model, node);
          quant && !quant->per_channel() && is_map(model.value(node.inputs[0]), *quant))
        out.integers.emplace(node.inputs[0], *quant);
  for (bool changed = true; changed;) {  // forwards and backwards through what only moves
    changed = false;
    for (const Node& node : model.nodes) {
      if (!moves(node) || !has_ends(node) ||
          !(is_byte(model.value(node.inputs[0])) ||
            model.value(node.inputs[0]).desc.dtype == DType::kInt16) ||
          model.value(node.inputs[0]).constant)
        continue;
      const auto from = out.integers.find(node.inputs[0]), to = out.integers.find(node.outputs[0]);
      if (from != out.integers.end() && to == out.integers.end())
        out.integers[node.outputs[0]] = from->second, changed = true;
      else if (from == out.integers.end() && to != out.integers.end())
        out.integers[node.inputs[0]] = to->second, changed = true;
    }
  }
  const std::size_t count = model.nodes.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Node& node = model.nodes[i];
    if (!has_ends(node)) continue;
    const int from = node.inputs[0], to = node.outputs[0];
    if (node.node.op == "DequantizeLinear") {
      const auto quant = quantisation_of(model, node);
      if (!quant ||
          (!model.value(from).constant &&
           (quant->per_channel() || !out.integers.contains(from) || out.integers[from] != *quant)))
        continue;
      if (sixteen_bits(model.value(from).desc.dtype) && !is_map(model.value(from), *quant))
        continue;
      out.twins[to] = {from, *quant};
    } else if (model.value(to).constant && out.twins.contains(from)) {
      if (const auto twin = moved_twin(model, options, node, out.twins[from]))
        out.twins[to] = *twin;
    }
  }
  return out;
}

// --- QOperator form
// -------------------------------------------------------------------------------------------------

namespace {

/// How a QLinear operator's operands are laid out: triples of value, scale, zero point.
struct QRow {
  const char* op;
  const char* becomes;
  std::vector<std::size_t> triples;  ///< where each begins
  std::size_t result;                ///< where the result's scale and zero point are
};
const std::vector<QRow>& q_rows() {
  static const std::vector<QRow> rows = {{"QLinearConv", "Conv", {0, 3}, 6},
                                         {"QLinearMatMul", "MatMul", {0, 3}, 6},
                                         {"QLinearAdd", "Add", {0, 3}, 6},
                                         {"QLinearMul", "Mul", {0, 3}, 6},
                                         {"QLinearSigmoid", "Sigmoid", {0}, 3},
                                         {"QLinearLeakyRelu", "LeakyRelu", {0}, 3},
                                         {"QLinearGlobalAveragePool", "GlobalAveragePool", {0}, 3},
                                         {"QLinearAveragePool", "AveragePool", {0}, 3}};
  return rows;
}

class Expander {
 public:
  explicit Expander(Model& model) : model_(model) {}
  void run() {
    std::vector<Node> nodes = std::move(model_.nodes);
    model_.nodes.clear();
    for (Node& node : nodes)
      if (!expand(node)) model_.nodes.push_back(std::move(node));
    link(model_);
  }

 private:
  bool known(const Node& node, std::size_t i) const {
    return i < node.inputs.size() && node.inputs[i] != kNoValue &&
           model_.value(node.inputs[i]).constant;
  }

  bool expand(const Node& node) {
    for (const QRow& row : q_rows()) {
      if (node.node.op != row.op) continue;
      if (node.node.integer("channels_last", 0)) return false;
      std::vector<std::size_t> scales = {row.result};
      for (const std::size_t t : row.triples) scales.push_back(t + 1);
      for (const std::size_t s : scales)
        if (!known(node, s) ||
            (s + 1 < node.inputs.size() && node.inputs[s + 1] != kNoValue && !known(node, s + 1)))
          return false;
      const bool weighted = node.node.op == "QLinearConv" || node.node.op == "QLinearMatMul";
      if (weighted && !known(node, 3)) return false;
      std::vector<int> floats;
      for (const std::size_t t : row.triples)
        floats.push_back(
            dequantised(node, t, weighted && t == 3 ? (row.becomes[0] == 'C' ? 0 : -1) : 1));
      if (node.node.op == "QLinearConv" && node.inputs.size() > 8 && node.inputs[8] != kNoValue) {
        if (!known(node, 8)) return false;
        floats.push_back(bias(node));
      }
      const int result = add_float(node, "float", model_.value(node.outputs[0]).desc.shape);
      push(node, row.becomes, std::move(floats), result, node.node.attrs);
      std::vector<int> inputs = {result, node.inputs[row.result]};
      if (row.result + 1 < node.inputs.size()) inputs.push_back(node.inputs[row.result + 1]);
      push(node, "QuantizeLinear", std::move(inputs), node.outputs[0], {});
      return true;
    }
    return false;
  }

  int add_float(const Node& node, const char* what, const Shape& shape) {
    const int id = model_.add_value(fmt::format("{}/{}{}", model_.value(node.outputs[0]).desc.name,
                                                what, model_.values.size()));
    Value& value = model_.value(id);
    value.desc.dtype = DType::kFloat32, value.desc.shape = shape, value.shaped = true;
    return id;
  }
  void push(const Node& from, const char* op, std::vector<int> inputs, int output,
            std::vector<arch::OnnxAttr> attrs) {
    Node node;
    node.node.op = op, node.node.opset = std::max(13, from.node.opset),
    node.node.attrs = std::move(attrs);
    node.name = from.name, node.source = from.source, node.inputs = std::move(inputs),
    node.outputs = {output};
    model_.nodes.push_back(std::move(node));
  }
  int dequantised(const Node& node, std::size_t triple, std::int64_t axis) {
    const int source = node.inputs[triple];
    const int out = add_float(node, "x", model_.value(source).desc.shape);
    std::vector<int> inputs = {source, node.inputs[triple + 1]};
    if (triple + 2 < node.inputs.size() && node.inputs[triple + 2] != kNoValue)
      inputs.push_back(node.inputs[triple + 2]);
    push(node, "DequantizeLinear", std::move(inputs), out,
         {{"axis", arch::OnnxAttr::Type::kInts, {axis}, {}, {}}});
    return out;
  }
  /// The bias has no scale of its own: it counts in steps of x's scale times w's.
  int bias(const Node& node) {
    const float x = floats_of(model_.value(node.inputs[1]))[0];
    std::vector<float> scales = floats_of(model_.value(node.inputs[4]));
    for (float& s : scales) s *= x;
    std::vector<std::uint8_t> bytes(scales.size() * sizeof(float));
    std::memcpy(bytes.data(), scales.data(), bytes.size());
    const Shape shape =
        scales.size() == 1 ? Shape{} : Shape{static_cast<std::int32_t>(scales.size())};
    const int scale =
        add_constant(model_, fmt::format("{}/bias_scale", model_.value(node.outputs[0]).desc.name),
                     DType::kFloat32, shape, std::move(bytes));
    const int out = add_float(node, "bias", model_.value(node.inputs[8]).desc.shape);
    push(node, "DequantizeLinear", {node.inputs[8], scale}, out,
         {{"axis", arch::OnnxAttr::Type::kInts, {0}, {}, {}}});
    return out;
  }

  Model& model_;
};

}  // namespace

void expand_qoperators(Model& model) { Expander(model).run(); }

}  // namespace deputy::delegate::onnx_import
