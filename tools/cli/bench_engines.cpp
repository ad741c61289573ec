// deputy bench engines: what operators and kernels cost on CPU, DSP and NPU, and what is chosen.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "tools/engine_bench.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

std::string cell(const std::optional<EngineCost>& cost) {
  return cost ? fmt::format("{} / {:.2f} us / {:.1f} nJ", cost->cycles, cost->us, cost->nj) : "-";
}
nlohmann::ordered_json json_of(const std::optional<EngineCost>& cost) {
  if (!cost) return nullptr;
  return {{"cycles", cost->cycles}, {"us", cost->us}, {"nj", cost->nj}};
}

base::Status bench(const CommonOptions& common, const EngineBenchCommand& command) {
  DEPUTY_ASSIGN(const SimulateOptions options, simulate_options(common));
  DEPUTY_ASSIGN(const auto operators, measure_operators(options));
  DEPUTY_ASSIGN(const auto kernels, measure_kernels(options.soc));
  nlohmann::ordered_json json = {{"soc", options.soc.name}};
  Table table(
      {"operator", ">CPU cycles / time / energy", ">DSP", ">NPU", "fastest", "chosen", ">excess"});
  for (const OperatorRow& r : operators) {
    table.row({r.what, cell(r.cpu), cell(r.dsp), cell(r.npu), r.fastest(), r.chosen,
               fmt::format("{:.1f} %", 100 * r.excess())});
    json["operators"].push_back({{"operator", r.what},
                                 {"cpu", json_of(r.cpu)},
                                 {"dsp", json_of(r.dsp)},
                                 {"npu", json_of(r.npu)},
                                 {"fastest", r.fastest()},
                                 {"chosen", r.chosen},
                                 {"equal_outputs", r.equal_outputs}});
    if (!r.equal_outputs)
      return base::Error{base::ErrorKind::kMismatch, r.what, "the engines' outputs differ", ""};
  }
  Table beside({"kernel", ">CPU cycles / time / energy", ">DSP", ">CPU / DSP time", ">energy"});
  for (const KernelRow& r : kernels) {
    beside.row({r.what, cell(r.cpu), cell(r.dsp), fmt::format("{:.1f}", r.cpu.us / r.dsp.us),
                fmt::format("{:.1f}", r.cpu.nj / r.dsp.nj)});
    json["kernels"].push_back(
        {{"kernel", r.what}, {"cpu", json_of(r.cpu)}, {"dsp", json_of(r.dsp)}});
  }
  const std::string text = fmt::format(
      "{}: operators as networks of their own, launch and hand-over included\n\n{}\n"
      "kernels with their data in place; the CPU by what host.* charges for their operations\n\n{}",
      options.soc.name, table.text(), beside.text());
  return give_results(command.json, command.report, json_text("deputy-bench-engines-1", json),
                      text);
}

}  // namespace

int engine_bench_command(const CommonOptions& common, const EngineBenchCommand& command) {
  return finish(bench(common, command));
}

}  // namespace deputy::tools
