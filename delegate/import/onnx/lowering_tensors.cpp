// The tensors of a value: one for each form that was asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/check.h"
#include "delegate/import/onnx/lowering.h"

namespace deputy::delegate::onnx_import {
namespace {

using arch::OpKind;

/// Of a type that Deputy's RESHAPE is not used for: ONNX's, which wants the shape as int64.
void make_onnx_reshape(Lowering& l, Op& op, const Shape& shape) {
  arch::OnnxNode node;
  node.op = "Reshape", op.kind = OpKind::ONNX, op.attrs.onnx = arch::onnx_text(node);
  const std::vector<std::int64_t> dims(shape.begin(), shape.end());
  std::vector<std::uint8_t> data(dims.size() * 8);
  if (!data.empty()) std::memcpy(data.data(), dims.data(), data.size());
  arch::TensorDesc desc;
  desc.dtype = DType::kInt64, desc.shape = {static_cast<std::int32_t>(dims.size())};
  op.inputs[1] = l.add_constant(std::move(desc), std::move(data));
}

}  // namespace

Form Lowering::plain(int value) const {
  Form out(rank(value));
  std::iota(out.begin(), out.end(), 0);
  return out;
}
Shape Lowering::shape_in(int value, const Form& form) const {
  Shape out;
  for (const int d : form)
    out.push_back(d == kInserted ? 1 : shape(value)[static_cast<std::size_t>(d)]);
  return out;
}
/// Without dimensions of size 1: forms that are equal then have the same bytes.
Form Lowering::squeezed(int value, const Form& form) const {
  Form out;
  for (const int d : form)
    if (d != kInserted && shape(value)[static_cast<std::size_t>(d)] != 1) out.push_back(d);
  return out;
}

TensorId Lowering::add_tensor(int value, const Form& form) {
  Tensor tensor;
  const bool own = form == plain(value);
  tensor.desc = desc(value);
  tensor.desc.shape = shape_in(value, form);
  if (!own) tensor.desc.name += fmt::format("/{}", fmt::join(form, ","));
  if (const auto q = quant.integers.find(value); q != quant.integers.end())
    tensor.desc.quant = q->second;
  tensor.source_index = own ? value : -1;
  graph.tensors.push_back(std::move(tensor));
  const auto id = static_cast<TensorId>(graph.tensors.size() - 1);
  forms_[value].emplace(form, id);
  return id;
}

TensorId Lowering::add_constant(arch::TensorDesc d, std::vector<std::uint8_t> data) {
  Tensor tensor;
  tensor.desc = std::move(d), tensor.data = std::move(data), tensor.constant = true;
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size() - 1);
}
TensorId Lowering::constant_ints(std::vector<std::int32_t> values, bool scalar) {
  std::vector<std::uint8_t> data(values.size() * 4);
  if (!data.empty()) std::memcpy(data.data(), values.data(), data.size());
  arch::TensorDesc d;
  d.dtype = DType::kInt32;
  if (!scalar) d.shape = {static_cast<std::int32_t>(values.size())};
  return add_constant(std::move(d), std::move(data));
}

TensorId Lowering::constant_form(int value, const Form& form) {
  const Value& source = model.value(value);
  const TensorId id = add_tensor(value, form);
  Tensor& tensor = graph.tensor(id);
  tensor.constant = true;
  if (squeezed(value, form) == squeezed(value, plain(value))) {
    tensor.data = source.data;
    return id;
  }
  const std::size_t width = dtype_size(source.desc.dtype);
  std::vector<std::int64_t> step(source.desc.shape.size(), 1), steps;
  for (std::size_t d = step.size(); d-- > 1;) step[d - 1] = step[d] * source.desc.shape[d];
  for (const int d : form) steps.push_back(d == kInserted ? 0 : step[static_cast<std::size_t>(d)]);
  tensor.data.resize(source.data.size());
  const Shape& to = tensor.desc.shape;
  for (std::int64_t i = 0; i < tensor.desc.elements(); ++i) {
    std::int64_t rest = i, from = 0;
    for (std::size_t d = to.size(); d-- > 0; rest /= to[d]) from += rest % to[d] * steps[d];
    std::memcpy(&tensor.data[static_cast<std::size_t>(i) * width],
                &source.data[static_cast<std::size_t>(from) * width], width);
  }
  return id;
}

void Lowering::view(int value, int of, std::vector<int> order) {
  views_[value] = {of, std::move(order)};
}

std::vector<Form> Lowering::available(int value) const {
  std::vector<Form> out;
  if (const auto v = views_.find(value); v != views_.end()) {
    for (Form form : available(v->second.value)) {
      for (int& d : form)
        if (d != kInserted)
          d = static_cast<int>(std::find(v->second.order.begin(), v->second.order.end(), d) -
                               v->second.order.begin());
      out.push_back(std::move(form));
    }
    return out;
  }
  if (const auto at = forms_.find(value); at != forms_.end())
    for (const auto& [form, id] : at->second) out.push_back(form);
  if (out.empty())
    if (const auto t = quant.twins.find(value); t != quant.twins.end())
      return available(t->second.value);
  return out;
}

bool Lowering::cheap(int value, const Form& form) const {
  if (constant(value)) return true;
  const auto forms = available(value);
  if (forms.empty() && squeezed(value, form) == squeezed(value, plain(value))) return true;
  return std::any_of(forms.begin(), forms.end(),
                     [&](const Form& f) { return squeezed(value, f) == squeezed(value, form); });
}

TensorId Lowering::get(int value, const Form& form) {
  if (const auto v = views_.find(value); v != views_.end()) {
    Form inner = form;
    for (int& d : inner)
      if (d != kInserted) d = v->second.order[static_cast<std::size_t>(d)];
    return get(v->second.value, inner);
  }
  auto& forms = forms_[value];
  if (const auto at = forms.find(form); at != forms.end()) return at->second;
  if (constant(value)) return constant_form(value, form);
  if (forms.empty()) {
    if (const auto r = reshapes_.find(value); r != reshapes_.end()) {
      const TensorId from = get(r->second, plain(r->second));
      const TensorId to = add_tensor(value, plain(value));
      Op op;
      op.kind = OpKind::RESHAPE, op.source_index = source_,
      op.inputs = {from, constant_ints(shape(value))}, op.outputs = {to};
      if (!native_type(value)) make_onnx_reshape(*this, op, shape(value));
      graph.ops.push_back(std::move(op));
      return get(value, form);
    }
    const Twin* t = twin(value);
    DEPUTY_CHECK(t != nullptr, "a value is read that nothing has made");
    const TensorId from = get(t->value, form);
    const TensorId to = add_tensor(value, form);
    Op op;
    op.kind = OpKind::DEQUANTIZE, op.source_index = source_, op.inputs = {from}, op.outputs = {to};
    graph.ops.push_back(std::move(op));
    return to;
  }
  const Form* from = &forms.begin()->first;
  for (const auto& [have, id] : forms)
    if (squeezed(value, have) == squeezed(value, form)) from = &have;
  return convert(value, *from, form);
}

/// By RESHAPE where the bytes are the same, else by TRANSPOSE of the dimensions that the value has.
TensorId Lowering::convert(int value, const Form& from, const Form& to) {
  const TensorId source = forms_[value].at(from);
  const bool own = native_type(value);
  Op op;
  op.source_index = source_;
  if (squeezed(value, from) == squeezed(value, to)) {
    const TensorId out = add_tensor(value, to);
    op.kind = OpKind::RESHAPE, op.inputs = {source, constant_ints(graph.tensor(out).desc.shape)},
    op.outputs = {out};
    if (!own) make_onnx_reshape(*this, op, Shape(graph.tensor(out).desc.shape));
    graph.ops.push_back(std::move(op));
    return out;
  }
  const auto without = [](Form f) {
    std::erase(f, kInserted);
    return f;
  };
  const Form a = without(from), b = without(to);
  if (a != from) return get(value, a) == kNoTensor ? kNoTensor : convert(value, a, to);
  std::vector<std::int32_t> order;
  for (const int d : b)
    order.push_back(static_cast<std::int32_t>(std::find(a.begin(), a.end(), d) - a.begin()));
  if (b != to) {
    if (!forms_[value].contains(b)) convert(value, a, b);
    return convert(value, b, to);
  }
  const TensorId out = add_tensor(value, to);
  op.outputs = {out};
  if (own) {
    op.kind = OpKind::TRANSPOSE, op.inputs = {source, constant_ints(order)};
  } else {
    arch::OnnxNode node;
    node.op = "Transpose";
    node.attrs.push_back(
        {"perm", arch::OnnxAttr::Type::kInts, {order.begin(), order.end()}, {}, {}});
    op.kind = OpKind::ONNX, op.attrs.onnx = arch::onnx_text(node), op.inputs = {source};
  }
  graph.ops.push_back(std::move(op));
  return out;
}

Form Lowering::repeated(int value, const Form& form) const {
  const int missing = static_cast<int>(std::count_if(form.begin(), form.end(),
                                                     [](int d) { return d != kInserted; })) -
                      static_cast<int>(rank(value));
  Form out;
  for (const int d : form) out.push_back(d == kInserted || d < missing ? kInserted : d - missing);
  return out;
}

Form Lowering::best_form(std::span<const int> values, std::size_t r) const {
  Form best(r);
  std::iota(best.begin(), best.end(), 0);
  std::vector<Form> candidates = {best};
  for (const int v : values)
    if (!constant(v) && rank(v) == r)
      for (Form& f : available(v)) candidates.push_back(std::move(f));
  const auto cost = [&](const Form& form) {
    int out = 0;
    for (const int v : values) out += !cheap(v, repeated(v, form));
    return out;
  };
  for (const Form& f : candidates)
    if (cost(f) < cost(best) || (cost(f) == cost(best) && best == candidates[0])) best = f;
  return best;
}

}  // namespace deputy::delegate::onnx_import
