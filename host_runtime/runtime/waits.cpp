#include "host_runtime/runtime/waits.h"

#include <algorithm>

#include "host_runtime/runtime/device.h"

namespace deputy::host_runtime {

arch::TimelinePoint point(std::uint8_t timeline, std::uint64_t value) {
  return {1, timeline, value};
}

std::vector<Fence> set_waits(std::span<const Fence> fences, arch::QueueEntry& entry) {
  std::vector<Fence> rest;
  std::size_t used = 0;
  for (const Fence& fence : fences) {
    if (!fence.pending()) continue;
    if (used < arch::kEntryWaits && !fence.host_only())
      entry.wait[used++] = point(fence.timeline(), fence.value());
    else
      rest.push_back(fence);
  }
  return rest;
}

const Fence* failed_fence(std::span<const Fence> fences) {
  for (const Fence& fence : fences)
    if (fence.state() == FenceState::kFailed) return &fence;
  return nullptr;
}

bool over_for_host(Device& device, std::span<Fence> fences) {
  return std::ranges::all_of(fences, [&](Fence& fence) { return device.over(fence); });
}

base::Error upstream_error(const Fence& fence) {
  base::Error error = fence.error();
  error.message = "what it waited for failed: " + (error.where.empty() ? "" : error.where + ": ") +
                  error.message;
  error.where.clear();
  return error;
}

base::Error upstream_error(Device& device, std::span<Fence> waits, const char* engine) {
  for (Fence& wait : waits) device.refresh(wait);
  if (const Fence* failed = failed_fence(waits)) return upstream_error(*failed);
  return {base::ErrorKind::kHardwareFault, engine, "what it waited for failed", ""};
}

}  // namespace deputy::host_runtime
