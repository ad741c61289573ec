// Quantised ONNX models by the normal compile path: the NPU's datapath gives the bytes of the CPU's
// kernels.
#include <catch2/catch.hpp>

#include "api/import_model.h"
#include "tests/support/golden.h"
#include "tests/support/graphs/agreement.h"

namespace deputy::tests {
namespace {

TEST_CASE("quantised ONNX models go to the NPU") {
  const auto data = shared_data_dir();
  if (!data) {
    WARN("skipped: no shared data");
    return;
  }
  for (const char* name :
       {"kws_ref_model", "pretrainedResnet_quant", "str_ww_ref_model", "ad01_int8"}) {
    INFO(name);
    const auto graph =
        api::import_model(read_bytes(*data + "/models/" + name + ".qdq.onnx"), "model.onnx", "");
    REQUIRE(graph.ok());
    graphs::Setting setting;
    setting.options.numerics = Numerics::kFp32;
    setting.options.engine = delegate::EnginePolicy::kNpu;
    setting.options.effort = delegate::Effort::kFast;
    const auto executable = delegate::compile(*graph, setting.options);
    INFO((executable.ok() ? std::string() : executable.error().text()));
    REQUIRE(executable.ok());
    for (const auto& op : executable->ops) {
      INFO(op.name << ": " << op.reason);
      CHECK(op.on_npu);
    }
    CHECK(graphs::disagreement(*graph, setting, 1).value_or("") == "");
  }
}

}  // namespace
}  // namespace deputy::tests
