// From the file's protobuf to the importer's model. Everything in it is untrusted.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <cstring>
#include <limits>
#include <set>

#include "delegate/import/onnx/model.h"

namespace deputy::delegate::onnx_import {
namespace {

namespace pb = ONNX_NAMESPACE;
using base::Result;
using base::Status;

constexpr int kOldestOpset = 7, kNewestOpset = 17, kNewestIr = 8;
constexpr std::uint64_t kMostTensorBytes = std::uint64_t{1} << 30;

std::string printable(const std::string& name) {
  std::string out = name.substr(0, 300);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

std::optional<DType> element_type(int type) {
  switch (type) {
    case pb::TensorProto::FLOAT:
      return DType::kFloat32;
    case pb::TensorProto::UINT8:
      return DType::kUint8;
    case pb::TensorProto::INT8:
      return DType::kInt8;
    case pb::TensorProto::UINT16:
      return DType::kUint16;
    case pb::TensorProto::INT16:
      return DType::kInt16;
    case pb::TensorProto::INT32:
      return DType::kInt32;
    case pb::TensorProto::INT64:
      return DType::kInt64;
    case pb::TensorProto::BOOL:
      return DType::kBool;
    case pb::TensorProto::FLOAT16:
      return DType::kFloat16;
    case pb::TensorProto::DOUBLE:
      return DType::kFloat64;
    case pb::TensorProto::UINT32:
      return DType::kUint32;
    case pb::TensorProto::UINT64:
      return DType::kUint64;
    default:
      return std::nullopt;
  }
}
std::string type_text(int type) {
  return pb::TensorProto::DataType_IsValid(type)
             ? pb::TensorProto::DataType_Name(static_cast<pb::TensorProto::DataType>(type))
             : fmt::format("number {}", type);
}

class Reader {
 public:
  Reader(const pb::ModelProto& proto, const std::string& name, const OnnxOptions& options)
      : proto_(proto), options_(options) {
    model_.name = name;
  }

  Status read_tensor(const pb::TensorProto& tensor, const std::string& where, Value& out);

  Result<Model> run() {
    DEPUTY_TRY(read_versions());
    const pb::GraphProto& graph = proto_.graph();
    if (graph.sparse_initializer_size())
      return unsupported(model_, "", "sparse initialisers are not supported");
    for (const auto& tensor : graph.initializer()) {
      DEPUTY_ASSIGN(const int id, add(tensor.name(), "initialiser"));
      DEPUTY_TRY(read_tensor(tensor, fmt::format("initialiser '{}'", printable(tensor.name())),
                             model_.value(id)));
    }
    DEPUTY_TRY(read_inputs(graph));
    int index = 0;
    for (const auto& node : graph.node()) DEPUTY_TRY(read_node(node, index++));
    for (const auto& info : graph.value_info()) declare(info);
    for (const auto& info : graph.output()) {
      const auto at = model_.by_name.find(info.name());
      if (at == model_.by_name.end())
        return malformed(model_, fmt::format("output '{}'", printable(info.name())),
                         "nothing computes it");
      if (!info.type().has_tensor_type())
        return unsupported(model_, fmt::format("output '{}'", printable(info.name())),
                           "only tensors are supported");
      declare(info);
      model_.outputs.push_back(at->second);
    }
    if (model_.outputs.empty()) return malformed(model_, "", "the graph has no output");
    for (const auto& [input, shape] : options_.shapes)
      if (!is_input(input)) return no_input(input);
    for (const auto& [dim, size] : options_.dims)
      if (!used_dims_.contains(dim))
        return base::Error{base::ErrorKind::kUsage, model_.name,
                           fmt::format("no input has a dimension '{}'", dim),
                           "see the inputs with 'deputy inspect'"};
    return std::move(model_);
  }

 private:
  base::Error no_input(const std::string& input) const {
    return {base::ErrorKind::kUsage, model_.name,
            fmt::format("there is no input '{}'", printable(input)), ""};
  }
  bool is_input(const std::string& name) const {
    for (const int id : model_.inputs)
      if (model_.value(id).desc.name == name) return true;
    return false;
  }

  Status read_versions() {
    if (proto_.ir_version() > kNewestIr || proto_.ir_version() < 3)
      return unsupported(model_, "",
                         fmt::format("IR version {} is not supported", proto_.ir_version()),
                         fmt::format("export with IR version 3 to {}", kNewestIr));
    if (proto_.functions_size())
      return unsupported(model_, "", "functions defined in the model are not supported");
    if (proto_.training_info_size())
      return unsupported(model_, "", "training information is not supported");
    if (proto_.opset_import_size() > 16) return malformed(model_, "", "too many operator sets");
    for (const auto& set : proto_.opset_import()) {
      if (!set.domain().empty() && set.domain() != "ai.onnx") continue;
      if (set.version() < kOldestOpset || set.version() > kNewestOpset)
        return unsupported(
            model_, "", fmt::format("operator set {} is not supported", set.version()),
            fmt::format("export with an operator set from {} to {}", kOldestOpset, kNewestOpset));
      opset_ = static_cast<int>(set.version());
    }
    if (opset_ == 0) return malformed(model_, "", "the model imports no operator set");
    return {};
  }

  Result<int> add(const std::string& name, const char* what) {
    if (name.empty() || name.size() > 4096)
      return malformed(model_, what, "a name is empty or longer than 4096 bytes");
    const int id = model_.add_value(name);
    if (!model_.by_name.emplace(name, id).second)
      return malformed(model_, what, fmt::format("the name '{}' is used twice", printable(name)));
    return id;
  }

  Status read_external(const pb::TensorProto& tensor, const std::string& where, std::uint64_t bytes,
                       Value& out) {
    std::string location;
    std::uint64_t offset = 0;
    std::int64_t length = -1;
    for (const auto& entry : tensor.external_data()) {
      if (entry.key() == "location") location = entry.value();
      if (entry.key() != "offset" && entry.key() != "length") continue;
      char* end = nullptr;
      errno = 0;
      const long long number = std::strtoll(entry.value().c_str(), &end, 10);
      if (errno || end == entry.value().c_str() || *end || number < 0)
        return malformed(
            model_, where,
            fmt::format("{} '{}' of its external data", entry.key(), printable(entry.value())));
      if (entry.key() == "offset")
        offset = static_cast<std::uint64_t>(number);
      else
        length = number;
    }
    auto data = external_data(options_.folder, location, offset, length, bytes);
    if (!data.ok()) {
      base::Error error = data.error();
      error.where = fmt::format("{}: {}: {}", model_.name, where, printable(error.where));
      return error;
    }
    out.data = std::move(*data);
    return {};
  }

  Status read_inputs(const pb::GraphProto& graph) {
    for (const auto& info : graph.input()) {
      if (model_.by_name.contains(info.name()))
        continue;  // an initialiser with a default: constant here
      const std::string where = fmt::format("input '{}'", printable(info.name()));
      if (!info.type().has_tensor_type())
        return unsupported(model_, where,
                           "only tensors are supported, not sequences, maps or optional values");
      const auto type = element_type(info.type().tensor_type().elem_type());
      if (!type)
        return unsupported(model_, where,
                           fmt::format("elements of type {} are not supported",
                                       type_text(info.type().tensor_type().elem_type())));
      DEPUTY_ASSIGN(const int id, add(info.name(), "input"));
      Value& value = model_.value(id);
      value.desc.dtype = *type, value.shaped = true;
      if (const auto bound = options_.constants.find(info.name());
          bound != options_.constants.end()) {
        if (bound->second.dtype != *type)
          return base::Error{
              base::ErrorKind::kInput, model_.name,
              where + fmt::format(" is {}, the value bound to it {}", dtype_name(*type),
                                  dtype_name(bound->second.dtype)),
              ""};
        value.desc.shape = bound->second.shape, value.data = bound->second.data,
        value.constant = true;
        continue;
      }
      DEPUTY_TRY(bind_shape(info, where, value));
      model_.inputs.push_back(id);
    }
    for (const auto& [input, value] : options_.constants)
      if (!model_.by_name.contains(input)) return no_input(input);
    return {};
  }

  Status bind_shape(const pb::ValueInfoProto& info, const std::string& where, Value& value) {
    const auto& type = info.type().tensor_type();
    const auto asked = options_.shapes.find(info.name());
    if (type.has_shape() && type.shape().dim_size() > 8)
      return unsupported(model_, where, "more than 8 dimensions");
    if (asked != options_.shapes.end()) {
      const Shape& shape = asked->second;
      if (type.has_shape() && static_cast<std::size_t>(type.shape().dim_size()) != shape.size())
        return base::Error{base::ErrorKind::kInput, model_.name,
                           fmt::format("{} has {} dimensions, {} are given", where,
                                       type.shape().dim_size(), shape.size()),
                           ""};
      for (std::size_t d = 0; d < shape.size(); ++d) {
        if (!type.has_shape() || type.shape().dim(static_cast<int>(d)).dim_param().empty())
          continue;
        const std::string& param = type.shape().dim(static_cast<int>(d)).dim_param();
        used_dims_.insert(param);
        const auto [at, fresh] = bound_.emplace(param, shape[d]);
        if (!fresh && at->second != shape[d])
          return base::Error{base::ErrorKind::kInput, model_.name,
                             fmt::format("dimension '{}' would be {} and {}", printable(param),
                                         at->second, shape[d]),
                             ""};
      }
      value.desc.shape = shape;
      return {};
    }
    if (!type.has_shape())
      return base::Error{base::ErrorKind::kInput, model_.name, where + " has no shape",
                         "give it one: --shape NAME=1x3x32x32, or an input file"};
    for (int d = 0; d < type.shape().dim_size(); ++d) {
      const auto& dim = type.shape().dim(d);
      std::int64_t size = dim.dim_value();
      if (!dim.has_dim_value()) {
        used_dims_.insert(dim.dim_param());
        const auto given = options_.dims.find(dim.dim_param());
        const auto bound = bound_.find(dim.dim_param());
        if (dim.dim_param().empty() || (given == options_.dims.end() && bound == bound_.end()))
          return base::Error{
              base::ErrorKind::kInput, model_.name,
              fmt::format("dimension {} of {} is not fixed{}", d, where,
                          dim.dim_param().empty() ? "" : ": '" + printable(dim.dim_param()) + "'"),
              dim.dim_param().empty()
                  ? fmt::format("give the shape: --shape {}=...", printable(info.name()))
                  : fmt::format("bind it: --dim {}=1, or give an input file",
                                printable(dim.dim_param()))};
        size = given != options_.dims.end() ? given->second : bound->second;
      }
      if (size < 0 || size > 0x7FFFFFFF)
        return malformed(model_, where, fmt::format("a dimension of {}", size));
      value.desc.shape.push_back(static_cast<std::int32_t>(size));
    }
    return {};
  }

  /// Types and fixed shapes the file states of results; where inputs were given other shapes they
  /// say nothing.
  void declare(const pb::ValueInfoProto& info) {
    const auto at = model_.by_name.find(info.name());
    if (at == model_.by_name.end() || !info.type().has_tensor_type() ||
        !info.type().tensor_type().has_shape() || !options_.shapes.empty())
      return;
    const auto type = element_type(info.type().tensor_type().elem_type());
    arch::TensorDesc desc;
    if (!type) return;
    desc.dtype = *type;
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      if (!dim.has_dim_value() || dim.dim_value() < 0 || dim.dim_value() > 0x7FFFFFFF) return;
      desc.shape.push_back(static_cast<std::int32_t>(dim.dim_value()));
    }
    model_.value(at->second).declared = std::move(desc);
  }

  Status read_node(const pb::NodeProto& proto, int index) {
    Node node;
    node.node.op = printable(proto.op_type()), node.node.opset = opset_;
    node.name = printable(proto.name()), node.source = index;
    node.microsoft = proto.domain() == "com.microsoft";
    const std::string where = node_label(node);
    if (!proto.domain().empty() && proto.domain() != "ai.onnx" && proto.domain() != "com.microsoft")
      return unsupported(
          model_, where,
          fmt::format("operators of the domain '{}' are not supported", printable(proto.domain())));
    for (const auto& attr : proto.attribute())
      if (attr.has_g() || attr.graphs_size())
        return unsupported(model_, where,
                           "control flow (an attribute that is a graph) is not supported",
                           "export without loops and conditions");
    for (const std::string& input : proto.input()) {
      const auto at = model_.by_name.find(input);
      if (!input.empty() && at == model_.by_name.end())
        return malformed(model_, where,
                         fmt::format("reads '{}' before anything computes it", printable(input)));
      node.inputs.push_back(input.empty() ? kNoValue : at->second);
    }
    while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
    for (const auto& attr : proto.attribute()) DEPUTY_TRY(read_attribute(attr, where, node));
    for (const std::string& output : proto.output()) {
      if (output.empty()) {
        node.outputs.push_back(kNoValue);
        continue;
      }
      DEPUTY_ASSIGN(const int id, add(output, "result"));
      node.outputs.push_back(id);
    }
    while (!node.outputs.empty() && node.outputs.back() == kNoValue) node.outputs.pop_back();
    if (node.outputs.empty()) return {};  // nothing of it is used
    model_.nodes.push_back(std::move(node));
    return {};
  }

  Status read_attribute(const pb::AttributeProto& attr, const std::string& where, Node& node) {
    arch::OnnxAttr out;
    out.name = attr.name();
    if (out.name.empty() || out.name.size() > 200)
      return malformed(model_, where, "an attribute's name is empty or too long");
    using Type = arch::OnnxAttr::Type;
    if (!attr.ref_attr_name().empty())
      return unsupported(model_, where, "attributes of functions are not supported");
    switch (attr.type()) {
      case pb::AttributeProto::INT:
        out.type = Type::kInts, out.ints = {attr.i()};
        break;
      case pb::AttributeProto::FLOAT:
        out.type = Type::kFloats, out.floats = {attr.f()};
        break;
      case pb::AttributeProto::STRING:
        out.type = Type::kStrings, out.strings = {attr.s()};
        break;
      case pb::AttributeProto::INTS:
        out.type = Type::kInts, out.ints.assign(attr.ints().begin(), attr.ints().end());
        break;
      case pb::AttributeProto::FLOATS:
        out.type = Type::kFloats, out.floats.assign(attr.floats().begin(), attr.floats().end());
        break;
      case pb::AttributeProto::STRINGS:
        out.type = Type::kStrings, out.strings.assign(attr.strings().begin(), attr.strings().end());
        break;
      case pb::AttributeProto::TENSOR: {
        if (out.name != "value" ||
            (node.node.op != "Constant" && node.node.op != "ConstantOfShape"))
          return unsupported(
              model_, where,
              fmt::format("the tensor attribute '{}' is not supported", printable(out.name)));
        const int id = model_.add_value(fmt::format("{}/value", where));
        DEPUTY_TRY(read_tensor(attr.t(), where, model_.value(id)));
        node.inputs.push_back(id);
        return {};
      }
      default:
        return unsupported(model_, where,
                           fmt::format("the attribute '{}' is of a type that is not supported",
                                       printable(out.name)));
    }
    node.node.attrs.push_back(std::move(out));
    return {};
  }

  const pb::ModelProto& proto_;
  const OnnxOptions& options_;
  Model model_;
  int opset_ = 0;
  std::set<std::string> used_dims_;
  std::map<std::string, std::int64_t> bound_;  ///< by the shapes of earlier inputs
};

Status Reader::read_tensor(const pb::TensorProto& tensor, const std::string& where, Value& out) {
  const auto type = element_type(tensor.data_type());
  if (!type)
    return unsupported(
        model_, where,
        fmt::format("elements of type {} are not supported", type_text(tensor.data_type())));
  out.desc.dtype = *type;
  std::uint64_t count = 1;
  if (tensor.dims_size() > 8) return unsupported(model_, where, "more than 8 dimensions");
  for (const std::int64_t dim : tensor.dims()) {
    if (dim < 0 || dim > 0x7FFFFFFF)
      return malformed(model_, where, fmt::format("a dimension of {}", dim));
    count *= static_cast<std::uint64_t>(dim);
    if (count > kMostTensorBytes) return unsupported(model_, where, "the tensor is too large");
    out.desc.shape.push_back(static_cast<std::int32_t>(dim));
  }
  const std::uint64_t bytes = count * dtype_size(*type);
  if (bytes > kMostTensorBytes) return unsupported(model_, where, "the tensor is too large");
  out.constant = out.shaped = true;
  if (tensor.has_segment())
    return unsupported(model_, where, "segmented tensors are not supported");
  if (tensor.data_location() == pb::TensorProto::EXTERNAL)
    return read_external(tensor, where, bytes, out);
  if (tensor.has_raw_data()) {
    if (tensor.raw_data().size() != bytes)
      return malformed(
          model_, where,
          fmt::format("has {} bytes, its shape needs {}", tensor.raw_data().size(), bytes));
    out.data.assign(tensor.raw_data().begin(), tensor.raw_data().end());
    return {};
  }
  out.data.resize(static_cast<std::size_t>(bytes));
  const auto fill = [&](const auto& field, auto element) -> Status {
    if (static_cast<std::uint64_t>(field.size()) != count)
      return malformed(model_, where,
                       fmt::format("has {} elements, its shape needs {}", field.size(), count));
    for (int i = 0; i < field.size(); ++i) {
      const auto value = static_cast<decltype(element)>(field[i]);
      std::memcpy(out.data.data() + static_cast<std::size_t>(i) * sizeof value, &value,
                  sizeof value);
    }
    return {};
  };
  switch (*type) {
    case DType::kFloat32:
      return fill(tensor.float_data(), float{});
    case DType::kFloat64:
      return fill(tensor.double_data(), double{});
    case DType::kInt64:
      return fill(tensor.int64_data(), std::int64_t{});
    case DType::kUint64:
      return fill(tensor.uint64_data(), std::uint64_t{});
    case DType::kUint32:
      return fill(tensor.uint64_data(), std::uint32_t{});
    case DType::kInt32:
      return fill(tensor.int32_data(), std::int32_t{});
    case DType::kInt16:
    case DType::kUint16:
    case DType::kFloat16:
      return fill(tensor.int32_data(), std::uint16_t{});
    default:
      return fill(tensor.int32_data(), std::uint8_t{});
  }
}

}  // namespace

base::Error malformed(const Model& model, const std::string& where, std::string message) {
  return {base::ErrorKind::kModel, where.empty() ? model.name : model.name + ": " + where,
          std::move(message), ""};
}
base::Error unsupported(const Model& model, const std::string& where, std::string message,
                        std::string remedy) {
  return {base::ErrorKind::kUnsupported, where.empty() ? model.name : model.name + ": " + where,
          std::move(message), std::move(remedy)};
}
std::string node_label(const Node& node) {
  return fmt::format("{} #{}{}", node.node.op, node.source,
                     node.name.empty() ? "" : " '" + node.name + "'");
}

Result<Model> read_proto(std::span<const std::uint8_t> bytes, const std::string& name,
                         const OnnxOptions& options) {
  const auto damaged = [&](std::string message) {
    return base::Error{base::ErrorKind::kModel, name, std::move(message),
                       "the file may be truncated; fetch it again"};
  };
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return damaged("the file is larger than 2 GB");
  pb::ModelProto proto;
  if (bytes.empty() || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return damaged("not an ONNX file: the protobuf is damaged");
  if (!proto.has_graph()) return damaged("not an ONNX file: it has no graph");
  DEPUTY_ASSIGN(Model model, Reader(proto, name, options).run());
  // The checker looks for external data by itself: it gets the model without.
  for (auto& tensor : *proto.mutable_graph()->mutable_initializer())
    if (tensor.data_location() == pb::TensorProto::EXTERNAL) {
      const Value& value = model.value(model.by_name.at(tensor.name()));
      tensor.set_data_location(pb::TensorProto::DEFAULT);
      tensor.clear_external_data();
      tensor.set_raw_data(value.data.data(), value.data.size());
    }
  if (const auto problem = schema_problem(proto.SerializeAsString()))
    return malformed(model, "", "ONNX's checker refuses it: " + printable(*problem));
  return model;
}

}  // namespace deputy::delegate::onnx_import

namespace deputy::delegate {

base::Result<arch::OnnxResult> read_onnx_tensor(std::span<const std::uint8_t> bytes,
                                                const std::string& name) {
  using namespace onnx_import;
  ONNX_NAMESPACE::TensorProto proto;
  ONNX_NAMESPACE::ModelProto none;
  if (bytes.size() > 0x7FFFFFFF ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return base::Error{base::ErrorKind::kModel, name, "not a tensor",
                       "sequences and optional values are not supported"};
  const OnnxOptions options;
  Value value;
  DEPUTY_TRY(Reader(none, name, options).read_tensor(proto, "the tensor", value));
  return arch::OnnxResult{value.desc.dtype, std::move(value.desc.shape), std::move(value.data)};
}

std::vector<SourceName> onnx_source_names(std::span<const std::uint8_t> bytes) {
  ONNX_NAMESPACE::ModelProto proto;
  std::vector<SourceName> out;
  if (bytes.size() > 0x7FFFFFFF ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return out;
  for (const auto& node : proto.graph().node()) out.push_back({node.op_type(), node.name()});
  return out;
}

std::vector<std::string> onnx_operators_of(std::span<const std::uint8_t> bytes,
                                           std::vector<std::string>* inputs) {
  ONNX_NAMESPACE::ModelProto proto;
  std::vector<std::string> out;
  if (bytes.size() > 0x7FFFFFFF ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return out;
  std::set<std::string> ops, given;
  for (const auto& node : proto.graph().node()) ops.insert(node.op_type());
  for (const auto& tensor : proto.graph().initializer()) given.insert(tensor.name());
  if (inputs)
    for (const auto& info : proto.graph().input())
      if (!given.contains(info.name())) inputs->push_back(info.name());
  out.assign(ops.begin(), ops.end());
  return out;
}

}  // namespace deputy::delegate
