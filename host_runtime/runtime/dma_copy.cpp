#include "host_runtime/runtime/dma_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "arch/dma_descriptor.h"
#include "host_runtime/runtime/waits.h"

namespace deputy::host_runtime {
using base::Error;
using base::ErrorKind;

namespace {
// A copy that moves less than a byte a microsecond has been forgotten by its memories.
constexpr std::uint64_t kBudgetPsPerByte = 1'000'000, kBudgetFloorPs = 100'000'000'000;
constexpr std::uint64_t kProgressPs = 10'000'000'000;
}  // namespace

base::Result<std::shared_ptr<DmaCopy>> DmaCopy::make(Device& device,
                                                     std::shared_ptr<Context> context, Buffer to,
                                                     Buffer from, std::span<const Fence> waits) {
  if (to.bytes() < from.bytes())
    return Error{ErrorKind::kInput, "dma",
                 fmt::format("{} bytes do not fit into {}", from.bytes(), to.bytes()), ""};
  DEPUTY_TRY(device.start());
  std::shared_ptr<DmaCopy> out(new DmaCopy(device, std::move(context)));
  arch::DmaDescriptor d;
  d.src = from.address(), d.dst = to.address();
  if (from.bytes() == 0 || from.bytes() > 0xFFFFFFFF)
    return Error{ErrorKind::kInput, "dma", fmt::format("cannot copy {} bytes", from.bytes()), ""};
  d.row_bytes = static_cast<std::uint32_t>(from.bytes());
  std::vector<std::uint32_t> words;
  arch::pack(d, words);
  DEPUTY_ASSIGN(out->commands_,
                Buffer::make(device.space(), MemoryKind::kDram, words.size() * 4, kCacheLine));
  DEPUTY_ASSIGN(const std::span<std::uint8_t> bytes, out->commands_.map(Access::kWrite));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  out->commands_.unmap();
  out->reads_ = {std::move(from)}, out->writes_ = {std::move(to)};
  DEPUTY_TRY(out->prepare(waits));
  return out;
}

// A transfer is a read, a write and the descriptor's fetches (arch/progress_bound.h); a hung one is
// seen no sooner.
JobLimits DmaCopy::limits() const {
  const BoardTimes& board = device_.options().board;
  return {kBudgetFloorPs + from().bytes() * kBudgetPsPerByte,
          std::max(kProgressPs, 8 * board.transaction_ps), true};
}

std::uint64_t DmaCopy::bound_ps() const {
  std::uint64_t out = EngineWork::bound_ps();
  const arch::HostWork copy[] = {{CpuKernel::kCopy, from().bytes()}};
  if (device_.options().recovery.cpu_fallback)
    out += host_bound_ps(device_.options().board, copy, 2 * from().bytes());
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
  Buffer to = *writes_[0].view(0, from().bytes());
  if (const base::Status copied = to.copy_from(from()); !copied.ok())
    return end(copied.error()), true;
  to.before_engine();  // one may have been waiting for the signal
  device_.sync().signal(fence_.timeline(), fence_.value());
  return end(std::nullopt), true;
}

}  // namespace deputy::host_runtime
