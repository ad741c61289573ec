// Every combination of the optimisation switches on small networks: the outputs are the kernels'
// bytes and the goldens'. Combinations that compile to the same executable run once.
#include "tests/support/graphs/switches.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "delegate/compile.h"
#include "delegate/import/tflite.h"
#include "tests/delegate/small_network.h"
#include "tests/support/golden.h"
#include "tests/support/graphs/random_graph.h"
#include "tests/support/interpreter.h"
#include "tests/support/run_executable.h"
#include "workloads/networks.h"

namespace deputy::graphs {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string combination_text(std::uint32_t bits) {
  std::string off;
  for (std::size_t i = 0; i < switch_count(); ++i)
    if (((bits >> i) & 1) == 0) off += fmt::format(" no-{}", switch_name(i));
  return off.empty() ? "every switch on" : off;
}

// How many different executables came out.
std::size_t check_all_combinations(const delegate::Graph& graph, const std::vector<Bytes>& inputs,
                                   const std::vector<Bytes>& expected,
                                   delegate::CompileOptions options) {
  std::set<Bytes> seen;
  for (std::uint32_t bits = 0; bits < (1u << switch_count()); ++bits) {
    options.optimisations = combination(bits);
    INFO(graph.name << ": " << combination_text(bits));
    const auto executable = delegate::compile(graph, options);
    REQUIRE(executable.ok());
    if (!seen.insert(arch::write_executable(*executable)).second) continue;
    REQUIRE_NOTHROW(test::check_loadable(*executable));
    REQUIRE(test::ExecutableRunner(*executable, true).run(inputs) == expected);
  }
  return seen.size();
}

std::vector<Bytes> reference(const delegate::Graph& graph, const std::vector<Bytes>& inputs) {
  const auto values = tests::run_graph(graph, inputs, Numerics::kTflite);
  REQUIRE(values.ok());
  std::vector<Bytes> out;
  for (const delegate::TensorId id : graph.outputs)
    out.push_back(values->tensors[static_cast<std::size_t>(id)]);
  return out;
}

void check_built_in(const std::string& name, std::int32_t spm, std::uint64_t sram,
                    delegate::Effort effort) {
  const auto graph = workloads::build_network(name);
  REQUIRE(graph.ok());
  const auto inputs = random_inputs(*graph, 7);
  delegate::CompileOptions options;
  options.engine = delegate::EnginePolicy::kNpu;
  options.npu.spm.bytes = spm, options.sram_bytes = sram, options.effort = effort;
  check_all_combinations(*graph, inputs, reference(*graph, inputs), options);
}

}  // namespace

TEST_CASE("every combination of the switches gives a small network's bytes") {
  const delegate::Graph graph = delegate::testing::small_network();
  const auto inputs = random_inputs(graph, 3);
  delegate::CompileOptions options;
  options.engine = delegate::EnginePolicy::kNpu;
  options.npu.spm.bytes = 4096, options.sram_bytes = 2048;
  check_all_combinations(graph, inputs, reference(graph, inputs), options);
}

TEST_CASE("every combination of the switches gives the built-in networks' bytes", "[.slow]") {
  for (const char* name :
       {"autoencoder", "ecg_tcn", "ds_cnn", "mobilenet_v1_025_96", "eegnet", "resnet8", "temponet"})
    check_built_in(name, 16384, 32768, delegate::Effort::kFast);
  for (const char* name : {"ecg_tcn", "ds_cnn", "resnet8"})
    check_built_in(name, 131072, 1 << 20, delegate::Effort::kFull);
}

TEST_CASE("every combination of the switches gives the goldens' bytes", "[.slow]") {
  const auto data = tests::shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  for (const tests::ModelGolden& model : tests::load_models(*data)) {
    if (model.cases.empty() || model.cases[0].tflm.empty()) continue;
    const auto file = tests::read_bytes(*data + "/" + model.model);
    if (file.size() > 400000) continue;  // the small ones
    const auto graph = delegate::import_tflite(file, model.name);
    REQUIRE(graph.ok());
    std::vector<Bytes> inputs, expected;
    for (const auto& name : model.cases[0].inputs)
      inputs.push_back(tests::read_bytes(*data + "/" + name));
    const auto all = tests::run_graph(*graph, inputs, Numerics::kTflite);
    REQUIRE(all.ok());
    for (const delegate::TensorId id : graph->outputs)
      expected.push_back(all->tensors[static_cast<std::size_t>(id)]);
    for (const tests::GoldenTensor& golden : model.cases[0].tflm)  // floats have no equal bytes
      if (golden.dtype != DType::kFloat32)
        expected[static_cast<std::size_t>(golden.index)] =
            tests::read_bytes(*data + "/" + golden.file);
    delegate::CompileOptions options;
    options.engine = delegate::EnginePolicy::kNpu;
    options.sram_bytes = 256 << 10, options.effort = delegate::Effort::kFast;
    const std::size_t different = check_all_combinations(*graph, inputs, expected, options);
    WARN(model.name << ": " << different << " different executables");
  }
}

}  // namespace deputy::graphs
