#include "soc/queue_manager.h"

#include "sim/process.h"
#include "sim/register_access.h"
#include "sim/time.h"

namespace deputy::soc {
namespace reg = arch::queue_reg;
using arch::RingCause, arch::RingState, arch::SyncFailure;

namespace {
constexpr std::uint32_t kRetry = 1, kSkip = 2, kAbort = 4;
constexpr std::uint32_t kHaltedBit = 8;
std::uint64_t now_ps() { return sim::to_ps(sc_core::sc_time_stamp()); }
}  // namespace

QueueManager::QueueManager(sc_core::sc_module_name name, const std::string& bus_name,
                           sim::JobEngine& engine, SyncUnit& sync, std::function<void(bool)> irq)
    : sc_module(name),
      registers("registers"),
      bus(bus_name, 1),
      engine_(engine),
      sync_(sync),
      irq_(std::move(irq)),
      file_(arch::queue_registers()) {
  registers.register_b_transport(this, &QueueManager::b_transport);
  sc_core::sc_spawn([this] { thread(); }, sc_core::sc_gen_unique_name("queue"));
}

std::uint32_t QueueManager::get(std::uint32_t ring0_register, std::uint32_t ring) const {
  return file_.get(ring0_register + ring * arch::kRingStride);
}
void QueueManager::set(std::uint32_t ring0_register, std::uint32_t ring, std::uint32_t value) {
  file_.set(ring0_register + ring * arch::kRingStride, value);
}
RingState QueueManager::state(std::uint32_t ring) const {
  return static_cast<RingState>(get(reg::kRing0Status, ring) & 7);
}
void QueueManager::set_state(std::uint32_t ring, RingState state) {
  set(reg::kRing0Status, ring,
      (get(reg::kRing0Status, ring) & ~7u) | static_cast<std::uint32_t>(state));
}
void QueueManager::update_irq() {
  irq_((file_.get(reg::kIrqStatus) & file_.get(reg::kIrqEnable)) != 0);
}
void QueueManager::raise(std::uint32_t bits) {
  file_.set(reg::kIrqStatus, file_.get(reg::kIrqStatus) | bits);
  update_irq();
}

void QueueManager::attach(sim::Trace* trace) {
  trace_ = trace;
  if (!trace) return;
  track_ = trace->track(bus.name());
  depth_signal_ = trace->signal(bus.name() + ".depth", sim::SignalKind::kLevel);
  doorbell_signal_ = trace->signal(bus.name() + ".doorbell", sim::SignalKind::kPulse);
}

void QueueManager::job_over(bool failed) {
  RingJobRecord& record = records_.back();
  record.end_ps = now_ps(), record.failed = failed;
  if (trace_)
    trace_->slice(track_, {record.start_ps, record.end_ps, record.ready_ps,
                           failed ? "failed job" : "job", -1, record.job});
}

void QueueManager::trace_fences(std::span<const arch::TimelinePoint> points, bool signalled) {
  if (!trace_) return;
  for (const arch::TimelinePoint& point : points)
    if (point.used) trace_->fence({now_ps(), point.timeline, point.value, track_, signalled});
}

// Entries of all rings that are on that the driver has written and that are not over.
void QueueManager::trace_depth() {
  if (!trace_) return;
  std::uint64_t depth = 0;
  for (std::uint32_t ring = 0; ring < arch::kRings; ++ring)
    if (state(ring) != RingState::kOff)
      depth += get(reg::kRing0Tail, ring) - get(reg::kRing0Head, ring);
  trace_->change(depth_signal_, now_ps(), depth);
}

void QueueManager::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  sim::register_access(
      payload, delay, [&](std::uint32_t offset) { return file_.find(offset) != nullptr; },
      [&](std::uint32_t offset) {
        return offset == reg::kProgress ? engine_.job_progress() : file_.bus_read(offset);
      },
      [&](std::uint32_t offset, std::uint32_t value) { write_register(offset, value); });
}

void QueueManager::write_register(std::uint32_t offset, std::uint32_t value) {
  if (faults_.injector() && offset >= reg::kRing0BaseLo) {
    const std::uint32_t ring = (offset - reg::kRing0BaseLo) / arch::kRingStride;
    if (offset - ring * arch::kRingStride == reg::kRing0Tail &&
        faults_.hit(sim::FaultKind::kLostDoorbell, bus.name(),
                    {0, 0, static_cast<std::int32_t>(ring)}))
      return;
  }
  const std::uint32_t before = file_.get(offset);
  file_.bus_write(offset, value);
  if (offset == reg::kReset && (value & 1)) reset();
  if (offset >= reg::kRing0BaseLo) {
    const std::uint32_t ring = (offset - reg::kRing0BaseLo) / arch::kRingStride;
    const std::uint32_t field = offset - ring * arch::kRingStride;
    if (field == reg::kRing0Config) configure(ring, before);
    if (field == reg::kRing0Ctrl) control(ring, value);
    if (field == reg::kRing0Tail && state(ring) != RingState::kOff &&
        state(ring) != RingState::kHalted &&
        value - get(reg::kRing0Head, ring) > get(reg::kRing0Entries, ring))
      halt(ring, RingCause::kOverflow);
    if (trace_ && field == reg::kRing0Tail) trace_->pulse(doorbell_signal_, now_ps());
  }
  trace_depth();
  update_irq();
  wake_.notify(sc_core::SC_ZERO_TIME);
}

void QueueManager::configure(std::uint32_t ring, std::uint32_t before) {
  const bool on = get(reg::kRing0Config, ring) & 1, was_on = before & 1;
  if (on == was_on) return;
  if (running_ == ring) control(ring, kAbort);
  rings_[ring] = {};
  ++fetch_epoch_[ring];
  set(reg::kRing0Status, ring, 0);
  if (!on) return;
  set(reg::kRing0Head, ring, 0), set(reg::kRing0Tail, ring, 0);
  const std::uint32_t entries = get(reg::kRing0Entries, ring);
  const bool power_of_two = entries != 0 && (entries & (entries - 1)) == 0;
  if (power_of_two)
    set_state(ring, RingState::kIdle);
  else
    halt(ring, RingCause::kBadEntry);
}

void QueueManager::control(std::uint32_t ring, std::uint32_t value) {
  if ((value & kAbort) && running_ == ring) {
    engine_.abort_job();
    job_over(true);
    running_.reset(), end_.reset(), ++epoch_;
    file_.set(reg::kStatus, 0);
    halt(ring, RingCause::kAborted);
  }
  if (state(ring) != RingState::kHalted || !(get(reg::kRing0Config, ring) & 1)) return;
  if (value & (kRetry | kSkip)) set_state(ring, RingState::kWaiting);
  // A retry reads the entry again: the driver may have mended or replaced it.
  if ((value & (kRetry | kSkip)) == kRetry) rings_[ring] = {}, ++fetch_epoch_[ring];
  if ((value & kSkip) && get(reg::kRing0Head, ring) != get(reg::kRing0Tail, ring)) {
    if (rings_[ring].entry)
      finish(ring, false, SyncFailure::kJobFailed);
    else
      set(reg::kRing0Head, ring, get(reg::kRing0Head, ring) + 1);
  }
}

void QueueManager::reset() {
  if (running_) job_over(true);
  engine_.abort_job();
  file_.reset();
  rings_ = {};
  running_.reset(), end_.reset(), ++epoch_;
  bus.abandon();
}

void QueueManager::halt(std::uint32_t ring, RingCause cause, const sim::JobEnd& end) {
  set(reg::kRing0Status, ring,
      static_cast<std::uint32_t>(RingState::kHalted) | static_cast<std::uint32_t>(cause) << 8);
  set(reg::kRing0ErrInfo, ring, end.info);
  set(reg::kRing0ErrAddrLo, ring, static_cast<std::uint32_t>(end.address));
  set(reg::kRing0ErrAddrHi, ring, static_cast<std::uint32_t>(end.address >> 32));
  raise(1u << (kHaltedBit + ring));
}

// The head entry is over: its signals fire or fail, and HEAD moves.
void QueueManager::finish(std::uint32_t ring, bool success, SyncFailure failure) {
  const arch::QueueEntry entry = *rings_[ring].entry;
  rings_[ring] = {};
  set(reg::kRing0Head, ring, get(reg::kRing0Head, ring) + 1);
  set_state(ring, get(reg::kRing0Head, ring) == get(reg::kRing0Tail, ring) ? RingState::kIdle
                                                                           : RingState::kWaiting);
  const bool lost = success && faults_.hit(sim::FaultKind::kLostSignal, bus.name(),
                                           {0, 0, static_cast<std::int32_t>(ring)});
  for (const arch::TimelinePoint& point : entry.signal) {
    if (!point.used || lost) continue;
    if (success)
      sync_.signal(point.timeline, point.value);
    else
      sync_.fail(point.timeline, failure);
  }
  if (success && !lost) trace_fences(entry.signal, true);
  trace_depth();
  if (entry.irq) raise(1u << ring);
}

bool QueueManager::fetch(std::uint32_t ring) {
  const std::uint64_t epoch = epoch_, fetch_epoch = fetch_epoch_[ring];
  const std::uint64_t base =
      get(reg::kRing0BaseLo, ring) | std::uint64_t{get(reg::kRing0BaseHi, ring)} << 32;
  const std::uint64_t address =
      base + std::uint64_t{get(reg::kRing0Head, ring) & (get(reg::kRing0Entries, ring) - 1)} *
                 arch::kQueueEntryBytes;
  std::array<std::uint32_t, arch::kQueueEntryBytes / 4> words{};
  const bool ok = bus.issue(address, reinterpret_cast<std::uint8_t*>(words.data()),
                            arch::kQueueEntryBytes, false);
  bus.drain();
  // The driver may have reset the ring meanwhile, and begun it afresh.
  if (epoch != epoch_ || fetch_epoch != fetch_epoch_[ring] || state(ring) == RingState::kOff ||
      state(ring) == RingState::kHalted)
    return false;
  if (!ok) return halt(ring, RingCause::kBus, {true, 0, address}), false;
  if (faults_.hit(sim::FaultKind::kCommandParity, bus.name(),
                  {address, arch::kQueueEntryBytes, static_cast<std::int32_t>(ring)}))
    return halt(ring, RingCause::kParity, {true, 0, address}), false;
  const auto entry = arch::unpack<arch::QueueEntry>(words);
  if (arch::first_bad_field(entry))
    return halt(ring, RingCause::kBadEntry, {true, 0, address}), false;
  rings_[ring].entry = entry;
  return true;
}

bool QueueManager::advance_rings() {
  bool changed = false;
  for (std::uint32_t ring = 0; ring < arch::kRings; ++ring) {
    Ring& r = rings_[ring];
    if (state(ring) == RingState::kOff || state(ring) == RingState::kHalted || running_ == ring)
      continue;
    if (get(reg::kRing0Head, ring) == get(reg::kRing0Tail, ring)) {
      set_state(ring, RingState::kIdle);
      continue;
    }
    set_state(ring, RingState::kWaiting);
    if (!r.entry) {
      changed = true;  // time has passed: the other rings must be looked at again
      if (!fetch(ring)) continue;
    }
    if (r.ready) continue;
    bool reached = true, failed = false;
    for (const arch::TimelinePoint& point : r.entry->wait) {
      if (!point.used) continue;
      const SyncUnit::Reach reach = sync_.reach(point);
      reached = reached && reach == SyncUnit::Reach::kReached;
      failed = failed || reach == SyncUnit::Reach::kFailed;
    }
    if (failed ||
        (reached && r.entry->kind == static_cast<std::uint8_t>(arch::EntryKind::kFence))) {
      finish(ring, !failed, SyncFailure::kUpstream);
      changed = true;
    } else if (reached) {
      r.ready = true, r.ready_ps = now_ps();
      trace_fences(r.entry->wait, false);
    }
  }
  return changed;
}

// The highest priority; among equals, the first after the ring that had the engine last.
std::optional<std::uint32_t> QueueManager::choose() const {
  std::optional<std::uint32_t> best;
  std::uint32_t best_priority = 0;
  for (std::uint32_t i = 1; i <= arch::kRings; ++i) {
    const std::uint32_t ring = (last_ring_ + i) % arch::kRings;
    const std::uint32_t priority = get(reg::kRing0Config, ring) >> 4 & 3;
    if (state(ring) != RingState::kWaiting || !rings_[ring].ready) continue;
    if (!best || priority > best_priority) best = ring, best_priority = priority;
  }
  return best;
}

void QueueManager::run(std::uint32_t ring) {
  if (engine_.busy()) return halt(ring, RingCause::kBusy);
  const arch::QueueEntry& entry = *rings_[ring].entry;
  last_ring_ = ring;
  running_ = ring;
  file_.set(reg::kStatus, ring + 1);
  set_state(ring, RingState::kRunning);
  records_.push_back({ring, entry.job, rings_[ring].ready_ps, now_ps(), 0, false});
  const std::uint64_t epoch = epoch_;
  engine_.run_job({entry.address, entry.bytes, entry.region_base, entry.region_bytes,
                   get(reg::kRing0Config, ring) >> 8 & 0xF, entry.job},
                  [this, epoch](const sim::JobEnd& end) {
                    if (epoch != epoch_) return;
                    end_ = end;
                    wake_.notify(sc_core::SC_ZERO_TIME);
                  });
}

bool QueueManager::end_is_late() {
  if (end_->failed) return false;
  const sim::Fault* late = faults_.hit(sim::FaultKind::kLateSignal, bus.name(),
                                       {0, 0, static_cast<std::int32_t>(*running_)});
  if (!late) return false;
  const std::uint64_t epoch = epoch_;
  sim::wait_for(sim::from_ps(static_cast<std::uint64_t>(late->delay_ns) * 1000));
  return epoch != epoch_;
}

void QueueManager::thread() {
  for (;;) {
    while (advance_rings()) {
    }
    if (end_) {
      if (faults_.injector() && end_is_late()) continue;
      const sim::JobEnd end = *end_;
      const std::uint32_t ring = *running_;
      end_.reset(), running_.reset();
      file_.set(reg::kStatus, 0);
      job_over(end.failed);
      if (!end.failed) {
        finish(ring, true, SyncFailure::kNone);
      } else if (rings_[ring].entry->fail_fast) {
        finish(ring, false, SyncFailure::kJobFailed);
      } else {
        rings_[ring].ready = false;  // a retry looks at its timelines again
        halt(ring, RingCause::kEngineFault, end);
      }
      continue;
    }
    if (!running_)
      if (const auto ring = choose()) {
        run(*ring);
        continue;
      }
    sim::count_kernel_event();
    sc_core::wait(wake_ | sync_.changed());
  }
}

}  // namespace deputy::soc
