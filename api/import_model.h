// A model file of either format, told apart by its contents.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "delegate/import/onnx/onnx.h"
#include "delegate/ir/graph.h"

namespace deputy::api {

/// What a model file leaves open. TFLite files leave nothing open; bindings are then an error.
struct Bindings {
  std::map<std::string, std::int64_t> dims;           ///< symbolic dimensions by name
  std::map<std::string, Shape> shapes;                ///< inputs' shapes by name
  std::map<std::string, arch::OnnxResult> constants;  ///< inputs that become constants
  bool native = true;                                 ///< see delegate::OnnxOptions
  bool empty() const { return dims.empty() && shapes.empty() && constants.empty(); }
};

/// Whether these bytes begin like a TFLite file.
bool is_tflite(std::span<const std::uint8_t> bytes);

/// Whether they begin like an ONNX file: protobuf's key of the first field, which is the IR's
/// version, a small number.
bool is_onnx(std::span<const std::uint8_t> bytes);

/// Imports a TFLite or ONNX file, as its first bytes say; what begins like neither is ONNX when its
/// name ends in .onnx, else TFLite, for the sake of the message. `folder`: where an ONNX model's
/// external data lie, empty: nowhere. `notes` may be null.
base::Result<delegate::Graph> import_model(std::span<const std::uint8_t> bytes,
                                           const std::string& name, const std::string& folder,
                                           const Bindings& bindings = {},
                                           std::vector<std::string>* notes = nullptr);

}  // namespace deputy::api
