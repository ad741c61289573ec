#include "host_runtime/runtime/inference.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "host_runtime/runtime/waits.h"

namespace deputy::host_runtime {
using base::Error;
using base::ErrorKind;

base::Status run_host_step(Device& device, const LoadedModel& model, const ModelMemory& memory,
                           std::uint32_t index) {
  const arch::Step& step = model.executable.steps[index];
  const HostStep& work = model.host_steps[index];
  std::vector<arch::TensorView> inputs, outputs;
  std::vector<MemoryTouch> touches;
  const auto add = [&](std::uint32_t id, bool write) {
    (write ? outputs : inputs)
        .push_back(id == arch::kNoTensor ? arch::TensorView{} : memory.view(id));
    if (id == arch::kNoTensor) return;
    if (const MemoryTouch touch = memory.touch(id, write); touch.bytes != 0)
      touches.push_back(touch);
  };
  for (const std::uint32_t id : step.inputs) add(id, false);
  for (const std::uint32_t id : step.outputs) add(id, true);
  Coherence& coherence = device.space().coherence;
  for (const MemoryTouch& t : touches)
    t.write ? coherence.before_cpu_write(t.address, t.bytes)
            : coherence.before_cpu_read(t.address, t.bytes);
  if (device.port().functional())
    DEPUTY_TRY(run_host_op(work.kind, *work.attrs, inputs, outputs, model.executable.numerics));
  // The operator's memory traffic goes with its first kind of work.
  std::span<const MemoryTouch> moved = touches;
  for (const arch::HostWork& w : work.work) {
    device.port().charge(w.kernel, w.amount, moved);
    moved = {};
  }
  return {};
}

Inference::Inference(Device& device, InferenceTask task) : device_(device), task_(std::move(task)) {
  fence_ = task_.timeline ? Fence(*task_.timeline, task_.last_value, false) : Fence::by_host();
  attempts_.assign(executable().programs.size(), 0);
  record_.start_ps = step_start_ps_ = device_.port().now_ps();
}

bool Inference::quiet() const {
  const auto queued = [](const auto& job) { return job->state == Job::State::kQueued; };
  return done() && !(job_ && queued(job_)) && !(next_job_ && queued(next_job_)) &&
         !(withdrawn_ && queued(withdrawn_)) && std::ranges::none_of(left_behind_, queued);
}

bool Inference::advance() {
  if (device_.port().now_ps() >= task_.deadline_ps) {
    fail({ErrorKind::kDeadline, "inference", "its deadline passed before it had ended", ""},
         arch::SyncFailure::kDeadline);
    return true;
  }
  if (const Fence* failed = failed_fence(task_.waits)) {
    fail(upstream_error(*failed), arch::SyncFailure::kUpstream);
    return true;
  }
  if (withdrawn_ && withdrawn_->state == Job::State::kQueued) return false;
  withdrawn_ = nullptr;
  if (step_ == executable().steps.size()) return host_may_start() && (complete(), true);
  if (executable().steps[step_].kind == arch::StepKind::kNpu) return advance_npu();
  if (executable().steps[step_].dsp_job < task_.model->dsp_jobs.size()) return advance_dsp();
  if (!host_may_start()) return false;
  run_host(step_);
  return true;
}

// What the inference waits for is over; an engine would wait by itself.
bool Inference::host_may_start() { return over_for_host(device_, task_.waits); }

bool Inference::advance_npu() {
  if (job_) return job_over();
  const arch::Step& step = executable().steps[step_];
  const LoadedProgram& program = task_.model->programs[step.program];
  const bool degraded = std::ranges::find(record_.degraded, step.program) != record_.degraded.end();
  if (degraded || (task_.fallback && !device_.healthy(EngineId::kNpu))) {
    if (!host_may_start()) return false;
    run_on_cpu(step.program);
    return true;
  }
  if (!device_.healthy(EngineId::kNpu)) {
    fail(at_step({ErrorKind::kHardwareFault, "npu",
                  "the engine is out of service, and there is no fallback", ""},
                 {}),
         arch::SyncFailure::kJobFailed);
    return true;
  }

  arch::QueueEntry entry = job_entry(step_, program.stream);
  if (!set_waits(task_.waits, entry).empty()) return host_may_start();
  step_start_ps_ = device_.port().now_ps();
  if (!push_job(step_, EngineId::kNpu, program, entry, job_)) return false;
  job_->attempts = attempts_[step.program];
  return true;
}

// False: the ring is full.
bool Inference::push_job(std::uint32_t step, EngineId engine, const LoadedProgram& job,
                         arch::QueueEntry entry, std::shared_ptr<Job>& into) {
  for (const auto* ranges : {&job.reads, &job.writes})
    for (const RegionRange& r : *ranges)
      device_.space().coherence.before_engine(task_.memory->address(r), r.end - r.begin);
  if (step + 1 == executable().steps.size()) publish_outputs();  // what the job does not touch, too
  auto pushed = device_.push(engine, *task_.context, entry, job.limits);
  if (!pushed.ok()) return false;
  into = *pushed;
  return true;
}

bool Inference::push_next() {
  if (next_job_ || step_ + 1 >= executable().steps.size()) return false;
  const arch::Step& next = executable().steps[step_ + 1];
  const bool npu = next.kind == arch::StepKind::kNpu;
  if (!npu && next.dsp_job >= task_.model->dsp_jobs.size()) return false;  // the CPU's
  const EngineId engine = npu ? EngineId::kNpu : EngineId::kDsp;
  if (!device_.healthy(engine)) return false;
  if (npu && (attempts_[next.program] > 0 ||
              std::ranges::find(record_.degraded, next.program) != record_.degraded.end()))
    return false;
  const LoadedProgram& job =
      npu ? task_.model->programs[next.program] : task_.model->dsp_jobs[next.dsp_job];
  arch::QueueEntry entry = job_entry(step_ + 1, job.stream);
  entry.wait[0] = job_->entry.signal[0];
  return push_job(step_ + 1, engine, job, entry, next_job_);
}

void Inference::withdraw_next() {
  if (!next_job_) return;
  withdrawn_ = std::move(next_job_);
  next_job_ = nullptr;
  device_.abandon(*withdrawn_);
}

arch::QueueEntry Inference::job_entry(std::uint32_t step, const SharedBuffer& stream) {
  arch::QueueEntry entry;
  entry.kind = static_cast<std::uint8_t>(arch::EntryKind::kJob);
  entry.job = step;
  entry.address = stream.address();
  entry.bytes = static_cast<std::uint32_t>(stream.bytes());
  for (std::size_t r = 0; r < arch::kRegionCount; ++r) {
    const ModelMemory::RegionMemory& memory = task_.memory->region(static_cast<arch::Region>(r));
    entry.region_base[r] = memory.bytes == 0 ? 0 : memory.address;
    entry.region_bytes[r] = static_cast<std::uint32_t>(memory.bytes);
  }
  // Each job has a value of its own, so that a failure upstream shows at the one that waited.
  const bool last = step + 1 == executable().steps.size();
  entry.signal[0] =
      point(*task_.timeline, last ? task_.last_value : task_.last_value - kValues + ++jobs_);
  return entry;
}

// A host step that the DSP does: the CPU does it to the same bytes where recovery allows that.
bool Inference::advance_dsp() {
  if (job_) return dsp_job_over();
  const LoadedProgram& job = task_.model->dsp_jobs[executable().steps[step_].dsp_job];
  const RecoveryPolicy& policy = device_.options().recovery;
  const bool given_up = dsp_attempts_ > 0 && policy.step(dsp_attempts_) == RecoveryStep::kGiveUp;
  if (given_up || !device_.healthy(EngineId::kDsp)) {
    if (!host_may_start()) return false;
    if (!policy.cpu_fallback) {
      fail(at_step({ErrorKind::kHardwareFault, "dsp",
                    "the engine is out of service, and the CPU may not do its work", ""},
                   {}),
           arch::SyncFailure::kJobFailed);
      return true;
    }
    record_.off_dsp.push_back(step_);
    run_host(step_);
    return true;
  }
  arch::QueueEntry entry = job_entry(step_, job.stream);
  if (!set_waits(task_.waits, entry).empty()) return host_may_start();
  step_start_ps_ = device_.port().now_ps();
  if (!push_job(step_, EngineId::kDsp, job, entry, job_)) return false;
  job_->attempts = dsp_attempts_;
  return true;
}

std::shared_ptr<Job> Inference::failed_job(const char* engine) {
  engine_wrote();
  const std::shared_ptr<Job> job = std::move(job_);
  job_ = nullptr;
  if (job->state == Job::State::kFinished) {
    engine_signalled_ = true;
    step_done();
    return nullptr;
  }
  withdraw_next();
  if (job->state != Job::State::kUpstream) return job;
  fail(upstream_error(device_, task_.waits, engine), arch::SyncFailure::kUpstream);
  return nullptr;
}

bool Inference::dsp_job_over() {
  if (job_->state == Job::State::kQueued) return push_next();
  const std::shared_ptr<Job> job = failed_job("dsp");
  if (!job) return true;
  // It stores nothing that it reads: again, or the CPU.
  dsp_attempts_ = job->attempts;
  const RecoveryPolicy& policy = device_.options().recovery;
  if (policy.step(job->attempts) == RecoveryStep::kGiveUp && !policy.cpu_fallback)
    fail(at_step(*job->error, {}), arch::SyncFailure::kJobFailed);
  return true;
}

// Of the job at the current step.
void Inference::engine_wrote() {
  const arch::Step& step = executable().steps[step_];
  const bool npu = step.kind == arch::StepKind::kNpu;
  for (const RegionRange& r :
       (npu ? task_.model->programs[step.program] : task_.model->dsp_jobs[step.dsp_job]).writes)
    device_.space().coherence.after_engine_write(task_.memory->address(r), r.end - r.begin);
}

bool Inference::job_over() {
  if (job_->state == Job::State::kQueued) return push_next();
  const arch::Step& step = executable().steps[step_];
  const std::shared_ptr<Job> job = failed_job("npu");
  if (!job) return true;
  attempts_[step.program] = job->attempts;
  const RecoveryPolicy& policy = device_.options().recovery;
  const bool again = policy.step(job->attempts) != RecoveryStep::kGiveUp;
  if (!again && !task_.fallback) {
    fail(at_step(*job->error, job->fault_tag), arch::SyncFailure::kJobFailed);
    return true;
  }
  if (!again) record_.degraded.push_back(step.program);
  if (task_.model->programs[step.program].limits.restartable) return true;  // its inputs are intact
  if (task_.can_restart)
    restart();
  else
    fail(at_step(*job->error, job->fault_tag), arch::SyncFailure::kJobFailed);
  return true;
}

void Inference::restart() {
  if (task_.restore_inputs) task_.restore_inputs();
  ++record_.restarts;
  record_.steps.clear();
  step_ = 0, dsp_attempts_ = 0;
  step_start_ps_ = device_.port().now_ps();
}

void Inference::run_on_cpu(std::uint32_t program) {
  step_start_ps_ = device_.port().now_ps();
  if (const base::Status status = task_.fallback(program); !status.ok())
    return fail(at_step(status.error(), {}), arch::SyncFailure::kJobFailed);
  if (std::ranges::find(record_.degraded, program) == record_.degraded.end())
    record_.degraded.push_back(program);
  engine_signalled_ = false;
  step_done();
}

void Inference::run_host(std::uint32_t step) {
  step_start_ps_ = device_.port().now_ps();
  if (const base::Status status = run_host_step(device_, *task_.model, *task_.memory, step);
      !status.ok())
    return fail(at_step(status.error(), {}), arch::SyncFailure::kJobFailed);
  engine_signalled_ = false;
  step_done();
}

// Before the end is signalled: an engine may have been waiting for it since before the CPU wrote an
// output, and reads the memory as soon as it is told.
void Inference::publish_outputs() {
  for (const Buffer& output : task_.outputs) output.before_engine();
}

void Inference::step_done() {
  record_.steps.push_back({step_, step_start_ps_, device_.port().now_ps()});
  step_start_ps_ = device_.port().now_ps();
  dsp_attempts_ = 0;
  job_ = std::move(next_job_);
  next_job_ = nullptr;
  if (++step_ == executable().steps.size() && host_may_start()) complete();
}

void Inference::complete() {
  // What it waited for may have been meant to write an input, and did not.
  if (std::ranges::any_of(task_.inputs, [](const Buffer& b) { return b.undefined(); }))
    return fail(undefined_input("inference"), arch::SyncFailure::kUpstream);
  for (Buffer& output : task_.outputs) output.set_undefined(false);
  if (task_.timeline && !engine_signalled_) {
    publish_outputs();
    device_.sync().signal(*task_.timeline, task_.last_value);
  }
  record_.end_ps = device_.port().now_ps();
  fence_.reach();
}

void Inference::cancel() {
  if (!done())
    fail({ErrorKind::kCancelled, "inference", "it was cancelled", ""},
         arch::SyncFailure::kCancelled);
}

void Inference::fail(Error error, arch::SyncFailure code) {
  for (Buffer& output : task_.outputs) output.set_undefined(true);
  if (task_.timeline && device_.sync().failure(*task_.timeline) == arch::SyncFailure::kNone)
    device_.sync().fail(*task_.timeline, code);
  withdraw_next();
  if (job_) {
    engine_wrote();  // or is still writing; the CPU touches none of it before quiet()
    left_behind_.push_back(job_);
    device_.abandon(*job_);
    job_ = nullptr;
  }
  record_.end_ps = device_.port().now_ps();
  if (step_ < executable().steps.size())
    record_.steps.push_back({step_, step_start_ps_, record_.end_ps});
  fence_.fail(std::move(error));
}

// Says which operator it was: the step's, or that of the instruction the NPU stopped at.
Error Inference::at_step(Error error, std::optional<std::uint32_t> tag) const {
  const arch::Step& step = executable().steps[step_];
  const bool host = step.kind == arch::StepKind::kHost;
  const auto op = host ? std::optional(step.source_op) : tag;
  std::string what = host ? "" : fmt::format("program {}", step.program);
  if (op && *op < executable().ops.size()) {
    const arch::SourceOp& source = executable().ops[*op];
    what += fmt::format("{}{} '{}'", host ? "" : ", ", executable().op_word(*op), source.name);
  }
  error.where =
      fmt::format("step {} ({}){}{}", step_, what, error.where.empty() ? "" : ": ", error.where);
  return error;
}

}  // namespace deputy::host_runtime
