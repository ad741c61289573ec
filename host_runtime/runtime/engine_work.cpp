#include "host_runtime/runtime/engine_work.h"

#include "host_runtime/runtime/self_test.h"
#include "host_runtime/runtime/waits.h"

namespace deputy::host_runtime {
using base::Error;
using base::ErrorKind;

base::Status EngineWork::prepare(std::span<const Fence> waits) {
  const auto map = [&](const Buffer& buffer, bool writable) -> base::Status {
    DEPUTY_ASSIGN(mappings_.emplace_back(),
                  Mapping::make(context_->space(), buffer.address(), buffer.bytes(), writable));
    return {};
  };
  // Writable, all of them: a page that two of them share would else stay as the first has mapped
  // it.
  for (const Buffer& buffer : reads_) DEPUTY_TRY(map(buffer, true));
  for (const Buffer& buffer : writes_) DEPUTY_TRY(map(buffer, true));
  DEPUTY_TRY(map(commands_, true));
  DEPUTY_ASSIGN(const std::uint8_t timeline, device_.create_timeline());
  fence_ = Fence(timeline, 1, false);
  waits_.assign(waits.begin(), waits.end());
  return {};
}

std::uint64_t EngineWork::bound_ps() const {
  std::uint64_t bytes = 0;
  for (const Buffer& buffer : reads_) bytes += buffer.bytes();
  for (const Buffer& buffer : writes_) bytes += buffer.bytes();
  std::uint64_t out =
      job_bound_ps(device_.options(), limits()) + host_bound_ps(device_.options().board, {}, bytes);
  if (device_.options().recovery.unhealthy_after != 0)
    out += job_bound_ps(device_.options(), self_test_limits());
  return out;
}

void EngineWork::end(std::optional<Error> error) {
  if (!error)
    for (const Buffer& buffer : reads_)
      if (buffer.undefined()) error = undefined_input(engine_name(engine_));
  for (Buffer& buffer : writes_) buffer.set_undefined(error.has_value());
  if (error) {
    if (device_.sync().failure(fence_.timeline()) == arch::SyncFailure::kNone)
      device_.sync().fail(fence_.timeline(), arch::SyncFailure::kJobFailed);
    fence_.fail(std::move(*error));
  } else {
    fence_.reach();
  }
  device_.retire_timeline(fence_.timeline());
}

bool EngineWork::advance() {
  if (job_) {
    if (job_->state == Job::State::kQueued) return false;
    for (const Buffer& buffer : writes_) buffer.after_engine_write();
    if (job_->state == Job::State::kFinished) {
      // Whether its source is defined, the work that wrote it says.
      if (!over_for_host(device_, waits_)) return false;
      const Fence* failed = failed_fence(waits_);
      return end(failed ? std::optional(upstream_error(*failed)) : std::nullopt), true;
    }
    if (job_->state == Job::State::kFailed) return give_up(*job_->error), true;
    return end(upstream_error(device_, waits_, engine_name(engine_))), true;
  }
  if (const Fence* failed = failed_fence(waits_)) return end(upstream_error(*failed)), true;
  if (!device_.healthy(engine_))
    return give_up({ErrorKind::kHardwareFault, engine_name(engine_), "the engine is out of service",
                    ""}),
           true;
  arch::QueueEntry entry = entry_;
  entry.kind = static_cast<std::uint8_t>(arch::EntryKind::kJob);
  entry.address = commands_.address();
  entry.signal[0] = point(fence_.timeline(), fence_.value());
  for (const Fence& rest : set_waits(waits_, entry)) {
    device_.arm(rest);
    return false;
  }
  for (const Buffer& buffer : reads_) buffer.before_engine();
  for (const Buffer& buffer : writes_) buffer.before_engine();
  commands_.before_engine();
  auto job = device_.push(engine_, *context_, entry, limits());
  if (!job.ok()) return false;  // the ring is full
  job_ = *job;
  return true;
}

}  // namespace deputy::host_runtime
