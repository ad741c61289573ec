// Whole networks through the whole stack: rates of simulated MACs and cycles per second of one
// core.
#include <benchmark/benchmark.h>

#include "tests/support/source_dir.h"
#include "tools/cli/common.h"
#include "tools/report.h"
#include "workloads/networks.h"

// libsystemc refers to it; the benchmark library's main() is used instead.
extern "C" int sc_main(int, char**) { return 0; }

namespace {

using namespace deputy;

void run_network(benchmark::State& state, const std::string& name, bool timing_only) {
  tools::CommonOptions common;
  common.soc = tests::source_dir() + "/configs/soc/wearable.yaml";
  auto options = tools::simulate_options(common);
  auto graph = workloads::build_network(name);
  if (!options.ok() || !graph.ok()) return state.SkipWithError("cannot build the network");
  options->timing_only = timing_only;
  auto executable = delegate::compile(*graph, tools::compile_options(*options));
  auto inputs = tools::load_inputs(*graph, {}, 1);
  if (!executable.ok() || !inputs.ok()) return state.SkipWithError("cannot compile the network");
  const auto file = arch::write_executable(*executable);
  double macs = 0, cycles = 0, seconds = 0;
  for (auto _ : state) {
    auto s = tools::simulate_executable(file, name, *options, *inputs);
    if (!s.ok()) return state.SkipWithError(s.error().text().c_str());
    const auto report = tools::make_report(*s, *options);
    state.SetIterationTime(report.sim_wall_ms / 1000);
    seconds += report.sim_wall_ms / 1000;
    macs += static_cast<double>(report.macs);
    cycles += static_cast<double>(report.npu_cycles);
    state.counters["kernel_events"] = static_cast<double>(report.kernel_events);
  }
  state.counters["MAC/s"] = macs / seconds;
  state.counters["cycles/s"] = cycles / seconds;
}

const int kRegistered = [] {
  for (const auto& info : workloads::networks())
    for (const bool timing_only : {false, true})
      benchmark::RegisterBenchmark((info.name + (timing_only ? "/timing" : "/full")).c_str(),
                                   [name = info.name, timing_only](benchmark::State& state) {
                                     run_network(state, name, timing_only);
                                   })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
  return 0;
}();

}  // namespace
