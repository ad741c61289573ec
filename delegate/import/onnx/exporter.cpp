#include "delegate/import/onnx/exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "delegate/import/onnx/onnx_export.h"
#include "delegate/ir/op_rules.h"

namespace deputy::delegate::onnx_import {

namespace {

/// The int64 bias of a 16x8 operator as int32, which DequantizeLinear takes, or as floats where an
/// entry needs more bits.
Tensor narrow_bias(Tensor t) {
  const std::size_t count = t.data.size() / sizeof(std::int64_t);
  std::vector<std::int64_t> q(count);
  if (count) std::memcpy(q.data(), t.data.data(), t.data.size());
  const bool fits =
      std::all_of(q.begin(), q.end(), [](auto v) { return v == static_cast<std::int32_t>(v); });
  const Quantisation quant = t.desc.quant;
  t.desc.dtype = fits ? DType::kInt32 : DType::kFloat32;
  if (!fits) t.desc.quant = {};
  t.data.resize(count * sizeof(std::int32_t));
  for (std::size_t c = 0; c < count; ++c) {
    const auto narrow = static_cast<std::int32_t>(q[c]);
    const auto real = static_cast<float>(
        static_cast<double>(q[c]) * static_cast<double>(quant.scale[quant.per_channel() ? c : 0]));
    std::memcpy(&t.data[c * 4], fits ? static_cast<const void*>(&narrow) : &real, 4);
  }
  return t;
}

bool is_wide_bias(const Tensor& t) {
  return t.constant && t.desc.dtype == DType::kInt64 && t.desc.quant.present();
}

}  // namespace

arch::OnnxAttr ints_attr(std::string name, std::vector<std::int64_t> values) {
  return {std::move(name), arch::OnnxAttr::Type::kInts, std::move(values), {}, {}};
}
arch::OnnxAttr float_attr(std::string name, float value) {
  return {std::move(name), arch::OnnxAttr::Type::kFloats, {}, {value}, {}};
}
arch::OnnxAttr text_attr(std::string name, std::string value) {
  return {std::move(name), arch::OnnxAttr::Type::kStrings, {}, {}, {std::move(value)}};
}

Order Exporter::plain(std::size_t rank) {
  Order out(rank);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

Order Exporter::order_of(const std::vector<TensorId>& ids, std::size_t r) const {
  for (const TensorId id : ids)
    if (const auto at = values_.find(id);
        at != values_.end() && !graph.tensor(id).constant && rank(id) == r)
      return at->second.front().first;
  return plain(r);
}

int Exporter::name_value(std::string name) {
  if (name.empty()) name = "t";
  std::string unique = name;
  for (int i = 1; !names_.insert(unique).second; ++i) unique = fmt::format("{}/{}", name, i);
  return model_.add_value(unique);
}

std::string Exporter::numbered(const char* letter) const {
  return fmt::format("{}{}", letter, model_.values.size());
}

int Exporter::add(const std::string& op, std::vector<int> inputs, std::vector<arch::OnnxAttr> attrs,
                  std::size_t results) {
  Node node;
  node.node.op = op, node.node.opset = kExportedOpset, node.node.attrs = std::move(attrs);
  // Nodes have no names and results short ones: a small network's file was half names.
  node.inputs = std::move(inputs);
  for (std::size_t i = 0; i < results; ++i) node.outputs.push_back(name_value(numbered("v")));
  const int first = node.outputs[0];
  model_.nodes.push_back(std::move(node));
  return first;
}

int Exporter::add(const Op& op, const arch::OnnxNode& node, std::vector<int> inputs) {
  const int first = add(node.op, std::move(inputs), node.attrs, op.outputs.size());
  if (node.op == "QuantizeLinear") in_domain_of(desc(op.outputs[0]).dtype);
  if (node.op == "DequantizeLinear") in_domain_of(desc(op.inputs[0]).dtype);
  return first;
}

int Exporter::add_constant(const std::string& name, DType dtype, Shape shape,
                           std::vector<std::uint8_t> data) {
  const int id = name_value(name);
  Value& value = model_.value(id);
  value.desc.dtype = dtype, value.desc.shape = std::move(shape), value.data = std::move(data);
  value.constant = value.shaped = true;
  return id;
}
int Exporter::add_floats(const std::string& name, Shape shape, const std::vector<float>& values) {
  std::vector<std::uint8_t> data(values.size() * sizeof(float));
  if (!data.empty()) std::memcpy(data.data(), values.data(), data.size());
  return add_constant(name, DType::kFloat32, std::move(shape), std::move(data));
}
int Exporter::add_ints(const std::string& name, const std::vector<std::int64_t>& values) {
  std::vector<std::uint8_t> data(values.size() * sizeof(std::int64_t));
  if (!data.empty()) std::memcpy(data.data(), values.data(), data.size());
  return add_constant(name, DType::kInt64, {static_cast<std::int32_t>(values.size())},
                      std::move(data));
}

int Exporter::dequantised(int value, const Quantisation& quant, std::int64_t axis, bool zero_point,
                          DType dtype) {
  const Shape shape =
      quant.per_channel() ? Shape{static_cast<std::int32_t>(quant.scale.size())} : Shape{};
  std::vector<int> inputs = {value, add_floats(numbered("s"), shape, quant.scale)};
  if (zero_point) {
    inputs.push_back(
        add_constant(numbered("z"), dtype, shape, integer_bytes(dtype, quant.zero_point)));
  }
  std::vector<arch::OnnxAttr> attrs;
  if (quant.per_channel()) attrs.push_back(ints_attr("axis", {axis}));
  const int out = add("DequantizeLinear", std::move(inputs), std::move(attrs));
  in_domain_of(dtype);
  return out;
}

int Exporter::quantised(TensorId like, int value) {
  const arch::TensorDesc& d = desc(like);
  if (!d.quant.present()) return value;
  const int scale = add_floats(numbered("s"), {}, d.quant.scale);
  const int zero =
      add_constant(numbered("z"), d.dtype, {}, integer_bytes(d.dtype, {d.quant.zero_point[0]}));
  value = add("QuantizeLinear", {value, scale, zero});
  in_domain_of(d.dtype);
  value = add("DequantizeLinear", {value, scale, zero});
  in_domain_of(d.dtype);
  return value;
}

void Exporter::put(TensorId id, const Order& order, int value) {
  alias(id, order, quantised(id, value));
}

/// A constant with its dimensions put in order.
int Exporter::constant(TensorId id, const Order& order) {
  const Tensor t =
      is_wide_bias(graph.tensor(id)) ? narrow_bias(graph.tensor(id)) : graph.tensor(id);
  const std::size_t width = dtype_size(t.desc.dtype), r = order.size();
  Shape to(r);
  for (std::size_t d = 0; d < r; ++d) to[d] = t.desc.shape[static_cast<std::size_t>(order[d])];
  std::vector<std::int64_t> step(r, 1);
  for (std::size_t d = r; d-- > 1;) step[d - 1] = step[d] * t.desc.shape[d];
  std::vector<std::uint8_t> data(t.data.size());
  std::vector<std::int32_t> at(r, 0);
  for (std::size_t i = 0; i * width < data.size(); ++i) {
    std::int64_t from = 0;
    for (std::size_t d = 0; d < r; ++d) from += at[d] * step[static_cast<std::size_t>(order[d])];
    std::copy_n(&t.data[static_cast<std::size_t>(from) * width], width, &data[i * width]);
    for (std::size_t d = r; d-- > 0 && ++at[d] == to[d];) at[d] = 0;
  }
  const int value = add_constant(t.desc.name, t.desc.dtype, to, std::move(data));
  if (!t.desc.quant.present()) return value;
  const auto axis = std::find(order.begin(), order.end(), t.desc.quant.axis) - order.begin();
  return dequantised(value, t.desc.quant, axis, t.desc.dtype != DType::kInt32, t.desc.dtype);
}

int Exporter::get(TensorId id, const Order& order) {
  auto& have = values_[id];
  for (const auto& [o, value] : have)
    if (o == order) return value;
  if (graph.tensor(id).constant) {
    const int value = constant(id, order);
    values_[id].emplace_back(order, value);
    return value;
  }
  DEPUTY_CHECK(!have.empty(), "a tensor is read before it is made");
  const auto [from, value] = have.front();
  std::vector<std::int64_t> perm;
  for (const int d : order) perm.push_back(std::find(from.begin(), from.end(), d) - from.begin());
  put(id, order, add("Transpose", {value}, {ints_attr("perm", perm)}));
  return values_[id].back().second;
}

std::optional<int> Exporter::get_repeated(TensorId id, const Order& order) {
  const std::size_t r = rank(id), missing = order.size() - r;
  if (missing == 0) return get(id, order);
  if (!graph.tensor(id).constant)
    return order == plain(order.size()) ? std::optional(get(id)) : std::nullopt;
  if (graph.tensor(id).desc.elements() == 1) return get(id);
  if (order == plain(order.size())) return get(id);
  // Its dimensions where the others have them, with sizes of 1 for those it lacks.
  Order own;
  Shape shaped;
  for (const int d : order) {
    const bool has = d >= static_cast<int>(missing);
    if (has) own.push_back(d - static_cast<int>(missing));
    shaped.push_back(has ? shape(id)[static_cast<std::size_t>(d) - missing] : 1);
  }
  if (graph.tensor(id).desc.quant.present()) {
    const std::vector<std::int64_t> dims(shaped.begin(), shaped.end());
    return quantised(id, add("Reshape", {get(id, own), add_ints(desc(id).name + "/shape", dims)}));
  }
  const int value = constant(id, own);
  model_.value(value).desc.shape = shaped;
  return value;
}

int Exporter::activated(const Op& op, int value) {
  const auto clip = [&](float lo, float hi) {
    return add("Clip", {value, add_floats("clip/lo", {}, {lo}), add_floats("clip/hi", {}, {hi})});
  };
  switch (static_cast<arch::Activation>(op.attrs.activation)) {
    case arch::Activation::kRelu:
      return add("Relu", {value});
    case arch::Activation::kRelu6:
      return clip(0, 6);
    case arch::Activation::kReluN1To1:
      return clip(-1, 1);
    case arch::Activation::kNone:
      break;
  }
  return value;
}

/// The value that stands for a graph output, under the output's name.
int Exporter::output(TensorId id) {
  int value = get(id);
  // The integers are what DequantizeLinear reads, whoever made it: of a tensor that is another in
  // another order (TRANSPOSE) the other's.
  if (desc(id).quant.present()) {
    const auto made = [&](const Node& node) { return node.outputs[0] == value; };
    const auto dequantise = std::find_if(model_.nodes.begin(), model_.nodes.end(), made);
    DEPUTY_CHECK(dequantise != model_.nodes.end() && dequantise->node.op == "DequantizeLinear",
                 "an integer tensor's reals do not come from DequantizeLinear");
    value = dequantise->inputs[0];
  }
  const bool input = std::count(model_.inputs.begin(), model_.inputs.end(), value) > 0;
  if (input || model_.value(value).constant ||
      std::count(model_.outputs.begin(), model_.outputs.end(), value))
    value = add("Identity", {value});
  Value& v = model_.value(value);
  v.desc.dtype = desc(id).dtype, v.desc.shape = shape(id), v.is_output = true;
  v.desc.name = desc(id).name;
  return value;
}

base::Result<Model> Exporter::run() {
  model_.name = graph.name;
  for (const TensorId id : graph.inputs) {
    const int value = name_value(desc(id).name);
    Value& v = model_.value(value);
    v.desc.dtype = desc(id).dtype, v.desc.shape = shape(id);
    model_.inputs.push_back(value);
    const Order order = plain(rank(id));
    if (!desc(id).quant.present()) {
      alias(id, order, value);
      continue;
    }
    alias(id, order, dequantised(value, desc(id).quant, 0, true, desc(id).dtype));
  }
  for (const TensorId id : graph.outputs) names_.insert(desc(id).name);
  for (const Op& op : graph.ops) DEPUTY_TRY(export_op(*this, op));
  for (const TensorId id : graph.outputs) {
    const int value = output(id);
    model_.outputs.push_back(value);
  }
  return std::move(model_);
}

}  // namespace deputy::delegate::onnx_import

namespace deputy::delegate {

base::Result<std::vector<std::uint8_t>> export_onnx(const Graph& graph) {
  DEPUTY_TRY(validate(graph));
  for (const Op& op : graph.ops)
    if (op.kind != arch::OpKind::ONNX) DEPUTY_TRY(check_op(graph, op));
  for (const Tensor& t : graph.tensors) {
    const DType type = t.desc.dtype;
    if (t.desc.quant.present() && type != DType::kInt8 && type != DType::kUint8 &&
        type != DType::kInt16 && !(type == DType::kInt32 && t.constant) &&
        !onnx_import::is_wide_bias(t))
      return base::Error{base::ErrorKind::kUnsupported, t.desc.name,
                         "no QuantizeLinear knows " + std::string(dtype_name(type)),
                         "write a .tflite file"};
  }
  DEPUTY_ASSIGN(const auto model, onnx_import::Exporter(graph).run());
  return onnx_import::write_proto(model);
}

}  // namespace deputy::delegate
