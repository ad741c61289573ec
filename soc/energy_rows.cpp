#include "soc/energy_rows.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace deputy::soc {

sim::EnergyTable effective_rows(const SocConfig& config) {
  sim::EnergyTable e = config.energy;
  const double v = config.power.reference_volts > 0 && config.power.volts > 0
                       ? config.power.volts / config.power.reference_volts
                       : 1;
  const auto dynamic = [&](auto&... row) { ((row *= v * v), ...); };
  dynamic(e.npu_mac_pj, e.npu_vec_pj, e.npu_spm_read_byte_pj, e.npu_spm_write_byte_pj,
          e.npu_decode_byte_pj, e.npu_cycle_pj, e.npu_wake_pj);
  e.npu_static_mw *= v;
  if (config.power.rail != "soc") return e;
  dynamic(e.sram_read_byte_pj, e.sram_write_byte_pj, e.sram_wake_pj, e.noc_byte_pj, e.host_cycle_pj,
          e.host_wake_pj);
  dynamic(e.dsp_cycle_pj, e.dsp_scalar_pj, e.dsp_vector_pj, e.dsp_mac_pj, e.dsp_tcm_read_byte_pj,
          e.dsp_tcm_write_byte_pj, e.dsp_wake_pj);
  e.dsp_static_mw *= v;
  e.sram_static_mw_per_mib *= v;
  e.host_static_mw *= v;
  return e;
}

double sram_static_mw(const SocConfig& config, const sim::EnergyTable& rows) {
  return rows.sram_static_mw_per_mib * static_cast<double>(config.sram.bytes) / 1048576.0;
}

std::uint64_t npu_period_ps(const SocConfig& config) {
  return static_cast<std::uint64_t>(std::llround(1e6 / config.npu.clock_mhz));
}

std::tuple<const char*, double, std::uint64_t> wake_row(const SocConfig& config,
                                                        const sim::EnergyTable& rows,
                                                        const std::string& block) {
  if (block == "npu") return {"npu.wake", rows.npu_wake_pj, us_to_ps(config.power.npu.wake_us)};
  if (block == "sram") return {"sram.wake", rows.sram_wake_pj, us_to_ps(config.power.sram.wake_us)};
  if (block == "dsp") return {"dsp.wake", rows.dsp_wake_pj, us_to_ps(config.power.dsp.wake_us)};
  DEPUTY_CHECK(block == "host", "a block without a power switch");
  return {"host.wake", rows.host_wake_pj, us_to_ps(config.power.host.wake_us)};
}

bool moves_with_bytes(const std::string& component) {
  for (const char* time : {"static", "background", "standby", "refresh", "sleep", "power_down"})
    if (component.find(time) != std::string::npos) return false;
  return true;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> idle_spans(const RunRecord& record) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  for (const auto& job : record.npu_jobs) taken.emplace_back(job.start_ps, job.end_ps);
  if (const auto it = record.power_off.find("npu"); it != record.power_off.end())
    taken.insert(taken.end(), it->second.spans.begin(), it->second.spans.end());
  std::sort(taken.begin(), taken.end());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
  std::uint64_t from = 0;
  taken.emplace_back(record.end_ps, record.end_ps);
  for (const auto& [start, end] : taken) {
    if (start > from) out.emplace_back(from, start);
    from = std::max(from, end);
  }
  return out;
}

std::vector<SleepPower> sleep_power(const SocConfig& config) {
  const sim::EnergyTable e = effective_rows(config);
  const auto block = [&](const char* name, double mw, double share, const GateConfig& gate) {
    return gate.gating ? SleepPower{name, mw, mw * share, us_to_ps(gate.idle_us)}
                       : SleepPower{name, mw, mw, 0};
  };
  std::vector<SleepPower> out = {
      block("npu", e.npu_static_mw, e.npu_gated_share, config.power.npu),
      block("sram", sram_static_mw(config, e), e.sram_retention_share, config.power.sram),
      block("host", e.host_static_mw, e.host_sleep_share, config.power.host),
      {"dram", e.dram_static_mw, e.dram_sleep_mw, 0}};
  if (config.dsp.present)
    out.push_back(block("dsp", e.dsp_static_mw, e.dsp_gated_share, config.power.dsp));
  return out;
}

}  // namespace deputy::soc
