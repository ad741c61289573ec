// What a simulation counted: plain data, no SystemC, the source of every report.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dsp_model/dsp_record.h"
#include "npu_model/npu_record.h"
#include "sim/fault_injector.h"
#include "soc/busy_log.h"
#include "soc/dram/controller.h"

namespace deputy::soc {

/// Bytes and transactions one initiator moved at one target.
struct TrafficCount {
  std::uint64_t read_bytes = 0, write_bytes = 0, transactions = 0;
};

/// What became of one planned fault.
struct FaultCount {
  std::string kind, target;
  std::uint64_t fired = 0;  ///< 0: its event never came
  std::uint64_t seen = 0;   ///< events that it counted
};

/// When a block had no power: [from, to), in ps. The first `wakes` of them ended with a wake-up,
/// the last may be the run's end.
struct PowerOff {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;
  std::size_t wakes = 0;
  std::uint64_t total_ps() const {
    std::uint64_t sum = 0;
    for (const auto& [from, to] : spans) sum += to - from;
    return sum;
  }
};

using dsp_model::DspJobRecord;
using npu_model::NpuJobRecord;
using npu_model::NpuOpRecord;

struct RunRecord {
  std::uint64_t end_ps = 0;         ///< simulated time when the host program returned
  std::uint64_t kernel_events = 0;  ///< SystemC process activations
  double sim_wall_ms = 0;  ///< wall time of the simulation alone; the only non-deterministic field
  std::uint64_t host_cycles = 0;  ///< cycles the CPU was busy (not waiting)
  std::uint64_t npu_clock_khz = 0, host_clock_khz = 0;
  /// "host", "npu", "dma", "sensor", "dsp" -> when it worked, in order; what the CPU did in threads
  /// at once overlaps nothing.
  std::map<std::string, std::vector<BusyInterval>> busy;
  std::uint64_t host_busy_ps = 0;
  std::vector<std::uint64_t> sensor_ready_ps;  ///< when each frame was in memory
  std::uint64_t sensor_frame_bytes = 0;        ///< of whole frames
  bool sensor_unfinished = false;              ///< a frame was cut short, or is being written
  std::uint64_t interrupts = 0, register_reads = 0, register_writes = 0;
  std::vector<NpuJobRecord> npu_jobs;  ///< that have ended
  std::vector<DspJobRecord> dsp_jobs;  ///< that have ended
  bool dsp_job_unfinished = false;
  bool npu_job_unfinished = false;  ///< the run ended while another was on the engine
  /// "npu.load", "npu.store", "npu.cmd", "dma", "host" -> "sram", "dram" -> count. Counted three
  /// times, at the initiator, at the interconnect and at the memory; the books (below) compare
  /// them.
  std::map<std::string, std::map<std::string, TrafficCount>> initiator_traffic, noc_traffic;
  std::map<std::string, TrafficCount> memory_traffic;
  dram::Counters dram;                      ///< of the simple model: rows and refreshes
  std::map<std::string, double> energy_nj;  ///< component -> nJ; the total is their sum
  std::map<std::string, double>
      energy_by_row_nj;  ///< the same joules by the row of the energy table that they are priced by
  /// Energy that the DRAM model has booked itself, by component of its own ("dram.read",
  /// "dram.standby", ...); those that name a state (static, background, standby, refresh, sleep,
  /// power_down) go by time, the others with bytes. Empty: the table's rows.
  std::map<std::string, double> dram_energy_nj;
  std::map<std::string, PowerOff>
      power_off;  ///< "npu", "sram", "host", "dsp", if they are switched off when idle
  std::map<std::string, std::uint64_t>
      counters;  ///< every raw event count, named as in `deputy list stats`
  std::vector<sim::FaultEvent>
      fault_events;                ///< planned faults that happened, in order (the first 1000)
  std::vector<FaultCount> faults;  ///< one for each of the plan's faults, in its order
  std::vector<std::string>
      cache_findings;  ///< mistakes of cache maintenance (docs/coherence.md), the first 20
  std::vector<std::string> imbalances;  ///< what did not add up; must be empty
};

}  // namespace deputy::soc
