#include "tools/battery.h"

#include <fmt/format.h>

#include <algorithm>

#include "soc/energy_rows.h"

namespace deputy::tools {

base::Result<BatteryLife> battery_life(const soc::SocConfig& soc, double active_ns,
                                       double active_nj) {
  const soc::BatteryConfig& b = soc.battery;
  BatteryLife out{b.mah, b.volts, b.efficiency, b.period_ms};
  out.active_ms = active_ns * 1e-6;
  out.active_uj = active_nj * 1e-3;
  if (out.active_ms > out.period_ms)
    return base::Error{base::ErrorKind::kConfig, "battery.period_ms",
                       fmt::format("{} ms are too short for an inference of {:.3f} ms",
                                   out.period_ms, out.active_ms),
                       "use a longer period or a faster operating point"};
  out.duty = out.active_ms / out.period_ms;
  const double rest_ms = out.period_ms - out.active_ms;
  for (const soc::SleepPower& block : soc::sleep_power(soc)) {
    const double on_ms = std::min(rest_ms, static_cast<double>(block.idle_ps) * 1e-9);
    out.idle_uj += block.on_mw * on_ms + block.sleep_mw * (rest_ms - on_ms);  // mW x ms = uJ
    out.sleep_mw += block.sleep_mw;
  }
  out.average_mw = (out.active_uj + out.idle_uj) / out.period_ms;
  out.hours = out.average_mw > 0 ? out.mah * out.volts * out.efficiency / out.average_mw
                                 : 0;  // mAh x V = mWh
  return out;
}

}  // namespace deputy::tools
