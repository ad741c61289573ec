#include "tools/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "arch/engine.h"
#include "delegate/program_summary.h"

namespace deputy::tools {
namespace {

double ns(std::uint64_t ps) { return static_cast<double>(ps) / 1000.0; }

std::uint64_t cycles_of(std::uint64_t ps, std::uint64_t clock_khz) {
  // ps * kHz = 1e-9 cycles; 128 bits because hours of simulated time would overflow 64.
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(ps) * clock_khz + 500'000'000) /
                                    1'000'000'000);
}

// What the operator waited for, in one word.
std::string bound_word(const soc::NpuOpRecord& r, const OpReport& op) {
  const std::string name = op.bounds.name();
  if (name == "none") return name;
  if (op.bound_ratio() >= 2) return "latency";  // no resource was busy half of the time
  return name == "compute" && r.vec_cycles > r.mac_cycles ? "vector" : name;
}

// The step that a job of the DSP does: the runtime numbers jobs by steps. Null: none of this
// model's.
const arch::Step* step_of(const Simulation& s, const soc::DspJobRecord& job) {
  if (job.number >= s.executable.steps.size()) return nullptr;
  const arch::Step& step = s.executable.steps[job.number];
  return arch::engine_of(step) == arch::Engine::kDsp ? &step : nullptr;
}

// Every part of the ledger goes to an operator or to whoever else caused it. What host and DSP
// spend while they compute an operator is that operator's.
void add_energy(const Simulation& s, const soc::SocConfig& config, Report& report) {
  struct Window {
    std::uint64_t from_ps, to_ps;
    std::uint32_t op;
  };
  std::map<std::string_view, std::vector<Window>> windows;  // by cause
  for (const auto& record : s.inference.steps) {
    const arch::Step& step = s.executable.steps[record.step];
    if (step.kind == arch::StepKind::kHost)
      windows["host"].push_back({record.start_ps, record.end_ps, step.source_op});
  }
  for (const soc::DspJobRecord& job : s.soc.dsp_jobs)
    if (const arch::Step* step = step_of(s, job))
      windows["dsp"].push_back({job.start_ps, job.end_ps, step->source_op});
  const auto give = [&](std::uint32_t op, const soc::EnergyPart& part, double nj) {
    report.ops[op].energy_nj += nj;
    report.ops[op].energy_by_component_nj[part.component] += nj;
    report.energy_by_cause_nj["operators"] += nj;
  };
  soc::each_energy_part(config, s.soc, [&](const soc::EnergyPart& part) {
    report.power.inference_nj += soc::energy_within(part, s.inference.start_ps, s.inference.end_ps);
    if (part.op >= 0 && part.op < static_cast<std::int64_t>(report.ops.size()))
      return give(static_cast<std::uint32_t>(part.op), part, part.nj);
    double left = part.nj;
    if (const auto of = windows.find(part.cause); of != windows.end())
      for (const Window& w : of->second) {
        const double nj = soc::energy_within(part, w.from_ps, w.to_ps);
        if (nj > 0) give(w.op, part, nj), left -= nj;
      }
    report.energy_by_cause_nj[part.cause] += left;
  });
  double causes = 0;
  for (const auto& [cause, nj] : report.energy_by_cause_nj) causes += nj;
  if (std::abs(causes - report.total_energy_nj) > 1e-9 * (1 + report.total_energy_nj))
    report.imbalances.push_back(
        fmt::format("energy: {} nJ by component, {} nJ by cause", report.total_energy_nj, causes));
}

void add_power(const Simulation& s, const soc::SocConfig& config, Report& report) {
  report.power_trace = soc::power_trace(config, s.soc, power_interval_ps(config, s.soc.end_ps));
  const soc::PowerTrace& trace = report.power_trace;
  std::size_t peak = 0;
  PowerReport& p = report.power;
  p.volts = config.power.volts;
  p.interval_ns = ns(trace.interval_ps);
  p.peak_mw = trace.peak_mw(&peak);
  p.peak_start_ns = ns(peak * trace.interval_ps);
  p.average_mw = trace.average_mw();
  if (report.latency_ns > 0) p.inference_mw = p.inference_nj / report.latency_ns * 1000;
  double binned = 0;
  for (std::size_t i = 0; i < trace.intervals(); ++i) binned += trace.total_nj(i);
  if (std::abs(binned - report.total_energy_nj) > 1e-9 * (1 + report.total_energy_nj))
    report.imbalances.push_back(
        fmt::format("energy: {} nJ by component, {} nJ over time", report.total_energy_nj, binned));
}

// An operator that makes another's input tile by tile. It alone may do more MACs than the graph
// has: the rows and columns that two tiles share are made twice.
bool expands(const arch::SourceOp& op) {
  return op.fused_into >= 0 && op.kind == arch::OpKind::CONV_2D;
}

// What the programs' CONVs do for such operators, by tag.
std::map<std::uint32_t, std::uint64_t> expanded_macs(const arch::Executable& e) {
  std::map<std::uint32_t, std::uint64_t> out;
  if (std::ranges::none_of(e.ops, expands)) return out;
  for (const arch::Program& program : e.programs)
    for (std::span<const std::uint32_t> words = program.words; !words.empty();) {
      const arch::Decoded decoded = arch::decode(words);
      if (decoded.fault != arch::DecodeFault::kNone) break;
      const std::uint32_t tag = decoded.instruction.header.tag;
      const auto* conv = std::get_if<arch::Conv>(&decoded.instruction.op);
      if (conv && tag < e.ops.size() && expands(e.ops[tag])) out[tag] += conv->macs();
      words = words.subspan(decoded.instruction.header.words);
    }
  return out;
}

// Several jobs (batches of a partition, partitions sharing an operator) add up under the operator's
// tag.
void add_npu_ops(const Simulation& s, const MemoryRates& rates, Report& report) {
  const double peak = static_cast<double>(s.executable.target.mac.per_cycle());
  const auto expanded = expanded_macs(s.executable);
  std::map<std::uint32_t, soc::NpuOpRecord> by_tag;
  for (const auto& job : s.soc.npu_jobs) {
    for (const auto& r : job.ops) {
      auto [it, fresh] = by_tag.try_emplace(r.tag, r);
      if (fresh) continue;
      soc::NpuOpRecord& sum = it->second;
      sum.own_ps += r.own_ps;
      sum.unit_cycles += r.unit_cycles;
      sum.first_start_ps = std::min(sum.first_start_ps, r.first_start_ps);
      sum.last_end_ps = std::max(sum.last_end_ps, r.last_end_ps);
      sum.macs += r.macs;
      sum.compute_cycles += r.compute_cycles;
      sum.mac_cycles += r.mac_cycles;
      sum.vec_cycles += r.vec_cycles;
      sum.spm_cycles += r.spm_cycles;
      sum.load_cycles += r.load_cycles;
      sum.store_cycles += r.store_cycles;
      sum.load_bytes += r.load_bytes;
      sum.store_bytes += r.store_bytes;
      sum.weight_bytes += r.weight_bytes;
      sum.stream_bytes += r.stream_bytes;
      sum.decoded_bytes += r.decoded_bytes;
      sum.dram_load_bytes += r.dram_load_bytes;
      sum.dram_store_bytes += r.dram_store_bytes;
      sum.vec_results += r.vec_results;
      sum.spm_bytes += r.spm_bytes;
    }
  }
  for (const auto& [tag, r] : by_tag) {
    if (tag >= report.ops.size()) {
      report.imbalances.push_back(
          fmt::format("NPU instructions carry tag {}, which no operator has", tag));
      continue;
    }
    OpReport& op = report.ops[tag];
    op.start_ns = ns(r.first_start_ps - s.inference.start_ps);
    op.latency_ns = ns(r.last_end_ps - r.first_start_ps);
    op.cycles = cycles_of(r.last_end_ps - r.first_start_ps, s.soc.npu_clock_khz);
    op.own_cycles = cycles_of(r.own_ps, s.soc.npu_clock_khz);
    op.mac_utilisation =
        op.own_cycles ? static_cast<double>(r.macs) / (static_cast<double>(op.own_cycles) * peak)
                      : 0;
    op.load_bytes = r.load_bytes;
    op.store_bytes = r.store_bytes;
    op.weight_bytes = r.weight_bytes;
    op.decoded_bytes = r.decoded_bytes;
    op.bounds = bounds_of(r, rates);
    op.bound = bound_word(r, op);
    report.bounds += op.bounds;
    const std::uint64_t dram_weights =
        std::min(r.dram_load_bytes, r.weight_bytes);  // weights always come from DRAM
    report.dram_weight_bytes += dram_weights;
    report.dram_map_bytes += r.dram_load_bytes - dram_weights + r.dram_store_bytes;
    report.npu_macs += r.macs;
    const auto done = expanded.find(tag);
    const std::uint64_t again =
        done == expanded.end() ? 0 : done->second - std::min(done->second, op.macs);
    if (r.macs != op.macs + again && !s.failure)
      report.imbalances.push_back(fmt::format(
          "{} '{}': the graph has {} MACs, the program {} more where tiles overlap, the NPU did {}",
          op.kind, op.name, op.macs, again, r.macs));
  }
  for (const auto& op : report.ops)
    if (op.engine == "npu" && op.macs > 0 && op.bound.empty() && !s.failure &&
        s.inference.degraded.empty())
      report.imbalances.push_back(
          fmt::format("{} '{}': placed on the NPU, which did nothing", op.kind, op.name));
}

// All attempts at an operator; its latency is from the first one's start.
void add_dsp_ops(const Simulation& s, Report& report) {
  for (const soc::DspJobRecord& job : s.soc.dsp_jobs) {
    report.dsp_busy_cycles += job.cycles;
    const arch::Step* step = step_of(s, job);
    if (!step) continue;
    OpReport& op = report.ops[step->source_op];
    if (!op.dsp) op.dsp.emplace(), op.start_ns = ns(job.start_ps - s.inference.start_ps);
    ++op.dsp->jobs, op.dsp->cycles += job.cycles;
    op.dsp->program_cycles += job.programs.cycles,
        op.dsp->stall_cycles += job.programs.cycles - job.programs.packets;
    op.latency_ns = ns(job.end_ps - s.inference.start_ps) - op.start_ns;
    op.own_cycles = op.dsp->cycles;
    op.cycles = static_cast<std::uint64_t>(
        std::llround(op.latency_ns * report.target.dsp_clock_mhz / 1000));
    op.load_bytes += job.loaded_bytes, op.store_bytes += job.stored_bytes;
    op.bound = 2 * op.dsp->program_cycles >= op.dsp->cycles ? kDspProgramBound : kDspTransferBound;
  }
}

// What the CPU did, be it in the DSP's place.
void add_host_ops(const Simulation& s, Report& report) {
  for (const auto& record : s.inference.steps) {
    const arch::Step& step = s.executable.steps[record.step];
    if (step.kind != arch::StepKind::kHost) continue;
    const bool off_dsp =
        std::ranges::find(s.inference.off_dsp, record.step) != s.inference.off_dsp.end();
    if (arch::engine_of(step) == arch::Engine::kDsp && !off_dsp) continue;
    OpReport& op = report.ops[step.source_op];
    op.load_bytes = op.store_bytes = 0;
    op.start_ns = ns(record.start_ps - s.inference.start_ps);
    op.latency_ns = ns(record.end_ps - record.start_ps);
    op.cycles = cycles_of(record.end_ps - record.start_ps, s.soc.host_clock_khz);
    op.own_cycles = op.cycles;
    op.bound = kHostBound;
    for (auto t : step.inputs)
      if (t != arch::kNoTensor)
        op.load_bytes += static_cast<std::uint64_t>(s.executable.tensors[t].desc.bytes());
    for (auto t : step.outputs)
      op.store_bytes += static_cast<std::uint64_t>(s.executable.tensors[t].desc.bytes());
  }
}

// An independent reading of the records: times inside the inference, steps in order.
void check_times(const Simulation& s, Report& report) {
  const auto complain = [&](std::string what) { report.imbalances.push_back(std::move(what)); };
  if (s.inference.end_ps < s.inference.start_ps) complain("the inference ends before it starts");
  std::uint64_t last = s.inference.start_ps;
  for (const auto& step : s.inference.steps) {
    if (step.start_ps < last || step.end_ps < step.start_ps)
      complain(fmt::format("step {} overlaps the step before it or runs backwards", step.step));
    last = step.end_ps;
  }
  if (last > s.inference.end_ps) complain("a step ends after the inference");
  for (const auto& job : s.soc.npu_jobs) {
    std::uint64_t shares = 0;
    for (const auto& op : job.ops) shares += op.own_ps;
    if (!job.ops.empty() && shares != job.end_ps - job.start_ps)
      complain(fmt::format("the operators' shares of an NPU job add up to {} ps of {}", shares,
                           job.end_ps - job.start_ps));
    for (const auto& op : job.ops)
      if (op.first_start_ps < job.start_ps || op.last_end_ps > job.end_ps ||
          op.last_end_ps < op.first_start_ps)
        complain(fmt::format("NPU operator {} lies outside its job", op.tag));
  }
}

}  // namespace

std::uint64_t power_interval_ps(const soc::SocConfig& soc, std::uint64_t end_ps) {
  const auto wanted = soc.power.trace_us > 0 ? soc::us_to_ps(soc.power.trace_us) : end_ps / 100;
  return std::max({wanted, end_ps / 1'000'000 + 1, std::uint64_t{1}});
}

void add_tiles(const arch::Executable& executable, Report& report) {
  for (auto& kernel : delegate::summarise_programs(executable))
    if (kernel.tag < report.ops.size()) report.ops[kernel.tag].tiles = std::move(kernel.tiles);
}

Report make_report(const Simulation& s, const SimulateOptions& options) {
  Report report;
  report.model = s.executable.model_name;
  report.soc = options.soc.name;
  report.executable_hash = s.file_hash;
  report.provenance = s.provenance;
  report.numerics = numerics_name(s.executable.numerics);
  constexpr const char* kEngines[] = {"auto", "npu", "cpu"};
  report.engine = kEngines[static_cast<int>(options.engine)];
  report.timing_only = options.timing_only;
  report.target = {options.soc.npu.clock_mhz,
                   options.soc.host.clock_mhz,
                   options.soc.dsp.present ? options.soc.dsp.clock_mhz : 0,
                   memory_rates(options.soc),
                   static_cast<std::uint64_t>(s.executable.target.mac.per_cycle()),
                   static_cast<std::uint64_t>(options.soc.sram.bytes),
                   s.executable.fast_arena_bytes};
  report.latency_ns = ns(s.inference.end_ps - s.inference.start_ps);
  report.total_ns = ns(s.soc.end_ps);
  report.host_cycles = s.soc.host_cycles;
  report.sim_wall_ms = s.inference_wall_ms;
  if (options.soc.dram.model == "full") {
    const auto& device = options.soc.dram.device;
    const soc::dram::Counters& k = s.soc.dram;
    report.dram_device = device.name;
    report.dram_utilisation = k.end > 0 ? static_cast<double>(k.reads + k.writes) *
                                              device.burst_ck / static_cast<double>(k.end)
                                        : 0;
  }
  report.energy_nj = s.soc.energy_nj;
  for (const auto& [component, nj] : report.energy_nj) report.total_energy_nj += nj;
  for (const auto& [row, nj] : s.soc.energy_by_row_nj) {
    const auto it = options.soc.energy_sources.find(row);
    soc::RowSource from{"derived", "the DRAM model's currents",
                        ""};  // that model books its joules without the table
    if (it != options.soc.energy_sources.end()) from = it->second;
    report.energy_by_basis_nj[from.basis] += nj;
    report.energy_rows.push_back({row, from.basis, from.source, nj});
  }
  report.memory_bytes = s.soc.memory_traffic;
  report.initiator_bytes = s.soc.initiator_traffic;
  report.copied_bytes = s.inference.copied_bytes;
  report.kernel_events = s.soc.kernel_events;
  report.interrupts = s.soc.interrupts;
  report.counters = s.soc.counters;
  report.imbalances = s.soc.imbalances;
  report.frames = s.frames;
  if (s.failure) report.failure = s.failure->text();
  report.faults = s.soc.faults;
  report.fault_events = s.soc.fault_events;
  report.recover = options.recovery.most_attempts() > 1 ? "full" : "none";
  report.bound_ns = static_cast<double>(s.bound_ps) / 1000;
  report.recovery = s.recovery;
  report.restarts = s.inference.restarts, report.degraded = s.inference.degraded;

  for (std::uint32_t i = 0; i < s.executable.ops.size(); ++i) {
    const arch::SourceOp& op = s.executable.ops[i];
    OpReport row;
    row.index = i;
    row.name = op.name;
    row.kind = s.executable.op_word(i);
    row.engine = arch::engine_word(arch::engine_of(s.executable, i));
    row.reason = op.reason;
    row.macs = op.macs;
    row.fused_into = op.fused_into;
    report.macs += op.macs;
    report.ops.push_back(std::move(row));
  }
  add_npu_ops(s, memory_rates(options.soc), report);
  add_dsp_ops(s, report);
  add_host_ops(s, report);
  add_energy(s, options.soc, report);
  add_power(s, options.soc, report);
  check_times(s, report);

  if (!s.soc.npu_jobs.empty()) {
    for (const auto& job : s.soc.npu_jobs) {
      report.npu_busy_cycles += job.cycles;
      report.bounds.dram += static_cast<double>(job.command_bytes) /
                            memory_rates(options.soc).dram;  // commands lie beside the weights
    }
    report.npu_cycles = cycles_of(s.soc.npu_jobs.back().end_ps - s.soc.npu_jobs.front().start_ps,
                                  s.soc.npu_clock_khz);
    const double peak = static_cast<double>(s.executable.target.mac.per_cycle());
    if (report.npu_cycles)
      report.mac_utilisation =
          static_cast<double>(report.npu_macs) / (static_cast<double>(report.npu_cycles) * peak);
  }
  return report;
}

}  // namespace deputy::tools
