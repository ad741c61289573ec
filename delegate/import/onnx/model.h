// An ONNX model after parsing: what the rest of the importer works on. No protobuf type leaves the
// files that read and write them (read_proto.cpp, write_proto.cpp, check_schema.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/onnx_node.h"
#include "base/result.h"
#include "delegate/import/onnx/onnx.h"

namespace deputy::delegate::onnx_import {

inline constexpr int kNoValue = -1;

struct Value {
  arch::TensorDesc desc;  ///< name; type and shape once `shaped`
  bool shaped = false;
  std::optional<arch::TensorDesc> declared;  ///< what the file says, where it says all of it
  bool constant = false;
  std::vector<std::uint8_t> data;  ///< when constant
  int producer = kNoValue;         ///< node
  std::vector<int> consumers;      ///< nodes, once per use
  bool is_output = false;
};

struct Node {
  arch::OnnxNode node;
  std::string name;
  bool microsoft = false;            ///< of the domain com.microsoft, not ONNX's own
  std::vector<int> inputs, outputs;  ///< values; kNoValue: absent
  int source = -1;                   ///< index in the file
};

struct Model {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;  ///< in an order of execution
  std::vector<int> inputs, outputs;
  std::map<std::string, int> by_name;
  std::uint64_t external_bytes = 0;

  int add_value(std::string value_name) {
    values.emplace_back();
    values.back().desc.name = std::move(value_name);
    return static_cast<int>(values.size()) - 1;
  }
  Value& value(int id) { return values[static_cast<std::size_t>(id)]; }
  const Value& value(int id) const { return values[static_cast<std::size_t>(id)]; }
};

base::Error malformed(const Model& model, const std::string& where, std::string message);
base::Error unsupported(const Model& model, const std::string& where, std::string message,
                        std::string remedy = "");
/// "Conv #3 'conv1'"
std::string node_label(const Node& node);

/// Element types that QuantizeLinear and DequantizeLinear have in com.microsoft (ONNX Runtime's
/// contributed operators, docs/ContribOperators.md there), and in ONNX itself from operator set 21.
inline bool sixteen_bits(DType type) { return type == DType::kInt16 || type == DType::kUint16; }

/// Parses the file and binds its dimensions.
base::Result<Model> read_proto(std::span<const std::uint8_t> bytes, const std::string& name,
                               const OnnxOptions& options);

/// ONNX's own checker on the serialised model. Its message when it refuses.
std::optional<std::string> schema_problem(const std::string& serialised);

/// The bytes [offset, offset + length) of a file beside the model. length -1: to its end.
base::Result<std::vector<std::uint8_t>> external_data(const std::string& folder,
                                                      const std::string& location,
                                                      std::uint64_t offset, std::int64_t length,
                                                      std::uint64_t expected);

/// QLinear* operators with constant scales, as DQ, the operator on floats, Q.
void expand_qoperators(Model& model);

/// Integers as the little-endian bytes of a tensor of this type.
std::vector<std::uint8_t> integer_bytes(DType dtype, const std::vector<std::int32_t>& values);

/// A float32 constant's numbers, and a new one.
std::vector<float> floats_of(const Model& model, int id);
int add_floats(Model& model, std::string name, Shape shape, const std::vector<float>& data);

/// Producers and consumers anew.
void link(Model& model);

/// Types and shapes of every value; constants computed.
base::Status infer(Model& model, const OnnxOptions& options);

/// A float value that is an integer value dequantised.
struct Twin {
  int value = kNoValue;
  Quantisation quant;
};
struct QuantInfo {
  std::map<int, Quantisation> integers;  ///< of integer values
  std::map<int, Twin> twins;             ///< of float values
};
QuantInfo find_quantisation(Model& model, const OnnxOptions& options);

/// Scale and zero point operands of a Q or DQ node, when constant and usable.
std::optional<Quantisation> quantisation_of(const Model& model, const Node& node);

/// The graph.
base::Result<Graph> lower_model(Model& model, const OnnxOptions& options,
                                std::vector<std::string>* notes);

}  // namespace deputy::delegate::onnx_import
