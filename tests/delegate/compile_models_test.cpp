// Whole networks compiled and run without a SoC: outputs and every intermediate tensor with a
// golden, and which operators went to the NPU.
#include <catch2/catch.hpp>
#include <set>

#include "delegate/compile.h"
#include "delegate/import/tflite.h"
#include "tests/support/golden.h"
#include "tests/support/run_executable.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using test::Bytes;

void check_tensor(const std::string& data, const tests::GoldenTensor& golden, const Bytes& got) {
  const auto d = tests::compare(golden.dtype, got, tests::read_bytes(data + "/" + golden.file));
  INFO(golden.file << ": " << d.text());
  if (golden.dtype == DType::kFloat32)
    CHECK((!d.size_mismatch && d.largest <= 1e-4));
  else
    CHECK(d.none());
}

void run_model(const std::string& data, const tests::ModelGolden& model, Numerics mode,
               bool keep_all, std::int32_t spm, std::size_t max_cases, bool compression = true) {
  INFO(model.name << " in " << numerics_name(mode) << ", scratchpad " << spm
                  << (keep_all ? ", all tensors kept" : ""));
  const auto graph = import_tflite(tests::read_bytes(data + "/" + model.model), model.name);
  REQUIRE(graph.ok());
  CompileOptions options;
  options.numerics = mode, options.keep_all_tensors = keep_all, options.npu.spm.bytes = spm;
  options.engine = EnginePolicy::kNpu;
  options.optimisations.compression = compression;
  if (compression && !keep_all)
    options.memory.dram_bytes_per_cycle = 0.25;  // compress whatever shrinks
  const auto executable = compile(*graph, options);
  REQUIRE(executable.ok());
  REQUIRE_NOTHROW(test::check_loadable(*executable));
  for (std::size_t i = 0; i < std::min(max_cases, model.cases.size()); ++i) {
    const auto& golden = mode == Numerics::kTflite ? model.cases[i].tflm : model.cases[i].xnnpack;
    std::vector<Bytes> inputs;
    for (const auto& file : model.cases[i].inputs)
      inputs.push_back(tests::read_bytes(data + "/" + file));
    test::ExecutableRunner runner(*executable, true);
    const auto outputs =
        runner.run(inputs, static_cast<test::Order>(i % 5), static_cast<unsigned>(i));
    for (const auto& t : golden) check_tensor(data, t, outputs[static_cast<std::size_t>(t.index)]);
    if (i > 0 || !keep_all) continue;
    for (const auto& t : mode == Numerics::kTflite ? model.tflm_layers : model.xnnpack_layers)
      for (std::size_t id = 0; id < graph->tensors.size(); ++id)
        if (graph->tensors[id].source_index == t.index)
          check_tensor(data, t, runner.tensor(static_cast<std::uint32_t>(id)));
  }
}

void run_all(Numerics mode, bool keep_all, std::int32_t spm, std::size_t max_cases,
             bool compression = true) {
  const auto data = tests::shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  for (const auto& model : tests::load_models(*data))
    run_model(*data, model, mode, keep_all, spm, max_cases, compression);
}

}  // namespace

TEST_CASE("networks equal TFLite Micro, layer by layer") {
  run_all(Numerics::kTflite, true, 131072, 2);
}
TEST_CASE("networks equal XNNPACK, layer by layer") { run_all(Numerics::kFp32, true, 131072, 2); }
TEST_CASE("networks equal TFLite Micro with a small scratchpad and memory reused") {
  run_all(Numerics::kTflite, false, 16384, 2);
}
TEST_CASE("networks equal TFLite Micro without compression") {
  run_all(Numerics::kTflite, false, 131072, 1, false);
}
TEST_CASE("networks equal XNNPACK with a large scratchpad and memory reused") {
  run_all(Numerics::kFp32, false, 1048576, 2);
}

TEST_CASE("the quantised networks have all their operators on the NPU") {
  const auto data = tests::shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  const std::set<std::string> networks = {
      "ad01_int8",        "kws_ref_model",          "vww_96_int8",
      "str_ww_ref_model", "pretrainedResnet_quant", "mobilenet_v2_ptq",
      "person_detect",    "mobilenet_v2_int8_nchw", "mobilenet_v1_0.25_128_quant"};
  std::size_t seen = 0;
  for (const auto& model : tests::load_models(*data)) {
    if (!networks.contains(model.name)) continue;
    ++seen;
    const auto graph = import_tflite(tests::read_bytes(*data + "/" + model.model), model.name);
    REQUIRE(graph.ok());
    for (const EnginePolicy engine : {EnginePolicy::kNpu, EnginePolicy::kAuto}) {
      CompileOptions options;
      options.engine = engine;
      const auto executable = compile(*graph, options);
      REQUIRE(executable.ok());
      for (const arch::SourceOp& op : executable->ops) {
        INFO(model.name << ": " << arch::op_name(op.kind) << " " << op.name << ": " << op.reason);
        CHECK(op.on_npu);
        CHECK(op.on_npu == op.reason.empty());
      }
      std::size_t instructions = 0;
      for (const auto& program : executable->programs)
        instructions += test::decode_program(program.words).size();
      CHECK(instructions < 8000);
    }
  }
  CHECK(seen == networks.size());
}

}  // namespace deputy::delegate
