#include "api/import_model.h"

#include <cstring>

#include "delegate/import/tflite.h"
#include "host_runtime/cpu/kernels.h"
#include "host_runtime/cpu/onnx/evaluate.h"

namespace deputy::api {

bool is_tflite(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, "TFL3", 4) == 0;
}

bool is_onnx(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x08 && bytes[1] >= 1 && bytes[1] < 0x20;
}

base::Result<delegate::Graph> import_model(std::span<const std::uint8_t> bytes,
                                           const std::string& name, const std::string& folder,
                                           const Bindings& bindings,
                                           std::vector<std::string>* notes) {
  if (is_tflite(bytes) || (!is_onnx(bytes) && !name.ends_with(".onnx"))) {
    if (!bindings.empty())
      return base::Error{base::ErrorKind::kUsage, name,
                         "dimensions of a TFLite model are not bound this way",
                         "give inputs of the shape, with --shape-policy"};
    return delegate::import_tflite(bytes, name);
  }
  delegate::OnnxOptions options;
  options.evaluate = host_runtime::evaluate_onnx, options.takes = host_runtime::check_host_op;
  options.folder = folder, options.dims = bindings.dims, options.shapes = bindings.shapes,
  options.constants = bindings.constants;
  options.native = bindings.native;
  return delegate::import_onnx(bytes, name, options, notes);
}

}  // namespace deputy::api
