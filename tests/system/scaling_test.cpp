// Time responds as hardware would: more MACs help what computes and leave alone what waits for
// weights.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/system/deputy_process.h"
#include "tools/cli/common.h"
#include "tools/report.h"
#include "workloads/networks.h"

using namespace deputy;

namespace {

double npu_cycles(const std::string& network, const std::vector<std::string>& sets) {
  tools::CommonOptions common;
  common.soc = test::project_file("configs/soc/wearable.yaml");
  common.sets = sets;
  auto options = tools::simulate_options(common);
  REQUIRE(options.ok());
  options->timing_only = true;
  // One operator a kernel: this is about how the hardware responds, and a fused pool takes away
  // time that does not depend on the MACs.
  options->optimisations.fusion = false;
  auto graph = workloads::build_network(network);
  REQUIRE(graph.ok());
  auto inputs = tools::load_inputs(*graph, {}, 1);
  auto simulation = tools::simulate(*graph, *options, *inputs);
  REQUIRE(simulation.ok());
  return static_cast<double>(tools::make_report(*simulation, *options).npu_cycles);
}

}  // namespace

TEST_CASE("128 to 256 MACs speeds up convolution nets by 1.3x to 2x") {
  for (const char* network : {"ds_cnn", "mobilenet_v1_025_96", "resnet8"}) {
    const double ratio = npu_cycles(network, {}) / npu_cycles(network, {"npu.mac.oc_lanes=16"});
    INFO(network << " " << ratio);
    CHECK(ratio >= 1.3);
    CHECK(ratio <= 2.0);
  }
}

TEST_CASE("128 to 256 MACs leaves the dense autoencoder alone") {
  const double ratio =
      npu_cycles("autoencoder", {}) / npu_cycles("autoencoder", {"npu.mac.oc_lanes=16"});
  CHECK(ratio >= 0.98);
  CHECK(ratio <= 1.05);
}
