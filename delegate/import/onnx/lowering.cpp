#include "delegate/import/onnx/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/check.h"
#include "delegate/ir/op_rules.h"

namespace deputy::delegate::onnx_import {
namespace {

using arch::OpKind;

}  // namespace

Lowering::Lowering(Model& m, const OnnxOptions& o, std::vector<std::string>* notes)
    : model(m), options(o), notes_(notes) {}

base::Result<Graph> Lowering::run() {
  graph.name = model.name;
  quant = find_quantisation(model, options);
  done_.assign(model.nodes.size(), false);
  for (const int id : model.inputs) graph.inputs.push_back(add_tensor(id, plain(id)));
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const Node& node = model.nodes[i];
    bool computed = false;
    for (const int id : node.outputs) computed |= id != kNoValue && !constant(id);
    if (done_[i] || !computed) continue;
    source_ = node.source;
    if (!(options.native && native(node))) generic(node);
  }
  for (const int id : model.outputs) {
    TensorId tensor = get(id, plain(id));
    const bool input = std::count(graph.inputs.begin(), graph.inputs.end(), tensor) > 0;
    if (input) {  // a result that is an operand has storage of its own
      arch::OnnxNode copy;
      copy.op = "Identity";
      Tensor own = graph.tensor(tensor);
      own.desc.name = desc(id).name;
      graph.tensors.push_back(std::move(own));
      const auto to = static_cast<TensorId>(graph.tensors.size() - 1);
      Op op;
      op.kind = OpKind::ONNX, op.attrs.onnx = arch::onnx_text(copy), op.inputs = {tensor},
      op.outputs = {to};
      graph.ops.push_back(std::move(op));
      tensor = to;
    } else if (!graph.tensor(tensor).constant) {
      graph.tensor(tensor).desc.name = desc(id).name;
    }
    graph.outputs.push_back(tensor);
  }
  remove_dead();
  DEPUTY_TRY(validate(graph));
  return std::move(graph);
}

bool Lowering::native(const Node& node) {
  if (node.node.op == "QuantizeLinear") return quantize(node);
  if (node.node.op == "DequantizeLinear")
    return twin(node.outputs[0]) != nullptr;  // made where it is asked for
  if (node.outputs.size() > 1 && node.node.op != "Split" && node.node.op != "Dropout") return false;
  for (const int id : node.inputs)
    if (id != kNoValue && desc(id).elements() == 0 && !constant(id)) return false;
  if (desc(node.outputs[0]).elements() == 0) return false;
  return lower_convolution(*this, node) || lower_matrix(*this, node) || lower_pool(*this, node) ||
         lower_elementwise(*this, node) || lower_rows(*this, node) || lower_movement(*this, node) ||
         lower_reduction(*this, node) || lower_resize(*this, node);
}

void Lowering::generic(const Node& node) {
  std::vector<TensorId> inputs;
  for (const int id : node.inputs)
    inputs.push_back(id == kNoValue ? kNoTensor : get(id, plain(id)));
  std::vector<Made> outputs;
  for (const int id : node.outputs) outputs.push_back({id, id == kNoValue ? Form{} : plain(id)});
  emit_onnx(node.node, std::move(inputs), outputs);
}

bool Lowering::native_type(int value) const {
  switch (desc(value).dtype) {
    case DType::kFloat32:
    case DType::kInt8:
    case DType::kUint8:
      return true;
    case DType::kInt16:
      return quant.integers.contains(value);
    default:
      return false;
  }
}

/// The integers that a float was made of need no quantising, or only to another scale. From int16
/// to another scale through floats, as the file says: QUANTIZE rounds int16 by TFLite's rule.
bool Lowering::quantize(const Node& node) {
  const int out = node.outputs[0];
  const Twin* from = twin(node.inputs[0]);
  if (!from || !quant.integers.contains(out) || desc(from->value).dtype != desc(out).dtype ||
      constant(from->value))
    return false;
  if (desc(out).dtype == DType::kInt16 && quant.integers[from->value] != quant.integers[out])
    return false;
  const auto same = requantised(from->value, quant.integers[out]);
  if (!same) return false;
  std::vector<int> order(rank(out));
  std::iota(order.begin(), order.end(), 0);
  view(out, *same, order);
  return true;
}

std::optional<int> Lowering::requantised(int value, const Quantisation& wanted) {
  if (quant.integers[value] == wanted) return value;
  const int out = model.add_value(desc(value).name + "/requantised");
  model.value(out).desc.dtype = desc(value).dtype, model.value(out).desc.shape = shape(value);
  quant.integers[out] = wanted;
  const auto forms = available(value);
  const Form form = forms.empty() ? plain(value) : forms.front();
  if (emit(OpKind::QUANTIZE, {}, {get(value, form)}, {{out, form}})) return out;
  return std::nullopt;
}

bool Lowering::emit(arch::OpKind kind, const arch::OpAttrs& attrs, std::vector<TensorId> inputs,
                    const std::vector<Made>& outputs) {
  for (const Made& made : outputs)
    if (!native_type(made.value)) return false;
  const std::size_t before = graph.tensors.size();
  Op op;
  op.kind = kind, op.attrs = attrs, op.inputs = std::move(inputs), op.source_index = source_;
  for (const Made& made : outputs) op.outputs.push_back(add_tensor(made.value, made.form));
  bool ok = normalise_op(graph, op).ok() && check_op(graph, op).ok();
  if (ok && options.takes) {
    std::vector<arch::TensorView> in, out;
    for (const TensorId id : op.inputs) {
      if (id == kNoTensor)
        in.push_back({});
      else
        in.push_back({&graph.tensor(id).desc,
                      graph.tensor(id).constant ? graph.tensor(id).data.data() : nullptr});
    }
    for (const TensorId id : op.outputs) out.push_back({&graph.tensor(id).desc, nullptr});
    ok = options.takes(op.kind, op.attrs, in, out).ok();
  }
  if (ok) {
    graph.ops.push_back(std::move(op));
    return true;
  }
  for (const Made& made : outputs) forms_[made.value].erase(made.form);
  graph.tensors.resize(before);
  return false;
}

void Lowering::emit_onnx(const arch::OnnxNode& node, std::vector<TensorId> inputs,
                         const std::vector<Made>& outputs) {
  Op op;
  op.kind = OpKind::ONNX, op.attrs.onnx = arch::onnx_text(node), op.inputs = std::move(inputs),
  op.source_index = source_;
  for (const Made& made : outputs) {
    if (made.value != kNoValue) {
      op.outputs.push_back(add_tensor(made.value, made.form));
      continue;
    }
    graph.tensors
        .emplace_back();  // an optional result that nobody wants; its type is settled below
    op.outputs.push_back(static_cast<TensorId>(graph.tensors.size() - 1));
  }
  if (std::any_of(outputs.begin(), outputs.end(),
                  [](const Made& m) { return m.value == kNoValue; })) {
    std::vector<arch::TensorView> in;
    for (const TensorId id : op.inputs)
      in.push_back(id == kNoTensor
                       ? arch::TensorView{}
                       : arch::TensorView{&graph.tensor(id).desc, graph.tensor(id).constant
                                                                      ? graph.tensor(id).data.data()
                                                                      : nullptr});
    const std::vector<arch::OnnxOutput> wanted(outputs.size());
    if (const auto results = options.evaluate(node, in, wanted, true); results.ok())
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i].value == kNoValue)
          graph.tensor(op.outputs[i]).desc.dtype = (*results)[i].dtype,
          graph.tensor(op.outputs[i]).desc.shape = (*results)[i].shape;
  }
  graph.ops.push_back(std::move(op));
}

int Lowering::reshape_source(int value) const {
  const auto at = reshapes_.find(value);
  if (at != reshapes_.end() && !forms_.contains(value)) return at->second;
  const auto v = views_.find(value);
  if (v == views_.end()) return value;
  for (std::size_t d = 0; d < v->second.order.size(); ++d)
    if (v->second.order[d] != static_cast<int>(d)) return value;
  const int inner = reshape_source(v->second.value);
  return inner == v->second.value ? value : inner;
}
bool Lowering::only_permuted(int value) const {
  return !constant(value) && !available(value).empty() && !cheap(value, plain(value));
}

const Twin* Lowering::twin(int value) const {
  const auto at = quant.twins.find(value);
  return at == quant.twins.end() ? nullptr : &at->second;
}

std::optional<Lowering::Site> Lowering::site(const Node& node) const {
  Site out;
  int at = node.outputs[0];
  while (true) {
    const Value& value = model.value(at);
    if (value.is_output || value.consumers.size() != 1) return std::nullopt;
    const int next = value.consumers[0];
    const Node& user = model.nodes[static_cast<std::size_t>(next)];
    out.absorbed.push_back(next);
    if (user.node.op == "QuantizeLinear") {
      if (user.inputs[0] != at || !quant.integers.contains(user.outputs[0])) return std::nullopt;
      out.value = user.outputs[0];
      return out;
    }
    if (out.activation) return std::nullopt;
    if (user.node.op == "Relu") {
      out.activation = static_cast<std::uint8_t>(arch::Activation::kRelu);
    } else if (user.node.op == "Clip") {
      const auto limit = [&](std::size_t i, const char* name) -> std::optional<float> {
        if (user.node.has(name)) return user.node.real(name, 0);
        if (!has(user, i)) return std::nullopt;
        const auto v = floats(user.inputs[i]);
        return v && v->size() == 1 ? std::optional((*v)[0]) : std::nullopt;
      };
      const auto lo = limit(1, "min"), hi = limit(2, "max");
      if (lo != 0.0f || hi != 6.0f) return std::nullopt;
      out.activation = static_cast<std::uint8_t>(arch::Activation::kRelu6);
    } else {
      return std::nullopt;
    }
    at = user.outputs[0];
  }
}
void Lowering::done(const Site& site) {
  for (const int node : site.absorbed) done_[static_cast<std::size_t>(node)] = true;
}

int Lowering::new_twin(int of, int like, const Quantisation& quantisation) {
  const int out = model.add_value(desc(of).name + "/quantised");
  model.value(out).desc.dtype = desc(like).dtype, model.value(out).desc.shape = shape(of);
  quant.integers[out] = quantisation;
  quant.twins[of] = {out, quantisation};
  return out;
}

std::optional<std::vector<std::int64_t>> Lowering::integers(const Node& node, std::size_t i) const {
  if (!has(node, i) || !constant(node.inputs[i])) return std::nullopt;
  const Value& value = model.value(node.inputs[i]);
  std::vector<std::int64_t> out(static_cast<std::size_t>(value.desc.elements()));
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (value.desc.dtype == DType::kInt64)
      std::memcpy(&out[k], &value.data[k * 8], 8);
    else if (value.desc.dtype == DType::kInt32) {
      std::int32_t v;
      std::memcpy(&v, &value.data[k * 4], 4);
      out[k] = v;
    } else
      return std::nullopt;
  }
  return out;
}
std::optional<std::vector<float>> Lowering::floats(int value) const {
  if (value == kNoValue || !constant(value) || desc(value).dtype != DType::kFloat32)
    return std::nullopt;
  std::vector<float> out(model.value(value).data.size() / 4);
  if (!out.empty()) std::memcpy(out.data(), model.value(value).data.data(), out.size() * 4);
  return out;
}
std::optional<std::vector<std::int64_t>> Lowering::axes(const Node& node, std::size_t i,
                                                        const char* name, std::size_t r) const {
  auto out = has(node, i) ? integers(node, i) : std::optional(node.node.integers(name));
  if (out)
    for (std::int64_t& a : *out) a += a < 0 ? static_cast<std::int64_t>(r) : 0;
  return out;
}

void Lowering::note(const Node& node, const std::string& text) {
  if (notes_) notes_->push_back(fmt::format("{}: {}", node_label(node), text));
}

/// Operators that nobody needs, made on the way to one that was refused; and the tensors that go
/// with them.
void Lowering::remove_dead() {
  std::vector<bool> needed(graph.tensors.size());
  for (const TensorId id : graph.outputs) needed[static_cast<std::size_t>(id)] = true;
  std::vector<Op> kept;
  for (std::size_t i = graph.ops.size(); i-- > 0;) {
    Op& op = graph.ops[i];
    if (std::none_of(op.outputs.begin(), op.outputs.end(),
                     [&](TensorId id) { return needed[static_cast<std::size_t>(id)]; }))
      continue;
    for (const TensorId id : op.inputs)
      if (id != kNoTensor) needed[static_cast<std::size_t>(id)] = true;
    for (const TensorId id : op.outputs) needed[static_cast<std::size_t>(id)] = true;
    kept.push_back(std::move(op));
  }
  std::reverse(kept.begin(), kept.end());
  for (const TensorId id : graph.inputs) needed[static_cast<std::size_t>(id)] = true;
  std::vector<TensorId> renamed(graph.tensors.size(), kNoTensor);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < renamed.size(); ++i)
    if (needed[i])
      renamed[i] = static_cast<TensorId>(tensors.size()),
      tensors.push_back(std::move(graph.tensors[i]));
  const auto rename = [&](std::vector<TensorId>& ids) {
    for (TensorId& id : ids)
      if (id != kNoTensor) id = renamed[static_cast<std::size_t>(id)];
  };
  for (Op& op : kept) rename(op.inputs), rename(op.outputs);
  rename(graph.inputs), rename(graph.outputs);
  graph.ops = std::move(kept), graph.tensors = std::move(tensors);
}

base::Result<Graph> lower_model(Model& model, const OnnxOptions& options,
                                std::vector<std::string>* notes) {
  return Lowering(model, options, notes).run();
}

}  // namespace deputy::delegate::onnx_import
