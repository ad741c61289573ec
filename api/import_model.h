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
  std::map<std::string, std::int64_t> dims;                 ///< symbolic dimensions by name
  std::map<std::string, Shape> shapes;                      ///< inputs' shapes by name
  std::map<std::string, arch::OnnxResult> constants;        ///< inputs that become constants
  bool native = true;                                       ///< see delegate::OnnxOptions
  bool empty() const { return dims.empty() && shapes.empty() && constants.empty(); }
};

/// Whether these bytes begin like a TFLite file.
bool is_tflite(std::span<const std::uint8_t> bytes);

/// Imports a .tflite or .onnx file. `folder`: where an ONNX model's external data lie, empty: nowhere. `notes` may be null.
base::Result<delegate::Graph> import_model(std::span<const std::uint8_t> bytes, const std::string& name, const std::string& folder,
                                           const Bindings& bindings = {}, std::vector<std::string>* notes = nullptr);

}  // namespace deputy::api
