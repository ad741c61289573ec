// What the devices give, as the validation table measures it; figures from outside and their bounds
// are checked with it
// (`deputy validate`). Here: what follows from the rows in closed form.
#include <fmt/format.h>

#include "soc/dram/energy.h"
#include "soc/dram/measure.h"
#include "tests/dram/traffic.h"

namespace deputy::dram_test {

TEST_CASE("measurements stay below what the rows allow") {
  for (const std::string& name : kDevices) {
    const Spec s = device(name);
    INFO(name);
    const double refresh = 1 - static_cast<double>(s.trfc) / s.trefi;
    const double activates = std::min(1.0, 4.0 * s.burst_ck / std::max(s.tfaw, 4 * s.trrd_s));
    const double stream = *measure(s, {}, "read_stream"), random = *measure(s, {}, "random_bursts"),
                 mixed = *measure(s, {}, "mixed_stream");
    fmt::print(
        "dram full {}: stream {:.1f} %, two reads to a write {:.1f} %, random bursts {:.1f} % of "
        "peak\n",
        name, stream, mixed, random);
    CHECK(stream <= 100 * refresh + 1);  // the last refreshes are put off
    CHECK(stream >= 96 * refresh);
    CHECK(random <= 100 * activates * refresh + 1);
    CHECK(random >= 80 * activates * refresh);
    CHECK(mixed < stream);
    ControllerConfig in_order;
    in_order.overtakes = 0;
    CHECK(*measure(s, in_order, "random_bursts") < 0.5 * random);  // what reordering is for
    CHECK(sustained_mb_per_s(s, {}, kBytes) < stream / 100 * s.peak_mb_per_s());
    CHECK(sustained_mb_per_s(s, {}, kBytes) > 0.5 * s.peak_mb_per_s());
  }
  CHECK(!measure(device("ddr4-2400"), {}, "idle"));
}

TEST_CASE("energy by hand: LPDDR4-3200 from its currents") {
  const Energy e = energy_of(device("lpddr4-3200"));
  // VDD2: 245 mA for 8 clocks of 0.625 ns at 1.1 V; VDDQ: 149.25 mA likewise; 256 bits.
  CHECK(e.read_pj == Approx((245 + 149.25) * 1.1 * 5));
  CHECK(e.write_pj == Approx((180 + 54.25) * 1.1 * 5));
  CHECK(e.activate_pj == Approx(0.625 * (1.8 * (3.5 * 97 - 2.25 * 68 - 2 * 29) +
                                         1.1 * (45 * 97 - 30 * 68 - 27 * 29))));
  CHECK(e.refresh_pj == Approx(280 * (1.8 * 8 + 1.1 * 63)));
  CHECK(e.state_mw[0] == Approx(1.8 * 2.25 + 1.1 * 30.75));
  CHECK(e.state_mw[4] == Approx(1.8 * 0.3 + 1.1 * 0.6));
  // DDR4: eight devices.
  CHECK(energy_of(device("ddr4-2400")).read_pj == Approx(8 * 92 * 1.2 * 4 * 0.833));
  // What is spent is the sum of what happened.
  Counters k;
  k.activates = 3, k.reads = 5, k.writes = 7, k.refreshes = 2;
  k.state[1] = 1000;
  const Spent s = spent(device("lpddr4-3200"), k);
  CHECK(s.commands_nj == Approx((3 * e.activate_pj + 5 * e.read_pj + 7 * e.write_pj) / 1000));
  CHECK(s.refresh_nj == Approx(2 * e.refresh_pj / 1000));
  CHECK(s.standby_nj == Approx(e.state_mw[1] * 625 / 1000));
}

}  // namespace deputy::dram_test
