// deputy bench sram-sweep: what SRAM buys.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "tools/json_text.h"
#include "tools/report.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

struct SweepPoint {
  std::int64_t kib = 0;
  std::uint64_t used = 0, map_bytes = 0, weight_bytes = 0, cycles = 0;
};

base::Result<std::vector<SweepPoint>> sweep(const CommonOptions& common,
                                            const SweepCommand& command) {
  DEPUTY_ASSIGN(auto options, simulate_options(common));
  options.timing_only = true;
  DEPUTY_ASSIGN(auto graph, load_model(command.model));
  DEPUTY_ASSIGN(auto inputs, load_inputs(graph, {}, 1));
  std::vector<SweepPoint> out;
  Progress progress;
  for (const std::int64_t kib : command.kib) {
    progress.show(fmt::format("{} KiB", kib));
    options.sram_limit = static_cast<std::uint64_t>(kib) * 1024;
    if (options.sram_limit > static_cast<std::uint64_t>(options.soc.sram.bytes))
      return base::Error{base::ErrorKind::kUsage, "--kib",
                         fmt::format("{} KiB are more than the SoC's SRAM of {} bytes", kib,
                                     options.soc.sram.bytes),
                         "use a smaller limit, or --set sram.bytes=..."};
    DEPUTY_ASSIGN(auto simulation, simulate(graph, options, inputs));
    const Report report = make_report(simulation, options);
    out.push_back({kib, simulation.executable.fast_arena_bytes, report.dram_map_bytes,
                   report.dram_weight_bytes, report.npu_cycles});
  }
  return out;
}

bool never_rises(const std::vector<SweepPoint>& points, std::uint64_t SweepPoint::*member) {
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].*member > points[i - 1].*member) return false;
  return true;
}

double cut(const std::vector<SweepPoint>& points, std::uint64_t SweepPoint::*member) {
  const auto first = static_cast<double>(points.front().*member);
  return first > 0 ? 1 - static_cast<double>(points.back().*member) / first : 0;
}

base::Status print_sweep(const CommonOptions& common, const SweepCommand& command) {
  DEPUTY_ASSIGN(auto points, sweep(common, command));
  const bool maps_fall = never_rises(points, &SweepPoint::map_bytes),
             cycles_fall = never_rises(points, &SweepPoint::cycles);
  if (command.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const SweepPoint& p : points)
      rows.push_back({{"sram_kib", p.kib},
                      {"sram_used", p.used},
                      {"dram_map_bytes", p.map_bytes},
                      {"dram_weight_bytes", p.weight_bytes},
                      {"npu_cycles", p.cycles}});
    const nlohmann::ordered_json all = {{"points", rows},
                                        {"map_bytes_never_rise", maps_fall},
                                        {"cycles_never_rise", cycles_fall},
                                        {"map_bytes_cut", cut(points, &SweepPoint::map_bytes)}};
    fmt::print("{}", json_text("deputy-bench-sram-sweep-1", all));
    return {};
  }
  Table table({">SRAM KiB", ">used", ">feature maps in DRAM MB", ">weights MB", ">NPU cycles"});
  for (const SweepPoint& p : points)
    table.row({std::to_string(p.kib), std::to_string(p.used),
               fmt::format("{:.3f}", static_cast<double>(p.map_bytes) / 1e6),
               fmt::format("{:.3f}", static_cast<double>(p.weight_bytes) / 1e6),
               std::to_string(p.cycles)});
  fmt::print("{}\n  feature-map bytes {} by {:.1f} %; cycles {} by {:.1f} %\n", table.text(),
             maps_fall ? "never rise and fall" : "RISE in between and fall",
             100 * cut(points, &SweepPoint::map_bytes),
             cycles_fall ? "never rise and fall" : "RISE in between and fall",
             100 * cut(points, &SweepPoint::cycles));
  return {};
}

}  // namespace

int sram_sweep_command(const CommonOptions& common, const SweepCommand& options) {
  return finish(print_sweep(common, options));
}

}  // namespace deputy::tools
