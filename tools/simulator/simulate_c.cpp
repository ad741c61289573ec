// The simulated SoC for C.
#include <fmt/format.h>

#include "api/c/handles.h"
#include "deputy/simulate.h"

using namespace deputy;
using namespace deputy::api::c;

extern "C" {

void deputy_simulation_options_init(deputy_simulation_options* options) {
  if (!options) return;
  *options = {};
  options->struct_bytes = sizeof *options;
}

deputy_status deputy_simulate(const char* soc, const deputy_simulation_options* options,
                              deputy_program program, void* user,
                              deputy_simulation_report* report) {
  deputy_status own = DEPUTY_OK;  // the program's, which has told its text already
  const deputy_status status = guarded([&]() -> base::Status {
    DEPUTY_C_NEED(soc);
    DEPUTY_C_NEED(program);
    DEPUTY_ASSIGN(const auto o, options_or_default(options, deputy_simulation_options_init));
    DEPUTY_TRY(check_list(o.sets, o.set_count, "sets"));
    SimulationOptions with;
    if (o.sets) with.sets.assign(o.sets, o.sets + o.set_count);
    if (o.fault_plan) with.fault_plan = o.fault_plan;
    with.timing_only = o.timing_only != 0;
    DEPUTY_ASSIGN(
        const auto done,
        simulate(soc, with, [&](HwPort& port, const Target& target) -> base::Status {
          deputy_port door{&port};
          const deputy_target about{target};
          own = program(&door, &about, user);
          if (own == DEPUTY_OK) return {};
          return base::Error{base::ErrorKind::kHardwareFault, "program", deputy_last_error(), ""};
        }));
    if (report) *report = {done.end_ps, done.energy_nj, done.counters.at("faults.injected")};
    return {};
  });
  return own != DEPUTY_OK ? own : status;
}

}  // extern "C"
