#include "soc/dram/energy.h"

namespace deputy::soc::dram {

Energy energy_of(const Spec& s) {
  Energy out;
  const double tck_ns = s.tck_ps * 1e-3;
  for (const Rail* r : {&s.rail_1, &s.rail_2, &s.rail_3}) {
    const double volt = r->volt * s.devices;  // mA * V * ns = pJ
    out.activate_pj +=
        volt * tck_ns * (r->idd0 * s.trc - r->idd3n * s.tras - r->idd2n * (s.trc - s.tras));
    out.read_pj += volt * tck_ns * (r->idd4r - r->idd3n) * s.burst_ck;
    out.write_pj += volt * tck_ns * (r->idd4w - r->idd3n) * s.burst_ck;
    out.refresh_pj += volt * tck_ns * (r->idd5 - r->idd2n) * s.trfc;
    out.bank_refresh_pj +=
        volt * tck_ns * (r->idd5pb - r->idd2n) * s.trefi_pb;  // an average over the interval
    const std::array<double, kPowerStates> idle = {r->idd3n, r->idd2n, r->idd3p, r->idd2p, r->idd6};
    for (std::size_t i = 0; i < idle.size(); ++i) out.state_mw[i] += volt * idle[i];
  }
  return out;
}

Spent spent(const Spec& spec, const Counters& k) {
  const Energy e = energy_of(spec);
  const auto n = [](std::uint64_t v) { return static_cast<double>(v); };
  Spent out;
  out.commands_nj =
      (n(k.activates) * e.activate_pj + n(k.reads) * e.read_pj + n(k.writes) * e.write_pj) * 1e-3;
  out.refresh_nj = (n(k.refreshes) * e.refresh_pj + n(k.bank_refreshes) * e.bank_refresh_pj) * 1e-3;
  for (std::size_t i = 0; i < k.state.size(); ++i)  // mW * ns = pJ
    out.standby_nj += e.state_mw[i] * static_cast<double>(k.state[i]) * spec.tck_ps * 1e-6;
  return out;
}

}  // namespace deputy::soc::dram
