#include "host_runtime/runtime/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/dsp_registers.h"
#include "arch/memory_map.h"
#include "base/check.h"
#include "host_runtime/runtime/dma_copy.h"
#include "host_runtime/runtime/dsp_work.h"

namespace deputy::host_runtime {
using base::Error;
using base::ErrorKind;

const char* engine_name(EngineId engine) {
  constexpr const char* kNames[] = {"npu", "dma", "dsp"};
  return kNames[static_cast<std::size_t>(engine)];
}

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint32_t line_bit(arch::IrqLine line) {
  return 1u << static_cast<std::uint32_t>(line);
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
      dsp_(port),
      sync_(port, intc_),
      iommu_(port, intc_),
      npu_engine_{.id = EngineId::kNpu,
                  .queue = {port, intc_, arch::kNpuQueueBase, arch::IrqLine::kNpuQueue}},
      dma_engine_{.id = EngineId::kDma,
                  .queue = {port, intc_, arch::kDmaQueueBase, arch::IrqLine::kDmaQueue}},
      dsp_engine_{.id = EngineId::kDsp,
                  .queue = {port, intc_, arch::kDspQueueBase, arch::IrqLine::kDspQueue}},
      engines_{&npu_engine_, &dma_engine_} {
  if (options_.dsp) engines_.push_back(&dsp_engine_);
  if (options_.isolation) space_.page = arch::kPageBytes;
}

Device::~Device() = default;

base::Status Device::start() {
  const RuntimeGuard guard(space_.lock);
  if (started_) return {};
  DEPUTY_TRY(intc_.probe());
  DEPUTY_TRY(npu_.probe());
  DEPUTY_TRY(sync_.probe());
  if (options_.dsp) DEPUTY_TRY(dsp_.probe());
  for (Engine* e : engines_) DEPUTY_TRY(e->queue.probe());
  if (options_.isolation) DEPUTY_TRY(iommu_.probe());
  started_ = true;
  return {};
}

base::Result<std::shared_ptr<Context>> Device::create_context(const ContextOptions& options) {
  const RuntimeGuard guard(space_.lock);
  DEPUTY_TRY(start());
  for (std::uint32_t ring = 0; ring < arch::kRings; ++ring) {
    if (!contexts_[ring].expired()) continue;
    if (std::ranges::any_of(engines_, [&](const Engine* e) { return !e->jobs[ring].empty(); }))
      continue;
    const std::uint32_t space = options_.isolation ? ring + 1 : 0;
    if (options_.isolation) DEPUTY_TRY(iommu_.open(space));
    for (Engine* e : engines_) {
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

base::Result<std::shared_ptr<Job>> Device::push(EngineId id, const Context& context,
                                                const arch::QueueEntry& entry,
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
    if (!job.abandoned || job.entry.kind != static_cast<std::uint8_t>(arch::EntryKind::kJob))
      return;
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

base::Result<Fence> Device::run_dsp(const std::shared_ptr<Context>& context, const DspTask& task,
                                    std::span<const Fence> waits) {
  const RuntimeGuard guard(space_.lock);
  DEPUTY_ASSIGN(auto work, DspWork::make(*this, context, task, waits));
  add_work(work);
  pump();
  return work->fence();
}

void Device::add_work(std::shared_ptr<HostWork> work) {
  const auto behind =
      std::ranges::find_if(works_, [&](const auto& w) { return w->priority() < work->priority(); });
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

// --- Waiting
// -------------------------------------------------------------------------------------------------

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

bool Device::over(Fence& fence) {
  refresh(fence);
  if (fence.pending()) arm(fence);
  refresh(fence);  // it may have been reached before it was armed
  return !fence.pending();
}

base::Status Device::wait(const Fence& fence, std::uint64_t deadline_ps) {
  Fence seen = fence;
  DEPUTY_TRY(wait_until([&] { return over(seen); }, deadline_ps, seen.by_timeline()));
  if (seen.state() == FenceState::kFailed) return seen.error();
  return {};
}

base::Status Device::wait_until(const std::function<bool()>& done, std::uint64_t deadline_ps,
                                bool watched) {
  const RuntimeGuard guard(space_.lock);
  for (;;) {
    pump();
    if (done()) return {};
    const std::uint64_t now = port_.now_ps();
    if (now >= deadline_ps)
      return Error{ErrorKind::kDeadline, "wait", "the deadline passed",
                   "what was waited for goes on; wait again or cancel it"};
    std::uint64_t wake = deadline_ps;
    // The sync unit's interrupt may be lost, too. Without a deadline and without work here nobody
    // looks: a wait that nothing can end must not keep time running.
    if (!works_.empty() || (watched && deadline_ps != kNever))
      wake = std::min(wake, now + options_.watchdog_ps);
    if (anything_queued()) wake = std::min(wake, std::max(next_watch_ps_, now + 1));
    for (const auto& work : works_) wake = std::min(wake, std::max(work->wake_ps(), now + 1));
    const std::uint32_t raised = wait_for_interrupt(wake);
    if (raised & line_bit(arch::IrqLine::kNpuQueue)) service(npu_engine_);
    if (raised & line_bit(arch::IrqLine::kDmaQueue)) service(dma_engine_);
    if (raised & line_bit(arch::IrqLine::kDspQueue)) service(dsp_engine_);
    if (raised & line_bit(arch::IrqLine::kSync)) sync_.take_interrupts();
    if (raised != 0) port_.wake_waiters();
    watch_all();
  }
}

// Other threads may use the device meanwhile.
std::uint32_t Device::wait_for_interrupt(std::uint64_t deadline_ps) {
  const std::uint32_t lines = started_ ? line_bit(arch::IrqLine::kNpuQueue) |
                                             line_bit(arch::IrqLine::kDmaQueue) |
                                             line_bit(arch::IrqLine::kSync) |
                                             (options_.dsp ? line_bit(arch::IrqLine::kDspQueue) : 0)
                                       : 0;
  if (testing_) return port_.wait_irqs(lines, deadline_ps);  // in the middle of somebody's step
  const int depth = space_.lock.let_go();
  const std::uint32_t raised = port_.wait_irqs(lines, deadline_ps);
  space_.lock.resume(depth);
  return raised;
}

void Device::poll() {
  const RuntimeGuard guard(space_.lock);
  for (Engine* e : engines_)
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
  if (std::erase_if(works_, [](const auto& work) { return work->done(); }) != 0)
    port_.wake_waiters();
  collect_timelines();
}

bool Device::anything_queued() const {
  for (const Engine* e : engines_)
    for (const auto& jobs : e->jobs)
      if (!jobs.empty()) return true;
  return false;
}

// --- Rings
// -------------------------------------------------------------------------------------------------

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
  if (fault.cause == arch::RingCause::kEngineFault && e.id == EngineId::kNpu)
    tag = fault.info >> 8 & 0xFFFF;
  recover(e, ring, fault_error(e, ring, fault), tag);
}

void Device::finish_jobs(Engine& e, std::uint32_t ring) {
  const std::uint64_t finished = e.queue.finished(ring);
  auto& jobs = e.jobs[ring];
  while (!jobs.empty() && jobs.front()->number < finished) {
    Job& job = *jobs.front();
    job.state = Job::State::kFinished;
    if (const arch::TimelinePoint& signal = job.entry.signal[0]; signal.used)
      check_signal(job, signal);
    if (job.state == Job::State::kFinished &&
        job.entry.kind == static_cast<std::uint8_t>(arch::EntryKind::kJob))
      e.given_up = 0;
    jobs.pop_front();
  }
}

// An entry that has finished has signalled, or failed its timeline, or the signal was lost on its
// way.
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

// --- Timelines
// -------------------------------------------------------------------------------------------------

void Device::retire_timeline(std::uint8_t timeline) {
  const RuntimeGuard guard(space_.lock);
  retired_.push_back(timeline);
  collect_timelines();
}

bool Device::named_in_rings(std::uint8_t timeline) {
  for (Engine* e : engines_)
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
