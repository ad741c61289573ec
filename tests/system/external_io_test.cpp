// Inputs and outputs in external regions through the whole stack: equal outputs, balanced books,
// and DRAM bytes that follow the setting.
#include <catch2/catch.hpp>

#include "delegate/program_summary.h"
#include "tests/system/deputy_process.h"
#include "tools/cli/common.h"
#include "tools/report.h"
#include "tools/simulate.h"
#include "workloads/networks.h"

using namespace deputy;

TEST_CASE("a network runs with its inputs and outputs in either memory") {
  for (const char* name : {"ecg_tcn", "ds_cnn"}) {
    const auto graph = workloads::build_network(name);
    REQUIRE(graph.ok());
    const auto inputs = tools::load_inputs(*graph, {}, 4);
    REQUIRE(inputs.ok());
    std::vector<std::vector<std::uint8_t>> expected;
    std::uint64_t sram_dram_bytes = 0;
    for (const char* io : {"arena", "sram", "dram"}) {
      INFO(name << " " << io);
      tools::CommonOptions common;
      common.soc = test::project_file("configs/soc/wearable.yaml");
      common.io = io;
      common.engine = "npu";
      const auto options = tools::simulate_options(common);
      REQUIRE(options.ok());
      const auto run = tools::simulate(*graph, *options, *inputs);
      REQUIRE(run.ok());
      const tools::Report report = tools::make_report(*run, *options);
      CHECK(report.imbalances.empty());
      if (expected.empty()) expected = run->outputs;
      CHECK(run->outputs == expected);
      CHECK(run->executable.externals.size() ==
            (common.io == "arena" ? 0 : graph->inputs.size() + graph->outputs.size()));
      // The compiler's account of the streams, by region, against the bus's, by address.
      std::uint64_t by_region = 0;
      for (const auto& kernel : delegate::summarise_programs(run->executable))
        by_region += kernel.dram_map_bytes;
      CHECK(report.dram_map_bytes == by_region);
      if (common.io == "sram") sram_dram_bytes = report.dram_map_bytes;
      if (common.io == "dram") CHECK(report.dram_map_bytes > sram_dram_bytes);
    }
  }
}
