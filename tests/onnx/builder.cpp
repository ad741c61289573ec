#include "tests/onnx/builder.h"

#include <onnx/onnx_pb.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/support/interpreter.h"

namespace deputy::tests {
namespace pb = ONNX_NAMESPACE;
namespace {

int number(DType type) {
  switch (type) {
    case DType::kFloat32:
      return pb::TensorProto::FLOAT;
    case DType::kInt8:
      return pb::TensorProto::INT8;
    case DType::kUint8:
      return pb::TensorProto::UINT8;
    case DType::kInt16:
      return pb::TensorProto::INT16;
    case DType::kUint16:
      return pb::TensorProto::UINT16;
    case DType::kInt32:
      return pb::TensorProto::INT32;
    case DType::kInt64:
      return pb::TensorProto::INT64;
    case DType::kFloat16:
      return pb::TensorProto::FLOAT16;
    default:
      return pb::TensorProto::BOOL;
  }
}
template <class T>
Data data(DType dtype, Shape shape, const std::vector<T>& values) {
  Data out{dtype, std::move(shape), std::vector<std::uint8_t>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

}  // namespace

Data floats(Shape shape, const std::vector<float>& values) {
  return data(DType::kFloat32, std::move(shape), values);
}
Data ints64(const std::vector<std::int64_t>& values) {
  return data(DType::kInt64, {static_cast<std::int32_t>(values.size())}, values);
}
Data ints32(Shape shape, const std::vector<std::int32_t>& values) {
  return data(DType::kInt32, std::move(shape), values);
}
Data bytes8(DType dtype, Shape shape, const std::vector<int>& values) {
  Data out{dtype, std::move(shape), {}};
  for (const int v : values) out.bytes.push_back(static_cast<std::uint8_t>(v));
  return out;
}

Data ints16(DType dtype, Shape shape, const std::vector<int>& values) {
  return data(dtype, std::move(shape), std::vector<std::uint16_t>(values.begin(), values.end()));
}

namespace {
bool wide(DType dtype) { return dtype_size(dtype) == 2; }
Data zero_point(DType dtype, int zero) {
  return wide(dtype) ? ints16(dtype, {}, {zero}) : bytes8(dtype, {}, {zero});
}
}  // namespace

struct Builder::Impl {
  pb::ModelProto model;
  int scales = 0;
};

Builder::Builder(int opset, int ir) : impl_(std::make_unique<Impl>()) {
  impl_->model.set_ir_version(ir);
  impl_->model.add_opset_import()->set_version(opset);
  impl_->model.mutable_graph()->set_name("test");
}
Builder::~Builder() = default;
Builder::Builder(Builder&&) noexcept = default;

Builder& Builder::input(const std::string& name, DType dtype,
                        const std::vector<std::string>& dims) {
  auto* info = impl_->model.mutable_graph()->add_input();
  info->set_name(name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(number(dtype));
  type->mutable_shape();
  for (const std::string& dim : dims) {
    if (!dim.empty() && std::isdigit(static_cast<unsigned char>(dim[0])))
      type->mutable_shape()->add_dim()->set_dim_value(std::stoll(dim));
    else
      type->mutable_shape()->add_dim()->set_dim_param(dim);
  }
  return *this;
}
Builder& Builder::output(const std::string& name, DType dtype) {
  auto* info = impl_->model.mutable_graph()->add_output();
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(number(dtype));
  info->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_param(
      "any");  // the checker wants a shape
  return *this;
}
Builder& Builder::constant(const std::string& name, const Data& data) {
  auto* tensor = impl_->model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(number(data.dtype));
  for (const auto dim : data.shape) tensor->add_dims(dim);
  tensor->set_raw_data(data.bytes.data(), data.bytes.size());
  return *this;
}
Builder& Builder::external(const std::string& name, const Shape& shape, const std::string& location,
                           const std::string& offset, const std::string& length) {
  auto* tensor = impl_->model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(pb::TensorProto::FLOAT);
  for (const auto dim : shape) tensor->add_dims(dim);
  tensor->set_data_location(pb::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    auto* entry = tensor->add_external_data();
    entry->set_key(key), entry->set_value(value);
  };
  add("location", location), add("offset", offset), add("length", length);
  return *this;
}
Builder& Builder::node(const std::string& op, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs,
                       const std::vector<arch::OnnxAttr>& attrs, const std::string& domain) {
  auto* node = impl_->model.mutable_graph()->add_node();
  node->set_op_type(op), node->set_domain(domain);
  if (!domain.empty() && impl_->model.opset_import_size() == 1) {
    auto* set = impl_->model.add_opset_import();
    set->set_domain(domain), set->set_version(1);
  }
  for (const auto& i : inputs) node->add_input(i);
  for (const auto& o : outputs) node->add_output(o);
  for (const auto& a : attrs) {
    auto* attribute = node->add_attribute();
    attribute->set_name(a.name);
    if (a.type == arch::OnnxAttr::Type::kFloats) {
      attribute->set_type(pb::AttributeProto::FLOAT), attribute->set_f(a.floats[0]);
    } else if (a.type == arch::OnnxAttr::Type::kStrings) {
      attribute->set_type(pb::AttributeProto::STRING), attribute->set_s(a.strings[0]);
    } else if (a.ints.size() == 1 && a.floats.empty() && a.strings.empty()) {
      attribute->set_type(pb::AttributeProto::INT), attribute->set_i(a.ints[0]);
    } else {
      attribute->set_type(pb::AttributeProto::INTS);
      const std::size_t n = a.strings.empty() ? a.ints.size() : a.ints.size();
      for (std::size_t k = 0; k < n; ++k) attribute->add_ints(a.ints[k]);
    }
    // kernel shapes and the like of one dimension are lists too
    for (const char* list : {"kernel_shape", "strides", "pads", "dilations", "perm", "axes"})
      if (a.name == list && a.type == arch::OnnxAttr::Type::kInts) {
        attribute->Clear(), attribute->set_name(a.name),
            attribute->set_type(pb::AttributeProto::INTS);
        for (const auto v : a.ints) attribute->add_ints(v);
      }
  }
  return *this;
}
Builder& Builder::control_flow(const std::string& op, const std::vector<std::string>& inputs,
                               const std::string& output) {
  node(op, inputs, {output});
  auto* node = impl_->model.mutable_graph()->mutable_node(impl_->model.graph().node_size() - 1);
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name), attribute->set_type(pb::AttributeProto::GRAPH);
    attribute->mutable_g()->set_name(name);
  }
  return *this;
}
Builder& Builder::q(const std::string& in, const std::string& out, float scale, int zero,
                    DType dtype) {
  const std::string name = "q" + std::to_string(impl_->scales++);
  constant(name + "s", floats({}, {scale})).constant(name + "z", zero_point(dtype, zero));
  return node("QuantizeLinear", {in, name + "s", name + "z"}, {out}, {},
              wide(dtype) ? "com.microsoft" : "");
}
Builder& Builder::dq(const std::string& in, const std::string& out, float scale, int zero,
                     DType dtype) {
  const std::string name = "d" + std::to_string(impl_->scales++);
  constant(name + "s", floats({}, {scale})).constant(name + "z", zero_point(dtype, zero));
  return node("DequantizeLinear", {in, name + "s", name + "z"}, {out}, {},
              wide(dtype) ? "com.microsoft" : "");
}
std::vector<std::uint8_t> Builder::bytes() const {
  const std::string text = impl_->model.SerializeAsString();
  return {text.begin(), text.end()};
}
base::Result<delegate::Graph> Builder::graph(const api::Bindings& bindings,
                                             const std::string& folder,
                                             std::vector<std::string>* notes) const {
  return api::import_model(bytes(), "test.onnx", folder, bindings, notes);
}

arch::OnnxAttr attr(const std::string& name, std::vector<std::int64_t> ints) {
  return {name, arch::OnnxAttr::Type::kInts, std::move(ints), {}, {}};
}
arch::OnnxAttr attr_s(const std::string& name, const std::string& text) {
  return {name, arch::OnnxAttr::Type::kStrings, {}, {}, {text}};
}
arch::OnnxAttr attr_f(const std::string& name, float value) {
  return {name, arch::OnnxAttr::Type::kFloats, {}, {value}, {}};
}

int count(const delegate::Graph& graph, arch::OpKind kind) {
  int out = 0;
  for (const auto& op : graph.ops) out += op.kind == kind;
  return out;
}

std::vector<std::uint8_t> run(const delegate::Graph& graph,
                              const std::vector<std::vector<std::uint8_t>>& inputs) {
  const auto values = run_graph(graph, inputs, Numerics::kFp32);
  INFO((values.ok() ? std::string() : values.error().text()));
  REQUIRE(values.ok());
  return values->tensors[static_cast<std::size_t>(graph.outputs[0])];
}

std::vector<std::vector<std::uint8_t>> pattern(const delegate::Graph& graph) {
  std::vector<std::vector<std::uint8_t>> out;
  std::uint32_t state = 12345;
  for (const auto id : graph.inputs) {
    const auto& desc = graph.tensor(id).desc;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(desc.bytes()));
    for (std::size_t i = 0; i + dtype_size(desc.dtype) <= bytes.size();
         i += dtype_size(desc.dtype)) {
      state = state * 1664525 + 1013904223;
      if (desc.dtype == DType::kFloat32) {
        const float value = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-30f;
        std::memcpy(&bytes[i], &value, 4);
      } else {
        bytes[i] = static_cast<std::uint8_t>(state >> 24);
        if (wide(desc.dtype)) bytes[i + 1] = static_cast<std::uint8_t>(state >> 16);
      }
    }
    out.push_back(std::move(bytes));
  }
  return out;
}

}  // namespace deputy::tests
