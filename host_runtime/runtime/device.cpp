#include "host_runtime/runtime/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/isa.h"
#include "arch/memory_map.h"
#include "base/check.h"
#include "host_runtime/runtime/dma_copy.h"
#include "host_runtime/runtime/self_test.h"

namespace deputy::host_runtime {
using base::Error;
using base::ErrorKind;

const char* engine_name(EngineId engine) { return engine == EngineId::kNpu ? "npu" : "dma"; }

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint32_t line_bit(arch::IrqLine line) { return 1u << static_cast<std::uint32_t>(line); }

// What stands in the place of a job that was given up.
arch::QueueEntry nothing() {
  arch::QueueEntry entry;
  entry.kind = static_cast<std::uint8_t>(arch::EntryKind::kFence);
  return entry;
}

bool names(const arch::QueueEntry& entry, std::uint8_t timeline) {
  const auto is = [&](const arch::TimelinePoint& p) { return p.used && p.timeline == timeline; };
  return std::ranges::any_of(entry.wait, is) || std::ranges::any_of(entry.signal, is);
}

}  // namespace

Device::Device(HwPort& port, const DeviceOptions& options)
    : port_(port),
      options_(options),
      space_(port),
      intc_(port),
      npu_(port),
      sync_(port, intc_),
      iommu_(port, intc_),
      npu_engine_{.id = EngineId::kNpu, .queue = {port, intc_, arch::kNpuQueueBase, arch::IrqLine::kNpuQueue}},
      dma_engine_{.id = EngineId::kDma, .queue = {port, intc_, arch::kDmaQueueBase, arch::IrqLine::kDmaQueue}} {
  if (options_.isolation) space_.page = arch::kPageBytes;
}

Device::~Device() = default;

base::Status Device::start() {
  const RuntimeGuard guard(space_.lock);
  if (started_) return {};
  DEPUTY_TRY(intc_.probe());
  DEPUTY_TRY(npu_.probe());
  DEPUTY_TRY(sync_.probe());
  DEPUTY_TRY(npu_engine_.queue.probe());
  DEPUTY_TRY(dma_engine_.queue.probe());
  if (options_.isolation) DEPUTY_TRY(iommu_.probe());
  started_ = true;
  return {};
}

base::Result<std::shared_ptr<Context>> Device::create_context(const ContextOptions& options) {
  const RuntimeGuard guard(space_.lock);
  DEPUTY_TRY(start());
  for (std::uint32_t ring = 0; ring < arch::kRings; ++ring) {
    if (!contexts_[ring].expired()) continue;
    if (!npu_engine_.jobs[ring].empty() || !dma_engine_.jobs[ring].empty()) continue;
    const std::uint32_t space = options_.isolation ? ring + 1 : 0;
    if (options_.isolation) DEPUTY_TRY(iommu_.open(space));
    for (Engine* e : {&npu_engine_, &dma_engine_}) {
      e->queue.close(ring);
      DEPUTY_TRY(e->queue.open(ring, options_.ring_entries, options.priority, space));
    }
    auto context = std::make_shared<Context>();
    context->ring_ = ring, context->priority_ = options.priority;
    context->space_ = std::make_shared<AddressSpace>(&iommu_, space);
    contexts_[ring] = context;
    return context;
  }
  return Error{ErrorKind::kBusy, "device", "every ring of the queue managers is taken",
               fmt::format("there are {} contexts: close one, or share one", arch::kRings)};
}

base::Result<std::shared_ptr<Context>> Device::default_context() {
  const RuntimeGuard guard(space_.lock);
  if (!default_context_) {
    DEPUTY_ASSIGN(default_context_, create_context({}));
  }
  return default_context_;
}

base::Result<std::shared_ptr<Context>> Device::any_context() {
  const RuntimeGuard guard(space_.lock);
  for (const auto& held : contexts_)
    if (auto context = held.lock()) return context;
  return default_context();
}

base::Result<std::shared_ptr<Job>> Device::push(EngineId id, const Context& context, const arch::QueueEntry& entry,
                                                const JobLimits& limits) {
  Engine& e = engine(id);
  auto job = std::make_shared<Job>();
  job->engine = id, job->ring = context.ring(), job->entry = entry, job->limits = limits;
  job->entry.irq = 1;
  auto number = e.queue.push(job->ring, job->entry);
  if (!number.ok()) {
    finish_jobs(e, job->ring);  // the full ring was looked at: what has finished is known now
    return number.error();
  }
  job->number = *number;
  if (!anything_queued()) next_watch_ps_ = port_.now_ps() + options_.watchdog_ps;
  e.jobs[job->ring].push_back(job);
  return job;
}

void Device::abandon(Job& job) {
  if (job.state != Job::State::kQueued || job.abandoned) return;
  job.abandoned = true;
  Engine& e = engine(job.engine);
  if (e.jobs[job.ring].empty() || e.jobs[job.ring].front().get() != &job) return;
  if (e.queue.running() == static_cast<int>(job.ring)) e.queue.abort(job.ring);
  service_ring(e, job.ring);
  drop_abandoned(e, job.ring);
}

// What nobody wants may wait for a timeline that nobody will signal.
void Device::drop_abandoned(Engine& e, std::uint32_t ring) {
  while (!e.jobs[ring].empty()) {
    const Job& job = *e.jobs[ring].front();
    if (!job.abandoned || job.entry.kind != static_cast<std::uint8_t>(arch::EntryKind::kJob)) return;
    if (e.queue.state(ring) != arch::RingState::kWaiting) return;
    drop(e, ring);
  }
}

// The entry leaves the ring without being run, unless it has ended by itself.
void Device::drop(Engine& e, std::uint32_t ring) {
  const std::shared_ptr<Job> job = e.jobs[ring].front();
  if (e.queue.drop_head(ring, job->number)) {
    job->state = Job::State::kFailed;
    e.jobs[ring].pop_front();
  }
  finish_jobs(e, ring);
}

void Device::add_work(std::shared_ptr<HostWork> work) {
  const auto behind = std::ranges::find_if(works_, [&](const auto& w) { return w->priority() < work->priority(); });
  works_.insert(behind, std::move(work));
}

base::Result<Fence> Device::copy(const std::shared_ptr<Context>& context, Buffer to, Buffer from,
                                 std::span<const Fence> waits) {
  const RuntimeGuard guard(space_.lock);
  DEPUTY_ASSIGN(auto work, DmaCopy::make(*this, context, std::move(to), std::move(from), waits));
  add_work(work);
  pump();
  return work->fence();
}

// --- Waiting -------------------------------------------------------------------------------------------------------

void Device::refresh(Fence& fence) {
  if (!fence.pending() || !fence.by_timeline()) return;
  if (sync_.value(fence.timeline()) >= fence.value()) return fence.reach();
  const arch::SyncFailure failure = sync_.failure(fence.timeline());
  if (failure != arch::SyncFailure::kNone)
    fence.fail({ErrorKind::kHardwareFault, fmt::format("timeline {}", fence.timeline()),
                std::string(arch::sync_failure_text(failure)), ""});
}

void Device::arm(const Fence& fence) {
  if (fence.pending() && fence.by_timeline()) sync_.arm(fence.timeline(), fence.value());
}

base::Status Device::wait(const Fence& fence, std::uint64_t deadline_ps) {
  const RuntimeGuard guard(space_.lock);
  Fence seen = fence;
  DEPUTY_TRY(wait_until(
      [&] {
        refresh(seen);
        if (seen.pending()) arm(seen);
        // It may have been reached before it was armed.
        refresh(seen);
        return !seen.pending();
      },
      deadline_ps, seen.by_timeline()));
  if (seen.state() == FenceState::kFailed) return seen.error();
  return {};
}

base::Status Device::wait_until(const std::function<bool()>& done, std::uint64_t deadline_ps, bool watched) {
  const RuntimeGuard guard(space_.lock);
  for (;;) {
    pump();
    if (done()) return {};
    const std::uint64_t now = port_.now_ps();
    if (now >= deadline_ps)
      return Error{ErrorKind::kDeadline, "wait", "the deadline passed", "what was waited for goes on; wait again or cancel it"};
    std::uint64_t wake = deadline_ps;
    // The sync unit's interrupt may be lost, too. Without a deadline and without work here nobody looks: a wait that
    // nothing can end must not keep time running.
    if (!works_.empty() || (watched && deadline_ps != kNever)) wake = std::min(wake, now + options_.watchdog_ps);
    if (anything_queued()) wake = std::min(wake, std::max(next_watch_ps_, now + 1));
    for (const auto& work : works_) wake = std::min(wake, std::max(work->wake_ps(), now + 1));
    const std::uint32_t raised = wait_for_interrupt(wake);
    if (raised & line_bit(arch::IrqLine::kNpuQueue)) service(npu_engine_);
    if (raised & line_bit(arch::IrqLine::kDmaQueue)) service(dma_engine_);
    if (raised & line_bit(arch::IrqLine::kSync)) sync_.take_interrupts();
    if (raised != 0) port_.wake_waiters();
    watch_all();
  }
}

// Other threads may use the device meanwhile.
std::uint32_t Device::wait_for_interrupt(std::uint64_t deadline_ps) {
  const std::uint32_t lines = started_ ? line_bit(arch::IrqLine::kNpuQueue) | line_bit(arch::IrqLine::kDmaQueue) |
                                             line_bit(arch::IrqLine::kSync)
                                       : 0;
  if (testing_) return port_.wait_irqs(lines, deadline_ps);  // in the middle of somebody's step
  const int depth = space_.lock.let_go();
  const std::uint32_t raised = port_.wait_irqs(lines, deadline_ps);
  space_.lock.resume(depth);
  return raised;
}

void Device::poll() {
  const RuntimeGuard guard(space_.lock);
  for (Engine* e : {&npu_engine_, &dma_engine_})
    for (std::uint32_t ring = 0; ring < arch::kRings; ++ring)
      if (!e->jobs[ring].empty()) service_ring(*e, ring);
  watch_all();
  pump();
}

void Device::pump() {
  if (testing_) return;
  for (bool moved = true; moved;) {
    moved = false;
    // Work may add work, which reallocates; it is never removed in here.
    for (std::size_t i = 0; i < works_.size(); ++i)
      if (const auto work = works_[i]; !work->done() && work->advance()) {
        moved = true;
        break;  // the most urgent first, each time
      }
  }
  // Another thread may wait for what has ended here.
  if (std::erase_if(works_, [](const auto& work) { return work->done(); }) != 0) port_.wake_waiters();
  collect_timelines();
}

bool Device::anything_queued() const {
  for (const Engine* e : {&npu_engine_, &dma_engine_})
    for (const auto& jobs : e->jobs)
      if (!jobs.empty()) return true;
  return false;
}

// --- Rings ---------------------------------------------------------------------------------------------------------

void Device::service(Engine& e) {
  e.queue.take_interrupts();
  for (std::uint32_t ring = 0; ring < arch::kRings; ++ring)
    if (!e.jobs[ring].empty()) service_ring(e, ring);
}

void Device::service_ring(Engine& e, std::uint32_t ring) {
  finish_jobs(e, ring);
  if (!e.jobs[ring].empty() && e.jobs[ring].front()->abandoned) drop_abandoned(e, ring);
  if (e.jobs[ring].empty() || e.queue.state(ring) != arch::RingState::kHalted) return;
  const RingFault fault = e.queue.fault(ring);
  std::optional<std::uint32_t> tag;
  if (fault.cause == arch::RingCause::kEngineFault && e.id == EngineId::kNpu) tag = fault.info >> 8 & 0xFFFF;
  recover(e, ring, fault_error(e, ring, fault), tag);
}

void Device::finish_jobs(Engine& e, std::uint32_t ring) {
  const std::uint64_t finished = e.queue.finished(ring);
  auto& jobs = e.jobs[ring];
  while (!jobs.empty() && jobs.front()->number < finished) {
    Job& job = *jobs.front();
    job.state = Job::State::kFinished;
    if (const arch::TimelinePoint& signal = job.entry.signal[0]; signal.used) check_signal(job, signal);
    if (job.state == Job::State::kFinished && job.entry.kind == static_cast<std::uint8_t>(arch::EntryKind::kJob))
      e.given_up = 0;
    jobs.pop_front();
  }
}

// An entry that has finished has signalled, or failed its timeline, or the signal was lost on its way.
void Device::check_signal(Job& job, const arch::TimelinePoint& signal) {
  if (sync_.value(signal.timeline) >= signal.value) return;
  if (sync_.failure(signal.timeline) != arch::SyncFailure::kNone) {
    job.state = Job::State::kUpstream;
    return;
  }
  if (job.abandoned) return;
  note(RecoveryStep::kRetry, engine(job.engine), "a signal was lost: the host gives it");
  sync_.signal(signal.timeline, signal.value);
}

base::Error Device::fault_error(const Engine& e, std::uint32_t ring, const RingFault& fault) {
  std::string what(arch::ring_cause_text(fault.cause));
  if (fault.cause == arch::RingCause::kEngineFault) {
    const std::uint8_t cause = static_cast<std::uint8_t>(fault.info >> 24);
    if (e.id == EngineId::kNpu) {
      const bool bus = static_cast<arch::NpuError>(cause) == arch::NpuError::kBus;
      what = fmt::format("NPU fault: {}; op tag {} {}, {} {:#x}",
                         arch::npu_error_text(static_cast<arch::NpuError>(cause)), fault.info >> 8 & 0xFFFF,
                         arch::opcode_name(static_cast<std::uint8_t>(fault.info)), bus ? "bus address" : "stream offset",
                         fault.address);
    } else {
      what = fmt::format("DMA fault: {}, address {:#x}", arch::dma_error_text(static_cast<arch::DmaError>(cause)),
                         fault.address);
    }
  }
  if (options_.isolation)
    if (const auto refused = iommu_.take_fault(); refused && refused->context == ring + 1)
      what += fmt::format("; the IOMMU refused context {} {} {:#x} ({})", refused->context,
                          refused->write ? "a write to" : "a read of", refused->address,
                          arch::iommu_initiator_text(refused->initiator));
  return {ErrorKind::kHardwareFault, engine_name(e.id), std::move(what), "the outputs of this job are not valid"};
}

// --- Recovery ------------------------------------------------------------------------------------------------------

void Device::note(RecoveryStep step, const Engine& e, std::string what) {
  events_.push_back({port_.now_ps(), step, engine_name(e.id), std::move(what)});
}

// The ring has halted at its head entry.
void Device::recover(Engine& e, std::uint32_t ring, base::Error error, std::optional<std::uint32_t> tag) {
  const std::shared_ptr<Job> job = e.jobs[ring].front();
  e.running = -1;
  if (job->abandoned) return give_up(e, ring);
  ++job->attempts;
  job->error = std::move(error), job->fault_tag = tag;
  const RecoveryStep step = options_.recovery.step(job->attempts);
  note(step, e, job->error->message);
  // A job that ate its own operands leaves the ring before anything else happens.
  const bool again = job->limits.restartable && step != RecoveryStep::kGiveUp;
  if (!again) give_up(e, ring);
  switch (step) {
    case RecoveryStep::kRetry:
      if (again) e.queue.retry(ring);
      return;
    case RecoveryStep::kRestartRing:
      return e.queue.restart(ring);
    case RecoveryStep::kResetEngine:
      return reset(e);
    case RecoveryStep::kGiveUp:
      return count_given_up(e);
  }
}

void Device::count_given_up(Engine& e) {
  if (options_.recovery.unhealthy_after == 0 || ++e.given_up < options_.recovery.unhealthy_after || e.out_of_service) return;
  e.out_of_service = true, e.out_since_ps = port_.now_ps();
  note(RecoveryStep::kGiveUp, e, "out of service");
}

// Every ring begins afresh with what is in it. A job of another ring that is running and has eaten its operands cannot:
// it has failed, through no fault of its own, and its owner starts it from whole inputs.
void Device::reset(Engine& e) {
  e.running = e.unstarted = -1;
  if (const int running = e.queue.running(); running >= 0) {
    const auto ring = static_cast<std::uint32_t>(running);
    finish_jobs(e, ring);
    if (!e.jobs[ring].empty() && !e.jobs[ring].front()->limits.restartable) {
      const std::shared_ptr<Job> job = e.jobs[ring].front();
      drop(e, ring);
      if (job->state == Job::State::kFailed)
        job->error = Error{ErrorKind::kHardwareFault, engine_name(e.id), "the engine was reset for another job", ""};
    }
  }
  e.queue.reset();
}

// Its entry becomes one that does nothing, so that the ring goes on, and its timelines are left to its owner.
void Device::give_up(Engine& e, std::uint32_t ring) {
  const std::shared_ptr<Job> job = e.jobs[ring].front();
  job->state = Job::State::kFailed;
  auto stand_in = std::make_shared<Job>();
  stand_in->engine = job->engine, stand_in->ring = ring, stand_in->number = job->number;
  stand_in->entry = nothing(), stand_in->abandoned = true;
  e.jobs[ring].front() = stand_in;
  e.queue.retry_as(ring, stand_in->entry);
}

void Device::watch_all() {
  const std::uint64_t now = port_.now_ps();
  if (now < next_watch_ps_ || !anything_queued()) return;
  watch(npu_engine_);
  watch(dma_engine_);
  next_watch_ps_ = port_.now_ps() + options_.watchdog_ps;
}

void Device::watch(Engine& e) {
  for (std::uint32_t ring = 0; ring < arch::kRings; ++ring) {
    if (e.jobs[ring].empty()) continue;
    service_ring(e, ring);  // its interrupt may have been lost
    // Entries, but the ring does not know of them: so was the doorbell.
    if (!e.jobs[ring].empty() && e.queue.state(ring) == arch::RingState::kIdle) e.queue.ring_doorbell(ring);
  }
  const int running = e.queue.running();
  if (running < 0 || e.jobs[static_cast<std::size_t>(running)].empty()) {
    e.running = -1;
    return watch_idle(e);
  }
  e.unstarted = -1;
  const auto ring = static_cast<std::uint32_t>(running);
  const Job& job = *e.jobs[ring].front();
  const std::uint64_t now = port_.now_ps();
  const std::uint32_t progress = e.queue.progress();
  if (running != e.running || job.number != e.number) {
    e.running = running, e.number = job.number, e.progress = progress;
    e.started_ps = e.moved_ps = now;
    return;
  }
  if (progress != e.progress) e.progress = progress, e.moved_ps = now;
  const bool hangs = now - e.moved_ps >= job.limits.progress_ps;
  if (!hangs && now - e.started_ps < job.limits.budget_ps) return;
  e.queue.abort(ring);
  finish_jobs(e, ring);
  if (e.jobs[ring].empty() || e.jobs[ring].front().get() != &job) return;  // it ended by itself just now
  Error error{ErrorKind::kHardwareFault, engine_name(e.id),
              hangs ? fmt::format("the job hangs: PROGRESS has stood at {} for {} us", progress, (now - e.moved_ps) / 1'000'000)
                    : fmt::format("the job still moves after {} us, more than its budget", (now - e.started_ps) / 1'000'000),
              "the outputs of this job are not valid"};
  if (e.queue.state(ring) != arch::RingState::kHalted) {
    // Not even that: only a reset of the whole engine is left.
    e.jobs[ring].front()->error = std::move(error);
    return recover_unstarted(e, ring);
  }
  recover(e, ring, std::move(error), std::nullopt);
}

// Nothing runs. A job that waits for nothing and does not begin either is one whose entry never arrives: the fetch
// hangs on the bus, or doorbells are not heard.
void Device::watch_idle(Engine& e) {
  const auto ready = [&](const auto& jobs) { return !jobs.empty() && may_run(*jobs.front()); };
  const auto found = std::ranges::find_if(e.jobs, ready);
  if (found == e.jobs.end()) {
    e.unstarted = -1;
    return;
  }
  const int ring = static_cast<int>(found - e.jobs.begin());
  const Job& job = *found->front();
  const std::uint32_t progress = e.queue.progress();
  if (ring != e.unstarted || job.number != e.unstarted_number || progress != e.progress) {
    e.unstarted = ring, e.unstarted_number = job.number, e.progress = progress;
    e.unstarted_since_ps = port_.now_ps();
    return;
  }
  if (port_.now_ps() - e.unstarted_since_ps < job.limits.progress_ps) return;
  found->front()->error = Error{ErrorKind::kHardwareFault, engine_name(e.id),
                                fmt::format("the queue has not begun with the job for {} us, and nothing else runs",
                                            (port_.now_ps() - e.unstarted_since_ps) / 1'000'000),
                                "the outputs of this job are not valid"};
  recover_unstarted(e, static_cast<std::uint32_t>(ring));
}

bool Device::may_run(const Job& job) {
  return std::ranges::all_of(job.entry.wait, [&](const arch::TimelinePoint& p) {
    return !p.used || sync_.value(p.timeline) >= p.value || sync_.failure(p.timeline) != arch::SyncFailure::kNone;
  });
}

// The ring has not halted, so that nothing less than a reset makes it go on, whatever the policy.
void Device::recover_unstarted(Engine& e, std::uint32_t ring) {
  const std::shared_ptr<Job> job = e.jobs[ring].front();
  const RecoveryStep step = job->abandoned ? RecoveryStep::kGiveUp : options_.recovery.step(++job->attempts);
  if (!job->abandoned) note(step == RecoveryStep::kGiveUp ? step : RecoveryStep::kResetEngine, e, job->error->message);
  if (step == RecoveryStep::kGiveUp || !job->limits.restartable) drop(e, ring);
  if (step == RecoveryStep::kGiveUp && !job->abandoned) count_given_up(e);
  reset(e);
}

bool Device::healthy(EngineId id) {
  Engine& e = engine(id);
  if (!e.out_of_service) return true;
  if (testing_) return true;
  if (port_.now_ps() - e.out_since_ps < options_.recovery.readmit_after_ps) return false;
  testing_ = true;
  reset(e);
  const base::Status passed = self_test(*this, id);
  testing_ = false;
  e.out_since_ps = port_.now_ps();
  if (!passed.ok()) return false;
  e.out_of_service = false, e.given_up = 0;
  note(RecoveryStep::kResetEngine, e, "back in service: its self-test passed");
  return true;
}

// At every moment the host works, an engine works, or a watchdog counts for one of the things in flight: none waits
// for ever on another, so the sum of what each needs by itself holds for all, in whatever order they go.
std::uint64_t Device::bound_ps() {
  const RuntimeGuard guard(space_.lock);
  std::uint64_t sum = driver_bound_ps(options_);  // of the wait itself
  for (const auto& work : works_) sum += work->bound_ps();
  // Nobody's any more, but still in the rings.
  for (const Engine* e : {&npu_engine_, &dma_engine_})
    for (const auto& jobs : e->jobs)
      for (const auto& job : jobs)
        if (job->abandoned) sum += attempt_bound_ps(options_, job->limits);
  // A reset for one context's job lets another's begin afresh.
  const auto contexts = std::ranges::count_if(contexts_, [](const auto& c) { return !c.expired(); });
  return contexts > 1 ? 2 * sum : sum;
}

std::uint64_t Device::queued_bound_ps() {
  const RuntimeGuard guard(space_.lock);
  std::uint64_t sum = 0;
  for (const Engine* e : {&npu_engine_, &dma_engine_})
    for (const auto& jobs : e->jobs)
      for (const auto& job : jobs) sum += 2 * job_bound_ps(options_, job->limits);
  return sum;
}

// --- Timelines -----------------------------------------------------------------------------------------------------

void Device::retire_timeline(std::uint8_t timeline) {
  const RuntimeGuard guard(space_.lock);
  retired_.push_back(timeline);
  collect_timelines();
}

bool Device::named_in_rings(std::uint8_t timeline) {
  for (Engine* e : {&npu_engine_, &dma_engine_})
    for (const auto& jobs : e->jobs)
      for (const auto& job : jobs)
        if (names(job->entry, timeline)) return true;
  return false;
}

void Device::collect_timelines() {
  std::erase_if(retired_, [&](std::uint8_t timeline) {
    if (named_in_rings(timeline)) return false;
    sync_.release(timeline);
    return true;
  });
}

}  // namespace deputy::host_runtime
