// ONNX's checker, alone in its file: its headers take as long to compile as the rest of the
// importer.
#include <onnx/checker.h>

#include <optional>
#include <string>

namespace deputy::delegate::onnx_import {

std::optional<std::string> schema_problem(const std::string& serialised) {
  try {
    ONNX_NAMESPACE::ModelProto model;
    if (!model.ParseFromString(serialised)) return "it does not parse";
    ONNX_NAMESPACE::checker::check_model(model);
    return std::nullopt;
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace deputy::delegate::onnx_import
