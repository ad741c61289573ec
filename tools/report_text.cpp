#include <fmt/format.h>

#include <algorithm>

#include "tools/report.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

// The full DRAM model: rows, bus and states; everything else it counts is in the JSON report.
std::string dram_line(const Report& r) {
  if (r.dram_device.empty()) return "";
  const auto n = [&](const char* name) {
    return static_cast<double>(r.counters.at(std::string("dram.") + name));
  };
  const double bursts = n("row_hits") + n("row_misses") + n("row_conflicts");
  const double down = n("active_down_ps") + n("precharged_down_ps"),
               awake = n("active_ps") + n("precharged_ps"),
               all = awake + down + n("self_refresh_ps");
  return fmt::format(
      "  dram         {}: {} row hits, {} closed, {} conflicts; bus {} busy, {:.0f} turnarounds; "
      "{:.0f} refreshes\n"
      "               awake {}, power-down {}, self-refresh {} of the time\n",
      r.dram_device, percent(n("row_hits"), bursts), percent(n("row_misses"), bursts),
      percent(n("row_conflicts"), bursts), percent(r.dram_utilisation, 1), n("turnarounds"),
      n("refreshes") + n("bank_refreshes"), percent(awake, all), percent(down, all),
      percent(n("self_refresh_ps"), all));
}

std::string summary(const Report& r) {
  std::string out;
  out +=
      fmt::format("  latency      {:<12} {} NPU cycles, {} host cycles{}\n",
                  human_time(r.latency_ns), r.npu_cycles, r.host_cycles,
                  r.dsp_busy_cycles > 0 ? fmt::format(", {} DSP cycles", r.dsp_busy_cycles) : "");
  out += fmt::format("  energy       {:<12} average {:.3f} mW, loading included\n",
                     human_energy(r.total_energy_nj),
                     r.total_ns > 0 ? r.total_energy_nj / r.total_ns * 1000 : 0.0);
  const PowerReport& w = r.power;
  out += fmt::format(
      "  power        peak {:.3f} mW over {} at {}; the inference {}, average {:.3f} mW\n",
      w.peak_mw, human_time(w.interval_ns), human_time(w.peak_start_ns),
      human_energy(w.inference_nj), w.inference_mw);
  if (r.battery)
    out += fmt::format(
        "  battery      {:.1f} h from {} mAh at {} V: every {} ms {:.3f} uJ active ({:.3f} ms) and "
        "{:.3f} uJ idle, asleep {:.3f} mW, average {:.4f} mW\n",
        r.battery->hours, r.battery->mah, r.battery->volts, r.battery->period_ms,
        r.battery->active_uj, r.battery->active_ms, r.battery->idle_uj, r.battery->sleep_mw,
        r.battery->average_mw);
  out += fmt::format("  work         {} MAC, {} of them on the NPU at {} utilisation\n",
                     human_count(static_cast<double>(r.macs)),
                     percent(static_cast<double>(r.npu_macs), static_cast<double>(r.macs)),
                     percent(r.mac_utilisation, 1));
  if (r.bounds.cycles() > 0)
    out += fmt::format("  bound        {:.0f} NPU cycles ({}), {} busy: {:.2f} times\n",
                       r.bounds.cycles(), r.bounds.name(), r.npu_busy_cycles, r.bound_ratio());
  out += dram_line(r);
  const Provenance& p = r.provenance;
  if (p.cache.state != "off")
    out += fmt::format("  cache        {} {}\n", p.cache.state, p.cache.key.substr(0, 12));
  if (!p.cache.text.empty()) out += "  note         " + p.cache.text + "\n";
  for (const std::string& note : p.notes) out += "  note         " + note + "\n";
  out += fmt::format("  simulation   {}{} kernel events\n",
                     r.sim_wall_ms > 0 ? fmt::format("{:.1f} ms wall, ", r.sim_wall_ms) : "",
                     r.kernel_events);
  return out;
}

std::string energy_table(const Report& r) {
  Table table({"energy", ">nJ", ">share"});
  std::vector<std::pair<std::string, double>> rows(r.energy_nj.begin(), r.energy_nj.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [component, nj] : rows)
    table.row({component, fmt::format("{:.1f}", nj), percent(nj, r.total_energy_nj)});
  table.row({"total", fmt::format("{:.1f}", r.total_energy_nj), ""});
  std::string out = table.text();
  for (const auto& [cause, nj] : r.energy_by_cause_nj)
    out += fmt::format("{}{} {}", out.ends_with('\n') ? "  caused by " : ", ", cause,
                       percent(nj, r.total_energy_nj));
  out += "\n";
  const auto share = [&](const char* basis) {
    const auto it = r.energy_by_basis_nj.find(basis);
    return percent(it == r.energy_by_basis_nj.end() ? 0 : it->second, r.total_energy_nj);
  };
  out += fmt::format("  {} by cited rows, {} by rows derived from cited ones, {} by assumptions",
                     share("source"), share("derived"), share("assumption"));
  std::vector<EnergyRowReport> assumed;
  for (const auto& row : r.energy_rows)
    if (row.basis == "assumption" && row.nj > 0) assumed.push_back(row);
  std::stable_sort(assumed.begin(), assumed.end(),
                   [](const auto& a, const auto& b) { return a.nj > b.nj; });
  for (std::size_t i = 0; i < assumed.size(); ++i)
    out += fmt::format("{}{} {}", i ? ", " : ": ", assumed[i].row,
                       percent(assumed[i].nj, r.total_energy_nj));
  return out + "\n";
}

std::string traffic_table(const Report& r) {
  Table table({"traffic", ">read", ">written", ">transactions"});
  const auto row = [&](const std::string& name, const soc::TrafficCount& count) {
    table.row({name, human_bytes(static_cast<double>(count.read_bytes)),
               human_bytes(static_cast<double>(count.write_bytes)),
               std::to_string(count.transactions)});
  };
  for (const auto& [memory, count] : r.memory_bytes) row(memory, count);
  for (const auto& [initiator, targets] : r.initiator_bytes)
    for (const auto& [target, count] : targets) row("  " + initiator + " - " + target, count);
  return table.text();
}

std::string op_table(const Report& r, int top) {
  // An NPU operator's time is its share of the jobs, so that operators that overlap are not counted
  // twice.
  const double cycle_ns = r.target.npu_clock_mhz > 0 ? 1000 / r.target.npu_clock_mhz : 0;
  const auto time_of = [&](const OpReport& op) {
    return op.engine == "npu" ? static_cast<double>(op.own_cycles) * cycle_ns : op.latency_ns;
  };
  std::vector<const OpReport*> ops;
  for (const auto& op : r.ops)
    if (op.latency_ns > 0) ops.push_back(&op);
  std::stable_sort(ops.begin(), ops.end(),
                   [&](const OpReport* a, const OpReport* b) { return time_of(*a) > time_of(*b); });
  Table table({">#", "operator", "engine", ">time", ">share", ">MAC", ">util", ">moved", ">energy",
               ">cycles", ">bound", ">ratio", "bound by"});
  const std::size_t shown =
      std::min<std::size_t>(ops.size(), static_cast<std::size_t>(std::max(top, 0)));
  for (std::size_t i = 0; i < shown; ++i) {
    const OpReport& op = *ops[i];
    const bool bounded = op.bounds.cycles() > 0;
    table.row({std::to_string(op.index), op.kind, op.engine, human_time(time_of(op)),
               percent(time_of(op), r.latency_ns), human_count(static_cast<double>(op.macs)),
               op.engine == "npu" && op.macs ? percent(op.mac_utilisation, 1) : "-",
               human_bytes(static_cast<double>(op.load_bytes + op.store_bytes)),
               human_energy(op.energy_nj), std::to_string(op.own_cycles),
               bounded ? fmt::format("{:.0f}", op.bounds.cycles()) : "-",
               bounded ? fmt::format("{:.2f}", op.bound_ratio()) : "-", op.bound});
  }
  std::string out = table.text();
  if (shown < ops.size())
    out += fmt::format("  ({} more, see --top or the JSON report)\n", ops.size() - shown);
  return out;
}

std::string quirk_table(const Report& r) {
  Table files({"quirk file", "SHA-256"}), applied({"quirk", "action", ">operators", "reason"});
  for (const auto& file : r.provenance.quirk_files) files.row({file.path, file.sha256});
  for (const auto& q : r.provenance.quirks)
    applied.row({q.id, q.action, std::to_string(q.ops.size()), q.reason});
  std::string out;
  if (!files.empty()) out += "\n" + files.text();
  if (!applied.empty()) out += "\n" + applied.text();
  return out;
}

std::string cpu_table(const Report& r) {
  Table table({">#", "on the CPU", "reason"});
  for (const auto& op : r.ops)
    if (op.engine == "cpu") table.row({std::to_string(op.index), op.kind, op.reason});
  return table.empty() ? "" : table.text();
}

}  // namespace

std::string report_text(const Report& r, int top) {
  std::string out = fmt::format("{} on {}, numerics {}{}\n\n", r.model, r.soc, r.numerics,
                                r.timing_only ? ", timing only" : "");
  out += summary(r) + "\n" + energy_table(r) + "\n" + traffic_table(r) + "\n" + op_table(r, top);
  if (const std::string cpu = cpu_table(r); !cpu.empty()) out += "\n" + cpu;
  if (r.recover != "none" || !r.recovery.empty()) {
    out += fmt::format(
        "\n  recovery {}: at most {} whatever fails; began again {} times, {} programs on the "
        "CPU\n",
        r.recover, human_time(r.bound_ns), r.restarts, r.degraded.size());
    Table table({">time", "engine", "step", "because"});
    for (const auto& e : r.recovery)
      table.row({human_time(static_cast<double>(e.time_ps) / 1000), e.engine,
                 host_runtime::recovery_step_name(e.step), e.what});
    if (!table.empty()) out += table.text();
  }
  if (!r.faults.empty()) {
    Table table({"planned fault", "at", ">happened"});
    for (const auto& f : r.faults)
      table.row({f.kind, f.target, f.fired ? std::to_string(f.fired) : "never"});
    out += "\n" + table.text();
  }
  if (!r.failure.empty()) out += "\n  THE RUN FAILED, the figures end there: " + r.failure + "\n";
  out += quirk_table(r);
  for (const auto& line : r.imbalances) out += "\n  THE BOOKS DO NOT BALANCE: " + line + "\n";
  return out;
}

}  // namespace deputy::tools
