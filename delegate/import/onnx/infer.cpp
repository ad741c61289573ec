// Types, shapes and constants of every value, node by node, by the kernels' own rules.
#include <fmt/format.h>

#include <cstring>

#include "delegate/import/onnx/model.h"

namespace deputy::delegate::onnx_import {
namespace {

using base::Status;

constexpr std::int64_t kMostFoldedBytes = 64 << 20;
constexpr std::int64_t kMostFoldedWork =
    1 << 28;  ///< results times operands' elements, an upper bound of any kernel's steps

/// Kernels whose steps are about as many as their operands' and results' elements.
bool linear(const std::string& op) {
  for (const char* name : {"Conv",          "ConvTranspose", "ConvInteger",
                           "QLinearConv",   "MatMul",        "MatMulInteger",
                           "QLinearMatMul", "Gemm",          "Einsum",
                           "Det",           "DFT",           "LSTM",
                           "GRU",           "RNN",           "Resize",
                           "Upsample",      "GridSample",    "MaxPool",
                           "AveragePool",   "LpPool",        "NonMaxSuppression",
                           "Unique",        "LRN",           "TopK"})
    if (op == name) return false;
  return true;
}

arch::TensorView view(Model& model, int id) {
  if (id == kNoValue) return {};
  Value& value = model.value(id);
  static std::uint8_t empty = 0;
  return {&value.desc,
          value.constant ? (value.data.empty() ? &empty : value.data.data()) : nullptr};
}

/// Constant's value comes as an operand (read_proto) or in attributes.
Status read_constant(Model& model, Node& node) {
  Value& out = model.value(node.outputs[0]);
  if (!node.inputs.empty()) {
    const Value& from = model.value(node.inputs[0]);
    out.desc.dtype = from.desc.dtype, out.desc.shape = from.desc.shape, out.data = from.data;
  } else {
    const auto put = [&](const auto& list, bool scalar, DType type) {
      using T = typename std::decay_t<decltype(list)>::value_type;
      out.desc.dtype = type;
      if (!scalar) out.desc.shape = {static_cast<std::int32_t>(list.size())};
      out.data.resize(list.size() * sizeof(T));
      if (!list.empty()) std::memcpy(out.data.data(), list.data(), out.data.size());
    };
    const auto find = [&](const char* name) { return node.node.find(name); };
    if (const auto* a = find("value_float"); a && a->floats.size() == 1)
      put(a->floats, true, DType::kFloat32);
    else if (const auto* b = find("value_floats"); b && b->type == arch::OnnxAttr::Type::kFloats)
      put(b->floats, false, DType::kFloat32);
    else if (const auto* i = find("value_int"); i && i->ints.size() == 1)
      put(i->ints, true, DType::kInt64);
    else if (const auto* l = find("value_ints"); l && l->type == arch::OnnxAttr::Type::kInts)
      put(l->ints, false, DType::kInt64);
    else
      return unsupported(model, node_label(node),
                         "constants that are strings or sparse are not supported");
  }
  out.constant = out.shaped = true;
  return {};
}

/// ONNX's own QuantizeLinear and DequantizeLinear know no 16 bits in the operator sets that are
/// read.
std::optional<base::Error> wrong_domain(const Model& model, const Node& node) {
  const bool quantises = node.node.op == "QuantizeLinear",
             dequantises = node.node.op == "DequantizeLinear";
  if (node.microsoft || (!quantises && !dequantises)) return std::nullopt;
  const int id = quantises ? node.outputs[0] : node.inputs[0];
  if (id == kNoValue || !sixteen_bits(model.value(id).desc.dtype)) return std::nullopt;
  return unsupported(
      model, node_label(node),
      fmt::format("operator set {} knows no {} of {}", node.node.opset, node.node.op,
                  dtype_name(model.value(id).desc.dtype)),
      "export with the operators of com.microsoft, as ONNX Runtime's quantiser does");
}

base::Error in_node(const Model& model, const Node& node, base::Error error) {
  error.where = fmt::format("{}: {}", model.name, node_label(node));
  return error;
}

}  // namespace

void link(Model& model) {
  for (Value& value : model.values)
    value.producer = kNoValue, value.consumers.clear(), value.is_output = false;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    for (const int id : model.nodes[i].inputs)
      if (id != kNoValue) model.value(id).consumers.push_back(static_cast<int>(i));
    for (const int id : model.nodes[i].outputs)
      if (id != kNoValue) model.value(id).producer = static_cast<int>(i);
  }
  for (const int id : model.outputs) model.value(id).is_output = true;
}

base::Status infer(Model& model, const OnnxOptions& options) {
  std::int64_t folded = 0;
  std::vector<Node> kept;
  for (Node& node : model.nodes) {
    if (node.node.op == "Constant") {
      DEPUTY_TRY(read_constant(model, node));
      continue;
    }
    std::vector<arch::TensorView> inputs;
    bool constant = true;
    std::int64_t read = 1;
    for (const int id : node.inputs) {
      inputs.push_back(view(model, id));
      if (id == kNoValue) continue;
      constant &= model.value(id).constant;
      read += model.value(id).desc.elements();
    }
    std::vector<arch::OnnxOutput> outputs;
    for (const int id : node.outputs) outputs.push_back({id != kNoValue, nullptr});
    auto results = options.evaluate(node.node, inputs, outputs, true);
    // What the file says of the results counts where the values decide, and must be true of the
    // model's outputs.
    bool output = false;
    for (const int id : node.outputs)
      for (const int o : model.outputs) output |= o == id;
    if (!results.ok() || output) {
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if (node.outputs[i] != kNoValue && model.value(node.outputs[i]).declared)
          outputs[i].expected = &*model.value(node.outputs[i]).declared;
      results = options.evaluate(node.node, inputs, outputs, true);
    }
    if (!results.ok()) return in_node(model, node, results.error());
    std::int64_t bytes = 0, made = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      Value& value = model.value(node.outputs[i]);
      value.desc.dtype = (*results)[i].dtype, value.desc.shape = (*results)[i].shape,
      value.shaped = true;
      bytes += value.desc.bytes(), made += value.desc.elements();
    }
    if (const auto wrong = wrong_domain(model, node)) return *wrong;
    // Shape looks at its operand's shape alone.
    const bool of_shape = node.node.op == "Shape" || node.node.op == "Size";
    if ((constant || of_shape) && bytes <= kMostFoldedBytes - folded &&
        (linear(node.node.op) || (made + 1) * read < kMostFoldedWork)) {
      auto values = options.evaluate(node.node, inputs, outputs, false);
      if (!values.ok()) return in_node(model, node, values.error());
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (node.outputs[i] == kNoValue) continue;
        Value& value = model.value(node.outputs[i]);
        value.desc.shape = (*values)[i].shape, value.data = std::move((*values)[i].data),
        value.constant = true;
      }
      folded += bytes;
      if (node.node.op != "DequantizeLinear" && node.node.op != "Transpose" &&
          node.node.op != "Reshape" && node.node.op != "Identity")
        continue;
    }
    kept.push_back(
        std::move(node));  // also where it is constant, if it may lead back to quantised weights
  }
  model.nodes = std::move(kept);
  link(model);
  return {};
}

}  // namespace deputy::delegate::onnx_import
