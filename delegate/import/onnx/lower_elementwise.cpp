// Operators on each element by itself, of one operand or two.
#include <algorithm>
#include <cmath>

#include "delegate/import/onnx/lowering.h"

namespace deputy::delegate::onnx_import {
namespace {

using arch::OpKind;

struct Row {
  const char* op;
  OpKind kind;
  std::size_t operands;
};
constexpr Row kRows[] = {{"Add", OpKind::ADD, 2},
                         {"Sub", OpKind::SUB, 2},
                         {"Mul", OpKind::MUL, 2},
                         {"Div", OpKind::DIV, 2},
                         {"Max", OpKind::MAXIMUM, 2},
                         {"Min", OpKind::MINIMUM, 2},
                         {"PRelu", OpKind::PRELU, 2},
                         {"Relu", OpKind::RELU, 1},
                         {"LeakyRelu", OpKind::LEAKY_RELU, 1},
                         {"Sigmoid", OpKind::LOGISTIC, 1},
                         {"Tanh", OpKind::TANH, 1},
                         {"HardSwish", OpKind::HARD_SWISH, 1},
                         {"Elu", OpKind::ELU, 1},
                         {"Exp", OpKind::EXP, 1},
                         {"Neg", OpKind::NEG, 1},
                         {"Abs", OpKind::ABS, 1},
                         {"Sqrt", OpKind::SQRT, 1},
                         {"Clip", OpKind::RELU6, 1},
                         {"Gelu", OpKind::GELU, 1}};

/// The constant of an integer operator: in the numbers it was made of, or in numbers that show it
/// exactly.
std::optional<Twin> constant_twin(Lowering& l, int value, DType type) {
  if (const Twin* t = l.twin(value); t && !t->quant.per_channel() && l.desc(t->value).dtype == type)
    return *t;
  const auto real = l.floats(value);
  if (!real || real->size() != 1 || (*real)[0] == 0 || !std::isfinite((*real)[0]))
    return std::nullopt;
  // One number v is 1 step of |v| from a zero point of 0.
  Twin out;
  out.value = l.model.add_value(l.desc(value).name + "/quantised");
  Value& made = l.model.value(out.value);
  made.desc.dtype = type, made.desc.shape = l.shape(value), made.constant = made.shaped = true;
  const std::int32_t zero = type == DType::kUint8 ? 128 : 0;
  made.data = integer_bytes(type, {zero + ((*real)[0] < 0 ? -1 : 1)});
  out.quant = {{std::fabs((*real)[0])}, {zero}, 0};
  return out;
}

bool run(Lowering& l, OpKind kind, const arch::OpAttrs& attrs, const std::vector<int>& operands,
         int result) {
  const Form form = l.best_form(operands, l.rank(result));
  std::vector<TensorId> inputs;
  for (const int id : operands) inputs.push_back(l.get(id, l.repeated(id, form)));
  return l.emit(kind, attrs, std::move(inputs), {{result, form}});
}

}  // namespace

bool lower_elementwise(Lowering& l, const Node& node) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const Row& r) { return node.node.op == r.op; });
  if (row == std::end(kRows) || node.outputs.size() != 1 ||
      l.desc(node.outputs[0]).dtype != DType::kFloat32)
    return false;
  if (row->kind != OpKind::RELU6 && node.inputs.size() != row->operands) return false;
  arch::OpAttrs attrs;
  if (row->kind == OpKind::LEAKY_RELU) attrs.alpha = node.node.real("alpha", 0.01f);
  if (row->kind == OpKind::ELU && node.node.real("alpha", 1) != 1) return false;
  if (row->kind == OpKind::RELU6) {
    const auto limit = [&](std::size_t i, const char* name) -> std::optional<float> {
      if (node.node.has(name)) return node.node.real(name, 0);
      if (!l.has(node, i)) return std::nullopt;
      const auto v = l.floats(node.inputs[i]);
      return v && v->size() == 1 ? std::optional((*v)[0]) : std::nullopt;
    };
    if (limit(1, "min") != 0.0f || limit(2, "max") != 6.0f) return false;
  }
  std::vector<int> operands(node.inputs.begin(),
                            node.inputs.begin() + static_cast<std::ptrdiff_t>(row->operands));
  if (std::all_of(operands.begin(), operands.end(), [&](int id) { return l.constant(id); }))
    return false;
  const auto site = l.site(node);
  bool integer = site.has_value() && row->kind != OpKind::DIV;
  std::vector<int> quantised;
  DType type = DType::kFloat32;
  for (const int id : operands)
    if (const Twin* t = l.twin(id); t && !l.constant(id)) type = l.desc(t->value).dtype;
  integer = integer && type != DType::kFloat32 && l.desc(site->value).dtype == type;
  for (const int id : operands) {
    if (!integer) break;
    const auto t = l.constant(id) ? constant_twin(l, id, type)
                   : l.twin(id)   ? std::optional(*l.twin(id))
                                  : std::nullopt;
    integer = t && l.desc(t->value).dtype == type;
    if (!integer) break;
    l.quant.integers[t->value] = t->quant;
    quantised.push_back(t->value);
  }
  if (integer && row->kind == OpKind::PRELU)
    integer = false;  // no integer kernel takes slopes of their own scale for certain
  if (integer && site->activation && row->operands == 1) integer = false;
  if (integer) {
    arch::OpAttrs with = attrs;
    with.activation = site->activation;
    if ((row->kind == OpKind::MAXIMUM || row->kind == OpKind::MINIMUM) &&
        !quantised.empty())  // of one scale only
      for (int& id : quantised) {
        const auto same =
            l.constant(id) ? std::nullopt : l.requantised(id, l.quant.integers[site->value]);
        if (!same) {
          integer = false;
          break;
        }
        id = *same;
      }
    if (integer && run(l, row->kind, with, quantised, site->value)) {
      l.done(*site);
      return true;
    }
    l.note(node, "stays in floats: no integer form takes these operands");
  }
  return run(l, row->kind, attrs, operands, node.outputs[0]);
}

}  // namespace deputy::delegate::onnx_import
