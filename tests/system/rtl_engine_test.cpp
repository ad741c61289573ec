// npu.engine: rtl on the whole SoC: driver, command processor, queues, DMA and DRAM as always, the
// compute path and the weight decoder from rtl/.
#include <catch2/catch.hpp>
#include <cmath>

#include "npu_model/rtl/rtl_core.h"
#include "tests/support/golden.h"
#include "tests/system/deputy_process.h"
#include "tools/cli/common.h"
#include "workloads/networks.h"
#include "workloads/random.h"

using namespace deputy;
using Catch::Matchers::Contains;

namespace {

bool have_rtl() {
  if (npu_model::rtl_refusal(arch::NpuConfig{}).empty()) return true;
  WARN("skipped: this build has no RTL");
  return false;
}

tools::Simulation simulate(const char* network, const char* engine) {
  tools::CommonOptions common;
  common.soc = test::project_file("configs/soc/wearable.yaml");
  common.numerics = "fp32";
  common.sets = {std::string("npu.engine=") + engine};
  const auto options = tools::simulate_options(common);
  REQUIRE(options.ok());
  const auto graph = workloads::build_network(network);
  REQUIRE(graph.ok());
  auto simulation = tools::simulate(
      *graph, *options, {workloads::seeded_input(graph->tensor(graph->inputs[0]).desc, 1)});
  INFO((simulation.ok() ? "" : simulation.error().text()));
  REQUIRE(simulation.ok());
  return std::move(*simulation);
}

}  // namespace

TEST_CASE(
    "keyword spotting on the RTL engine gives the outside runtime's bytes in the formula's time") {
  if (!have_rtl()) return;
  const tools::Simulation rtl = simulate("ds_cnn", "rtl"), tlm = simulate("ds_cnn", "tlm");
  CHECK(rtl.outputs.at(0) ==
        tests::read_bytes(test::project_file("tests/goldens/ds_cnn/output1.bin")));
  CHECK(rtl.outputs == tlm.outputs);
  REQUIRE(rtl.soc.npu_jobs.size() == tlm.soc.npu_jobs.size());
  std::uint64_t rtl_cycles = 0, tlm_cycles = 0;
  for (const auto& job : rtl.soc.npu_jobs) rtl_cycles += job.cycles;
  for (const auto& job : tlm.soc.npu_jobs) tlm_cycles += job.cycles;
  INFO("RTL " << rtl_cycles << " cycles, formulas " << tlm_cycles);
  CHECK(std::abs(static_cast<double>(rtl_cycles) / static_cast<double>(tlm_cycles) - 1) < 0.01);
}

TEST_CASE("the RTL engine is refused aloud where there is none") {
  const auto run = [](std::vector<std::string> more) {
    std::vector<std::string> args = {"run", test::project_file("workloads/ecg/ecg_beats.tflite"),
                                     "--set", "npu.engine=rtl"};
    args.insert(args.end(), more.begin(), more.end());
    return test::run_deputy(args);
  };
  const auto shape = run({"--set", "npu.mac.oc_lanes=16"});
  CHECK(shape.exit_code == 4);
  CHECK_THAT(shape.err, Contains("npu.engine = rtl"));
  const auto word = test::run_deputy(
      {"run", test::project_file("workloads/ecg/ecg_beats.tflite"), "--set", "npu.engine=verilog"});
  CHECK(word.exit_code == 4);
  CHECK_THAT(word.err, Contains("rtl"));
  if (!have_rtl()) return;
  const auto timing = run({"--timing-only"});
  CHECK(timing.exit_code == 4);
  CHECK_THAT(timing.err, Contains("--timing-only"));
}
