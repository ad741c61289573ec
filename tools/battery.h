// How long a battery lasts when one inference is computed every so often and the SoC sleeps
// between.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "soc/soc_config.h"

namespace deputy::tools {

struct BatteryLife {
  double mah = 0, volts = 0, efficiency = 1, period_ms = 0;
  double active_ms = 0, active_uj = 0;  ///< of one inference
  double idle_uj = 0;                   ///< of the rest of a period: on for a while, then asleep
  double sleep_mw = 0;                  ///< once everything that can be switched off is
  double duty = 0, average_mw = 0, hours = 0;
};

/// One inference takes `active_ns` and `active_nj`. An error when it does not fit into the period.
base::Result<BatteryLife> battery_life(const soc::SocConfig& soc, double active_ns,
                                       double active_nj);

}  // namespace deputy::tools
