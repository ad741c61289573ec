// The runtime's lock, taken by every public call: several host threads may use one device. Calls inside calls take
// it again; a wait lets it go.
#pragma once

#include <optional>

#include "deputy/hw_port.h"

namespace deputy::host_runtime {

class RuntimeLock {
 public:
  explicit RuntimeLock(HwPort& port) : port_(port) {}

  void take() {
    const ThreadId me = port_.current_thread();
    if (owner_ != me) {
      port_.lock();
      owner_ = me;
    }
    ++depth_;
  }
  void give() {
    if (--depth_ != 0) return;
    owner_.reset();
    port_.unlock();
  }
  /// Only the outermost call may let go while it waits: those around it count on what they have seen.
  bool outermost() const { return depth_ == 1; }

 private:
  HwPort& port_;
  std::optional<ThreadId> owner_;
  int depth_ = 0;
};

class RuntimeGuard {
 public:
  explicit RuntimeGuard(RuntimeLock& lock) : lock_(lock) { lock_.take(); }
  ~RuntimeGuard() { lock_.give(); }
  RuntimeGuard(const RuntimeGuard&) = delete;
  RuntimeGuard& operator=(const RuntimeGuard&) = delete;

 private:
  RuntimeLock& lock_;
};

}  // namespace deputy::host_runtime
