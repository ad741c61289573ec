// Reads a .tflite file: flatbuffer verification, then tensors, constants and operators of the one
// subgraph, then the checks that make the graph safe to execute (ir/graph.h, ir/op_rules.h).
#include "delegate/import/tflite.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "delegate/import/builtin_codes.h"
#include "delegate/import/tflite_options.h"
#include "delegate/ir/op_rules.h"
#include "tflite_generated.h"

namespace deputy::delegate {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 31;  // flatbuffers' own limit
constexpr flatbuffers::uoffset_t kMaxTableDepth = 16;        // a real file nests five deep
constexpr flatbuffers::uoffset_t kMaxTables = 1u << 20;
constexpr std::size_t kMaxNameBytes = 4096;

/// Names go to terminals and reports: control characters in them become '?'.
std::string printable(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

// Parts of a flatbuffer may be referenced many times, so a small file could unfold into a huge
// graph. A real file shares little: constants, names and operand lists together stay near the
// file's size.
constexpr std::size_t kUnfoldFactor = 16;
constexpr std::size_t kUnfoldFloor = std::size_t{1} << 20;

class Importer {
 public:
  Importer(const tflite::Model& model, std::size_t file_bytes, const std::string& name)
      : model_(model), name_(name), budget_(file_bytes * kUnfoldFactor + kUnfoldFloor) {
    graph_.name = name;
  }

  Result<Graph> run() {
    if (model_.version() != 3)
      return unsupported("", fmt::format("schema version {} is not supported", model_.version()),
                         "convert the model to version 3 of the TFLite format");
    if (!model_.subgraphs() || model_.subgraphs()->size() == 0)
      return malformed("", "the file has no subgraph");
    if (model_.subgraphs()->size() > 1)
      return unsupported("",
                         fmt::format("the file has {} subgraphs; only a single one is supported",
                                     model_.subgraphs()->size()),
                         "remove control flow and extra signatures when converting");
    const tflite::SubGraph* subgraph = model_.subgraphs()->Get(0);
    DEPUTY_TRY(read_tensors(*subgraph));
    DEPUTY_TRY(read_ids(subgraph->inputs(), false, "graph inputs", graph_.inputs));
    DEPUTY_TRY(read_ids(subgraph->outputs(), false, "graph outputs", graph_.outputs));
    DEPUTY_TRY(read_operators(*subgraph));
    mark_empty_constants();
    DEPUTY_TRY(validate(graph_));
    for (Op& op : graph_.ops) {
      DEPUTY_TRY(in_file(normalise_op(graph_, op)));
      DEPUTY_TRY(in_file(check_op(graph_, op)));
    }
    return std::move(graph_);
  }

 private:
  Error malformed(const std::string& what, std::string message) const {
    return {ErrorKind::kModel, what.empty() ? name_ : name_ + ": " + what, std::move(message), ""};
  }
  Error unsupported(const std::string& what, std::string message, std::string remedy = "") const {
    return {ErrorKind::kUnsupported, what.empty() ? name_ : name_ + ": " + what, std::move(message),
            std::move(remedy)};
  }
  Status in_file(Status status) const {
    if (status.ok()) return status;
    Error error = status.error();
    error.where = name_ + ": " + error.where;
    return error;
  }
  Status spend(std::size_t bytes) {
    if (bytes > budget_)
      return malformed("",
                       "the file's tables refer to the same data too often: refused as hostile");
    budget_ -= bytes;
    return {};
  }

  Status read_ids(const flatbuffers::Vector<std::int32_t>* ids, bool optional,
                  const std::string& what, std::vector<TensorId>& out) {
    if (!ids) return {};
    DEPUTY_TRY(spend(ids->size() * sizeof(TensorId)));
    for (const std::int32_t id : *ids) {
      if (!(optional && id == kNoTensor) &&
          (id < 0 || static_cast<std::size_t>(id) >= graph_.tensors.size()))
        return malformed(
            what, fmt::format("tensor index {} is out of range: the graph has {} tensors", id,
                              graph_.tensors.size()));
      out.push_back(id);
    }
    return {};
  }

  Status read_tensors(const tflite::SubGraph& subgraph) {
    if (!subgraph.tensors()) return {};
    for (flatbuffers::uoffset_t i = 0; i < subgraph.tensors()->size(); ++i) {
      const tflite::Tensor* source = subgraph.tensors()->Get(i);
      Tensor tensor;
      tensor.source_index = static_cast<std::int32_t>(i);
      if (source->name()) {
        if (source->name()->size() > kMaxNameBytes)
          return malformed(fmt::format("tensor #{}", i), "its name is longer than 4096 bytes");
        DEPUTY_TRY(spend(source->name()->size()));
        tensor.desc.name = printable(source->name()->string_view());
      }
      const std::string what = fmt::format("tensor #{} '{}'", i, tensor.desc.name);
      DEPUTY_TRY(read_type(*source, what, tensor));
      if (source->is_variable())
        return unsupported(what, "variable tensors (kept between runs) are not supported");
      if (source->sparsity())
        return unsupported(what, "sparse tensors are not supported", "densify the model");
      if (source->shape()) {
        DEPUTY_TRY(spend(source->shape()->size() * sizeof(std::int32_t)));
        tensor.desc.shape.assign(source->shape()->begin(), source->shape()->end());
      }
      DEPUTY_TRY(read_quantisation(source->quantization(), what, tensor.desc));
      DEPUTY_TRY(read_constant(source->buffer(), what, tensor));
      graph_.tensors.push_back(std::move(tensor));
    }
    return {};
  }

  Status read_type(const tflite::Tensor& source, const std::string& what, Tensor& tensor) const {
    switch (source.type()) {
      case tflite::TensorType::FLOAT32:
        tensor.desc.dtype = DType::kFloat32;
        return {};
      case tflite::TensorType::FLOAT16:
        tensor.desc.dtype = DType::kFloat16;
        return {};
      case tflite::TensorType::INT32:
        tensor.desc.dtype = DType::kInt32;
        return {};
      case tflite::TensorType::UINT8:
        tensor.desc.dtype = DType::kUint8;
        return {};
      case tflite::TensorType::INT64:
        tensor.desc.dtype = DType::kInt64;
        return {};
      case tflite::TensorType::BOOL:
        tensor.desc.dtype = DType::kBool;
        return {};
      case tflite::TensorType::INT16:
        tensor.desc.dtype = DType::kInt16;
        return {};
      case tflite::TensorType::INT8:
        tensor.desc.dtype = DType::kInt8;
        return {};
      default:
        return unsupported(
            what, fmt::format("element type {} is not supported", static_cast<int>(source.type())),
            "supported: float32, float16, int8, uint8, int16, int32, int64, bool");
    }
  }

  Status read_quantisation(const tflite::QuantizationParameters* source, const std::string& what,
                           arch::TensorDesc& desc) {
    if (!source) return {};
    if (source->details_type() != tflite::QuantizationDetails::NONE)
      return unsupported(what, "custom quantisation is not supported");
    if (!source->scale() || source->scale()->size() == 0) return {};
    const auto& scale = *source->scale();
    const std::size_t zeros = source->zero_point() ? source->zero_point()->size() : 0;
    if (zeros != 1 && zeros != scale.size())
      return malformed(what, fmt::format("has {} scales but {} zero points", scale.size(), zeros));
    DEPUTY_TRY(spend(scale.size() * (sizeof(float) + sizeof(std::int32_t))));
    Quantisation quant;
    for (flatbuffers::uoffset_t c = 0; c < scale.size(); ++c) {
      const float s = scale.Get(c);
      if (!std::isfinite(s) || s <= 0)
        return malformed(what,
                         fmt::format("scale {} of channel {} is not a positive number", s, c));
      // The verifier aligns vectors to 4 bytes only, so 64-bit elements are copied, not read in
      // place.
      std::int64_t z;
      std::memcpy(&z, source->zero_point()->Data() + (zeros == 1 ? 0 : c) * sizeof z, sizeof z);
      DEPUTY_TRY(check_zero_point(z, desc.dtype, what));
      quant.scale.push_back(s);
      quant.zero_point.push_back(static_cast<std::int32_t>(z));
    }
    // A vector has one axis, whatever the file says: some converters write a bias with its weights'
    // axis.
    if (scale.size() > 1) quant.axis = desc.shape.size() == 1 ? 0 : source->quantized_dimension();
    // Converters leave scales on float tensors too; they mean nothing there.
    if (desc.dtype != DType::kFloat32 && desc.dtype != DType::kFloat16 &&
        desc.dtype != DType::kBool)
      desc.quant = std::move(quant);
    return {};
  }

  Status check_zero_point(std::int64_t z, DType dtype, const std::string& what) const {
    std::int64_t lo = std::numeric_limits<std::int32_t>::min(),
                 hi = std::numeric_limits<std::int32_t>::max();
    if (dtype == DType::kInt8) lo = -128, hi = 127;
    if (dtype == DType::kUint8) lo = 0, hi = 255;
    if (dtype == DType::kInt16) lo = -32768, hi = 32767;
    if (z >= lo && z <= hi) return {};
    return malformed(what, fmt::format("zero point {} does not fit {}", z, dtype_name(dtype)));
  }

  Status read_constant(std::uint32_t index, const std::string& what, Tensor& tensor) {
    const std::size_t buffers = model_.buffers() ? model_.buffers()->size() : 0;
    if (index == 0) return {};
    if (index >= buffers)
      return malformed(what, fmt::format("buffer index {} is out of range: the file has {} buffers",
                                         index, buffers));
    const tflite::Buffer* buffer = model_.buffers()->Get(index);
    if (buffer->offset() > 1)
      return unsupported(what, "data outside the flatbuffer (files over 2 GB) is not supported");
    if (!buffer->data() || buffer->data()->size() == 0) return {};
    DEPUTY_TRY(spend(buffer->data()->size()));
    tensor.constant = true;
    tensor.data.assign(buffer->data()->begin(), buffer->data()->end());
    return {};
  }

  Status operator_kind(const tflite::Operator& op, flatbuffers::uoffset_t number,
                       arch::OpKind& kind) const {
    const std::string what = fmt::format("operator #{}", number);
    const std::size_t codes = model_.operator_codes() ? model_.operator_codes()->size() : 0;
    if (op.opcode_index() >= codes)
      return malformed(what, fmt::format("operator code index {} is out of range: the file has {}",
                                         op.opcode_index(), codes));
    const tflite::OperatorCode* code = model_.operator_codes()->Get(op.opcode_index());
    // Old files have only the byte; new ones have both, equal unless the number does not fit the
    // byte.
    const std::int32_t builtin = std::max<std::int32_t>(code->code(), code->byte_code());
    if (builtin == kCustomCode)
      return unsupported(
          what, fmt::format("custom operator '{}' is not supported",
                            code->custom_code()
                                ? printable(code->custom_code()->string_view().substr(0, 100))
                                : "(no name)"));
    const auto known = op_from_builtin_code(builtin);
    if (!known)
      return unsupported(what, fmt::format("builtin operator number {} is not supported", builtin));
    kind = *known;
    return {};
  }

  Status read_operators(const tflite::SubGraph& subgraph) {
    if (!subgraph.operators()) return {};
    for (flatbuffers::uoffset_t i = 0; i < subgraph.operators()->size(); ++i) {
      const tflite::Operator* source = subgraph.operators()->Get(i);
      Op op;
      op.source_index = static_cast<std::int32_t>(i);
      DEPUTY_TRY(operator_kind(*source, i, op.kind));
      const std::string what = fmt::format("{} #{}", arch::op_name(op.kind), i);
      DEPUTY_TRY(read_ids(source->inputs(), true, what, op.inputs));
      DEPUTY_TRY(read_ids(source->outputs(), false, what, op.outputs));
      if (op.outputs.empty()) return malformed(what, "has no output");
      DEPUTY_ASSIGN(op.attrs, read_options(*source, op.kind, name_ + ": " + what));
      graph_.ops.push_back(std::move(op));
    }
    return {};
  }

  /// An empty buffer is how the format says "no data", so a constant of no elements looks like a
  /// tensor that nothing writes.
  void mark_empty_constants() {
    std::vector<bool> written(graph_.tensors.size());
    for (const TensorId id : graph_.inputs) written[static_cast<std::size_t>(id)] = true;
    for (const Op& op : graph_.ops)
      for (const TensorId id : op.outputs) written[static_cast<std::size_t>(id)] = true;
    for (std::size_t i = 0; i < written.size(); ++i) {
      Tensor& tensor = graph_.tensors[i];
      if (written[i] || tensor.constant) continue;
      for (const std::int32_t dim : tensor.desc.shape) tensor.constant |= dim == 0;
    }
  }

  const tflite::Model& model_;
  const std::string& name_;
  std::size_t budget_;
  Graph graph_;
};

}  // namespace

Result<Graph> import_tflite(std::span<const std::uint8_t> bytes, const std::string& name) {
  const auto malformed = [&](std::string message, std::string remedy) {
    return Error{ErrorKind::kModel, name, std::move(message), std::move(remedy)};
  };
  if (bytes.size() < 8 || std::memcmp(bytes.data() + 4, tflite::ModelIdentifier(), 4) != 0)
    return malformed("not a TFLite file: the identifier TFL3 is missing", "give a .tflite model");
  if (bytes.size() >= kMaxFileBytes) return malformed("the file is larger than 2 GB", "");
  // Scalars are read in place: the data must be aligned as the writer aligned it.
  std::vector<std::uint8_t> aligned;
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::max_align_t) != 0) {
    aligned.assign(bytes.begin(), bytes.end());
    bytes = aligned;
  }
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), kMaxTableDepth, kMaxTables);
  if (!tflite::VerifyModelBuffer(verifier))
    return malformed(
        "the flatbuffer is damaged: a table or vector points outside the file or is misaligned",
        "the file may be truncated; fetch it again");
  return Importer(*tflite::GetModel(bytes.data()), bytes.size(), name).run();
}

}  // namespace deputy::delegate
