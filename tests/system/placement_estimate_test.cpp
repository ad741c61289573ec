// The compiler's estimates against what the simulator charges for the same steps.
#include <catch2/catch.hpp>
#include <cmath>

#include "delegate/import/tflite.h"
#include "delegate/partition/engine_cost.h"
#include "tests/system/deputy_process.h"
#include "tools/cli/common.h"
#include "workloads/networks.h"

using namespace deputy;

namespace {

struct Measured {
  delegate::Graph graph;
  delegate::CompileOptions options;
  tools::Simulation run;
};

Measured measure(const std::string& network, delegate::EnginePolicy engine) {
  tools::CommonOptions common;
  auto options = tools::simulate_options(common);
  REQUIRE(options.ok());
  options->engine = engine;
  options->timing_only = true;
  auto graph = workloads::build_network(network);
  REQUIRE(graph.ok());
  auto run = tools::simulate(*graph, *options, {});
  INFO((run.ok() ? "" : run.error().text()));
  REQUIRE(run.ok());
  return {std::move(*graph), tools::compile_options(*options), std::move(*run)};
}

double duration(const Measured& m, std::size_t step) {
  const auto& record = m.run.inference.steps[step];
  return static_cast<double>(record.end_ps - record.start_ps);
}

}  // namespace

TEST_CASE("the estimate of the CPU's steps is what the simulated host is charged") {
  for (const char* name : {"ds_cnn", "temponet"}) {
    const Measured m = measure(name, delegate::EnginePolicy::kCpu);
    for (std::size_t s = 0; s < m.run.executable.steps.size(); ++s) {
      const auto& op = m.graph.ops[m.run.executable.steps[s].source_op];
      INFO(name << " " << delegate::op_label(m.graph, op));
      const auto estimate = static_cast<double>(delegate::cpu_cost(m.graph, op, m.options));
      CHECK(std::abs(estimate - duration(m, s)) <= 0.03 * duration(m, s));
    }
  }
}

TEST_CASE("the estimate of one operator on the NPU, launch and boundaries included") {
  // One operator a program: every other one on the CPU.
  for (const char* name : {"ds_cnn", "resnet8", "temponet"}) {
    tools::CommonOptions common;
    auto options = tools::simulate_options(common);
    REQUIRE(options.ok());
    options->timing_only = true;
    options->optimisations.compression = false;
    auto graph = workloads::build_network(name);
    REQUIRE(graph.ok());
    double estimated = 0, simulated = 0;
    for (std::size_t i = 0; i < graph->ops.size(); i += 3) {
      options->placement.rules = {{"#" + std::to_string(i), delegate::Target::kNpu, false}};
      options->engine = delegate::EnginePolicy::kCpu;
      const auto run = tools::simulate(*graph, *options, {});
      if (!run.ok() || run->executable.programs.empty()) continue;  // not on the NPU, or no work
      const auto compile = tools::compile_options(*options);
      delegate::TilingCache tilings;
      const auto& op = graph->ops[i];
      const auto& steps = run->executable.steps;
      for (std::size_t s = 0; s < steps.size(); ++s) {
        if (steps[s].kind != arch::StepKind::kNpu) continue;
        double cost = static_cast<double>(delegate::npu_cost(*graph, op, compile, tilings) +
                                          delegate::npu_launch_cost(compile));
        for (const std::uint32_t id : steps[s].inputs)
          cost += static_cast<double>(delegate::boundary_call_cost(compile) +
                                      delegate::boundary_byte_cost(compile) *
                                          run->executable.tensors[id].desc.bytes());
        const auto& record = run->inference.steps[s];
        const double ps = static_cast<double>(record.end_ps - record.start_ps);
        INFO(name << " " << delegate::op_label(*graph, op) << ": " << cost / 1e6
                  << " us estimated, " << ps / 1e6 << " simulated");
        CHECK(cost > 0.6 * ps);
        CHECK(cost < 1.7 * ps);
        estimated += cost, simulated += ps;
      }
    }
    CAPTURE(name, estimated, simulated);
    CHECK(simulated > 0);
    CHECK(std::abs(estimated - simulated) < 0.2 * simulated);
  }
}
