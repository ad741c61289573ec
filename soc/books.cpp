#include "soc/books.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "soc/dram/energy.h"
#include "soc/energy_ledger.h"
#include "soc/energy_rows.h"

namespace deputy::soc {
namespace {

double seconds(std::uint64_t ps) { return static_cast<double>(ps) * 1e-12; }
// mW * s = mJ = 1e6 nJ
double static_nj(double mw, std::uint64_t ps) { return mw * seconds(ps) * 1e6; }
double count(const RunRecord& record, const char* name) {
  const auto it = record.counters.find(name);
  return it == record.counters.end() ? 0.0 : static_cast<double>(it->second);
}

void compare(RunRecord& record, const std::string& what, std::uint64_t a, const char* a_name,
             std::uint64_t b, const char* b_name) {
  if (a != b)
    record.imbalances.push_back(
        fmt::format("{}: {} at the {}, {} at the {}", what, a, a_name, b, b_name));
}

const TrafficCount& at(const std::map<std::string, std::map<std::string, TrafficCount>>& side,
                       const std::string& initiator, const std::string& target) {
  static const TrafficCount kNone;
  const auto row = side.find(initiator);
  if (row == side.end()) return kNone;
  const auto cell = row->second.find(target);
  return cell == row->second.end() ? kNone : cell->second;
}

void check_traffic(RunRecord& record) {
  std::set<std::pair<std::string, std::string>> links;  // seen from either side
  for (const auto* side : {&record.initiator_traffic, &record.noc_traffic})
    for (const auto& [initiator, targets] : *side)
      for (const auto& target : targets) links.insert({initiator, target.first});
  std::map<std::string, TrafficCount> per_memory;
  for (const auto& [initiator, target] : links) {
    const TrafficCount& a = at(record.initiator_traffic, initiator, target);
    const TrafficCount& b = at(record.noc_traffic, initiator, target);
    const std::string what = initiator + " - " + target;
    compare(record, what + " bytes read", a.read_bytes, "initiator", b.read_bytes, "interconnect");
    compare(record, what + " bytes written", a.write_bytes, "initiator", b.write_bytes,
            "interconnect");
    compare(record, what + " transactions", a.transactions, "initiator", b.transactions,
            "interconnect");
    TrafficCount& sum = per_memory[target];
    sum.read_bytes += b.read_bytes;
    sum.write_bytes += b.write_bytes;
    sum.transactions += b.transactions;
  }
  for (const auto& [memory, sum] : per_memory)
    if (!record.memory_traffic.count(memory))
      record.imbalances.push_back("traffic to '" + memory + "', which is no memory");
  for (const auto& [memory, counted] : record.memory_traffic) {
    const TrafficCount at_noc = per_memory[memory];
    compare(record, memory + " bytes read", at_noc.read_bytes, "interconnect", counted.read_bytes,
            "memory");
    compare(record, memory + " bytes written", at_noc.write_bytes, "interconnect",
            counted.write_bytes, "memory");
    compare(record, memory + " transactions", at_noc.transactions, "interconnect",
            counted.transactions, "memory");
  }
}

std::uint64_t bytes_of(const RunRecord& record, const std::string& initiator) {
  std::uint64_t sum = 0;
  const auto row = record.initiator_traffic.find(initiator);
  if (row != record.initiator_traffic.end())
    for (const auto& target : row->second)
      sum += target.second.read_bytes + target.second.write_bytes;
  return sum;
}

void check_jobs(RunRecord& record) {
  std::uint64_t last = 0, loaded = 0, stored = 0, commands = 0;
  for (const auto& job : record.npu_jobs) {
    if (job.start_ps < last || job.end_ps < job.start_ps)
      record.imbalances.push_back("NPU jobs overlap or run backwards");
    last = job.end_ps;
    commands += job.command_bytes;
    if (job.hazards)
      record.imbalances.push_back(
          fmt::format("{} NPU instructions overlapped on scratchpad bytes: a wait is missing, "
                      "first at operator {}",
                      job.hazards, job.hazard_tag));
    for (const auto& op : job.ops) {
      loaded += op.load_bytes;
      stored += op.store_bytes;
      // Each instruction's time is rounded to whole cycles.
      if (job.error == 0 && !job.aborted &&
          (op.mac_cycles > op.compute_cycles + op.instructions ||
           op.compute_cycles > job.cycles + op.instructions))
        record.imbalances.push_back(
            fmt::format("NPU operator {} computed longer than its job ran: {} of {} cycles, {} of "
                        "the MAC array",
                        op.tag, op.compute_cycles, job.cycles, op.mac_cycles));
    }
    if (job.error == 0 && !job.aborted &&
        std::max(job.load_active_cycles, job.store_active_cycles) > job.cycles + job.instructions)
      record.imbalances.push_back("an NPU queue worked longer than its job ran");
  }
  if (last > record.end_ps) record.imbalances.push_back("an NPU job ends after the simulation");
  if (record.npu_job_unfinished) return;
  // A job that failed leaves transfers whose instruction never completed; only clean runs must
  // agree.
  for (const auto& job : record.npu_jobs)
    if (job.error != 0 || job.aborted) return;
  compare(record, "NPU bytes loaded", loaded, "operators", bytes_of(record, "npu.load"), "port");
  compare(record, "NPU bytes stored", stored, "operators", bytes_of(record, "npu.store"), "port");
  compare(record, "NPU command bytes", commands, "jobs", bytes_of(record, "npu.cmd"), "port");
}

void check_dsp(RunRecord& record) {
  std::uint64_t last = 0, moved = 0;
  for (const auto& job : record.dsp_jobs) {
    if (job.start_ps < last || job.end_ps < job.start_ps)
      record.imbalances.push_back("DSP jobs overlap or run backwards");
    last = job.end_ps;
    moved += job.list_bytes + job.program_bytes + job.loaded_bytes + job.stored_bytes;
    const dsp_model::DspStats& s = job.programs;
    compare(
        record, "DSP cycles",
        s.packets + s.stall_operand + s.stall_bank + s.stall_dma + s.stall_branch + s.stall_idle,
        "packets and stalls", s.cycles, "core");
  }
  if (last > record.end_ps) record.imbalances.push_back("a DSP job ends after the simulation");
  if (record.dsp_job_unfinished) return;
  for (const auto& job : record.dsp_jobs)
    if (job.error != 0 || job.aborted) return;  // it leaves transfers that were not completed
  compare(record, "DSP bytes moved", moved, "jobs", bytes_of(record, "dsp.dma"), "bus");
}

void check_busy(RunRecord& record) {
  std::uint64_t host = 0;
  for (const BusyInterval& i : record.busy["host"]) host += i.busy_ps;
  compare(record, "host busy time in ps", host, "intervals", record.host_busy_ps, "port");
  for (const auto& [engine, intervals] : record.busy) {
    std::uint64_t last = 0;
    for (const BusyInterval& i : intervals) {
      if (i.start_ps < last || i.end_ps < i.start_ps || i.busy_ps > i.end_ps - i.start_ps)
        record.imbalances.push_back(engine + " is busy at times that overlap or run backwards");
      last = i.end_ps;
    }
  }
  if (!record.sensor_unfinished)
    compare(record, "frame bytes", record.sensor_frame_bytes, "sensor", bytes_of(record, "sensor"),
            "bus");
}

// An engine's power switch, from the times of its jobs: it was off between two that are far enough
// apart. An NPU job begins when it has power, a DSP job with the waiting for it.
template <class Jobs>
void check_gate(RunRecord& record, const char* engine, const GateConfig& gate, const Jobs& jobs,
                bool job_waits) {
  const auto off = record.power_off.find(engine);
  if (off == record.power_off.end() || count(record, (std::string(engine) + ".scrubs").c_str()) > 0)
    return;
  const std::uint64_t idle = us_to_ps(gate.idle_us) + (job_waits ? 0 : us_to_ps(gate.wake_us));
  std::uint64_t last = 0;
  std::size_t gaps = 0;
  for (const auto& job : jobs) {
    if (job.aborted) return;  // it may have been stopped before it had power
    gaps += job.start_ps - last > idle;
    last = job.end_ps;
  }
  compare(record, std::string(engine) + " wake-ups", off->second.wakes, "power switch", gaps,
          "jobs");
}

void check_power(const SocConfig& config, RunRecord& record) {
  if (!record.npu_job_unfinished)
    check_gate(record, "npu", config.power.npu, record.npu_jobs, false);
  if (!record.dsp_job_unfinished)
    check_gate(record, "dsp", config.power.dsp, record.dsp_jobs, true);
}

// The full model: what was moved went in bursts, each burst found its row in one of three states,
// and time is the sum of the states'.
void check_dram(const SocConfig& config, RunRecord& record) {
  if (config.dram.model != "full") return;
  const dram::Spec& device = config.dram.device;
  const dram::Counters& k = record.dram;
  compare(record, "DRAM bursts", k.hits + k.misses + k.conflicts, "rows", k.reads + k.writes,
          "data bus");
  dram::Ck states = 0;
  for (const dram::Ck each : k.state) states += each;
  compare(record, "DRAM clocks", static_cast<std::uint64_t>(states), "states",
          static_cast<std::uint64_t>(k.end * device.ranks), "ranks");
  if (k.end * device.tck_ps < static_cast<dram::Ck>(record.end_ps))
    record.imbalances.push_back("the DRAM's time ends before the simulation's");
  const auto burst = static_cast<std::uint64_t>(device.burst_bytes());
  const TrafficCount& moved = record.memory_traffic["dram"];
  if (moved.read_bytes > k.reads * burst || moved.write_bytes > k.writes * burst)
    record.imbalances.push_back(
        fmt::format("{} and {} bytes of DRAM read and written in {} and {} bursts",
                    moved.read_bytes, moved.write_bytes, k.reads, k.writes));
}

}  // namespace

void charge_energy(const SocConfig& config, RunRecord& record) {
  const sim::EnergyTable e = effective_rows(config);
  for (const char* component : {"npu.mac", "npu.vec", "npu.spm", "npu.decoder", "npu.ctrl",
                                "npu.static", "sram", "sram.static", "noc", "host", "host.static"})
    record.energy_nj[component] = 0;
  const auto charge = [&](const std::string& component, const std::string& row, double nj) {
    record.energy_nj[component] += nj;
    record.energy_by_row_nj[row] += nj;
  };
  const auto events = [&](const char* component, const char* counter, const char* row, double pj) {
    charge(component, row, count(record, counter) * pj * 1e-3);
  };
  // Leakage, less what its power switch saves, and the wake-ups.
  const auto block = [&](const std::string& name, const char* row, const char* share_row, double mw,
                         double share) {
    const auto off = record.power_off.find(name);
    const std::uint64_t off_ps = off == record.power_off.end() ? 0 : off->second.total_ps();
    charge(name + ".static", row, static_nj(mw, record.end_ps - off_ps));
    if (off == record.power_off.end()) return;
    charge(name + ".static", share_row, static_nj(mw * share, off_ps));
    const auto [component, pj, ps] = wake_row(config, e, name);
    charge(component, name + "_wake_pj", static_cast<double>(off->second.wakes) * pj * 1e-3);
  };
  events("npu.mac", "npu.macs", "npu_mac_pj", e.npu_mac_pj);
  events("npu.vec", "npu.vec_results", "npu_vec_pj", e.npu_vec_pj);
  charge("npu.spm", "npu_spm_read_byte_pj",
         (count(record, "npu.spm_bytes") - count(record, "npu.spm_filled_bytes")) *
             e.npu_spm_read_byte_pj * 1e-3);
  events("npu.spm", "npu.spm_filled_bytes", "npu_spm_write_byte_pj", e.npu_spm_write_byte_pj);
  events("npu.decoder", "npu.decoded_bytes", "npu_decode_byte_pj", e.npu_decode_byte_pj);
  events("npu.ctrl", "npu.job_cycles", "npu_cycle_pj", e.npu_cycle_pj);
  if (config.dsp.present) {
    events("dsp.core", "dsp.job_cycles", "dsp_cycle_pj", e.dsp_cycle_pj);
    events("dsp.core", "dsp.scalar_operations", "dsp_scalar_pj", e.dsp_scalar_pj);
    events("dsp.vector", "dsp.vector_operations", "dsp_vector_pj", e.dsp_vector_pj);
    events("dsp.vector", "dsp.mac_operations", "dsp_mac_pj", e.dsp_mac_pj);
    events("dsp.tcm", "dsp.tcm_read_bytes", "dsp_tcm_read_byte_pj", e.dsp_tcm_read_byte_pj);
    events("dsp.tcm", "dsp.tcm_written_bytes", "dsp_tcm_write_byte_pj", e.dsp_tcm_write_byte_pj);
    block("dsp", "dsp_static_mw", "dsp_gated_share", e.dsp_static_mw, e.dsp_gated_share);
  }
  events("sram", "sram.read_bytes", "sram_read_byte_pj", e.sram_read_byte_pj);
  events("sram", "sram.write_bytes", "sram_write_byte_pj", e.sram_write_byte_pj);
  events("noc", "noc.bytes", "noc_byte_pj", e.noc_byte_pj);
  events("host", "host.busy_cycles", "host_cycle_pj", e.host_cycle_pj);
  block("npu", "npu_static_mw", "npu_gated_share", e.npu_static_mw, e.npu_gated_share);
  block("sram", "sram_static_mw_per_mib", "sram_retention_share", sram_static_mw(config, e),
        e.sram_retention_share);
  block("host", "host_static_mw", "host_sleep_share", e.host_static_mw, e.host_sleep_share);
  if (!config.power.clock_gating) {
    std::uint64_t clocked =
        record.end_ps;  // less jobs, whose cycles are counted, and times without power
    for (const auto& job : record.npu_jobs) clocked -= job.end_ps - job.start_ps;
    if (const auto off = record.power_off.find("npu"); off != record.power_off.end())
      clocked -= off->second.total_ps();
    charge("npu.idle_clock", "npu_cycle_pj",
           static_cast<double>(clocked) / static_cast<double>(npu_period_ps(config)) *
               e.npu_cycle_pj * 1e-3);
  }
  if (config.dram.model == "full") {
    const dram::Spent spent = dram::spent(config.dram.device, record.dram);
    record.dram_energy_nj = {{"dram", spent.commands_nj},
                             {"dram.refresh", spent.refresh_nj},
                             {"dram.static", spent.standby_nj}};
  }
  for (const auto& [component, nj] : record.dram_energy_nj) charge(component, "dram.device", nj);
  if (!record.dram_energy_nj.empty()) return;
  events("dram", "dram.read_bytes", "dram_read_byte_pj", e.dram_read_byte_pj);
  events("dram", "dram.write_bytes", "dram_write_byte_pj", e.dram_write_byte_pj);
  events("dram", "dram.activates", "dram_activate_pj", e.dram_activate_pj);
  charge("dram.static", "dram_static_mw", static_nj(e.dram_static_mw, record.end_ps));
}

void check_books(const SocConfig& config, RunRecord& record) {
  check_traffic(record);
  check_jobs(record);
  check_dsp(record);
  check_busy(record);
  check_power(config, record);
  check_dram(config, record);
  // Energy once more: operator by operator, interval by interval and from the traffic maps instead
  // of the counters.
  std::map<std::string, double> parts;
  each_energy_part(config, record,
                   [&](const EnergyPart& part) { parts[part.component] += part.nj; });
  for (const auto& entry : record.energy_nj) parts.try_emplace(entry.first, 0);
  for (const auto& [component, nj] : parts) {
    const auto it = record.energy_nj.find(component);
    const double counted = it == record.energy_nj.end() ? 0 : it->second;
    if (std::abs(nj - counted) > 1e-9 * (1 + counted))
      record.imbalances.push_back(
          fmt::format("{} energy: {} nJ by counters, {} nJ by its parts", component, counted, nj));
  }
  double by_component = 0, by_row = 0;
  for (const auto& [component, nj] : record.energy_nj) by_component += nj;
  for (const auto& [row, nj] : record.energy_by_row_nj) by_row += nj;
  if (std::abs(by_component - by_row) > 1e-9 * (1 + by_component))
    record.imbalances.push_back(
        fmt::format("energy: {} nJ by component, {} nJ by row", by_component, by_row));
  for (const auto& [component, nj] : record.energy_nj)
    if (!(nj >= 0) || !std::isfinite(nj))
      record.imbalances.push_back(component + " energy is negative or not a number");
}

void check_cache(RunRecord& record) {
  std::uint64_t lines = 0;
  for (const char* name : {"cache.false_sharing", "cache.lost_writes", "cache.missing_cleans",
                           "cache.missing_invalidates"})
    lines += record.counters.at(name);
  for (const auto& finding : record.cache_findings)
    record.imbalances.push_back("cache: " + finding);
  if (lines > record.cache_findings.size())
    record.imbalances.push_back(
        fmt::format("cache: and {} lines more", lines - record.cache_findings.size()));
}

bool only_prices(const std::string& key) {
  for (const char* group : {"energy.", "battery.", "dram.device.rail_", "dram.device.currents_"})
    if (key.starts_with(group)) return true;
  // An operating point's clocks are rows of their own once the configuration is read.
  for (const char* row : {"name", "dram.device.name", "power.reference_volts", "power.volts",
                          "power.rail", "power.point", "power.clock_gating", "power.trace_us"})
    if (key == row) return true;
  return false;
}

void account(const SocConfig& config, RunRecord& record, bool cache_errors) {
  record.energy_nj.clear(), record.energy_by_row_nj.clear(), record.dram_energy_nj.clear(),
      record.imbalances.clear();
  charge_energy(config, record);
  check_books(config, record);
  if (cache_errors) check_cache(record);
}

base::Status balanced(const std::string& where, const std::vector<std::string>& imbalances) {
  if (imbalances.empty()) return {};
  return base::Error{base::ErrorKind::kMismatch, where,
                     "the books do not balance: " + imbalances[0],
                     "this is a defect of the simulator; please report it"};
}

}  // namespace deputy::soc
