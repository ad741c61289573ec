#include "tools/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "soc/books.h"
#include "tools/report.h"
#include "tools/split.h"

namespace deputy::tools {
namespace {

std::vector<std::string> switch_names() {
  std::vector<std::string> out;
  const delegate::Optimisations all;
  delegate::Optimisations::fields(
      all, [&](bool, const base::Field& field) { out.push_back(std::string("no-") + field.name); });
  return out;
}

CompareRun measured(const std::string& name, const Report& report) {
  CompareRun run;
  run.name = name;
  run.latency_ns = report.latency_ns, run.energy_nj = report.total_energy_nj;
  run.npu_cycles = report.npu_cycles;
  const auto bytes = [&](const char* memory) {
    const auto it = report.memory_bytes.find(memory);
    return it == report.memory_bytes.end() ? 0 : it->second.read_bytes + it->second.write_bytes;
  };
  run.dram_bytes = bytes("dram"), run.sram_bytes = bytes("sram");
  const auto counter = [&](const char* counter_name) {
    const auto it = report.counters.find(counter_name);
    return it == report.counters.end() ? 0 : it->second;
  };
  run.launches = counter("npu.jobs"), run.instructions = counter("npu.instructions");
  return run;
}

}  // namespace

void switch_off(delegate::Optimisations& optimisations, const std::string& name) {
  delegate::Optimisations::fields(optimisations, [&](bool& on, const base::Field& field) {
    if (name == std::string("no-") + field.name) on = false;
  });
}

base::Result<std::vector<std::string>> parse_switches(const std::string& list) {
  const std::vector<std::string> legal = switch_names();
  if (list == "all") return legal;
  std::vector<std::string> out;
  for (const std::string& name : split(list, ',')) {
    if (std::find(legal.begin(), legal.end(), name) == legal.end()) {
      std::string names = "all";
      for (const auto& l : legal) names += ", " + l;
      return base::Error{base::ErrorKind::kUsage, "--compare",
                         fmt::format("'{}' is not a switch", name), "use some of " + names};
    }
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  }
  if (out.empty())
    return base::Error{base::ErrorKind::kUsage, "--compare", "names no switch",
                       "for example --compare no-fusion,no-cascade, or --compare all"};
  return out;
}

base::Result<Comparison> compare(const delegate::Graph& graph, const SimulateOptions& options,
                                 const std::vector<std::string>& switches,
                                 const std::vector<std::vector<std::uint8_t>>& inputs) {
  Comparison out;
  out.outputs_checked = !options.timing_only;
  std::vector<std::string> names = {"baseline"};
  names.insert(names.end(), switches.begin(), switches.end());
  std::vector<std::vector<std::uint8_t>> expected;
  for (const auto& name : names) {
    SimulateOptions with = options;
    switch_off(with.optimisations, name);
    DEPUTY_ASSIGN(auto simulation, simulate(graph, with, inputs));
    const Report report = make_report(simulation, with);
    DEPUTY_TRY(soc::balanced(name, report.imbalances));
    out.runs.push_back(measured(name, report));
    if (out.runs.size() == 1) expected = simulation.outputs;
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (simulation.outputs[i] != expected[i])
        return base::Error{base::ErrorKind::kMismatch, name,
                           fmt::format("output {} differs from the baseline's", i),
                           "this is a defect of the compiler; please report it"};
  }
  return out;
}

}  // namespace deputy::tools
