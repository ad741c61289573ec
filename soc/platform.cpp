#include "soc/platform.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <exception>
#include <optional>

#include "arch/memory_map.h"
#include "base/check.h"
#include "dma/dma_engine.h"
#include "npu_model/npu.h"
#include "npu_model/rtl/rtl_core.h"
#include "sim/fault_injector.h"
#include "sim/process.h"
#include "sim/reset.h"
#include "soc/books.h"
#include "soc/dram.h"
#include "soc/ecc_unit.h"
#include "soc/host_cache.h"
#include "soc/intc.h"
#include "soc/interconnect.h"
#include "soc/iommu.h"
#include "soc/progress_bound.h"
#include "soc/queue_manager.h"
#include "soc/sensor.h"
#include "soc/sram.h"
#include "soc/sync_unit.h"
#include "soc/tlm_port.h"

namespace deputy::soc {
namespace {

// The host program runs CPU kernels and the whole runtime on this stack.
constexpr int kHostStackBytes = 4 << 20;

const arch::MemoryRange& range(const char* name) {
  for (const auto& r : arch::kMemoryMap)
    if (std::string_view(r.name) == name) return r;
  DEPUTY_CHECK(false, "no such range in the memory map");
}

dma::DmaParams dma_params(const DmaEngineConfig& c, bool functional) {
  return {c.clock_mhz, c.chunk_bytes, c.outstanding, c.descriptor_cycles, functional};
}

// load_soc_config has checked both.
npu_model::NpuIdentity npu_identity(const arch::Silicon& silicon) {
  const auto revision = arch::revision_register(silicon);
  const auto defect = npu_model::defect_from_name(silicon.defect);
  DEPUTY_CHECK(revision.ok() && defect, "the silicon's configuration was not checked");
  return {*revision, *defect};
}

// Null: the engine's own fast executor.
std::unique_ptr<npu_model::ComputePath> compute_path(const NpuParams& npu) {
  return npu.engine == "rtl" ? npu_model::make_rtl_core(npu) : nullptr;
}

// Owns every SystemC object; the host CPU is the one module written here.
struct Board : sc_core::sc_module {
  SocConfig config;
  bool values_missing;  ///< asked of an engine that cannot: nothing runs
  sim::Clock noc_clock;
  Interconnect noc;
  Sram sram;
  Dram dram;
  Intc intc;
  dma::DmaEngine dma_engine;
  npu_model::NpuEngine npu;
  SyncUnit sync;
  Iommu iommu;
  QueueManager npu_queue, dma_queue;
  EccUnit ecc;
  Sensor sensor;
  std::uint64_t masters = 0, translated_masters = 0;
  std::optional<HostCache> cache;  ///< only when it is not coherent
  std::optional<sim::FaultInjector> injector;  ///< only when something is planned
  sim::BusInitiator host_bus;
  TlmPort port;
  std::function<void()> program;

  Board(sc_core::sc_module_name name, const SocConfig& c, const PlatformOptions& o)
      : sc_module(name),
        config(c),
        values_missing(o.timing_only && c.npu.engine == "rtl"),
        noc_clock(c.noc.clock_mhz),
        noc("noc", c.noc),
        sram("sram", arch::kSramBase, c.sram, noc_clock),
        dram("dram", arch::kDramBase, c.dram),
        intc("intc"),
        dma_engine("dma", dma_params(c.dma, !o.timing_only),
                   line(arch::IrqLine::kDma)),
        npu("npu", c.npu, o.timing_only, npu_identity(c.silicon), o.timing_only ? nullptr : compute_path(c.npu)),
        sync("sync", line(arch::IrqLine::kSync)),
        iommu("iommu", c.iommu, noc_clock, line(arch::IrqLine::kIommu)),
        npu_queue("npu_queue", "npu.queue", npu, sync, line(arch::IrqLine::kNpuQueue)),
        dma_queue("dma_queue", "dma.queue", dma_engine, sync, line(arch::IrqLine::kDmaQueue)),
        ecc("ecc", line(arch::IrqLine::kEcc)),
        sensor("sensor", c.sensor, o.sensor_frames, sync, !o.timing_only, line(arch::IrqLine::kSensor)),
        host_bus("host", c.host.outstanding),
        port(c.host, host_bus, intc, sram, dram, !o.timing_only) {
    noc.add_memory("sram", sram);
    noc.add_memory("dram", dram);
    peripheral("npu", npu.registers);
    peripheral("dma", dma_engine.registers);
    peripheral("intc", intc.socket);
    peripheral("npu.queue", npu_queue.registers);
    peripheral("dma.queue", dma_queue.registers);
    peripheral("sync", sync.socket);
    peripheral("iommu", iommu.registers);
    peripheral("ecc", ecc.socket);
    peripheral("sensor", sensor.registers);
    initiator("host", 0, host_bus.socket);
    translated(arch::IommuInitiator::kDmaRead, 1, dma_engine.reader);
    translated(arch::IommuInitiator::kDmaWrite, 1, dma_engine.writer);
    initiator("dma.queue", 1, dma_queue.bus.socket);
    initiator("npu.queue", 2, npu_queue.bus.socket);
    translated(arch::IommuInitiator::kNpuCommand, 2, npu.command_port);
    translated(arch::IommuInitiator::kNpuLoad, 3, npu.load_port);
    translated(arch::IommuInitiator::kNpuLoad, 3, npu.load_constants_port);
    translated(arch::IommuInitiator::kNpuStore, 4, npu.store_port);
    initiator("iommu", 1, iommu.walker.socket);
    initiator("sensor", 0, sensor.writer.socket);  // last: the order of those before decides ties
    DEPUTY_CHECK(masters == kBusMasters && translated_masters == kTranslatedMasters, "bounds count other bus masters than there are");
    npu.on_interrupt(line(arch::IrqLine::kNpu));
    sram.on_ecc([this](std::uint64_t address, bool corrected) { ecc.record(0, address, corrected); });
    dram.on_ecc([this](std::uint64_t address, bool corrected) { ecc.record(1, address, corrected); });
    if (!c.host.coherent) {
      cache.emplace(c.host, sram, dram, !o.timing_only);
      noc.attach(&*cache);
      port.attach(&*cache);
    }
    npu.attach(gate(c.power.npu));
    sram.attach(gate(c.power.sram));
    port.attach(gate(c.power.host));
    if (!o.faults.empty()) inject(o.faults);

    sc_core::sc_spawn_options options;
    options.set_stack_size(kHostStackBytes);
    sc_core::sc_spawn([this] { program(); }, "host", &options);
  }

  void inject(const sim::FaultPlan& plan) {
    for (const sim::Fault& fault : plan.faults)
      DEPUTY_CHECK(sim::check_fault(fault, "").ok(), "a fault that nobody checked");
    injector.emplace(plan);
    noc.attach(&*injector);
    intc.attach(&*injector);
    npu.attach(&*injector);
    dma_engine.attach(&*injector);
    npu_queue.attach(&*injector);
    dma_queue.attach(&*injector);
  }

  static sim::PowerGate gate(const GateConfig& c) {
    return {c.gating, us_to_ps(c.idle_us), us_to_ps(c.wake_us)};
  }

  // What a device calls with the level of its interrupt line.
  std::function<void(bool)> line(arch::IrqLine number) {
    return [this, number](bool level) { intc.set_line(static_cast<std::uint32_t>(number), level); };
  }

  template <class Socket>
  void initiator(const char* name, int priority, Socket& socket) {
    ++masters;
    noc.add_initiator(name, priority);
    socket.bind(noc.targets);
  }
  // An engine's bus master: its accesses pass the IOMMU.
  void translated(arch::IommuInitiator master, int priority, sim::BusInitiator& bus) {
    ++masters, ++translated_masters;
    noc.add_initiator(bus.name(), priority);
    iommu.attach(master, bus, noc.targets);
  }
  template <class Socket>
  void peripheral(const char* name, Socket& socket) {
    const arch::MemoryRange& at = range(name);
    tlm_utils::simple_initiator_socket<Interconnect>* port_socket = nullptr;
    noc.add_peripheral(at.base, at.size, port_socket);
    port_socket->bind(socket);
  }
};

TrafficCount to_count(const sim::ByteCount& c) { return {c.read_bytes, c.write_bytes, c.transactions}; }

const char* memory_of(std::uint64_t page) {
  for (const auto& r : arch::kMemoryMap)
    if (r.size >= (1u << 28) && page << 28 >= r.base && (page << 28) - r.base < r.size) return r.name;
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

void collect_busy(const Board& b, RunRecord& r) {
  r.host_busy_ps = b.port.busy_ps();
  r.busy["host"] = b.port.busy().intervals();
  r.busy["sensor"] = b.sensor.busy().intervals();
  BusyLog npu, dma;
  for (const auto& job : r.npu_jobs) npu.add(job.start_ps, job.end_ps, job.end_ps - job.start_ps);
  for (const auto& job : b.dma_queue.jobs()) dma.add(job.start_ps, job.end_ps, job.end_ps - job.start_ps);
  r.busy["npu"] = npu.intervals();
  r.busy["dma"] = dma.intervals();
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
  const std::uint64_t from = out.wakes < gate.off().size() ? gate.off()[out.wakes].first : gate.off_from(end_ps);
  if (from < end_ps) out.spans.emplace_back(from, end_ps);
  return out;
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
      r.faults.push_back({b.injector->plan().faults[i].kind, b.injector->plan().faults[i].target, fired[i], seen[i]});
      injected += fired[i];
    }
  }

  if (b.cache) r.cache_findings = b.cache->findings();

  auto& n = r.counters;
  const auto mistakes = [&](HostCache::Mistake mistake) { return b.cache ? b.cache->count(mistake) : 0; };
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
  const auto ps = [&](dram::Ck clocks) { return static_cast<std::uint64_t>(clocks * device.tck_ps); };
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
  for (const char* name : {"npu.macs", "npu.vec_results", "npu.spm_bytes", "npu.spm_filled_bytes", "npu.decoded_bytes"}) n[name] = 0;
  for (const auto& job : r.npu_jobs)
    for (const auto& op : job.ops) {
      n["npu.macs"] += op.macs;
      n["npu.vec_results"] += op.vec_results;
      n["npu.spm_bytes"] += op.spm_bytes + op.load_bytes - op.stream_bytes + op.decoded_bytes + op.store_bytes;
      n["npu.spm_filled_bytes"] += op.load_bytes - op.stream_bytes + op.decoded_bytes;
      n["npu.decoded_bytes"] += op.decoded_bytes;
    }
}

}  // namespace

struct Platform::Impl {
  SocConfig config;
  PlatformOptions options;
  std::unique_ptr<Board> board;
  bool ran = false;
};

Platform::Platform(const SocConfig& config, const PlatformOptions& options)
    : impl_(std::make_unique<Impl>(Impl{config, options, nullptr, false})) {
  impl_->board = std::make_unique<Board>("soc", config, options);
}

Platform::~Platform() {
  impl_->board.reset();
  sim::reset_kernel();
}

RunOutcome Platform::run_to_end(const std::function<base::Status(HwPort&)>& program) {
  DEPUTY_CHECK(!impl_->ran, "a platform runs one program");
  impl_->ran = true;
  Board& board = *impl_->board;
  if (board.values_missing)
    return {{}, base::Error{base::ErrorKind::kConfig, "npu.engine", "rtl computes values, it cannot leave them out",
                            "use npu.engine: tlm, or run without --timing-only"}};
  std::optional<base::Status> status;
  RunRecord record;
  board.program = [&] {
    try {
      status = program(board.port);
    } catch (const std::bad_alloc&) {
      status = base::Error{base::ErrorKind::kHardwareFault, "host program", "out of memory on the simulating machine", ""};
    }
    record.end_ps = sim::to_ps(sc_core::sc_time_stamp());
    if (const std::string left = board.port.threads().unjoined(); !left.empty() && status->ok())
      status = base::Error{base::ErrorKind::kHardwareFault, "host program", left, "join every thread before the program returns"};
    board.port.threads().stop();
    sim::stop_all_threads();
    sc_core::sc_stop();
  };
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  const auto wall = std::chrono::steady_clock::now();
  try {
    sc_core::sc_start();
  } catch (const sc_core::sc_report& report) {
    return {{}, base::Error{base::ErrorKind::kHardwareFault, "simulation", report.what(), "this is a defect of the simulator"}};
  }
  record.sim_wall_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - wall).count();
  if (!status) {
    const std::string waits = board.port.threads().waits();
    record.end_ps = sim::to_ps(sc_core::sc_time_stamp());
    status = base::Error{base::ErrorKind::kHardwareFault, "simulation",
                         "nothing is left to happen, but the host program has not returned" + (waits.empty() ? "" : ": " + waits),
                         "a wait without a deadline?"};
  }
  record.kernel_events = sim::kernel_events();
  board.dram.close(record.end_ps);
  collect(board, record);
  charge_energy(impl_->config, record);
  check_books(impl_->config, record);
  if (impl_->options.cache_errors) check_cache(record);
  return {std::move(record), *std::move(status)};
}

base::Result<RunRecord> Platform::run(const std::function<base::Status(HwPort&)>& program) {
  RunOutcome outcome = run_to_end(program);
  if (!outcome.status.ok()) return outcome.status.error();
  return std::move(outcome.record);
}

}  // namespace deputy::soc
