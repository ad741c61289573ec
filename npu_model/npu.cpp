#include "npu_model/npu.h"

#include <algorithm>
#include <cmath>

#include "arch/npu_timing.h"
#include "base/check.h"
#include "sim/register_access.h"

namespace deputy::npu_model {

namespace reg = arch::npu_reg;
using sc_core::sc_time, sc_core::sc_time_stamp;

namespace {

std::uint32_t config0(const arch::MacConfig& mac) {
  return static_cast<std::uint32_t>(mac.oc_lanes - 1) |
         static_cast<std::uint32_t>(mac.ic_lanes - 1) << 8 |
         static_cast<std::uint32_t>(mac.pixels - 1) << 16 |
         static_cast<std::uint32_t>(mac.dw_taps) << 24;
}

}  // namespace

NpuEngine::NpuEngine(sc_core::sc_module_name name, const arch::NpuConfig& config, bool timing_only,
                     NpuIdentity identity, std::unique_ptr<ComputePath> path)
    : sc_module(name),
      registers("registers"),
      load_port("npu.load", config.dma.outstanding),
      load_constants_port("npu.load", config.dma.outstanding),
      store_port("npu.store", config.dma.outstanding),
      command_port("npu.cmd", 2),
      config_(config),
      timing_only_(timing_only),
      identity_(identity),
      clock_(config.clock_mhz),
      path_(path ? std::move(path) : std::make_unique<Executor>(config)),
      file_(arch::npu_registers()) {
  DEPUTY_CHECK(!timing_only || !path_->measures_time(),
               "an RTL engine cannot leave out the values");
  registers.register_b_transport(this, &NpuEngine::access_registers);
  reset_engine();
  SC_HAS_PROCESS(NpuEngine);
  SC_THREAD(command_thread);
  SC_THREAD(load_thread);
  SC_THREAD(compute_thread);
  SC_THREAD(store_thread);
  SC_THREAD(constants_thread);
  SC_THREAD(load_landing_thread);
  SC_THREAD(store_landing_thread);
}
NpuEngine::~NpuEngine() = default;

bool NpuEngine::sleep_until(const sc_time& when, std::uint64_t epoch) {
  if (epoch == epoch_ && when > sc_time_stamp()) sim::wait_on(abort_event_, when - sc_time_stamp());
  while (hung_ && epoch == epoch_) sim::wait_on(abort_event_);
  return epoch == epoch_;
}

void NpuEngine::access_registers(tlm::tlm_generic_payload& payload, sc_time& delay) {
  sim::register_access(
      payload, delay, [&](std::uint32_t offset) { return file_.find(offset) != nullptr; },
      [&](std::uint32_t offset) { return file_.bus_read(offset); },
      [&](std::uint32_t offset, std::uint32_t value) {
        write_register(offset, value, sc_time_stamp() + delay);
      });
}

void NpuEngine::write_register(std::uint32_t offset, std::uint32_t value, const sc_time& when) {
  file_.bus_write(offset, value);
  if (offset == reg::kCmd && (value & 1) && !running_ &&
      !faults_.hit(sim::FaultKind::kLostDoorbell, "npu"))
    start_job(when, 0);
  if (offset == reg::kPmuClear)
    for (std::uint32_t n = 0; n < arch::kPmuCounters; ++n)
      if (value >> n & 1) set64(reg::kPmuCount0Lo + 8 * n, 0);
  if (offset == reg::kReset && (value & 1)) {
    if (running_) end_job(arch::NpuError::kNone, true);  // counted, but nothing to report
    reset_engine();
  }
  update_interrupt();
}

void NpuEngine::start_job(const sc_time& when, std::uint32_t context) {
  job_ = Job{};
  for (sim::BusInitiator* port : {&command_port, &load_port, &load_constants_port, &store_port})
    port->set_context(context);
  job_.stream_base = get64(reg::kQBaseLo);
  job_.stream_bytes = file_.get(reg::kQSize);
  for (int r = 0; r < arch::kRegionCount; ++r) {
    job_.base[r] = get64(reg::kBase0Lo + 8 * r);
    job_.size[r] = file_.get(reg::kSize0 + 4 * r);
  }
  const sc_time powered = when + sim::from_ps(gate_.begin(sim::to_ps(when)));
  job_.start = clock_.after(powered, scrub(context));
  job_.shared_until_ps = sim::to_ps(job_.start);
  for (const std::uint32_t offset :
       {reg::kQRead, reg::kProgress, reg::kErrAddrLo, reg::kErrAddrHi, reg::kErrInfo})
    file_.set(offset, 0);
  file_.set(reg::kStatus, arch::kStatusRunning);
  for (QueueState& q : queues_) {
    q.dispatched = q.completed = q.active_cycles = 0;
    q.last_completion = when;
  }
  completed_instructions_ = 0;
  running_ = start_pending_ = true;
  start_event_.notify(sc_core::SC_ZERO_TIME);
}

// Jobs of context 0 are whoever owns the chip; what lies between two isolated contexts' jobs
// changes nothing.
std::uint64_t NpuEngine::scrub(std::uint32_t context) {
  if (context == 0 || context == spm_context_) return 0;
  const bool foreign = spm_context_ != 0;
  spm_context_ = context;
  if (!foreign) return 0;
  path_->reset();
  ++scrubs_;
  const auto bandwidth = static_cast<std::uint64_t>(config_.spm.bytes_per_cycle);
  return (static_cast<std::uint64_t>(config_.spm.bytes) + bandwidth - 1) / bandwidth;
}

void NpuEngine::attach(sim::FaultInjector* injector) {
  faults_.attach(injector);
  clock_.attach(injector, "npu");
  for (sim::BusInitiator* port : {&load_port, &load_constants_port, &store_port, &command_port})
    port->attach(injector);
}

void NpuEngine::attach(sim::Trace* trace) {
  trace_ = trace;
  if (!trace) return;
  constexpr const char* kNames[] = {"npu.load", "npu.compute", "npu.store"};
  for (int id = 0; id < kQueues; ++id) {
    queues_[id].track = trace->track(kNames[id]);
    queues_[id].depth_signal =
        trace->signal(std::string(kNames[id]) + ".depth", sim::SignalKind::kLevel);
  }
}

void NpuEngine::reset_engine() {
  hung_ = false;
  clock_.full_speed();
  file_.reset();
  file_.set(reg::kConfig0, config0(config_.mac));
  file_.set(reg::kConfig1, static_cast<std::uint32_t>(config_.spm.bytes));
  file_.set(reg::kConfig2, static_cast<std::uint32_t>(config_.mac.accumulators));
  file_.set(reg::kRevision, identity_.revision);
  path_->reset();
  spm_context_ = 0;
}

void NpuEngine::run_job(const sim::Job& job, Done done) {
  DEPUTY_CHECK(!running_, "the engine is busy");
  set64(reg::kQBaseLo, job.address);
  file_.set(reg::kQSize, job.bytes);
  for (int r = 0; r < arch::kRegionCount; ++r) {
    set64(reg::kBase0Lo + 8 * r, job.region_base[r]);
    file_.set(reg::kSize0 + 4 * r, job.region_bytes[r]);
  }
  job_done_ = std::move(done);
  start_job(sc_time_stamp(), job.context);
}

void NpuEngine::abort_job() {
  job_done_ = nullptr;
  if (running_) end_job(arch::NpuError::kNone, true);
  reset_engine();
}

std::uint32_t NpuEngine::job_progress() const { return progress_; }

// Empties the queues and ends every wait of the job's processes.
void NpuEngine::stop_queues() {
  ++epoch_;
  running_ = start_pending_ = false;
  for (QueueState& q : queues_) {
    q.entries.clear();
    q.flights.clear();
    q.blocked = q.working = false;
    q.wake.notify();
    q.sent.notify();
    trace_depth(static_cast<QueueId>(&q - queues_.data()));
  }
  for (sim::BusInitiator* port : {&load_port, &load_constants_port, &store_port, &command_port})
    port->abandon();
  constants_flight_ = nullptr;
  decoder_free_ = sc_time_stamp();
  constants_free_.notify();
  command_wake_.notify();
  abort_event_.notify();
}

void NpuEngine::end_job(arch::NpuError error, bool aborted) {
  const sc_time end = sc_time_stamp();
  job_.start = std::min(job_.start, end);  // it may have been stopped before it began
  NpuJobRecord& record = job_.record;
  record.start_ps = sim::to_ps(job_.start);
  record.end_ps = sim::to_ps(end);
  record.cycles = clock_.cycles_between(job_.start, end);
  record.instructions = completed_instructions_;
  record.mac_active_cycles = job_.mac_active_cycles;
  record.load_active_cycles = queues_[kLoad].active_cycles;
  record.store_active_cycles = queues_[kStore].active_cycles;
  record.compute_active_cycles = queues_[kCompute].active_cycles;
  record.stall_load_cycles = clock_.cycles_of(job_.stall_load_ps);
  record.stall_store_cycles = clock_.cycles_of(job_.stall_store_ps);
  record.error = static_cast<std::uint32_t>(error);
  record.aborted = aborted;
  if (!job_.ops.empty()) job_.ops[job_.last_tag].own_ps += record.end_ps - job_.shared_until_ps;
  for (auto& [tag, op] : job_.ops) record.ops.push_back(op);
  jobs_.push_back(record);
  gate_.end(record.end_ps);
  stop_queues();
  if (aborted) return;

  set64(reg::kPmuCyclesLo, record.cycles);
  file_.set(reg::kPmuMacActive, static_cast<std::uint32_t>(record.mac_active_cycles));
  file_.set(reg::kPmuLoadActive, static_cast<std::uint32_t>(record.load_active_cycles));
  file_.set(reg::kPmuStoreActive, static_cast<std::uint32_t>(record.store_active_cycles));
  count(record);
  const bool failed = error != arch::NpuError::kNone;
  if (job_done_) {
    file_.set(reg::kStatus, 0);
    const Done done = std::move(job_done_);
    job_done_ = nullptr;
    return done({failed, file_.get(reg::kErrInfo) | static_cast<std::uint32_t>(error) << 24,
                 get64(reg::kErrAddrLo)});
  }
  file_.set(reg::kStatus, failed ? arch::kStatusError | static_cast<std::uint32_t>(error) << 8
                                 : arch::kStatusDone);
  file_.set(reg::kIrqStatus,
            file_.get(reg::kIrqStatus) | (failed ? arch::kIrqFailed : arch::kIrqDone));
  update_interrupt();
}

void NpuEngine::count(const NpuJobRecord& record) {
  if (!(file_.get(reg::kPmuCtrl) & 1)) return;
  const auto value = [&](arch::PmuEvent event) -> std::uint64_t {
    std::uint64_t bytes = 0;
    switch (event) {
      case arch::PmuEvent::kNone:
        return 0;
      case arch::PmuEvent::kCycles:
        return record.cycles;
      case arch::PmuEvent::kInstructions:
        return record.instructions;
      case arch::PmuEvent::kMacActive:
        return record.mac_active_cycles;
      case arch::PmuEvent::kComputeActive:
        return record.compute_active_cycles;
      case arch::PmuEvent::kLoadActive:
        return record.load_active_cycles;
      case arch::PmuEvent::kStoreActive:
        return record.store_active_cycles;
      case arch::PmuEvent::kStallLoad:
        return record.stall_load_cycles;
      case arch::PmuEvent::kStallStore:
        return record.stall_store_cycles;
      case arch::PmuEvent::kIdle: {
        const std::uint64_t known =
            record.compute_active_cycles + record.stall_load_cycles + record.stall_store_cycles;
        return record.cycles - std::min(record.cycles, known);
      }
      case arch::PmuEvent::kBytesRead:
        for (const NpuOpRecord& op : record.ops) bytes += op.load_bytes;
        return bytes;
      case arch::PmuEvent::kBytesWritten:
        for (const NpuOpRecord& op : record.ops) bytes += op.store_bytes;
        return bytes;
      case arch::PmuEvent::kCommandBytes:
        return record.command_bytes;
    }
    return 0;  // a number that selects nothing
  };
  for (std::uint32_t n = 0; n < arch::kPmuCounters; ++n) {
    const std::uint32_t low = reg::kPmuCount0Lo + 8 * n;
    set64(low, get64(low) + value(static_cast<arch::PmuEvent>(file_.get(reg::kPmuEvent0 + 4 * n))));
  }
}

void NpuEngine::raise_fault(arch::NpuError error, std::uint64_t address, std::uint32_t opcode,
                            std::uint32_t tag) {
  set64(reg::kErrAddrLo, address);
  file_.set(reg::kErrInfo, opcode | tag << 8);
  end_job(error, false);
}

std::uint64_t NpuEngine::get64(std::uint32_t low_offset) const {
  return file_.get(low_offset) | std::uint64_t{file_.get(low_offset + 4)} << 32;
}
void NpuEngine::set64(std::uint32_t low_offset, std::uint64_t value) {
  file_.set(low_offset, static_cast<std::uint32_t>(value));
  file_.set(low_offset + 4, static_cast<std::uint32_t>(value >> 32));
}

void NpuEngine::update_interrupt() {
  const bool level = (file_.get(reg::kIrqStatus) & file_.get(reg::kIrqEnable)) != 0;
  if (level == interrupt_level_) return;
  interrupt_level_ = level;
  if (interrupt_handler_) interrupt_handler_(level);
}

}  // namespace deputy::npu_model
