#include "soc/energy_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "soc/energy_rows.h"

namespace deputy::soc {
namespace {

using Use = std::function<void(const EnergyPart&)>;

const char* cause_of(std::string_view initiator) {
  for (const char* engine : {"npu", "host", "dma", "sensor", "dsp"})
    if (initiator.starts_with(engine)) return engine;
  return initiator == "iommu" ? "npu" : "other";
}

// Who, why and when of some parts.
struct Spent {
  const char* cause;
  std::int64_t op;
  std::uint64_t from_ps, to_ps;
};

class Ledger {
 public:
  Ledger(const SocConfig& config, const RunRecord& record, const Use& use)
      : config_(config), record_(record), rows_(effective_rows(config)), use_(use) {
    const auto it = record.memory_traffic.find("dram");
    if (it != record.memory_traffic.end())
      dram_bytes_ = static_cast<double>(it->second.read_bytes + it->second.write_bytes);
  }

  void jobs() {
    std::uint64_t commands = 0;
    for (const auto& job : record_.npu_jobs) commands += job.command_bytes;
    for (const auto& job : record_.npu_jobs) {
      std::uint64_t instructions = 0, shares = 0;
      for (const auto& op : job.ops) instructions += op.instructions, shares += op.own_ps;
      const double clock = static_cast<double>(job.cycles) * rows_.npu_cycle_pj;
      const double fetched =
          commands ? static_cast<double>(job.command_bytes) / static_cast<double>(commands) : 0;
      const Spent nobody{"npu", kNoOp, job.start_ps, job.end_ps};
      if (shares == 0) part("npu.ctrl", nobody, clock);
      if (instructions == 0) fetch(nobody, fetched);
      for (const auto& op : job.ops) {
        const Spent by{"npu", op.tag, op.first_start_ps, op.last_end_ps};
        operation(op, by);
        if (shares)
          part("npu.ctrl", by,
               clock * static_cast<double>(op.own_ps) / static_cast<double>(shares));
        if (instructions)
          fetch(by,
                fetched * static_cast<double>(op.instructions) / static_cast<double>(instructions));
        loaded_[0] += op.load_bytes - op.dram_load_bytes, loaded_[1] += op.dram_load_bytes;
        stored_[0] += op.store_bytes - op.dram_store_bytes, stored_[1] += op.dram_store_bytes;
      }
    }
    if (commands == 0) fetch_rest();
  }

  void dsp_jobs() {
    for (const auto& job : record_.dsp_jobs) {
      const Spent by{"dsp", kNoOp, job.start_ps, job.end_ps};
      const auto n = [](std::uint64_t count) { return static_cast<double>(count); };
      const dsp_model::DspStats& did = job.programs;
      part("dsp.core", by,
           n(job.cycles) * rows_.dsp_cycle_pj + n(did.slots[0]) * rows_.dsp_scalar_pj);
      part("dsp.vector", by,
           n(did.slots[1]) * rows_.dsp_vector_pj + n(did.slots[2]) * rows_.dsp_mac_pj);
      part("dsp.tcm", by,
           n(did.read_bytes + job.stored_bytes) * rows_.dsp_tcm_read_byte_pj +
               n(did.written_bytes + job.loaded_bytes) * rows_.dsp_tcm_write_byte_pj);
    }
  }

  // What the bus moved for anybody but the operators of NPU jobs.
  void others() {
    for (const auto& [initiator, targets] : record_.noc_traffic) {
      if (initiator == "npu.cmd") continue;
      for (const auto& [target, count] : targets) {
        const int memory = target == "dram" ? 1 : 0;
        double read = static_cast<double>(count.read_bytes),
               written = static_cast<double>(count.write_bytes);
        if (initiator == "npu.load") read -= static_cast<double>(loaded_[memory]);
        if (initiator == "npu.store") written -= static_cast<double>(stored_[memory]);
        each_busy(cause_of(initiator), [&](const Spent& by, double share) {
          move(by, memory, read * share, written * share);
        });
      }
    }
    each_busy("host", [&](const Spent& by, double share) {
      part("host", by, counter("host.busy_cycles") * share * rows_.host_cycle_pj);
    });
  }

  void leakage() {
    idle_power("npu.static", "npu", rows_.npu_static_mw, rows_.npu_gated_share);
    if (config_.dsp.present)
      idle_power("dsp.static", "dsp", rows_.dsp_static_mw, rows_.dsp_gated_share);
    idle_power("sram.static", "sram", sram_static_mw(config_, rows_), rows_.sram_retention_share);
    idle_power("host.static", "host", rows_.host_static_mw, rows_.host_sleep_share);
    if (record_.dram_energy_nj.empty()) idle_power("dram.static", "dram", rows_.dram_static_mw, 1);
    for (const auto& [component, nj] : record_.dram_energy_nj)
      if (!moves_with_bytes(component))
        part(component.c_str(), {"leakage", kNoOp, 0, record_.end_ps}, nj * 1e3);
    if (config_.power.clock_gating) return;
    const double period_ps = static_cast<double>(npu_period_ps(config_));
    for (const auto& [from, to] : idle_spans(record_))
      part("npu.idle_clock", {"leakage", kNoOp, from, to},
           static_cast<double>(to - from) / period_ps * rows_.npu_cycle_pj);
  }

  void wakes() {
    for (const auto& [block, off] : record_.power_off) {
      const auto [component, pj, wake_ps] = wake_row(config_, rows_, block);
      for (std::size_t i = 0; i < off.wakes; ++i)
        part(component, {"wake", kNoOp, off.spans[i].second, off.spans[i].second + wake_ps}, pj);
    }
  }

 private:
  // `pj`, where the ledger is in nJ.
  void part(const char* component, const Spent& by, double pj) {
    if (pj != 0) use_({component, by.cause, by.op, by.from_ps, by.to_ps, pj * 1e-3});
  }
  double counter(const char* name) const {
    const auto it = record_.counters.find(name);
    return it == record_.counters.end() ? 0 : static_cast<double>(it->second);
  }

  // Bytes through the interconnect to one memory (0 SRAM, 1 DRAM).
  void move(const Spent& by, int memory, double read, double written) {
    part("noc", by, (read + written) * rows_.noc_byte_pj);
    if (memory == 0)
      return part("sram", by, read * rows_.sram_read_byte_pj + written * rows_.sram_write_byte_pj);
    const double share = dram_bytes_ > 0 ? (read + written) / dram_bytes_ : 0;
    for (const auto& [component, nj] : record_.dram_energy_nj)
      if (moves_with_bytes(component)) part(component.c_str(), by, nj * 1e3 * share);
    if (!record_.dram_energy_nj.empty()) return;
    part("dram", by,
         read * rows_.dram_read_byte_pj + written * rows_.dram_write_byte_pj +
             counter("dram.activates") * rows_.dram_activate_pj * share);
  }

  void operation(const NpuOpRecord& op, const Spent& by) {
    const auto n = [](std::uint64_t count) { return static_cast<double>(count); };
    part("npu.mac", by, n(op.macs) * rows_.npu_mac_pj);
    part("npu.vec", by, n(op.vec_results) * rows_.npu_vec_pj);
    part("npu.spm", by,
         n(op.spm_bytes + op.store_bytes) * rows_.npu_spm_read_byte_pj +
             n(op.load_bytes - op.stream_bytes + op.decoded_bytes) * rows_.npu_spm_write_byte_pj);
    part("npu.decoder", by, n(op.decoded_bytes) * rows_.npu_decode_byte_pj);
    move(by, 0, n(op.load_bytes - op.dram_load_bytes), n(op.store_bytes - op.dram_store_bytes));
    move(by, 1, n(op.dram_load_bytes), n(op.dram_store_bytes));
  }

  // A share of all command fetches.
  void fetch(const Spent& by, double share) {
    const auto row = record_.noc_traffic.find("npu.cmd");
    if (row == record_.noc_traffic.end()) return;
    for (const auto& [target, count] : row->second)
      move(by, target == "dram" ? 1 : 0, static_cast<double>(count.read_bytes) * share,
           static_cast<double>(count.write_bytes) * share);
  }
  void fetch_rest() {
    each_busy("npu", [&](const Spent& by, double share) { fetch(by, share); });
  }

  // Each interval in which an engine was busy with its share of all its work; without any, the
  // whole run.
  template <class Each>
  void each_busy(const char* engine, const Each& each) {
    const auto it = record_.busy.find(engine);
    double busy = 0;
    if (it != record_.busy.end())
      for (const auto& i : it->second) busy += static_cast<double>(i.busy_ps);
    if (busy == 0) return each(Spent{engine, kNoOp, 0, record_.end_ps}, 1.0);
    for (const auto& i : it->second)
      each(Spent{engine, kNoOp, i.start_ps, i.end_ps}, static_cast<double>(i.busy_ps) / busy);
  }

  void idle_power(const char* component, const char* block, double mw, double share) {
    const auto spend = [&](std::uint64_t from, std::uint64_t to, double factor) {
      part(component, {"leakage", kNoOp, from, to},
           mw * factor * static_cast<double>(to - from) * 1e-3);  // mW x ps = 1e-3 pJ
    };
    std::uint64_t on_from = 0;
    const auto it = record_.power_off.find(block);
    if (it != record_.power_off.end())
      for (const auto& [from, to] : it->second.spans) {
        spend(on_from, from, 1);
        spend(from, to, share);
        on_from = to;
      }
    spend(on_from, std::max(on_from, record_.end_ps), 1);
  }

  const SocConfig& config_;
  const RunRecord& record_;
  const sim::EnergyTable rows_;
  const Use& use_;
  double dram_bytes_ = 0;
  std::uint64_t loaded_[2] = {}, stored_[2] = {};  ///< by operators, SRAM and DRAM
};

}  // namespace

void each_energy_part(const SocConfig& config, const RunRecord& record, const Use& use) {
  Ledger ledger(config, record, use);
  ledger.jobs();
  ledger.dsp_jobs();
  ledger.others();
  ledger.leakage();
  ledger.wakes();
}

double energy_within(const EnergyPart& part, std::uint64_t from_ps, std::uint64_t to_ps) {
  if (part.to_ps <= part.from_ps)
    return part.from_ps >= from_ps && part.from_ps < to_ps ? part.nj : 0;
  const std::uint64_t begin = std::max(from_ps, part.from_ps), end = std::min(to_ps, part.to_ps);
  return begin >= end ? 0
                      : part.nj * static_cast<double>(end - begin) /
                            static_cast<double>(part.to_ps - part.from_ps);
}

PowerTrace power_trace(const SocConfig& config, const RunRecord& record,
                       std::uint64_t interval_ps) {
  PowerTrace out{interval_ps, record.end_ps, {}};
  const std::size_t n = static_cast<std::size_t>(
      std::max<std::uint64_t>(1, (record.end_ps + interval_ps - 1) / interval_ps));
  for (const auto& entry : record.energy_nj) out.nj[entry.first].assign(n, 0);
  each_energy_part(config, record, [&](const EnergyPart& part) {
    auto& bins = out.nj[part.component];
    if (bins.empty()) bins.assign(n, 0);
    const auto bin = [&](std::uint64_t ps) {
      return std::min<std::size_t>(n - 1, static_cast<std::size_t>(ps / interval_ps));
    };
    const std::size_t last = bin(part.to_ps > part.from_ps ? part.to_ps - 1 : part.from_ps);
    double given = 0;
    for (std::size_t i = bin(part.from_ps); i < last; ++i) {
      const double nj = energy_within(part, i * interval_ps, (i + 1) * interval_ps);
      bins[i] += nj, given += nj;
    }
    bins[last] += part.nj - given;
  });
  return out;
}

double PowerTrace::total_nj(std::size_t interval) const {
  double sum = 0;
  for (const auto& entry : nj) sum += entry.second[interval];
  return sum;
}

std::uint64_t PowerTrace::length_ps(std::size_t i) const {
  return std::min(interval_ps, end_ps - std::min(end_ps, i * interval_ps));
}

double PowerTrace::peak_mw(std::size_t* where) const {
  double peak = 0;
  for (std::size_t i = 0; i < intervals(); ++i) {
    if (length_ps(i) < interval_ps && i > 0)
      continue;  // a shorter one is no average over an interval
    const double mw = length_ps(i) ? total_nj(i) * 1e6 / static_cast<double>(length_ps(i))
                                   : 0;  // nJ / ps = 1e6 mW
    if (mw <= peak) continue;
    peak = mw;
    if (where) *where = i;
  }
  return peak;
}

double PowerTrace::average_mw() const {
  double sum = 0;
  for (std::size_t i = 0; i < intervals(); ++i) sum += total_nj(i);
  return end_ps ? sum * 1e6 / static_cast<double>(end_ps) : 0;
}

std::string power_csv(const PowerTrace& trace) {
  std::string out = "start_us,length_us";
  for (const auto& entry : trace.nj) out += "," + entry.first + "_mw";
  out += ",total_mw\n";
  for (std::size_t i = 0; i < trace.intervals(); ++i) {
    const double ps = static_cast<double>(trace.length_ps(i));
    const auto mw = [&](double nj) { return ps > 0 ? nj * 1e6 / ps : 0; };
    out += fmt::format("{},{}", static_cast<double>(i * trace.interval_ps) * 1e-6, ps * 1e-6);
    for (const auto& entry : trace.nj) out += fmt::format(",{}", mw(entry.second[i]));
    out += fmt::format(",{}\n", mw(trace.total_nj(i)));
  }
  return out;
}

}  // namespace deputy::soc
