// The exporter's model as protobuf.
#include <fmt/format.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <set>

#include "delegate/import/onnx/exporter.h"

namespace deputy::delegate::onnx_import {
namespace {

namespace pb = ONNX_NAMESPACE;

constexpr char kMicrosoft[] = "com.microsoft";

std::optional<int> element_number(DType type) {
  switch (type) {
    case DType::kFloat32:
      return pb::TensorProto::FLOAT;
    case DType::kFloat16:
      return pb::TensorProto::FLOAT16;
    case DType::kFloat64:
      return pb::TensorProto::DOUBLE;
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
    case DType::kUint32:
      return pb::TensorProto::UINT32;
    case DType::kInt64:
      return pb::TensorProto::INT64;
    case DType::kUint64:
      return pb::TensorProto::UINT64;
    case DType::kBool:
      return pb::TensorProto::BOOL;
  }
  return std::nullopt;
}

const pb::OpSchema* schema_of(const std::string& op, int opset) {
  return pb::OpSchemaRegistry::Schema(op, opset);
}

base::Status write_attr(const pb::OpSchema& schema, const arch::OnnxAttr& attr,
                        pb::NodeProto& node) {
  const auto known = schema.attributes().find(attr.name);
  if (known == schema.attributes().end())
    return base::Error{
        base::ErrorKind::kUnsupported, node.op_type(),
        fmt::format("operator set {} knows no attribute '{}' of it", kExportedOpset, attr.name),
        ""};
  pb::AttributeProto& out = *node.add_attribute();
  out.set_name(attr.name);
  out.set_type(known->second.type);
  switch (known->second.type) {
    case pb::AttributeProto::INT:
      out.set_i(attr.ints.empty() ? 0 : attr.ints[0]);
      break;
    case pb::AttributeProto::FLOAT:
      out.set_f(attr.floats.empty() ? 0 : attr.floats[0]);
      break;
    case pb::AttributeProto::STRING:
      out.set_s(attr.strings.empty() ? "" : attr.strings[0]);
      break;
    case pb::AttributeProto::INTS:
      for (const auto v : attr.ints) out.add_ints(v);
      break;
    case pb::AttributeProto::FLOATS:
      for (const auto v : attr.floats) out.add_floats(v);
      break;
    case pb::AttributeProto::STRINGS:
      for (const auto& v : attr.strings) out.add_strings(v);
      break;
    default:
      return base::Error{
          base::ErrorKind::kUnsupported, node.op_type(),
          fmt::format("the attribute '{}' is of a type that is not written", attr.name), ""};
  }
  return {};
}

void write_info(const Value& value, pb::ValueInfoProto& out) {
  out.set_name(value.desc.name);
  auto* type = out.mutable_type()->mutable_tensor_type();
  type->set_elem_type(*element_number(value.desc.dtype));
  type->mutable_shape();
  for (const std::int32_t dim : value.desc.shape)
    type->mutable_shape()->add_dim()->set_dim_value(dim);
}

}  // namespace

std::optional<std::string> changed_meaning(const arch::OnnxNode& node) {
  const auto* before = schema_of(node.op, node.opset);
  const auto* after = schema_of(node.op, kExportedOpset);
  if (!before || !after) return fmt::format("operator set {} has no {}", kExportedOpset, node.op);
  if (before->since_version() == after->since_version()) return std::nullopt;
  std::set<std::string> a, b;
  for (const auto& [name, attribute] : before->attributes()) a.insert(name);
  for (const auto& [name, attribute] : after->attributes()) b.insert(name);
  bool same = a == b && before->min_input() == after->min_input() &&
              before->max_input() == after->max_input();
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax", "Resize", "Upsample"})
    same &= node.op != op;
  // New attributes say nothing when the node has none and the operands are the same.
  if (same) return std::nullopt;
  return fmt::format("{} of operator set {} means something else in operator set {}", node.op,
                     node.opset, kExportedOpset);
}

base::Result<std::vector<std::uint8_t>> write_proto(const Model& model) {
  pb::ModelProto proto;
  proto.set_ir_version(8);
  proto.set_producer_name("Deputy");
  proto.add_opset_import()->set_version(kExportedOpset);
  pb::GraphProto& graph = *proto.mutable_graph();
  graph.set_name(model.name.empty() ? "graph" : model.name);
  bool microsoft = false;
  std::vector<bool> used(model.values.size());
  for (const Node& node : model.nodes) {
    pb::NodeProto& out = *graph.add_node();
    out.set_op_type(node.node.op);
    if (node.microsoft) out.set_domain(kMicrosoft), microsoft = true;
    for (const int id : node.inputs) {
      out.add_input(id == kNoValue ? "" : model.value(id).desc.name);
      if (id != kNoValue) used[static_cast<std::size_t>(id)] = true;
    }
    for (const int id : node.outputs) out.add_output(model.value(id).desc.name);
    // Those of com.microsoft have the attributes that they have in ONNX.
    const auto* schema = schema_of(node.node.op, kExportedOpset);
    if (!schema)
      return base::Error{base::ErrorKind::kUnsupported, node.node.op,
                         fmt::format("operator set {} has no {}", kExportedOpset, node.node.op),
                         ""};
    for (const arch::OnnxAttr& attr : node.node.attrs) DEPUTY_TRY(write_attr(*schema, attr, out));
  }
  if (microsoft) {
    auto* set = proto.add_opset_import();
    set->set_domain(kMicrosoft), set->set_version(1);
  }
  for (std::size_t i = 0; i < model.values.size(); ++i) {
    const Value& value = model.values[i];
    if (!value.constant || !used[i]) continue;
    pb::TensorProto& out = *graph.add_initializer();
    out.set_name(value.desc.name), out.set_data_type(*element_number(value.desc.dtype));
    for (const std::int32_t dim : value.desc.shape) out.add_dims(dim);
    out.set_raw_data(value.data.data(), value.data.size());
  }
  for (const int id : model.inputs) write_info(model.value(id), *graph.add_input());
  for (const int id : model.outputs) write_info(model.value(id), *graph.add_output());
  std::string bytes;
  if (!proto.SerializeToString(&bytes))
    return base::Error{base::ErrorKind::kUnsupported, model.name,
                       "the model is larger than a protobuf can be", "write a .tflite file"};
  if (const auto problem = schema_problem(bytes))
    return base::Error{base::ErrorKind::kUnsupported, model.name,
                       "ONNX's checker refuses what was written: " + *problem,
                       "write a .tflite file"};
  return std::vector<std::uint8_t>(bytes.begin(), bytes.end());
}

}  // namespace deputy::delegate::onnx_import
