#include "soc/board.h"

namespace deputy::soc {
namespace {

TrafficCount to_count(const sim::ByteCount& c) {
  return {c.read_bytes, c.write_bytes, c.transactions};
}

const char* memory_of(std::uint64_t page) {
  for (const auto& r : arch::kMemoryMap)
    if (r.size >= (1u << 28) && page << 28 >= r.base && (page << 28) - r.base < r.size)
      return r.name;
  return "unmapped";
}

void add_traffic(std::map<std::string, TrafficCount>& into, const sim::BusInitiator& bus) {
  for (const auto& [page, c] : bus.counted_by_page()) {
    TrafficCount& sum = into[memory_of(page)];
    sum.read_bytes += c.read_bytes;
    sum.write_bytes += c.write_bytes;
    sum.transactions += c.transactions;
  }
}

template <class Jobs>
std::vector<BusyInterval> busy_with(const Jobs& jobs) {
  BusyLog busy;
  for (const auto& job : jobs) busy.add(job.start_ps, job.end_ps, job.end_ps - job.start_ps);
  return busy.intervals();
}

void collect_busy(const Board& b, RunRecord& r) {
  r.host_busy_ps = b.port.busy_ps();
  r.busy["host"] = b.port.busy().intervals();
  r.busy["sensor"] = b.sensor.busy().intervals();
  r.busy["npu"] = busy_with(r.npu_jobs);
  r.busy["dma"] = busy_with(b.dma_queue.jobs());
  r.sensor_ready_ps = b.sensor.ready();
  r.sensor_frame_bytes = b.sensor.frame_bytes_written();
  r.sensor_unfinished = !b.sensor.clean();
}

// A block's own times may lie a little beyond the run's end.
PowerOff collect_off(const sim::PowerGate& gate, std::uint64_t end_ps) {
  PowerOff out;
  for (const auto& [from, to] : gate.off()) {
    if (to > end_ps) break;
    out.spans.emplace_back(from, to);
    ++out.wakes;
  }
  const std::uint64_t from =
      out.wakes < gate.off().size() ? gate.off()[out.wakes].first : gate.off_from(end_ps);
  if (from < end_ps) out.spans.emplace_back(from, end_ps);
  return out;
}

void collect_dsp(const Board& b, RunRecord& r) {
  if (b.config.power.dsp.gating) r.power_off["dsp"] = collect_off(b.dsp->gate(), r.end_ps);
  r.dsp_jobs = b.dsp->jobs();
  r.dsp_job_unfinished = b.dsp->busy();
  r.busy["dsp"] = busy_with(r.dsp_jobs);
  add_traffic(r.initiator_traffic["dsp.dma"], b.dsp->bus);
  add_traffic(r.initiator_traffic["dsp.queue"], b.dsp_queue->bus);
  auto& n = r.counters;
  n["dsp.jobs"] = r.dsp_jobs.size();
  n["dsp.scrubs"] = b.dsp->scrubs();
  for (const DspJobRecord& job : r.dsp_jobs) {
    const dsp_model::DspStats& did = job.programs;
    n["dsp.commands"] += job.commands;
    n["dsp.job_cycles"] += job.cycles;
    n["dsp.program_cycles"] += did.cycles;
    n["dsp.packets"] += did.packets;
    n["dsp.scalar_operations"] += did.slots[0];
    n["dsp.vector_operations"] += did.slots[1];
    n["dsp.mac_operations"] += did.slots[2];
    n["dsp.tcm_read_bytes"] += did.read_bytes + job.stored_bytes;
    n["dsp.tcm_written_bytes"] += did.written_bytes + job.loaded_bytes;
  }
}

// Statistics that are sums over the NPU's jobs.
constexpr std::pair<const char*, std::uint64_t npu_model::NpuJobRecord::*> kOfJobs[] = {
    {"npu.job_cycles", &npu_model::NpuJobRecord::cycles},
    {"npu.instructions", &npu_model::NpuJobRecord::instructions},
    {"npu.mac_active_cycles", &npu_model::NpuJobRecord::mac_active_cycles},
    {"npu.load_active_cycles", &npu_model::NpuJobRecord::load_active_cycles},
    {"npu.store_active_cycles", &npu_model::NpuJobRecord::store_active_cycles},
    {"npu.compute_active_cycles", &npu_model::NpuJobRecord::compute_active_cycles},
    {"npu.stall_load_cycles", &npu_model::NpuJobRecord::stall_load_cycles},
    {"npu.stall_store_cycles", &npu_model::NpuJobRecord::stall_store_cycles},
};

}  // namespace

void collect(const Board& b, RunRecord& r) {
  if (b.config.power.npu.gating) r.power_off["npu"] = collect_off(b.npu.gate(), r.end_ps);
  if (b.config.power.sram.gating) r.power_off["sram"] = collect_off(b.sram.gate(), r.end_ps);
  if (b.config.power.host.gating) r.power_off["host"] = collect_off(b.port.gate(), r.end_ps);
  r.npu_clock_khz = 1'000'000'000 / sim::Clock(b.config.npu.clock_mhz).period_ps();
  r.host_clock_khz = 1'000'000'000 / sim::Clock(b.config.host.clock_mhz).period_ps();
  r.host_cycles = b.port.busy_ps() / sim::Clock(b.config.host.clock_mhz).period_ps();
  r.interrupts = b.intc.interrupts();
  r.register_reads = b.port.register_reads();
  r.register_writes = b.port.register_writes();
  r.npu_jobs = b.npu.jobs();
  r.npu_job_unfinished = b.npu.busy();
  add_traffic(r.initiator_traffic["host"], b.host_bus);
  add_traffic(r.initiator_traffic["dma.read"], b.dma_engine.reader);
  add_traffic(r.initiator_traffic["dma.write"], b.dma_engine.writer);
  add_traffic(r.initiator_traffic["npu.load"], b.npu.load_port);
  add_traffic(r.initiator_traffic["npu.load"], b.npu.load_constants_port);
  add_traffic(r.initiator_traffic["npu.store"], b.npu.store_port);
  add_traffic(r.initiator_traffic["npu.cmd"], b.npu.command_port);
  add_traffic(r.initiator_traffic["npu.queue"], b.npu_queue.bus);
  add_traffic(r.initiator_traffic["dma.queue"], b.dma_queue.bus);
  add_traffic(r.initiator_traffic["iommu"], b.iommu.walker);
  add_traffic(r.initiator_traffic["sensor"], b.sensor.writer);
  for (const char* name :
       {"dsp.commands", "dsp.job_cycles", "dsp.jobs", "dsp.mac_operations", "dsp.packets",
        "dsp.program_cycles", "dsp.scalar_operations", "dsp.scrubs", "dsp.tcm_read_bytes",
        "dsp.tcm_written_bytes", "dsp.vector_operations"})
    r.counters[name] = 0;
  if (b.dsp) collect_dsp(b, r);
  std::erase_if(r.initiator_traffic, [](const auto& entry) { return entry.second.empty(); });
  r.noc_traffic = b.noc.traffic();
  r.memory_traffic["sram"] = to_count(b.sram.counted());
  r.memory_traffic["dram"] = to_count(b.dram.counted());
  r.dram = b.dram.counters();
  const dram::Counters& dram = r.dram;

  collect_busy(b, r);
  std::uint64_t injected = 0;
  if (b.injector) {
    r.fault_events = b.injector->events();
    const auto fired = b.injector->fired(), seen = b.injector->seen();
    for (std::size_t i = 0; i < fired.size(); ++i) {
      r.faults.push_back({b.injector->plan().faults[i].kind, b.injector->plan().faults[i].target,
                          fired[i], seen[i]});
      injected += fired[i];
    }
  }

  if (b.cache) r.cache_findings = b.cache->findings();

  auto& n = r.counters;
  const auto mistakes = [&](HostCache::Mistake mistake) {
    return b.cache ? b.cache->count(mistake) : 0;
  };
  n["cache.false_sharing"] = mistakes(HostCache::kFalseSharing);
  n["cache.lost_writes"] = mistakes(HostCache::kLostWrite);
  n["cache.missing_cleans"] = mistakes(HostCache::kMissingClean);
  n["cache.missing_invalidates"] = mistakes(HostCache::kMissingInvalidate);
  n["ecc.corrected"] = b.ecc.corrected();
  n["ecc.uncorrected"] = b.ecc.uncorrected();
  n["faults.injected"] = injected;
  n["host.busy_cycles"] = r.host_cycles;
  n["host.maintained_lines"] = b.port.maintained_lines();
  n["host.register_reads"] = r.register_reads;
  n["host.register_writes"] = r.register_writes;
  n["host.bus_errors"] = b.port.bus_errors();
  n["host.context_switches"] = b.port.threads().switches();
  n["host.threads"] = b.port.threads().started();
  n["intc.interrupts"] = r.interrupts;
  n["iommu.hits"] = b.iommu.hits();
  n["iommu.walks"] = b.iommu.walks();
  n["iommu.faults"] = b.iommu.faults();
  n["noc.bytes"] = b.noc.bytes();
  n["sensor.frames"] = b.sensor.frames();
  n["sensor.dropped"] = b.sensor.dropped();
  n["sensor.missed"] = b.sensor.missed();
  n["sram.bytes"] = b.sram.counted().read_bytes + b.sram.counted().write_bytes;
  n["sram.read_bytes"] = b.sram.counted().read_bytes;
  n["sram.write_bytes"] = b.sram.counted().write_bytes;
  n["dram.read_bytes"] = b.dram.counted().read_bytes;
  n["dram.write_bytes"] = b.dram.counted().write_bytes;
  n["dram.activates"] = dram.activates;
  n["dram.row_hits"] = dram.hits;
  n["dram.row_misses"] = dram.misses;
  n["dram.row_conflicts"] = dram.conflicts;
  n["dram.refreshes"] = dram.refreshes;
  n["dram.bank_refreshes"] = dram.bank_refreshes;
  n["dram.read_bursts"] = dram.reads;
  n["dram.write_bursts"] = dram.writes;
  n["dram.turnarounds"] = dram.turnarounds;
  n["dram.overtaken"] = dram.overtaken;
  n["dram.power_downs"] = dram.power_downs;
  n["dram.self_refreshes"] = dram.self_refreshes;
  const dram::Spec& device = b.config.dram.device;
  const auto ps = [&](dram::Ck clocks) {
    return static_cast<std::uint64_t>(clocks * device.tck_ps);
  };
  n["dram.data_ps"] = ps(static_cast<dram::Ck>(dram.reads + dram.writes) * device.burst_ck);
  n["dram.active_ps"] = ps(dram.state[0]);
  n["dram.precharged_ps"] = ps(dram.state[1]);
  n["dram.active_down_ps"] = ps(dram.state[2]);
  n["dram.precharged_down_ps"] = ps(dram.state[3]);
  n["dram.self_refresh_ps"] = ps(dram.state[4]);
  n["npu.scrubs"] = b.npu.scrubs();
  n["npu.jobs"] = r.npu_jobs.size();
  for (const auto& [name, member] : kOfJobs) {
    std::uint64_t& sum = n[name] = 0;
    for (const auto& job : r.npu_jobs) sum += job.*member;
  }
  for (const char* name : {"npu.macs", "npu.vec_results", "npu.spm_bytes", "npu.spm_filled_bytes",
                           "npu.decoded_bytes"})
    n[name] = 0;
  for (const auto& job : r.npu_jobs)
    for (const auto& op : job.ops) {
      n["npu.macs"] += op.macs;
      n["npu.vec_results"] += op.vec_results;
      n["npu.spm_bytes"] +=
          op.spm_bytes + op.load_bytes - op.stream_bytes + op.decoded_bytes + op.store_bytes;
      n["npu.spm_filled_bytes"] += op.load_bytes - op.stream_bytes + op.decoded_bytes;
      n["npu.decoded_bytes"] += op.decoded_bytes;
    }
}

}  // namespace deputy::soc
