// What work can wait for. A fence is pending, then reached or failed, once and for good; copies are
// the same fence. A timeline is a counter of the program's own, for what the runtime does not know
// of: a sensor, a button, another thread. Times are picoseconds on HwPort::now_ps()'s scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"

namespace deputy {

namespace api {
struct FenceImpl;
struct TimelineImpl;
}  // namespace api

class Device;

/// A deadline that never passes.
inline constexpr std::uint64_t kNoDeadline = ~std::uint64_t{0};

enum class FenceState : std::uint8_t { kPending, kReached, kFailed };

class Fence {
 public:
  /// Reached from the start.
  Fence() = default;

  /// Does what can be done without waiting, then says how the fence stands.
  FenceState state() const;
  bool pending() const { return state() == FenceState::kPending; }

  /// Blocks until the fence is over or `deadline_ps` (absolute) passes. kDeadline: it has passed,
  /// and the fence stays as it is; every other error is why the fence failed. The results of failed
  /// work are undefined.
  base::Status wait(std::uint64_t deadline_ps = kNoDeadline) const;

  /// Why it failed; success while it is pending and when it is reached.
  base::Status error() const;

  explicit Fence(std::shared_ptr<api::FenceImpl> impl)
      : impl_(std::move(impl)) {}                                        ///< the runtime's
  const std::shared_ptr<api::FenceImpl>& impl() const { return impl_; }  ///< the runtime's

 private:
  std::shared_ptr<api::FenceImpl> impl_;
};

/// Blocks until one of the fences, all of one device, is over, reached or failed, and answers its
/// index: the first when there are several. kDeadline as in Fence::wait(), kInput for no fences.
base::Result<std::size_t> wait_any(std::span<const Fence> fences,
                                   std::uint64_t deadline_ps = kNoDeadline);

/// A 64-bit counter that only grows, at 0 in the beginning. Waiting for a value that nobody has
/// promised yet is legal. There are 16 in the hardware; every frame with a program for an engine
/// and every copy in flight takes one too. When the last copy of a timeline goes, what still waits
/// for it fails.
class Timeline {
 public:
  /// kBusy when all are taken.
  static base::Result<Timeline> create(const Device& device);

  /// The point at which the timeline reaches `value`: 1 or more.
  Fence at(std::uint64_t value) const;
  /// Sets the counter. kInput when `value` does not exceed it, kCancelled after fail().
  base::Status signal(std::uint64_t value) const;
  /// Fails every fence of this timeline that has not been reached, for good.
  void fail() const;

 private:
  explicit Timeline(std::shared_ptr<api::TimelineImpl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<api::TimelineImpl> impl_;
};

}  // namespace deputy
