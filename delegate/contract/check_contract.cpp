#include "delegate/contract/check_contract.h"

#include "delegate/ops/constraint_rules.h"
#include "delegate/ops/operands.h"

namespace deputy::delegate {
namespace {

struct Remedy {
  const char* text;
  bool convertible;
};

bool constant_input(const Graph& graph, const Op& op) {
  for (const TensorId id : data_inputs(op))
    if (graph.tensor(id).constant) return true;
  return false;
}

Remedy remedy_of(const Graph& graph, const Op& op, Rule rule, const Tensor& tensor) {
  constexpr const char* kQuantise =
      "quantise the model (deputy quantize), or leave the operator to the CPU";
  switch (rule) {
    case Rule::kTypes:
      return {kQuantise, false};
    case Rule::kOneType:
      if (constant_input(graph, op)) return {kQuantise, false};
      return {"convert: exchange int8 and uint8, exact", true};
    case Rule::kSameQuantisation:
      if (constant_input(graph, op)) return {"quantise both with one range", false};
      return {"convert: change the scale beside the operator, or quantise both with one range",
              true};
    case Rule::kSoftmaxOutput:
      return {"convert: softmax in steps of 1/256, then change the scale", true};
    case Rule::kWeights:
      if (tensor.constant && dtype_size(tensor.desc.dtype) == 1 && tensor.desc.quant.present())
        return {"convert: exchange int8 and uint8, exact", true};
      return {tensor.constant ? kQuantise : "leave the operator to the CPU", false};
    case Rule::kWeightScales:
      return {"quantise the weights symmetrically, per tensor or per output channel", false};
    case Rule::kBias:
      if (tensor.constant && tensor.desc.dtype == DType::kInt64)
        return {"convert: store as int32 if every number fits", true};
      return {"give one int32 for each output channel", false};
    case Rule::kBiasScale:
      return {"convert: round the bias to steps of the product of the scales", true};
    default:
      return {"quantise per tensor, with a positive scale and a zero point within the type", false};
  }
}

}  // namespace

bool crosses_floats(const Graph& graph, const Op& op) {
  return (op.kind == arch::OpKind::QUANTIZE || op.kind == arch::OpKind::DEQUANTIZE) &&
         graph.tensor(op.inputs[0]).desc.quant.present() !=
             graph.tensor(op.outputs[0]).desc.quant.present();
}

std::vector<Mismatch> check_contract(const Graph& graph, std::size_t index,
                                     const CompileOptions& options) {
  std::vector<Mismatch> out;
  const Op& op = graph.ops[index];
  const OpRow* row = constraint_row(op.kind, TableEngine::kNpu);
  if (!row) return out;
  if (crosses_floats(graph, op)) return out;
  for (const Demand& demand : row->demands) {
    if (demand.rule == Rule::kElements) continue;
    const auto add = [&](TensorId id, std::string found) {
      const Remedy remedy = remedy_of(graph, op, demand.rule, graph.tensor(id));
      out.push_back({index, id, demand.rule, std::move(found), rule_text(*row, demand), remedy.text,
                     remedy.convertible});
    };
    for (Finding& f : findings(*row, demand, graph, op)) add(f.tensor, std::move(f.found));
    // Of the wrong type: the other rules would only say so again.
    if (demand.rule == Rule::kTypes && !out.empty()) return out;
    if (demand.rule == Rule::kSoftmaxOutput && out.empty())
      if (auto found = broken(*row, demand, graph, op, options))
        add(op.outputs[0], std::move(*found));
  }
  return out;
}

std::vector<Mismatch> check_contract(const Graph& graph, const CompileOptions& options) {
  std::vector<Mismatch> out;
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (Mismatch& m : check_contract(graph, i, options)) out.push_back(std::move(m));
  return out;
}

}  // namespace deputy::delegate
