// The runtime's lock, taken by every public call: several host threads may use one device. Calls
// inside calls take it again; a wait lets it go.
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
  /// Gives the lock up while its holder waits, however often it has taken it; resume() takes it as
  /// often again.
  int let_go() {
    const int depth = depth_;
    depth_ = 0;
    owner_.reset();
    port_.unlock();
    return depth;
  }
  void resume(int depth) {
    port_.lock();
    owner_ = port_.current_thread();
    depth_ = depth;
  }

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
