// The statistics a run counts: name, unit and meaning, for `deputy list stats` and the reference page. A test
// checks that every counter of a run has its row, and the other way round.
#pragma once

namespace deputy::sim {

struct StatRow {
  const char* name;
  const char* unit;
  const char* doc;
};

inline constexpr StatRow kStats[] = {
    {"cache.false_sharing", "", "lines that the CPU and another initiator both wrote"},
    {"cache.lost_writes", "", "lines the CPU had written when they were invalidated"},
    {"cache.missing_cleans", "", "lines read by another initiator before the CPU's writes were cleaned"},
    {"cache.missing_invalidates", "", "lines read by the CPU after another initiator had written them"},
    {"dram.activates", "", "rows opened"},
    {"dram.active_down_ps", "ps", "full model: in active power-down, all ranks together"},
    {"dram.active_ps", "ps", "full model: awake with a row open, all ranks together"},
    {"dram.bank_refreshes", "", "full model: per-bank refreshes"},
    {"dram.data_ps", "ps", "full model: data on the bus"},
    {"dram.overtaken", "", "full model: times that a younger burst went before one that waited"},
    {"dram.power_downs", "", "full model: entries into power-down"},
    {"dram.precharged_down_ps", "ps", "full model: in precharge power-down, all ranks together"},
    {"dram.precharged_ps", "ps", "full model: awake with every row closed, all ranks together"},
    {"dram.read_bursts", "", "full model: bursts read"},
    {"dram.read_bytes", "bytes", "bytes read from DRAM"},
    {"dram.refreshes", "", "all-bank refreshes; of the simple model those that came due"},
    {"dram.row_conflicts", "", "bursts that had to close another row first"},
    {"dram.row_hits", "", "bursts to an open row"},
    {"dram.row_misses", "", "bursts to a closed bank"},
    {"dram.self_refresh_ps", "ps", "full model: in self-refresh, all ranks together"},
    {"dram.self_refreshes", "", "full model: entries into self-refresh"},
    {"dram.turnarounds", "", "full model: times that the data bus changed its direction"},
    {"dram.write_bursts", "", "full model: bursts written"},
    {"dram.write_bytes", "bytes", "bytes written to DRAM"},
    {"ecc.corrected", "", "memory reads with one wrong bit, corrected"},
    {"ecc.uncorrected", "", "memory reads answered with an error because two bits were wrong"},
    {"faults.injected", "", "planned faults that happened"},
    {"host.bus_errors", "", "register accesses that nothing answered"},
    {"host.busy_cycles", "cycles", "CPU cycles not spent waiting for an interrupt"},
    {"host.context_switches", "", "times the core went to another host thread"},
    {"host.maintained_lines", "", "cache lines cleaned or invalidated"},
    {"host.register_reads", "", "device register reads"},
    {"host.register_writes", "", "device register writes"},
    {"host.threads", "", "host threads started beside the first"},
    {"intc.interrupts", "", "interrupts that became pending"},
    {"iommu.faults", "", "transactions refused: nothing mapped, or written where only reading is allowed"},
    {"iommu.hits", "", "translations found in the IOTLB"},
    {"iommu.walks", "", "page table walks, two reads each"},
    {"noc.bytes", "bytes", "bytes through the interconnect to memories"},
    {"npu.compute_active_cycles", "cycles", "cycles the compute queue worked"},
    {"npu.decoded_bytes", "bytes", "bytes that the weight decoder put out; what it takes in counts as loaded"},
    {"npu.instructions", "", "instructions completed, END included"},
    {"npu.job_cycles", "cycles", "NPU cycles with a job running"},
    {"npu.jobs", "", "jobs ended"},
    {"npu.load_active_cycles", "cycles", "cycles the load queue worked"},
    {"npu.mac_active_cycles", "cycles", "cycles the MAC array worked"},
    {"npu.macs", "", "useful multiply-accumulates"},
    {"npu.scrubs", "", "scratchpads cleared between jobs of different isolated contexts"},
    {"npu.spm_bytes", "bytes", "bytes read and written in the scratchpad"},
    {"npu.spm_filled_bytes", "bytes", "of npu.spm_bytes, those that LOADs and the weight decoder wrote"},
    {"npu.stall_load_cycles", "cycles", "cycles a compute instruction waited for a LOAD"},
    {"npu.stall_store_cycles", "cycles", "cycles a compute instruction waited for a STORE only"},
    {"npu.store_active_cycles", "cycles", "cycles the store queue worked"},
    {"npu.vec_results", "", "outputs of the requantiser and the element-wise, pooling and table units"},
    {"sram.bytes", "bytes", "bytes read and written in the shared SRAM"},
    {"sram.read_bytes", "bytes", "bytes read in the shared SRAM"},
    {"sram.write_bytes", "bytes", "bytes written in the shared SRAM"},
};

}  // namespace deputy::sim
