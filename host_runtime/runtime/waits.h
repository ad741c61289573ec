// What a ring entry waits for and signals, from fences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arch/queue_entry.h"
#include "host_runtime/runtime/fence.h"

namespace deputy::host_runtime {

class Device;

/// Fences that are over take no place. Answers those that found none: the host must wait for them
/// first.
std::vector<Fence> set_waits(std::span<const Fence> fences, arch::QueueEntry& entry);
/// The first failed one, or nullptr.
const Fence* failed_fence(std::span<const Fence> fences);
/// The host may do what waits for these: all are over. False makes it wake up when they are.
bool over_for_host(Device& device, std::span<Fence> fences);
/// An error for work that was not done because this fence failed.
base::Error upstream_error(const Fence& fence);
/// The same for a job that the engine did not run because one of its waits failed, as it says.
base::Error upstream_error(Device& device, std::span<Fence> waits, const char* engine);

arch::TimelinePoint point(std::uint8_t timeline, std::uint64_t value);

}  // namespace deputy::host_runtime
