#include "host_runtime/runtime/dma_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "arch/dma_descriptor.h"
#include "host_runtime/runtime/self_test.h"
#include "host_runtime/runtime/waits.h"

namespace deputy::host_runtime {
using base::Error;
using base::ErrorKind;

namespace {
// A copy that moves less than a byte a microsecond has been forgotten by its memories.
constexpr std::uint64_t kBudgetPsPerByte = 1'000'000, kBudgetFloorPs = 100'000'000'000;
constexpr std::uint64_t kProgressPs = 10'000'000'000;
}  // namespace

base::Result<std::shared_ptr<DmaCopy>> DmaCopy::make(Device& device, std::shared_ptr<Context> context, Buffer to,
                                                     Buffer from, std::span<const Fence> waits) {
  if (to.bytes() < from.bytes())
    return Error{ErrorKind::kInput, "dma", fmt::format("{} bytes do not fit into {}", from.bytes(), to.bytes()), ""};
  DEPUTY_TRY(device.start());
  std::shared_ptr<DmaCopy> out(new DmaCopy(device, std::move(context), std::move(to), std::move(from)));
  arch::DmaDescriptor d;
  d.src = out->from_.address(), d.dst = out->to_.address();
  if (out->from_.bytes() == 0 || out->from_.bytes() > 0xFFFFFFFF)
    return Error{ErrorKind::kInput, "dma", fmt::format("cannot copy {} bytes", out->from_.bytes()), ""};
  d.row_bytes = static_cast<std::uint32_t>(out->from_.bytes());
  std::vector<std::uint32_t> words;
  arch::pack(d, words);
  DEPUTY_ASSIGN(out->descriptor_, Buffer::make(device.space(), MemoryKind::kDram, words.size() * 4, kCacheLine));
  DEPUTY_ASSIGN(const std::span<std::uint8_t> bytes, out->descriptor_.map(Access::kWrite));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  out->descriptor_.unmap();
  for (const Buffer* buffer : {&out->from_, &out->to_, &out->descriptor_}) {
    DEPUTY_ASSIGN(out->mappings_.emplace_back(),
                  Mapping::make(out->context_->space(), buffer->address(), buffer->bytes(), true));
  }
  DEPUTY_ASSIGN(const std::uint8_t timeline, device.create_timeline());
  out->fence_ = Fence(timeline, 1, false);
  out->waits_.assign(waits.begin(), waits.end());
  return out;
}

// A transfer is a read, a write and the descriptor's fetches (arch/progress_bound.h); a hung one is seen no sooner.
JobLimits DmaCopy::limits() const {
  const BoardTimes& board = device_.options().board;
  return {kBudgetFloorPs + from_.bytes() * kBudgetPsPerByte, std::max(kProgressPs, 8 * board.transaction_ps), true};
}

std::uint64_t DmaCopy::bound_ps() const {
  std::uint64_t out = job_bound_ps(device_.options(), limits()) + host_bound_ps(device_.options().board, {}, 2 * from_.bytes());
  const RecoveryPolicy& policy = device_.options().recovery;
  if (policy.unhealthy_after != 0) out += job_bound_ps(device_.options(), self_test_limits());
  const arch::HostWork copy[] = {{CpuKernel::kCopy, from_.bytes()}};
  if (policy.cpu_fallback) out += host_bound_ps(device_.options().board, copy, 2 * from_.bytes());
  return out;
}

void DmaCopy::give_up(const Error& error) {
  if (!device_.options().recovery.cpu_fallback) return end(error);
  by_cpu_ = true;
  device_.count_copy_by_cpu(error.message);
}

bool DmaCopy::advance_on_cpu() {
  if (const Fence* failed = failed_fence(waits_)) return end(upstream_error(*failed)), true;
  if (!over_for_host(device_, waits_)) return false;
  Buffer to = *to_.view(0, from_.bytes());
  if (const base::Status copied = to.copy_from(from_); !copied.ok()) return end(copied.error()), true;
  to.before_engine();  // one may have been waiting for the signal
  device_.sync().signal(fence_.timeline(), fence_.value());
  return end(std::nullopt), true;
}

void DmaCopy::end(std::optional<Error> error) {
  if (!error && from_.undefined()) error = undefined_input("dma");
  if (error) {
    to_.set_undefined(true);
    if (device_.sync().failure(fence_.timeline()) == arch::SyncFailure::kNone)
      device_.sync().fail(fence_.timeline(), arch::SyncFailure::kJobFailed);
    fence_.fail(std::move(*error));
  } else {
    to_.set_undefined(false);
    fence_.reach();
  }
  device_.retire_timeline(fence_.timeline());
}

bool DmaCopy::advance() {
  if (by_cpu_) return advance_on_cpu();
  if (job_) {
    if (job_->state == Job::State::kQueued) return false;
    to_.after_engine_write();
    if (job_->state == Job::State::kFinished) {
      // Whether its source is defined, the work that wrote it says.
      if (!over_for_host(device_, waits_)) return false;
      const Fence* failed = failed_fence(waits_);
      return end(failed ? std::optional(upstream_error(*failed)) : std::nullopt), true;
    }
    if (job_->state == Job::State::kFailed) return give_up(*job_->error), true;
    return end(upstream_error(device_, waits_, "dma")), true;
  }
  if (const Fence* failed = failed_fence(waits_)) return end(upstream_error(*failed)), true;
  if (!device_.healthy(EngineId::kDma))
    return give_up({ErrorKind::kHardwareFault, "dma", "the engine is out of service", ""}), true;
  arch::QueueEntry entry;
  entry.kind = static_cast<std::uint8_t>(arch::EntryKind::kJob);
  entry.address = descriptor_.address();
  entry.signal[0] = point(fence_.timeline(), fence_.value());
  for (const Fence& rest : set_waits(waits_, entry)) {
    device_.arm(rest);
    return false;
  }
  from_.before_engine(), to_.before_engine(), descriptor_.before_engine();
  auto job = device_.push(EngineId::kDma, *context_, entry, limits());
  if (!job.ok()) return false;  // the ring is full
  job_ = *job;
  return true;
}

}  // namespace deputy::host_runtime
