// The device's other half: what an engine's fault says, the recovery steps, the watchdog, health,
// and how long all of it takes at most (docs/recovery.md).
#include <fmt/format.h>

#include <algorithm>

#include "arch/dsp_isa.h"
#include "arch/dsp_registers.h"
#include "arch/isa.h"
#include "host_runtime/runtime/device.h"
#include "host_runtime/runtime/self_test.h"

namespace deputy::host_runtime {
using base::Error;
using base::ErrorKind;

namespace {

// What stands in the place of a job that was given up.
arch::QueueEntry nothing() {
  arch::QueueEntry entry;
  entry.kind = static_cast<std::uint8_t>(arch::EntryKind::kFence);
  return entry;
}

}  // namespace

base::Error Device::fault_error(const Engine& e, std::uint32_t ring, const RingFault& fault) {
  std::string what(arch::ring_cause_text(fault.cause));
  if (fault.cause == arch::RingCause::kEngineFault) {
    const std::uint8_t cause = static_cast<std::uint8_t>(fault.info >> 24);
    if (e.id == EngineId::kNpu) {
      const bool bus = static_cast<arch::NpuError>(cause) == arch::NpuError::kBus;
      what = fmt::format("NPU fault: {}; op tag {} {}, {} {:#x}",
                         arch::npu_error_text(static_cast<arch::NpuError>(cause)),
                         fault.info >> 8 & 0xFFFF,
                         arch::opcode_name(static_cast<std::uint8_t>(fault.info)),
                         bus ? "bus address" : "stream offset", fault.address);
    } else if (e.id == EngineId::kDsp) {
      const auto error = static_cast<arch::DspError>(cause);
      what = fmt::format("DSP fault: {}; command {}", arch::dsp_error_text(error),
                         fault.info >> 8 & 0xFFFF);
      what +=
          error == arch::DspError::kProgram
              ? fmt::format(", {} at word {}, detail {:#x}",
                            arch::dsp_fault_text(static_cast<arch::DspFault>(fault.info & 0xFF)),
                            fault.address >> 32, fault.address & 0xFFFFFFFF)
              : fmt::format(", address {:#x}", fault.address);
    } else {
      what = fmt::format("DMA fault: {}, address {:#x}",
                         arch::dma_error_text(static_cast<arch::DmaError>(cause)), fault.address);
    }
  }
  if (options_.isolation)
    if (const auto refused = iommu_.take_fault(); refused && refused->context == ring + 1)
      what += fmt::format("; the IOMMU refused context {} {} {:#x} ({})", refused->context,
                          refused->write ? "a write to" : "a read of", refused->address,
                          arch::iommu_initiator_text(refused->initiator));
  return {ErrorKind::kHardwareFault, engine_name(e.id), std::move(what),
          "the outputs of this job are not valid"};
}

// --- Recovery
// -------------------------------------------------------------------------------------------------

void Device::note(RecoveryStep step, const Engine& e, std::string what) {
  events_.push_back({port_.now_ps(), step, engine_name(e.id), std::move(what)});
}

void Device::count_copy_by_cpu(const std::string& why) {
  ++copies_by_cpu_;
  note(RecoveryStep::kToCpu, dma_engine_, why);
}

// The ring has halted at its head entry.
void Device::recover(Engine& e, std::uint32_t ring, base::Error error,
                     std::optional<std::uint32_t> tag) {
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
    case RecoveryStep::kToCpu:
      return count_given_up(e);
  }
}

void Device::count_given_up(Engine& e) {
  if (options_.recovery.unhealthy_after == 0 || ++e.given_up < options_.recovery.unhealthy_after ||
      e.out_of_service)
    return;
  e.out_of_service = true, e.out_since_ps = port_.now_ps();
  note(RecoveryStep::kGiveUp, e, "out of service");
}

// Every ring begins afresh with what is in it. A job of another ring that is running and has eaten
// its operands cannot: it has failed, through no fault of its own, and its owner starts it from
// whole inputs.
void Device::reset(Engine& e) {
  e.running = e.unstarted = -1;
  if (const int running = e.queue.running(); running >= 0) {
    const auto ring = static_cast<std::uint32_t>(running);
    finish_jobs(e, ring);
    if (!e.jobs[ring].empty() && !e.jobs[ring].front()->limits.restartable) {
      const std::shared_ptr<Job> job = e.jobs[ring].front();
      drop(e, ring);
      if (job->state == Job::State::kFailed)
        job->error = Error{ErrorKind::kHardwareFault, engine_name(e.id),
                           "the engine was reset for another job", ""};
    }
  }
  e.queue.reset();
}

// Its entry becomes one that does nothing, so that the ring goes on, and its timelines are left to
// its owner.
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
  for (Engine* e : engines_) watch(*e);
  next_watch_ps_ = port_.now_ps() + options_.watchdog_ps;
}

void Device::watch(Engine& e) {
  for (std::uint32_t ring = 0; ring < arch::kRings; ++ring) {
    if (e.jobs[ring].empty()) continue;
    service_ring(e, ring);  // its interrupt may have been lost
    // Entries, but the ring does not know of them: so was the doorbell.
    if (!e.jobs[ring].empty() && e.queue.state(ring) == arch::RingState::kIdle)
      e.queue.ring_doorbell(ring);
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
  if (e.jobs[ring].empty() || e.jobs[ring].front().get() != &job)
    return;  // it ended by itself just now
  Error error{ErrorKind::kHardwareFault, engine_name(e.id),
              hangs ? fmt::format("the job hangs: PROGRESS has stood at {} for {} us", progress,
                                  (now - e.moved_ps) / 1'000'000)
                    : fmt::format("the job still moves after {} us, more than its budget",
                                  (now - e.started_ps) / 1'000'000),
              "the outputs of this job are not valid"};
  if (e.queue.state(ring) != arch::RingState::kHalted) {
    // Not even that: only a reset of the whole engine is left.
    return recover_unstarted(e, ring, std::move(error));
  }
  recover(e, ring, std::move(error), std::nullopt);
}

// Nothing runs. A job that waits for nothing and does not begin either is one whose entry never
// arrives: the fetch hangs on the bus, or doorbells are not heard.
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
  recover_unstarted(
      e, static_cast<std::uint32_t>(ring),
      {ErrorKind::kHardwareFault, engine_name(e.id),
       fmt::format("the queue has not begun with the job for {} us, and nothing else runs",
                   (port_.now_ps() - e.unstarted_since_ps) / 1'000'000),
       "the outputs of this job are not valid"});
}

bool Device::may_run(const Job& job) {
  return std::ranges::all_of(job.entry.wait, [&](const arch::TimelinePoint& p) {
    return !p.used || sync_.value(p.timeline) >= p.value ||
           sync_.failure(p.timeline) != arch::SyncFailure::kNone;
  });
}

// The ring has not halted, so that nothing less than a reset makes it go on, whatever the policy.
void Device::recover_unstarted(Engine& e, std::uint32_t ring, base::Error error) {
  const std::shared_ptr<Job> job = e.jobs[ring].front();
  job->error = std::move(error);
  const RecoveryStep step =
      job->abandoned ? RecoveryStep::kGiveUp : options_.recovery.step(++job->attempts);
  if (!job->abandoned)
    note(step == RecoveryStep::kGiveUp ? step : RecoveryStep::kResetEngine, e, job->error->message);
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

// At every moment the host works, an engine works, or a watchdog counts for one of the things in
// flight: none waits for ever on another, so the sum of what each needs by itself holds for all, in
// whatever order they go.
std::uint64_t Device::bound_ps() {
  const RuntimeGuard guard(space_.lock);
  std::uint64_t sum = driver_bound_ps(options_);  // of the wait itself
  for (const auto& work : works_) sum += work->bound_ps();
  // Nobody's any more, but still in the rings.
  for (const Engine* e : engines_)
    for (const auto& jobs : e->jobs)
      for (const auto& job : jobs)
        if (job->abandoned) sum += attempt_bound_ps(options_, job->limits);
  // A reset for one context's job lets another's begin afresh.
  const auto contexts =
      std::ranges::count_if(contexts_, [](const auto& c) { return !c.expired(); });
  return contexts > 1 ? 2 * sum : sum;
}

std::uint64_t Device::queued_bound_ps() {
  const RuntimeGuard guard(space_.lock);
  std::uint64_t sum = 0;
  for (const Engine* e : engines_)
    for (const auto& jobs : e->jobs)
      for (const auto& job : jobs) sum += 2 * job_bound_ps(options_, job->limits);
  return sum;
}

}  // namespace deputy::host_runtime
