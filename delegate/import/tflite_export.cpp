// Writes a graph as a flatbuffer of the TFLite format, version 3.
#include "delegate/import/tflite_export.h"

#include <algorithm>
#include <map>

#include "delegate/import/builtin_codes.h"
#include "delegate/import/tflite_export_options.h"
#include "delegate/ir/op_rules.h"

namespace deputy::delegate {
namespace {

using base::Result;
using flatbuffers::Offset;

constexpr std::size_t kConstantAlignment = 16;  // what runtimes that map the file in place rely on

class Exporter {
 public:
  explicit Exporter(const Graph& graph) : graph_(graph) {}

  Result<std::vector<std::uint8_t>> run() {
    buffers_.push_back(tflite::CreateBuffer(b_));  // number 0 stands for "no data"
    std::vector<Offset<tflite::Tensor>> tensors;
    for (const Tensor& tensor : graph_.tensors) tensors.push_back(write_tensor(tensor));
    std::vector<Offset<tflite::Operator>> operators;
    for (const Op& op : graph_.ops) {
      DEPUTY_ASSIGN(const auto offset, write_operator(op));
      operators.push_back(offset);
    }
    const auto subgraph = tflite::CreateSubGraphDirect(
        b_, &tensors, &graph_.inputs, &graph_.outputs, &operators, graph_.name.c_str());
    const std::vector<Offset<tflite::SubGraph>> subgraphs = {subgraph};
    tflite::FinishModelBuffer(
        b_, tflite::CreateModelDirect(b_, 3, &codes_, &subgraphs, "Written by Deputy", &buffers_));
    return std::vector<std::uint8_t>(b_.GetBufferPointer(), b_.GetBufferPointer() + b_.GetSize());
  }

 private:
  Offset<tflite::Tensor> write_tensor(const Tensor& tensor) {
    Offset<tflite::QuantizationParameters> quantisation;
    const Quantisation& quant = tensor.desc.quant;
    if (quant.present()) {
      const auto scales = b_.CreateVector(quant.scale);
      quantisation =
          tflite::CreateQuantizationParameters(b_, 0, 0, scales, zero_points(quant.zero_point),
                                               tflite::QuantizationDetails::NONE, 0, quant.axis);
    }
    std::uint32_t buffer = 0;
    if (!tensor.data.empty()) {
      buffer = static_cast<std::uint32_t>(buffers_.size());
      b_.ForceVectorAlignment(tensor.data.size(), 1, kConstantAlignment);
      const auto data = b_.CreateVector(tensor.data);
      buffers_.push_back(tflite::CreateBuffer(b_, data));
    }
    const auto shape = b_.CreateVector(tensor.desc.shape);
    const auto name = b_.CreateString(tensor.desc.name);
    return tflite::CreateTensor(b_, shape, tensor_type(tensor.desc.dtype), buffer, name,
                                quantisation);
  }

  /// 8 bytes a channel, mostly zeros: equal ones are written once, as flatbuffers allow.
  Offset<flatbuffers::Vector<std::int64_t>> zero_points(const std::vector<std::int32_t>& values) {
    auto& at = zero_points_[values];
    if (at.IsNull()) at = b_.CreateVector(std::vector<std::int64_t>(values.begin(), values.end()));
    return at;
  }

  /// Operator codes in the order of their first use.
  std::uint32_t code_index(arch::OpKind kind) {
    const auto it = std::find(code_kinds_.begin(), code_kinds_.end(), kind);
    if (it == code_kinds_.end()) {
      const std::int32_t code = builtin_code(kind);
      code_kinds_.push_back(kind);
      codes_.push_back(tflite::CreateOperatorCode(
          b_, static_cast<std::int8_t>(std::min(code, kCodePlaceholder)), 0, 1, code));
      return static_cast<std::uint32_t>(codes_.size() - 1);
    }
    return static_cast<std::uint32_t>(it - code_kinds_.begin());
  }

  Result<Offset<tflite::Operator>> write_operator(const Op& op) {
    DEPUTY_ASSIGN(const auto options, write_options(b_, graph_, op));
    return tflite::CreateOperatorDirect(b_, code_index(op.kind), &op.inputs, &op.outputs,
                                        options.type, options.table);
  }

  const Graph& graph_;
  flatbuffers::FlatBufferBuilder b_;
  std::vector<Offset<tflite::Buffer>> buffers_;
  std::map<std::vector<std::int32_t>, Offset<flatbuffers::Vector<std::int64_t>>> zero_points_;
  std::vector<arch::OpKind> code_kinds_;
  std::vector<Offset<tflite::OperatorCode>> codes_;
};

}  // namespace

Result<std::vector<std::uint8_t>> export_tflite(const Graph& graph) {
  DEPUTY_TRY(validate(graph));
  const auto unsupported = [](std::string what, std::string message) {
    return base::Error{base::ErrorKind::kUnsupported, std::move(what), std::move(message), ""};
  };
  for (const Op& op : graph.ops)
    if (op.kind == arch::OpKind::ONNX)
      return unsupported(op_label(graph, op), "TFLite has no operator for " + op.attrs.onnx);
  for (const Tensor& tensor : graph.tensors)
    if (tensor.desc.dtype > DType::kBool)
      return unsupported(tensor.desc.name, "the exporter does not write this element type");
  for (const Op& op : graph.ops) DEPUTY_TRY(check_op(graph, op));
  return Exporter(graph).run();
}

}  // namespace deputy::delegate
