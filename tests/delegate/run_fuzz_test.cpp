// Mutated models that the importer accepts are also compiled and run: on the CPU kernels, and with
// whatever the NPU takes on the engine's datapath. Nothing may touch memory outside its tensors
// (the asan preset shows it), and both placements must give the same bytes, however odd the scales
// and options have become.
//
// DEPUTY_FUZZ_MODELS sets how many mutated models are tried (10000 for a thorough run by hand).
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "delegate/compile.h"
#include "delegate/import/tflite.h"
#include "delegate/import/tflite_export.h"
#include "tests/delegate/mutate.h"
#include "tests/delegate/shared_data.h"
#include "tests/delegate/small_network.h"
#include "tests/support/interpreter.h"
#include "tests/support/run_executable.h"

using namespace deputy;
using namespace deputy::delegate;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// A mutation can ask for gigabytes or minutes; such graphs are legal but say nothing here.
bool small_enough(const Graph& graph) {
  std::int64_t bytes = 0;
  std::uint64_t macs = 0;
  for (const Tensor& tensor : graph.tensors) bytes += tensor.desc.bytes();
  for (const Op& op : graph.ops) macs += op_macs(graph, op);
  return bytes < (std::int64_t{1} << 21) && macs < 20'000'000;
}

struct Count {
  int ran = 0, refused = 0, on_npu = 0;
};

/// What is wrong with the graph's execution, in words.
std::string run(const Graph& graph, std::uint64_t seed, Count& count) {
  CompileOptions options;
  options.numerics = static_cast<Numerics>(seed % 3);
  options.engine = EnginePolicy::kNpu;
  const auto executable = compile(graph, options);
  const auto supported = tests::check_graph(graph);
  // The compiler refuses what no engine takes; a kernel's own conditions show when the session
  // loads.
  if (!executable.ok() || !supported.ok()) {
    ++count.refused;
    const bool said_why = (executable.ok() || !executable.error().message.empty()) &&
                          (supported.ok() || !supported.error().message.empty());
    return said_why ? "" : "refused without a message";
  }
  std::vector<Bytes> inputs;
  for (const TensorId id : graph.inputs)
    inputs.push_back(workloads::seeded_input(graph.tensor(id).desc, seed));
  const auto expected = tests::run_graph(graph, inputs, options.numerics);
  if (!expected.ok()) {  // data that only shows at run time, a gather index for one
    ++count.refused;
    return expected.error().kind == base::ErrorKind::kInput ? "" : expected.error().text();
  }
  for (const auto& op : executable->ops) count.on_npu += op.on_npu;
  const auto outputs = test::ExecutableRunner(*executable, true).run(inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] != expected->tensors[static_cast<std::size_t>(graph.outputs[i])])
      return fmt::format("output {} differs between the NPU and the CPU, {} numerics", i,
                         numerics_name(options.numerics));
  ++count.ran;
  return "";
}

}  // namespace

TEST_CASE("mutated models that import also run, the same on both engines") {
  std::vector<Bytes> seeds;
  for (const auto& file : testing::tflite_files(testing::shared_data() / "ops"))
    if (std::filesystem::file_size(file) < 6000) seeds.push_back(testing::read_file(file));
  if (seeds.empty()) WARN("../shared/data is absent: only our own network is mutated");
  for (std::size_t i = 0, own = 1 + seeds.size() / 8; i < own; ++i)
    seeds.push_back(export_tflite(testing::small_network()).value());
  const char* text = std::getenv("DEPUTY_FUZZ_MODELS");
  const int tries = text ? std::max(1, std::atoi(text)) : 1000;
  std::string failures;
  Count count;
  for (std::uint64_t seed = 5000000; seed < 5000000u + static_cast<std::uint64_t>(tries); ++seed) {
    workloads::Random random(seed);
    const Bytes& original = seeds[random.below(static_cast<std::uint32_t>(seeds.size()))];
    const auto graph = import_tflite(testing::mutated(original, random), "fuzz");
    if (!graph.ok() || !small_enough(*graph)) continue;
    try {
      if (const auto wrong = run(*graph, seed, count); !wrong.empty())
        failures += fmt::format("seed {}: {}\n", seed, wrong);
    } catch (const std::exception& e) {
      failures += fmt::format("seed {}: {}\n", seed, e.what());
    }
  }
  INFO(failures);
  CHECK(failures.empty());
  INFO("ran " << count.ran << ", refused " << count.refused << ", operators on the NPU "
              << count.on_npu);
  CHECK(count.ran > tries / 10);
  CHECK(count.on_npu > tries / 20);
}
