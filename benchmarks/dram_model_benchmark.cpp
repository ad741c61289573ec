// What the full DRAM model costs: the wall time of a network's simulation with it over that with
// the simple one. The two run in turns, so that whatever else the machine does hits both; the ratio
// is of the fastest runs.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <limits>

#include "soc/dram/controller.h"
#include "soc/dram/measure.h"
#include "tests/support/source_dir.h"
#include "tools/cli/common.h"
#include "tools/report.h"
#include "workloads/networks.h"

namespace {

using namespace deputy;

void models(benchmark::State& state, const std::string& network, bool timing_only) {
  struct Side {
    tools::SimulateOptions options;
    std::vector<std::uint8_t> file;
    double best = std::numeric_limits<double>::max();
  } sides[2];
  auto graph = workloads::build_network(network);
  if (!graph.ok()) return state.SkipWithError("cannot build the network");
  auto inputs = tools::load_inputs(*graph, {}, 1);
  if (!inputs.ok()) return state.SkipWithError("no inputs");
  for (int i = 0; i < 2; ++i) {
    tools::CommonOptions common;
    common.soc = tests::source_dir() + "/configs/soc/wearable.yaml";
    common.sets = {i == 0 ? "dram.model=simple" : "dram.model=full"};
    auto options = tools::simulate_options(common);
    if (!options.ok()) return state.SkipWithError(options.error().text().c_str());
    options->timing_only = timing_only;
    auto executable = delegate::compile(*graph, tools::compile_options(*options));
    if (!executable.ok()) return state.SkipWithError("cannot compile the network");
    sides[i].file = arch::write_executable(*executable);
    sides[i].options = *options;
  }
  double bursts = 0;
  for (auto _ : state) {
    double sum = 0;
    for (Side& side : sides) {
      auto s = tools::simulate_executable(side.file, network, side.options, *inputs);
      if (!s.ok()) return state.SkipWithError(s.error().text().c_str());
      side.best = std::min(side.best, s->inference_wall_ms);
      sum += s->inference_wall_ms;
      bursts = static_cast<double>(s->soc.dram.reads + s->soc.dram.writes);
    }
    state.SetIterationTime(sum / 1000);
  }
  state.counters["simple_ms"] = sides[0].best;
  state.counters["full_ms"] = sides[1].best;
  state.counters["ratio"] = sides[1].best / sides[0].best;
  state.counters["bursts"] = bursts;
}

const int kRegistered = [] {
  for (const auto& info : workloads::networks())
    for (const bool timing_only : {false, true})
      benchmark::RegisterBenchmark(
          ("dram_model/" + info.name + (timing_only ? "/timing" : "/full")).c_str(),
          [name = info.name, timing_only](benchmark::State& state) {
            models(state, name, timing_only);
          })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
  return 0;
}();

// The controller alone, in bursts a second: a stream, and random bursts with a full window.
void controller(benchmark::State& state, const char* quantity, double bursts) {
  const auto spec = soc::dram::load_spec(tests::source_dir() + "/configs/dram/lpddr4-3200.yaml");
  if (!spec.ok()) return state.SkipWithError("no device");
  for (auto _ : state) benchmark::DoNotOptimize(soc::dram::measure(*spec, {}, quantity));
  state.counters["bursts/s"] = benchmark::Counter(bursts * static_cast<double>(state.iterations()),
                                                  benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(controller, stream, "read_stream", 20000.0 * 16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(controller, random, "random_bursts", 20000.0)->Unit(benchmark::kMillisecond);

}  // namespace
