// A simulation's report: one structure, filled once, printed as JSON for machines and as tables for
// people.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "soc/energy_ledger.h"
#include "tools/battery.h"
#include "tools/bounds.h"
#include "tools/simulate.h"

namespace deputy::tools {

/// Words of OpReport::bound off the NPU. A job of the DSP moves and computes by turns: the word is
/// what took longer.
inline constexpr const char *kHostBound = "host", *kDspProgramBound = "DSP program",
                            *kDspTransferBound = "DSP transfer";

/// What an operator's jobs on the DSP took, in cycles of its clock.
struct DspTime {
  std::uint64_t jobs = 0, cycles = 0;
  std::uint64_t program_cycles =
      0;  ///< with a program running; the rest moves the list, the program and the data
  std::uint64_t stall_cycles = 0;  ///< of those, without a packet
  std::uint64_t transfer_cycles() const { return cycles - program_cycles; }
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    v(s.jobs, "jobs"), v(s.cycles, "cycles"), v(s.program_cycles, "program_cycles"),
        v(s.stall_cycles, "stall_cycles");
  }
};

/// One source operator. Times in ns from the start of the inference.
struct OpReport {
  std::uint32_t index = 0;
  std::string name, kind, engine, reason;
  double start_ns = 0, latency_ns = 0;
  std::uint64_t cycles = 0;  ///< first start to last end, of the engine's own clock
  std::uint64_t own_cycles =
      0;  ///< NPU: its share of the jobs' time; shares add up to npu_busy_cycles. Host, DSP: cycles
  Bounds bounds;  ///< NPU
  std::uint64_t macs = 0;
  double mac_utilisation = 0;  ///< macs / (own cycles * MACs per cycle); 0 off the NPU
  std::uint64_t load_bytes = 0, store_bytes = 0, weight_bytes = 0;
  std::uint64_t decoded_bytes = 0;  ///< that LOADW put out; what it took in is part of load_bytes
  double energy_nj = 0;  ///< of everything it caused: its events, its share of clock tree and
                         ///< activates; not of leakage
  std::map<std::string, double> energy_by_component_nj;
  std::int32_t fused_into = -1;  ///< the operator whose kernel does this one's work; -1: none
  std::map<std::string, std::uint64_t>
      tiles;  ///< NPU: "height x width x channels" of the tiles it computes -> how many
  std::optional<DspTime> dsp;  ///< of an operator that the DSP did
  /// NPU: compute, vector, scratchpad, SRAM, DRAM; latency when it took twice as long. kHostBound;
  /// kDspProgramBound, kDspTransferBound.
  std::string bound;
  /// Own cycles over the bound; 0 without a bound.
  double bound_ratio() const {
    return bounds.cycles() > 0 ? static_cast<double>(own_cycles) / bounds.cycles() : 0;
  }
};

/// The joules that one row of the energy table prices.
struct EnergyRowReport {
  std::string row, basis, source;
  double nj = 0;
};

/// Power over time, and how much the inference itself took.
struct PowerReport {
  double volts = 0, interval_ns = 0, average_mw = 0, peak_mw = 0, peak_start_ns = 0;
  double inference_nj = 0, inference_mw = 0;
};

/// What the SoC has of everything that bounds a run, at the NPU's clock.
struct ReportTarget {
  double npu_clock_mhz = 0, host_clock_mhz = 0, dsp_clock_mhz = 0;  ///< dsp: 0 without one
  MemoryRates rates;
  std::uint64_t macs_per_cycle = 0, sram_bytes = 0,
                sram_used_bytes = 0;  ///< used: for tensors and staged constants
};

struct Report {
  std::string model, soc, executable_hash, numerics, engine;
  Provenance provenance;
  bool timing_only = false;
  ReportTarget target;
  double latency_ns = 0;  ///< first input copied in to last output copied out
  double total_ns = 0;    ///< from reset, loading included; energy covers all of it
  std::uint64_t npu_cycles = 0, host_cycles = 0;  ///< npu: first job start to last job end
  std::uint64_t npu_busy_cycles = 0;              ///< sum over jobs
  std::uint64_t dsp_busy_cycles = 0;              ///< sum over jobs
  Bounds bounds;                                  ///< of all NPU work together, commands included
  std::uint64_t macs = 0, npu_macs = 0;
  double mac_utilisation = 0;   ///< over npu_cycles
  double sim_wall_ms = 0;       ///< 0: not known
  std::string dram_device;      ///< the full model's; empty with another
  double dram_utilisation = 0;  ///< of its data bus, over total_ns
  std::map<std::string, double> energy_nj;
  double total_energy_nj = 0;
  std::vector<EnergyRowReport> energy_rows;  ///< the same joules by row
  std::map<std::string, double>
      energy_by_cause_nj;  ///< and by who caused them: "operators", "host", "dma", ..., "leakage"
  std::map<std::string, double>
      energy_by_basis_nj;  ///< and by what the rows rest on: source, derived, assumption
  PowerReport power;
  soc::PowerTrace power_trace;
  std::optional<BatteryLife> battery;
  std::map<std::string, soc::TrafficCount> memory_bytes;
  std::map<std::string, std::map<std::string, soc::TrafficCount>> initiator_bytes;
  std::uint64_t dram_map_bytes = 0;     ///< feature maps that the NPU read and wrote in DRAM
  std::uint64_t dram_weight_bytes = 0;  ///< weights and parameters that it read there
  std::uint64_t copied_bytes = 0, kernel_events = 0, interrupts = 0;
  std::map<std::string, std::uint64_t> counters;
  std::vector<OpReport> ops;
  std::string failure;                  ///< why the run ended early; what follows is what it had
  std::vector<soc::FaultCount> faults;  ///< planned faults and how often each happened
  std::vector<sim::FaultEvent> fault_events;
  std::string recover;  ///< none or full
  double bound_ns = 0;  ///< what the inference takes at most, whatever fails
  std::vector<host_runtime::RecoveryEvent> recovery;  ///< steps taken, times from reset
  std::uint32_t restarts = 0;                         ///< times the inference began again
  std::vector<std::uint32_t> degraded;                ///< programs that the CPU computed
  std::optional<FrameTimeline> frames;                ///< of `run --frames`
  std::vector<std::string> imbalances;                ///< books that do not balance; must be empty
  /// Cycles of all NPU jobs over the bound of all NPU work; 0 without NPU work.
  double bound_ratio() const {
    return bounds.cycles() > 0 ? static_cast<double>(npu_busy_cycles) / bounds.cycles() : 0;
  }
};

/// Also checks the books that need the compiler's side: MACs done on the NPU equal the graph's.
Report make_report(const Simulation& simulation, const SimulateOptions& options);

/// Fills the operators' tiles, which are read back from the programs: not for every point of an
/// exploration.
void add_tiles(const arch::Executable& executable, Report& report);

/// The interval of power over time: power.trace_us, or a hundredth of the run; long enough for a
/// million of them.
std::uint64_t power_interval_ps(const soc::SocConfig& soc, std::uint64_t end_ps);

/// JSON, keys in a fixed order. `reproducible` leaves out sim_wall_ms, the one field that depends
/// on the machine.
std::string report_json(const Report& report, bool reproducible);

/// What report_json wrote, `json`, in full but for the power of single components over time. kInput
/// when it is none of this version; `path` is what messages call it.
base::Result<Report> report_of_json(const nlohmann::ordered_json& json, const std::string& path);

/// Tables: latency, energy by component, traffic, utilisation, the `top` slowest operators, CPU
/// reasons.
std::string report_text(const Report& report, int top);

}  // namespace deputy::tools
