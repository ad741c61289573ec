// Host threads for the fake port: real threads of which exactly one runs at a time, so that a test
// is deterministic and may use its test framework in each of them. A thread runs until it blocks;
// then the one that has been runnable longest goes on, and when there is none, virtual time
// advances.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "deputy/hw_port.h"

namespace deputy::host_runtime {

class FakeThreads {
 public:
  /// Advances virtual time by one step: to the next event, but not beyond `deadline_ps`. Answers
  /// false when there is neither.
  using Advance = std::function<bool(std::optional<std::uint64_t> deadline_ps)>;
  using Now = std::function<std::uint64_t()>;

  FakeThreads(Now now, Advance advance);
  /// Unwinds the threads that have not ended, then waits for them.
  ~FakeThreads();
  FakeThreads(const FakeThreads&) = delete;
  FakeThreads& operator=(const FakeThreads&) = delete;

  ThreadId start(std::function<void()> body);
  void join(ThreadId thread);
  ThreadId current() const { return running_; }
  void lock();
  void unlock();
  /// Blocks the calling thread until `ready` or the deadline; answers whether it is ready. Without
  /// a deadline, a wait that nothing can end any more is a failed check.
  bool block(std::function<bool()> ready, std::optional<std::uint64_t> deadline_ps);
  std::size_t unjoined() const;
  /// The threads are being unwound: nothing may block any more.
  bool stopping() const { return stopping_; }

 private:
  struct Stop {};  // unwinds a thread when the port goes
  struct Thread {
    std::function<bool()> ready{};
    std::optional<std::uint64_t> deadline_ps{};
    std::condition_variable turn{};
    std::exception_ptr failure{};
    bool ended = false, joined = false;
    std::thread thread{};
  };
  bool runnable(const Thread& thread) const;
  /// Takes the thread that goes on out of blocked_; time advances until there is one.
  ThreadId choose();
  /// Gives the turn to `next` and waits for it to come back.
  void pass_turn(ThreadId me, ThreadId next);
  void run(ThreadId me, Thread& thread, const std::function<void()>& body);

  Now now_;
  Advance advance_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thread>> threads_;  ///< by id
  std::deque<ThreadId> blocked_;                  ///< in the order in which they blocked
  ThreadId running_ = 0;
  std::deque<ThreadId> lock_;  ///< the owner, then those who wait
  bool stopping_ = false;
};

}  // namespace deputy::host_runtime
