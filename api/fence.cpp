#include "deputy/fence.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/handles.h"

namespace deputy {
namespace api {

Fence make_fence(const DevicePtr& device, host_runtime::Fence fence) {
  return Fence(std::make_shared<FenceImpl>(FenceImpl{device, std::move(fence), nullptr}));
}

base::Result<std::vector<host_runtime::Fence>> runtime_fences(
    const DevicePtr& device, std::span<const Fence> fences,
    std::vector<std::weak_ptr<TimelineImpl>>& timelines) {
  std::vector<host_runtime::Fence> out;
  for (const Fence& fence : fences) {
    if (!fence.impl()) continue;  // reached
    if (fence.impl()->device != device) return bad_argument("fence", "it is another device's");
    out.push_back(fence.impl()->fence);
    if (fence.impl()->timeline) timelines.push_back(fence.impl()->timeline);
  }
  return out;
}

void fail_timelines(const std::vector<std::weak_ptr<TimelineImpl>>& timelines) {
  for (const auto& weak : timelines)
    if (const auto timeline = weak.lock()) timeline->fail();
}

void TimelineImpl::fail() {
  const Locked locked(device);
  if (!failed) device->device.sync().fail(number, arch::SyncFailure::kCancelled);
  failed = true;
  for (host_runtime::Fence& fence : fences) device->device.refresh(fence);
  fences.clear();
  device->device.poll_works();
}

TimelineImpl::~TimelineImpl() {
  // Fences outlive the timeline and must know how they ended before somebody else gets it.
  fail();
  device->device.retire_timeline(number);
}

}  // namespace api

FenceState Fence::state() const {
  if (!impl_) return FenceState::kReached;
  if (impl_->fence.pending()) {
    const api::Locked locked(impl_->device);
    impl_->device->device.poll();
    impl_->device->device.refresh(impl_->fence);
  }
  switch (impl_->fence.state()) {
    case host_runtime::FenceState::kPending:
      return FenceState::kPending;
    case host_runtime::FenceState::kReached:
      return FenceState::kReached;
    case host_runtime::FenceState::kFailed:
      return FenceState::kFailed;
  }
  DEPUTY_CHECK(false, "unknown state of a fence");
}

base::Status Fence::wait(std::uint64_t deadline_ps) const {
  return impl_ ? impl_->device->device.wait(impl_->fence, deadline_ps) : base::Status();
}

base::Status Fence::error() const {
  return state() == FenceState::kFailed ? base::Status(impl_->fence.error()) : base::Status();
}

base::Result<std::size_t> wait_any(std::span<const Fence> fences, std::uint64_t deadline_ps) {
  if (fences.empty()) return api::bad_argument("wait_any", "no fences to wait for");
  api::DevicePtr device;
  for (std::size_t i = 0; i < fences.size(); ++i) {
    if (!fences[i].impl()) return i;
    if (device && fences[i].impl()->device != device)
      return api::bad_argument("wait_any", "fences of several devices");
    device = fences[i].impl()->device;
  }
  std::size_t over = 0;
  const auto is_over = [&](const Fence& fence) { return device->device.over(fence.impl()->fence); };
  DEPUTY_TRY(device->device.wait_until(
      [&] {
        const auto it = std::ranges::find_if(fences, is_over);
        over = static_cast<std::size_t>(it - fences.begin());
        return it != fences.end();
      },
      deadline_ps));
  return over;
}

base::Result<Timeline> Timeline::create(const Device& device) {
  DEPUTY_TRY(device.impl()->device.start());
  DEPUTY_ASSIGN(const std::uint8_t number, device.impl()->device.create_timeline());
  auto impl = std::make_shared<api::TimelineImpl>();
  impl->device = device.impl(), impl->number = number;
  return Timeline(std::move(impl));
}

Fence Timeline::at(std::uint64_t value) const {
  const api::Locked locked(impl_->device);
  host_runtime::Fence fence(impl_->number, value, true);
  impl_->device->device.refresh(fence);
  if (fence.pending()) {
    std::erase_if(impl_->fences, [](const auto& f) { return !f.pending(); });
    impl_->fences.push_back(fence);
  }
  return Fence(std::make_shared<api::FenceImpl>(api::FenceImpl{impl_->device, fence, impl_}));
}

base::Status Timeline::signal(std::uint64_t value) const {
  const api::Locked locked(impl_->device);
  host_runtime::SyncDriver& sync = impl_->device->device.sync();
  if (impl_->failed)
    return base::Error{base::ErrorKind::kCancelled, "timeline", "it has been failed",
                       "create another one"};
  if (const std::uint64_t now = sync.value(impl_->number); value <= now)
    return api::bad_argument("timeline",
                             fmt::format("a signal of {}, but it stands at {}", value, now),
                             "signals must grow");
  sync.signal(impl_->number, value);
  impl_->device->device.poll_works();
  return {};
}

void Timeline::fail() const { impl_->fail(); }

}  // namespace deputy
