// deputy bench: how fast the simulator is.
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "tools/json_text.h"
#include "tools/report.h"
#include "tools/table.h"
#include "workloads/networks.h"

namespace deputy::tools {
namespace {

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

struct Speed {
  double wall_ms = 1e300;
  Report report;
};

base::Result<Speed> measure(const arch::Executable& executable,
                            const std::vector<std::uint8_t>& file, const SimulateOptions& options,
                            int runs, const std::vector<std::vector<std::uint8_t>>& inputs) {
  Speed best;
  for (int i = 0; i < runs; ++i) {
    DEPUTY_ASSIGN(auto s, simulate_executable(file, executable.model_name, options, inputs));
    if (s.inference_wall_ms >= best.wall_ms) continue;
    best.wall_ms = s.inference_wall_ms;
    best.report = make_report(s, options);
  }
  return best;
}

base::Status bench(const CommonOptions& common, const BenchCommand& command) {
  DEPUTY_ASSIGN(auto options, simulate_options(common));
  std::vector<std::string> names = command.models;
  if (names.empty())
    for (const auto& info : workloads::networks()) names.push_back(info.name);
  Table table({"network", ">compile ms", ">function+timing ms", ">timing-only ms", ">MMAC/s",
               ">Mcycle/s", ">events"});
  auto rows = nlohmann::ordered_json::array();
  Progress progress;
  for (const auto& name : names) {
    progress.show(name);
    const bool file_name = name.find('.') != std::string::npos;
    DEPUTY_ASSIGN(auto graph, file_name ? load_model(name) : workloads::build_network(name));
    const double start = cpu_seconds();
    DEPUTY_ASSIGN(auto executable, delegate::compile(graph, compile_options(options)));
    const double compile_ms = (cpu_seconds() - start) * 1000;
    const auto file = arch::write_executable(executable);
    DEPUTY_ASSIGN(auto inputs, load_inputs(graph, {}, 1));
    SimulateOptions mode = options;
    DEPUTY_ASSIGN(auto full, measure(executable, file, mode, command.runs, inputs));
    mode.timing_only = true;
    DEPUTY_ASSIGN(auto timing, measure(executable, file, mode, command.runs, inputs));
    const double seconds = full.wall_ms / 1000;
    rows.push_back({{"network", graph.name},
                    {"compile_ms", compile_ms},
                    {"wall_ms", full.wall_ms},
                    {"timing_only_wall_ms", timing.wall_ms},
                    {"macs", full.report.macs},
                    {"npu_cycles", full.report.npu_cycles},
                    {"kernel_events", full.report.kernel_events}});
    table.row({graph.name, fmt::format("{:.1f}", compile_ms), fmt::format("{:.2f}", full.wall_ms),
               fmt::format("{:.2f}", timing.wall_ms),
               fmt::format("{:.1f}", static_cast<double>(full.report.macs) / seconds / 1e6),
               fmt::format("{:.2f}", static_cast<double>(full.report.npu_cycles) / seconds / 1e6),
               std::to_string(full.report.kernel_events)});
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  if (command.json) {
    fmt::print("{}", json_text("deputy-bench-1", {{"runs", command.runs},
                                                  {"peak_kib", usage.ru_maxrss},
                                                  {"networks", rows}}));
    return {};
  }
  fmt::print("{}\n  fastest of {} runs each; peak memory {:.1f} MB\n", table.text(), command.runs,
             static_cast<double>(usage.ru_maxrss) / 1000);
  return {};
}

}  // namespace

int bench_command(const CommonOptions& common, const BenchCommand& command) {
  return finish(bench(common, command));
}

}  // namespace deputy::tools
