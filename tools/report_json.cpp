#include <nlohmann/json.hpp>
#include <utility>

#include "tools/report.h"

namespace deputy::tools {
namespace {

using Json = nlohmann::ordered_json;

Json traffic_json(const soc::TrafficCount& count) {
  return {{"read", count.read_bytes}, {"write", count.write_bytes}, {"transactions", count.transactions}};
}

Json bounds_json(const Bounds& b) {
  return {{"compute", b.compute}, {"scratchpad", b.scratchpad}, {"decoder", b.decoder}, {"sram", b.sram}, {"dram", b.dram}, {"largest", b.cycles()}};
}

Json op_json(const OpReport& op) {
  Json out = {{"index", op.index},
              {"name", op.name},
              {"kind", op.kind},
              {"engine", op.engine},
              {"start_ns", op.start_ns},
              {"latency_ns", op.latency_ns},
              {"cycles", op.cycles},
              {"own_cycles", op.own_cycles},
              {"macs", op.macs},
              {"mac_utilisation", op.mac_utilisation},
              {"bytes", {{"load", op.load_bytes}, {"store", op.store_bytes}, {"weights", op.weight_bytes}, {"decoded", op.decoded_bytes}}},
              {"energy_nj", op.energy_nj},
              {"energy_by_component_nj", op.energy_by_component_nj},
              {"bound", op.bound}};
  if (op.bounds.cycles() > 0) {
    out["bound_cycles"] = bounds_json(op.bounds);
    out["bound_ratio"] = op.bound_ratio();
  }
  if (op.fused_into >= 0) out["fused_into"] = op.fused_into;
  if (!op.tiles.empty()) out["tiles"] = op.tiles;
  if (!op.reason.empty()) out["reason"] = op.reason;
  return out;
}

void add_provenance(const Provenance& p, Json& out) {
  if (p.cache.state != "off") out["cache"] = {{"state", p.cache.state}, {"key", p.cache.key}, {"note", p.cache.text}};
  if (!p.quirk_files.empty()) {
    Json files = Json::array(), applied = Json::array();
    for (const auto& file : p.quirk_files)
      files.push_back({{"file", file.path}, {"sha256", file.sha256}, {"entries", file.quirks.size()}});
    for (const auto& q : p.quirks)
      applied.push_back({{"id", q.id}, {"file", q.file}, {"sha256", q.sha256}, {"action", q.action}, {"reason", q.reason}, {"ops", q.ops}});
    out["quirks"] = {{"files", files}, {"applied", applied}};
  }
  if (!p.notes.empty()) out["notes"] = p.notes;
}

void add_power(const Report& r, Json& out) {
  const PowerReport& p = r.power;
  Json over_time = Json::array();
  for (std::size_t i = 0; i < r.power_trace.intervals(); ++i) over_time.push_back(r.power_trace.total_nj(i));
  out["power"] = {{"volts", p.volts}, {"average_mw", p.average_mw}, {"peak_mw", p.peak_mw}, {"peak_start_ns", p.peak_start_ns},
                  {"inference_nj", p.inference_nj}, {"inference_mw", p.inference_mw}, {"interval_ns", p.interval_ns},
                  {"nj_by_interval", over_time}};
  if (!r.battery) return;
  const BatteryLife& b = *r.battery;
  out["battery"] = {{"mah", b.mah}, {"volts", b.volts}, {"efficiency", b.efficiency}, {"period_ms", b.period_ms}, {"active_ms", b.active_ms},
                    {"active_uj", b.active_uj}, {"idle_uj", b.idle_uj}, {"sleep_mw", b.sleep_mw}, {"duty", b.duty}, {"average_mw", b.average_mw},
                    {"hours", b.hours}};
}

}  // namespace

std::string report_json(const Report& r, bool reproducible) {
  Json out = {{"format", "deputy-report-1"},
              {"model", r.model},
              {"soc", r.soc},
              {"executable_hash", r.executable_hash},
              {"numerics", r.numerics},
              {"engine", r.engine},
              {"timing_only", r.timing_only},
              {"latency_ns", r.latency_ns},
              {"total_ns", r.total_ns},
              {"cycles", {{"npu", r.npu_cycles}, {"npu_busy", r.npu_busy_cycles}, {"host", r.host_cycles}}},
              {"macs", {{"total", r.macs}, {"npu", r.npu_macs}}},
              {"mac_utilisation", r.mac_utilisation}};
  const ReportTarget& t = r.target;
  out["target"] = {{"npu_clock_mhz", t.npu_clock_mhz}, {"host_clock_mhz", t.host_clock_mhz}, {"macs_per_cycle", t.macs_per_cycle},
                   {"sram_bytes_per_cycle", t.rates.sram}, {"dram_bytes_per_cycle", t.rates.dram}, {"sram_bytes", t.sram_bytes},
                   {"sram_used_bytes", t.sram_used_bytes}};
  add_provenance(r.provenance, out);
  if (r.bounds.cycles() > 0) {
    out["bound_cycles"] = bounds_json(r.bounds);
    out["bound_ratio"] = r.bound_ratio();
  }
  Json energy = Json::object();
  for (const auto& [component, nj] : r.energy_nj) energy[component] = nj;
  energy["total"] = r.total_energy_nj;
  out["energy_nj"] = energy;
  Json bases = Json::object(), rows = Json::array();
  for (const auto& [basis, nj] : r.energy_by_basis_nj) bases[basis] = nj;
  for (const auto& row : r.energy_rows) rows.push_back({{"row", row.row}, {"nj", row.nj}, {"basis", row.basis}, {"source", row.source}});
  Json causes = Json::object();
  for (const auto& [cause, nj] : r.energy_by_cause_nj) causes[cause] = nj;
  out["energy_by_cause_nj"] = causes;
  out["energy_by_basis_nj"] = bases;
  out["energy_rows"] = rows;
  add_power(r, out);
  if (!r.dram_device.empty()) out["dram"] = {{"device", r.dram_device}, {"utilisation", r.dram_utilisation}};
  Json bytes = Json::object();
  for (const auto& [memory, count] : r.memory_bytes) bytes[memory] = traffic_json(count);
  out["bytes"] = bytes;
  Json initiators = Json::object();
  for (const auto& [initiator, targets] : r.initiator_bytes)
    for (const auto& [target, count] : targets) initiators[initiator][target] = traffic_json(count);
  out["bytes_by_initiator"] = initiators;
  out["npu_dram_bytes"] = {{"feature_maps", r.dram_map_bytes}, {"weights", r.dram_weight_bytes}};
  out["copied_bytes"] = r.copied_bytes;
  out["interrupts"] = r.interrupts;
  out["kernel_events"] = r.kernel_events;
  if (!reproducible) out["sim_wall_ms"] = r.sim_wall_ms;
  Json counters = Json::object();
  for (const auto& [name, value] : r.counters) counters[name] = value;
  out["counters"] = counters;
  out["ops"] = Json::array();
  for (const auto& op : r.ops) out["ops"].push_back(op_json(op));
  if (!r.failure.empty()) out["failure"] = r.failure;
  if (r.recover != "none" || !r.recovery.empty()) {
    Json steps = Json::array();
    for (const auto& e : r.recovery)
      steps.push_back({{"time_ns", static_cast<double>(e.time_ps) / 1000}, {"step", host_runtime::recovery_step_name(e.step)}, {"engine", e.engine}, {"what", e.what}});
    out["recovery"] = {{"policy", r.recover}, {"bound_ns", r.bound_ns}, {"restarts", r.restarts}, {"programs_on_cpu", r.degraded}, {"steps", steps}};
  }
  if (!r.faults.empty()) {
    out["faults"] = Json::array();
    for (const auto& f : r.faults) out["faults"].push_back({{"kind", f.kind}, {"target", f.target}, {"fired", f.fired}});
    out["fault_events"] = Json::array();
    for (const auto& e : r.fault_events)
      out["fault_events"].push_back({{"kind", e.kind}, {"target", e.target}, {"time_ns", static_cast<double>(e.time_ps) / 1000}, {"address", e.address}});
  }
  if (r.frames) {
    Json& frames = out["frames"];
    frames = {{"frames", r.frames->frames}, {"in_flight", r.frames->in_flight},
              {"duration_ns", static_cast<double>(r.frames->to_ps - r.frames->from_ps) / 1000}};
    if (!r.frames->response_ps.empty())
      for (const auto& [name, share] : {std::pair{"p50", 0.5}, {"p99", 0.99}, {"most", 1.0}})
        frames["response_ns"][name] = static_cast<double>(r.frames->response_at(share)) / 1000;
    for (const auto& [engine, share] : r.frames->utilisation) frames["utilisation"][engine] = share;
    for (const auto& [engine, intervals] : r.frames->busy)
      for (const auto& i : intervals)
        frames["busy_ns"][engine].push_back({(static_cast<double>(i.start_ps) - static_cast<double>(r.frames->from_ps)) / 1000,
                                             (static_cast<double>(i.end_ps) - static_cast<double>(r.frames->from_ps)) / 1000,
                                             static_cast<double>(i.busy_ps) / 1000});
  }
  out["imbalances"] = r.imbalances;
  return out.dump(2) + "\n";
}

}  // namespace deputy::tools
