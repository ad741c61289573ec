// Every SystemC object of a platform; the host CPU is the one module written here.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "arch/dsp_registers.h"
#include "arch/memory_map.h"
#include "arch/sensor_registers.h"
#include "base/check.h"
#include "dma/dma_engine.h"
#include "dsp_model/dsp.h"
#include "npu_model/npu.h"
#include "npu_model/rtl/rtl_core.h"
#include "sim/fault_injector.h"
#include "soc/dram.h"
#include "soc/ecc_unit.h"
#include "soc/host_cache.h"
#include "soc/intc.h"
#include "soc/interconnect.h"
#include "soc/iommu.h"
#include "soc/platform.h"
#include "soc/progress_bound.h"
#include "soc/queue_manager.h"
#include "soc/sensor.h"
#include "soc/sram.h"
#include "soc/sync_unit.h"
#include "soc/tlm_port.h"

namespace deputy::soc {

// The host program runs CPU kernels and the whole runtime on this stack.
inline constexpr int kHostStackBytes = 4 << 20;

inline const arch::MemoryRange& range(const char* name) {
  for (const auto& r : arch::kMemoryMap)
    if (std::string_view(r.name) == name) return r;
  DEPUTY_CHECK(false, "no such range in the memory map");
}

inline dma::DmaParams dma_params(const DmaEngineConfig& c, bool functional) {
  return {c.clock_mhz, c.chunk_bytes, c.outstanding, c.descriptor_cycles, functional};
}

// load_soc_config has checked both.
inline npu_model::NpuIdentity npu_identity(const arch::Silicon& silicon) {
  const auto revision = arch::revision_register(silicon);
  const auto defect = npu_model::defect_from_name(silicon.defect);
  DEPUTY_CHECK(revision.ok() && defect, "the silicon's configuration was not checked");
  return {*revision, *defect};
}

// Null: the engine's own fast executor.
inline std::unique_ptr<npu_model::ComputePath> compute_path(const NpuParams& npu) {
  return npu.engine == "rtl" ? npu_model::make_rtl_core(npu) : nullptr;
}

/// Built from the configuration; `program` is what the host CPU runs.
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
  std::optional<dsp_model::Dsp> dsp;  ///< only on SoCs that have one
  std::optional<QueueManager> dsp_queue;
  std::uint64_t masters = 0, translated_masters = 0;
  std::optional<HostCache> cache;              ///< only when it is not coherent
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
        dma_engine("dma", dma_params(c.dma, !o.timing_only), line(arch::IrqLine::kDma)),
        npu("npu", c.npu, o.timing_only, npu_identity(c.silicon),
            o.timing_only ? nullptr : compute_path(c.npu)),
        sync("sync", line(arch::IrqLine::kSync)),
        iommu("iommu", c.iommu, noc_clock, line(arch::IrqLine::kIommu)),
        npu_queue("npu_queue", "npu.queue", npu, sync, line(arch::IrqLine::kNpuQueue)),
        dma_queue("dma_queue", "dma.queue", dma_engine, sync, line(arch::IrqLine::kDmaQueue)),
        ecc("ecc", line(arch::IrqLine::kEcc)),
        sensor("sensor", c.sensor, o.sensor_frames, sync, !o.timing_only,
               line(arch::IrqLine::kSensor)),
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
    DEPUTY_CHECK(masters == kBusMasters && translated_masters == kTranslatedMasters,
                 "bounds count other bus masters than there are");
    if (c.dsp.present) add_dsp();
    npu.on_interrupt(line(arch::IrqLine::kNpu));
    sram.on_ecc(
        [this](std::uint64_t address, bool corrected) { ecc.record(0, address, corrected); });
    dram.on_ecc(
        [this](std::uint64_t address, bool corrected) { ecc.record(1, address, corrected); });
    if (!c.host.coherent) {
      cache.emplace(c.host, sram, dram, !o.timing_only);
      noc.attach(&*cache);
      port.attach(&*cache);
    }
    npu.attach(gate(c.power.npu));
    sram.attach(gate(c.power.sram));
    port.attach(gate(c.power.host));
    if (!o.faults.empty()) inject(o.faults);
    if (o.trace) attach(o.trace);

    sc_core::sc_spawn_options options;
    options.set_stack_size(kHostStackBytes);
    sc_core::sc_spawn([this] { program(); }, "host", &options);
  }

  void add_dsp() {
    dsp.emplace("dsp", config.dsp, line(arch::IrqLine::kDsp));
    dsp_queue.emplace("dsp_queue", "dsp.queue", *dsp, sync, line(arch::IrqLine::kDspQueue));
    peripheral("dsp", dsp->registers);
    peripheral("dsp.queue", dsp_queue->registers);
    translated(arch::IommuInitiator::kDsp, 1, dsp->bus);
    initiator("dsp.queue", 1, dsp_queue->bus.socket);
    DEPUTY_CHECK(masters == kBusMasters + kDspBusMasters &&
                     translated_masters == kTranslatedMasters + kDspTranslatedMasters,
                 "bounds count other bus masters than a DSP adds");
    dsp->attach(gate(config.power.dsp));
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
    if (dsp) dsp->attach(&*injector), dsp_queue->attach(&*injector);
  }

  // In the order in which the tracks are shown.
  void attach(sim::Trace* trace) {
    port.attach(trace);
    npu_queue.attach(trace);
    npu.attach(trace);
    if (dsp) dsp_queue->attach(trace), dsp->attach(trace);
    dma_queue.attach(trace);
    dma_engine.attach(trace);
    sync.attach(trace);
    intc.attach(trace);
    noc.attach(trace);
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

/// What the board counted, into a record whose end_ps is set.
void collect(const Board& board, RunRecord& record);

}  // namespace deputy::soc
