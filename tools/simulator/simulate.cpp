#include "deputy/simulate.h"

#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <optional>

#include "api/handles.h"
#include "soc/books.h"
#include "soc/platform.h"
#include "tools/simulator/target.h"

// The SystemC library wants one, as the main function of programs that have none. Weak: a program
// may have its own.
extern "C" __attribute__((weak)) int sc_main(int, char**) { return 0; }

namespace deputy {
namespace {

base::Result<soc::SocConfig> load_soc(const std::string& soc,
                                      const std::vector<std::string>& sets) {
  DEPUTY_ASSIGN(const auto path, tools::find_soc(soc));
  return soc::load_soc_config(path, sets);
}

SimulationReport report_of(const soc::RunRecord& record) {
  SimulationReport out;
  out.end_ps = record.end_ps;
  for (const auto& [component, nj] : record.energy_nj) out.energy_nj += nj;
  out.counters = record.counters;
  for (const sim::FaultEvent& e : record.fault_events)
    out.faults.push_back(
        fmt::format("{} at {}, {:.3f} us", e.kind, e.target, static_cast<double>(e.time_ps) / 1e6));
  return out;
}

}  // namespace

base::Result<Target> soc_target(const std::string& soc, const std::vector<std::string>& sets) {
  DEPUTY_ASSIGN(const auto config, load_soc(soc, sets));
  return tools::make_target(config);
}

base::Result<SimulationReport> simulate(
    const std::string& soc, const SimulationOptions& options,
    const std::function<base::Status(HwPort&, const Target&)>& program) {
  DEPUTY_ASSIGN(const auto config, load_soc(soc, options.sets));
  DEPUTY_ASSIGN(const auto target, tools::make_target(config));
  soc::PlatformOptions with;
  with.timing_only = options.timing_only;
  if (!options.fault_plan.empty()) {
    DEPUTY_ASSIGN(with.faults, sim::load_fault_plan(options.fault_plan));
  }
  static std::atomic_flag running;
  if (running.test_and_set())
    return base::Error{base::ErrorKind::kBusy, soc, "another simulation runs in this process",
                       "let it end first"};
  struct Done {
    ~Done() { running.clear(); }
  } done;
  soc::Platform platform(config, with);
  const soc::RunOutcome outcome = platform.run_to_end([&](HwPort& port) -> base::Status {
    base::Status status = program(port, target);
    const bool open = api::forget_port(port);
    if (!status.ok()) return status;
    if (open)
      return api::bad_argument(soc, "the program has returned, but a device of its is still open",
                               "let go of every handle that was made from the port");
    return {};
  });
  if (!outcome.status.ok()) return outcome.status.error();
  DEPUTY_TRY(soc::balanced(soc, outcome.record.imbalances));
  return report_of(outcome.record);
}

}  // namespace deputy
