// The threads of the host program and the one core that they share.
//
// A thread keeps the core while it works and gives it up when it blocks, or when it has had it for
// a time slice and another one wants it; waiting threads get it in the order in which they asked. A
// core that goes to another thread than it last ran pays the context switch. While there is one
// thread only, none of this takes time or events.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "deputy/hw_port.h"
#include "soc/busy_log.h"

namespace deputy::soc {

class HostThreads {
 public:
  /// `busy`, which must outlive this, gets the switches.
  HostThreads(sc_core::sc_time context_switch, sc_core::sc_time time_slice, BusyLog& busy)
      : context_switch_(context_switch), time_slice_(time_slice), busy_(busy) {}

  // Called by host threads. The first to start another one is thread 0.
  ThreadId start(std::function<void()> body);
  void join(ThreadId thread);
  void lock();
  void unlock();

  /// Before CPU work: blocks until the calling thread has the core, and pays for the switch. A
  /// thread that has used up its slice makes way here.
  void enter() { occupy(true); }
  /// Returns the core before the thread waits; the words and the number say what for, should the
  /// wait never end.
  void leave(const char* waits_for, std::uint64_t number);
  /// The core again after a wait. The caller pays for being woken, and for no switch beside it.
  void enter_woken() { occupy(false); }
  /// The calling thread, which has the core, computes for `t`; others may have the core in between.
  void work(sc_core::sc_time t);
  /// Where a long access may make way: `settle` is called first if it does. Returns how long the
  /// thread was away.
  sc_core::sc_time make_way(const std::function<void()>& settle);

  bool alone() const { return threads_.empty(); }
  /// The calling thread's number.
  ThreadId current();

  /// The simulation is being torn down: threads are unwound, and nothing may block any more.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

  std::uint64_t started() const { return threads_.empty() ? 0 : threads_.size() - 1; }
  std::uint64_t switches() const { return switches_; }
  /// Core time of the switches.
  sc_core::sc_time switching() const { return switching_; }
  /// Threads that were started and not joined, in words; empty if there are none.
  std::string unjoined() const;
  /// What every thread waits for, in words; empty while there is one thread only.
  std::string waits() const;

 private:
  struct Thread {
    ThreadId id = 0;
    sc_core::sc_process_handle process{};
    std::function<void()> body{};
    sc_core::sc_event granted{};  ///< the core, or the lock
    sc_core::sc_event ended{};
    bool done = false, joined = false;  ///< joined: somebody waits for its end
    const char* waits_for = nullptr;
    std::uint64_t number = 0;
  };
  Thread& self();
  void occupy(bool pay_switch);
  void await_core(Thread& thread, bool pay_switch);
  void hand_over();
  void yield(Thread& thread);
  bool slice_used() const;
  void main_thread();

  sc_core::sc_time context_switch_, time_slice_;
  BusyLog& busy_;
  std::vector<std::unique_ptr<Thread>> threads_;  ///< by id; empty until a second one is started
  std::deque<Thread*> ready_;                     ///< wait for the core
  Thread *running_ = nullptr, *last_ = nullptr;
  sc_core::sc_time slice_start_;
  sc_core::sc_event wanted_;  ///< somebody joined ready_
  Thread* owner_ = nullptr;   ///< of the lock
  std::deque<Thread*> lock_queue_;
  bool alone_locked_ = false;  ///< the lock, while there is one thread only
  bool stopped_ = false;
  std::uint64_t switches_ = 0;
  sc_core::sc_time switching_;
};

}  // namespace deputy::soc
