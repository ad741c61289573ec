// A share of the random graphs on the whole SoC: compiler, runtime, driver, NPU with its queues,
// memories too small for comfort. Outputs are the kernels' bytes.
#include <catch2/catch.hpp>

#include "arch/executable.h"
#include "tests/support/graphs/agreement.h"
#include "tests/support/graphs/random_graph.h"
#include "tests/support/interpreter.h"
#include "tools/simulate.h"

using namespace deputy;

namespace {

void check_seed(std::uint64_t seed, int singles, int random) {
  const delegate::Graph graph = graphs::random_graph(seed);
  const auto inputs = graphs::random_inputs(graph, seed);
  const auto all = graphs::settings(seed, singles, random);
  const auto expected = tests::run_graph(graph, inputs, all[0].options.numerics);
  REQUIRE(expected.ok());
  for (const graphs::Setting& setting : all) {
    INFO("seed " << seed << ", " << setting.text());
    const auto executable = delegate::compile(graph, setting.options);
    REQUIRE(executable.ok());
    tools::SimulateOptions options;
    static_cast<arch::NpuConfig&>(options.soc.npu) = setting.options.npu;
    const auto run = tools::simulate_executable(arch::write_executable(*executable), graph.name,
                                                options, inputs);
    INFO((run.ok() ? "" : run.error().text()));
    REQUIRE(run.ok());
    REQUIRE(run->outputs.size() == graph.outputs.size());
    for (std::size_t i = 0; i < run->outputs.size(); ++i)
      CHECK(run->outputs[i] == expected->tensors[static_cast<std::size_t>(graph.outputs[i])]);
  }
}

}  // namespace

TEST_CASE("random graphs give the kernels' bytes on the SoC") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) check_seed(seed, 0, 1);
}

TEST_CASE("more random graphs give the kernels' bytes on the SoC", "[.slow]") {
  for (std::uint64_t seed = 20000; seed < 20300; ++seed) check_seed(seed, 1, 2);
}
