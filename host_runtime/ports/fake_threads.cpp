#include "host_runtime/ports/fake_threads.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace deputy::host_runtime {

FakeThreads::FakeThreads(Now now, Advance advance)
    : now_(std::move(now)), advance_(std::move(advance)) {
  threads_.push_back(std::make_unique<Thread>());
}

FakeThreads::~FakeThreads() {
  stopping_ = true;
  for (ThreadId id = 1; id < threads_.size(); ++id) {
    Thread& thread = *threads_[id];
    if (!thread.thread.joinable()) continue;
    if (!thread.ended) pass_turn(0, id);  // it unwinds and gives the turn back
    thread.thread.join();
  }
}

std::size_t FakeThreads::unjoined() const {
  return static_cast<std::size_t>(std::count_if(threads_.begin() + 1, threads_.end(),
                                                [](const auto& t) { return !t->joined; }));
}

ThreadId FakeThreads::start(std::function<void()> body) {
  const auto id = static_cast<ThreadId>(threads_.size());
  Thread& thread = *threads_.emplace_back(std::make_unique<Thread>());
  thread.ready = [] { return true; };
  blocked_.push_back(id);
  thread.thread =
      std::thread([this, id, &thread, body = std::move(body)] { run(id, thread, body); });
  return id;
}

void FakeThreads::run(ThreadId me, Thread& thread, const std::function<void()>& body) {
  {
    std::unique_lock guard(mutex_);
    thread.turn.wait(guard, [&] { return running_ == me; });
  }
  if (!stopping_) {
    try {
      body();
    } catch (const Stop&) {
    } catch (...) {
      thread.failure = std::current_exception();
      std::erase(lock_, me);
    }
    DEPUTY_CHECK(stopping_ || std::find(lock_.begin(), lock_.end(), me) == lock_.end(),
                 "a host thread ended with the lock held");
  }
  thread.ended = true;
  const ThreadId next = stopping_ ? 0 : choose();
  std::lock_guard guard(mutex_);
  running_ = next;
  threads_[next]->turn.notify_one();
}

void FakeThreads::join(ThreadId id) {
  if (stopping_) return;
  DEPUTY_CHECK(id > 0 && id < threads_.size() && !threads_[id]->joined,
               "joined a host thread that was not started or was joined already");
  DEPUTY_CHECK(id != running_, "a host thread joined itself");
  Thread& thread = *threads_[id];
  thread.joined = true;
  block([&] { return thread.ended; }, std::nullopt);
  thread.thread.join();
  // What a test's assertion threw goes on in the thread that asks for the outcome.
  if (thread.failure) std::rethrow_exception(std::exchange(thread.failure, nullptr));
}

void FakeThreads::lock() {
  if (stopping_) return;
  const ThreadId me = running_;
  DEPUTY_CHECK(lock_.empty() || lock_.front() != me, "the lock is not recursive");
  lock_.push_back(me);
  if (lock_.front() != me) block([this, me] { return lock_.front() == me; }, std::nullopt);
}

void FakeThreads::unlock() {
  if (stopping_) return;
  DEPUTY_CHECK(!lock_.empty() && lock_.front() == running_,
               "unlocked a lock that the thread does not hold");
  lock_.pop_front();
}

bool FakeThreads::block(std::function<bool()> ready, std::optional<std::uint64_t> deadline_ps) {
  if (stopping_) return ready();
  const ThreadId me = running_;
  Thread& thread = *threads_[me];
  thread.ready = std::move(ready);
  thread.deadline_ps = deadline_ps;
  blocked_.push_back(me);
  if (const ThreadId next = choose(); next != me) pass_turn(me, next);
  const bool answer = thread.ready();
  thread.ready = nullptr;
  return answer;
}

bool FakeThreads::runnable(const Thread& thread) const {
  return thread.ready() || (thread.deadline_ps && *thread.deadline_ps <= now_());
}

ThreadId FakeThreads::choose() {
  for (;;) {
    std::optional<std::uint64_t> deadline;
    for (auto id = blocked_.begin(); id != blocked_.end(); ++id) {
      const Thread& thread = *threads_[*id];
      if (runnable(thread)) {
        const ThreadId chosen = *id;
        blocked_.erase(id);
        return chosen;
      }
      if (thread.deadline_ps)
        deadline = std::min(deadline.value_or(~std::uint64_t{0}), *thread.deadline_ps);
    }
    DEPUTY_CHECK(advance_(deadline), "every host thread waits, and nothing is left to happen");
  }
}

void FakeThreads::pass_turn(ThreadId me, ThreadId next) {
  std::unique_lock guard(mutex_);
  running_ = next;
  threads_[next]->turn.notify_one();
  threads_[me]->turn.wait(guard, [&] { return running_ == me; });
  guard.unlock();
  if (stopping_ && me != 0) throw Stop{};
}

}  // namespace deputy::host_runtime
