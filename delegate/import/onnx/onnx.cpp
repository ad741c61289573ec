#include "delegate/import/onnx/onnx.h"

#include "base/check.h"
#include "delegate/import/onnx/lowering.h"

namespace deputy::delegate {

base::Result<Graph> import_onnx(std::span<const std::uint8_t> bytes, const std::string& name,
                                const OnnxOptions& options, std::vector<std::string>* notes) {
  DEPUTY_CHECK(options.evaluate != nullptr, "the importer needs the kernels' shape rules");
  DEPUTY_ASSIGN(onnx_import::Model model, onnx_import::read_proto(bytes, name, options));
  DEPUTY_TRY(onnx_import::infer(model, options));
  if (options.native) {
    onnx_import::expand_qoperators(model);
    DEPUTY_TRY(onnx_import::infer(model, options));  // what the expansion made
    onnx_import::fold_batch_norms(model);
    onnx_import::reorder_pixel_shuffles(model);
  }
  return onnx_import::lower_model(model, options, notes);
}

}  // namespace deputy::delegate
