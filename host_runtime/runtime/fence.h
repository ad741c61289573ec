// A fence: one point in the future that work can wait for, by the host and by the engines. It is
// pending, then either reached or failed, once and for good. Copies are the same fence.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/check.h"
#include "base/result.h"

namespace deputy::host_runtime {

enum class FenceState : std::uint8_t { kPending, kReached, kFailed };

class Fence {
 public:
  /// Reached from the start.
  Fence() = default;
  /// Pending. `timeline`: the sync unit's timeline that reaches `value` (docs/queues.md), so that
  /// engines can wait for it without the host. `by_timeline`: for the host, too, it is over when
  /// the timeline says so; else when the work that owns it says so, which has the caches to think
  /// of.
  Fence(std::uint8_t timeline, std::uint64_t value, bool by_timeline)
      : shared_(std::make_shared<Shared>()) {
    shared_->timeline = timeline, shared_->value = value, shared_->by_timeline = by_timeline;
  }

  /// Pending, and no engine can wait for it.
  static Fence by_host() {
    Fence out(0, 0, false);
    out.shared_->host_only = true;
    return out;
  }

  /// As the runtime knows it; Device::wait() and Device::poll() look at the hardware.
  FenceState state() const { return shared_ ? shared_->state : FenceState::kReached; }
  bool pending() const { return state() == FenceState::kPending; }
  /// Why it failed.
  const base::Error& error() const {
    DEPUTY_CHECK(state() == FenceState::kFailed, "error() of a fence that has not failed");
    return *shared_->error;
  }
  /// Only of a fence made with a point.
  std::uint8_t timeline() const { return shared_->timeline; }
  std::uint64_t value() const { return shared_->value; }
  bool host_only() const { return shared_ && shared_->host_only; }
  bool by_timeline() const { return shared_ && shared_->by_timeline; }

  // The runtime's side.
  /// The first call counts.
  void reach() {
    if (pending()) shared_->state = FenceState::kReached;
  }
  void fail(base::Error error) {
    if (!pending()) return;
    shared_->state = FenceState::kFailed;
    shared_->error = std::move(error);
  }

 private:
  struct Shared {
    FenceState state = FenceState::kPending;
    std::optional<base::Error> error;
    std::uint8_t timeline = 0;
    std::uint64_t value = 0;
    bool by_timeline = false, host_only = false;
  };
  std::shared_ptr<Shared> shared_;
};

}  // namespace deputy::host_runtime
