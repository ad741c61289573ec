#include "soc/books.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace deputy::soc {
namespace {

double seconds(std::uint64_t ps) { return static_cast<double>(ps) * 1e-12; }
// mW * s = mJ = 1e6 nJ
double static_nj(double mw, std::uint64_t ps) { return mw * seconds(ps) * 1e6; }
double count(const RunRecord& record, const char* name) {
  const auto it = record.counters.find(name);
  return it == record.counters.end() ? 0.0 : static_cast<double>(it->second);
}

void compare(RunRecord& record, const std::string& what, std::uint64_t a, const char* a_name, std::uint64_t b,
             const char* b_name) {
  if (a != b) record.imbalances.push_back(fmt::format("{}: {} at the {}, {} at the {}", what, a, a_name, b, b_name));
}

void check_traffic(RunRecord& record) {
  std::map<std::string, TrafficCount> per_memory;
  for (const auto* side : {&record.initiator_traffic, &record.noc_traffic})
    for (const auto& [initiator, targets] : *side)
      for (const auto& target : targets) {
        const TrafficCount a = record.initiator_traffic[initiator][target.first];
        const TrafficCount b = record.noc_traffic[initiator][target.first];
        const std::string what = initiator + " - " + target.first;
        if (side == &record.noc_traffic) {
          per_memory[target.first].read_bytes += b.read_bytes;
          per_memory[target.first].write_bytes += b.write_bytes;
          per_memory[target.first].transactions += b.transactions;
          continue;
        }
        compare(record, what + " bytes read", a.read_bytes, "initiator", b.read_bytes, "interconnect");
        compare(record, what + " bytes written", a.write_bytes, "initiator", b.write_bytes, "interconnect");
        compare(record, what + " transactions", a.transactions, "initiator", b.transactions, "interconnect");
      }
  for (const auto& [memory, counted] : record.memory_traffic) {
    const TrafficCount at_noc = per_memory[memory];
    compare(record, memory + " bytes read", at_noc.read_bytes, "interconnect", counted.read_bytes, "memory");
    compare(record, memory + " bytes written", at_noc.write_bytes, "interconnect", counted.write_bytes, "memory");
    compare(record, memory + " transactions", at_noc.transactions, "interconnect", counted.transactions, "memory");
  }
}

void check_jobs(RunRecord& record) {
  std::uint64_t last = 0, loaded = 0, stored = 0, commands = 0;
  for (const auto& job : record.npu_jobs) {
    if (job.start_ps < last || job.end_ps < job.start_ps) record.imbalances.push_back("NPU jobs overlap or run backwards");
    last = job.end_ps;
    commands += job.command_bytes;
    for (const auto& op : job.ops) {
      loaded += op.load_bytes;
      stored += op.store_bytes;
      if (op.mac_cycles > op.compute_cycles || op.compute_cycles > job.cycles)
        record.imbalances.push_back(fmt::format("NPU operator {} computed longer than its job ran", op.tag));
    }
    if (job.error == 0 && !job.aborted && std::max(job.load_active_cycles, job.store_active_cycles) > job.cycles)
      record.imbalances.push_back("an NPU queue worked longer than its job ran");
  }
  if (last > record.end_ps) record.imbalances.push_back("an NPU job ends after the simulation");
  // A job that failed leaves transfers whose instruction never completed; only clean runs must agree.
  for (const auto& job : record.npu_jobs)
    if (job.error != 0 || job.aborted) return;
  std::uint64_t moved_in = 0, moved_out = 0, fetched = 0;
  for (const auto& target : record.initiator_traffic["npu.load"]) moved_in += target.second.read_bytes;
  for (const auto& target : record.initiator_traffic["npu.store"]) moved_out += target.second.write_bytes;
  for (const auto& target : record.initiator_traffic["npu.cmd"]) fetched += target.second.read_bytes;
  compare(record, "NPU bytes loaded", loaded, "operators", moved_in, "port");
  compare(record, "NPU bytes stored", stored, "operators", moved_out, "port");
  compare(record, "NPU command bytes", commands, "jobs", fetched, "port");
}

}  // namespace

void charge_energy(const SocConfig& config, RunRecord& record) {
  const sim::EnergyTable& e = config.energy;
  const auto pj = [&](const char* counter, double each) { return count(record, counter) * each * 1e-3; };
  auto& nj = record.energy_nj;
  nj["npu.mac"] = pj("npu.macs", e.npu_mac_pj);
  nj["npu.vec"] = pj("npu.vec_results", e.npu_vec_pj);
  nj["npu.spm"] = pj("npu.spm_bytes", e.npu_spm_byte_pj);
  nj["npu.ctrl"] = pj("npu.job_cycles", e.npu_cycle_pj);
  nj["npu.static"] = static_nj(e.npu_static_mw, record.end_ps);
  nj["sram"] = pj("sram.bytes", e.sram_byte_pj);
  nj["sram.static"] = static_nj(e.sram_static_mw_per_mib * static_cast<double>(config.sram.bytes) / 1048576.0, record.end_ps);
  nj["noc"] = pj("noc.bytes", e.noc_byte_pj);
  nj["dram"] = pj("dram.read_bytes", e.dram_read_byte_pj) + pj("dram.write_bytes", e.dram_write_byte_pj) +
               pj("dram.activates", e.dram_activate_pj);
  nj["dram.static"] = static_nj(e.dram_static_mw, record.end_ps);
  nj["host"] = pj("host.busy_cycles", e.host_cycle_pj);
  nj["host.static"] = static_nj(e.host_static_mw, record.end_ps);
}

void check_books(const SocConfig& config, RunRecord& record) {
  check_traffic(record);
  check_jobs(record);
  // Energy once more, from the traffic maps instead of the counters.
  const sim::EnergyTable& e = config.energy;
  double bytes = 0;
  for (const auto& [initiator, targets] : record.noc_traffic)
    for (const auto& target : targets)
      bytes += static_cast<double>(target.second.read_bytes + target.second.write_bytes);
  const double noc = bytes * e.noc_byte_pj * 1e-3;
  if (std::abs(noc - record.energy_nj["noc"]) > 1e-9 * (1 + noc))
    record.imbalances.push_back(fmt::format("interconnect energy: {} nJ by counters, {} nJ by traffic", record.energy_nj["noc"], noc));
  for (const auto& [component, nj] : record.energy_nj)
    if (!(nj >= 0) || !std::isfinite(nj)) record.imbalances.push_back(component + " energy is negative or not a number");
}

}  // namespace deputy::soc
