#include "soc/host_threads.h"

#include <fmt/format.h>
#include <sysc/kernel/sc_spawn.h>

#include <algorithm>

#include "base/check.h"
#include "sim/process.h"

namespace deputy::soc {
namespace {
// CPU kernels and drivers run on it.
constexpr int kStackBytes = 1 << 20;

sc_core::sc_time now() { return sc_core::sc_time_stamp(); }
}  // namespace

void HostThreads::main_thread() {
  if (!alone()) return;
  threads_.push_back(std::make_unique<Thread>());
  Thread& main = *threads_.back();
  main.process = sc_core::sc_get_current_process_handle();
  running_ = last_ = &main;
  slice_start_ = now();
  if (alone_locked_) owner_ = &main;
}

HostThreads::Thread& HostThreads::self() {
  const sc_core::sc_object* const process = sc_core::sc_get_current_process_b();
  const auto is_me = [&](const Thread* t) {
    return t && t->process.get_process_object() == process;
  };
  if (is_me(running_)) return *running_;
  for (const auto& thread : threads_)
    if (is_me(thread.get())) return *thread;
  DEPUTY_CHECK(false, "the port is used by a thread that it did not start");
}

ThreadId HostThreads::current() { return alone() ? 0 : self().id; }

ThreadId HostThreads::start(std::function<void()> body) {
  main_thread();
  Thread& thread = *threads_.emplace_back(std::make_unique<Thread>());
  thread.id = static_cast<ThreadId>(threads_.size() - 1);
  thread.body = std::move(body);
  ready_.push_back(&thread);
  wanted_.notify(sc_core::SC_ZERO_TIME);
  sc_core::sc_spawn_options options;
  options.set_stack_size(kStackBytes);
  thread.process = sc_core::sc_spawn(
      [this, &thread] {
        await_core(thread, true);
        thread.body();
        thread.body = nullptr;
        DEPUTY_CHECK(owner_ != &thread, "a host thread ended with the lock held");
        thread.done = true;
        thread.ended.notify(sc_core::SC_ZERO_TIME);
        hand_over();
      },
      sc_core::sc_gen_unique_name("host_thread"), &options);
  return thread.id;
}

void HostThreads::join(ThreadId id) {
  if (stopped_) return;
  DEPUTY_CHECK(id > 0 && id < threads_.size() && threads_[id] && !threads_[id]->joined,
               "joined a host thread that was not started or was joined already");
  Thread& thread = *threads_[id];
  DEPUTY_CHECK(&thread != &self(), "a host thread joined itself");
  thread.joined = true;
  if (!thread.done) {
    leave("waits for the end of thread", id);
    while (!thread.done) sim::wait_on(thread.ended);
    occupy(true);
  }
  threads_[id].reset();
}

void HostThreads::lock() {
  if (stopped_) return;
  if (alone()) {
    DEPUTY_CHECK(!alone_locked_, "the lock is not recursive");
    alone_locked_ = true;
    return;
  }
  Thread& me = self();
  DEPUTY_CHECK(owner_ != &me, "the lock is not recursive");
  if (!owner_) {
    owner_ = &me;
    return;
  }
  lock_queue_.push_back(&me);
  leave("waits for the lock, which has thread", owner_->id);
  while (owner_ != &me) sim::wait_on(me.granted);
  occupy(true);
}

void HostThreads::unlock() {
  if (stopped_) return;
  DEPUTY_CHECK(alone() ? alone_locked_ : owner_ == &self(),
               "unlocked a lock that the thread does not hold");
  if (alone()) {
    alone_locked_ = false;
    return;
  }
  owner_ = nullptr;
  if (lock_queue_.empty()) return;
  owner_ = lock_queue_.front();
  lock_queue_.pop_front();
  owner_->granted.notify(sc_core::SC_ZERO_TIME);
}

bool HostThreads::slice_used() const { return now() - slice_start_ >= time_slice_; }

void HostThreads::hand_over() {
  running_ = nullptr;
  if (ready_.empty()) return;
  running_ = ready_.front();
  ready_.pop_front();
  running_->granted.notify(sc_core::SC_ZERO_TIME);
}

void HostThreads::await_core(Thread& thread, bool pay_switch) {
  while (running_ != &thread) sim::wait_on(thread.granted);
  thread.waits_for = nullptr;
  if (last_ != &thread) {
    last_ = &thread;
    ++switches_;
    if (pay_switch && context_switch_ > sc_core::SC_ZERO_TIME) {
      switching_ += context_switch_;
      sim::wait_for(context_switch_);
      busy_.add((now() - context_switch_).value(), now().value(), context_switch_.value());
    }
  }
  slice_start_ = now();  // after the switch: a slice shorter than that still gets work done
}

void HostThreads::yield(Thread& thread) {
  ready_.push_back(&thread);
  hand_over();
  await_core(thread, true);
}

void HostThreads::occupy(bool pay_switch) {
  if (alone() || stopped_) return;
  Thread& me = self();
  if (running_ == &me) {
    if (slice_used() && !ready_.empty()) yield(me);
    return;
  }
  if (running_) {
    ready_.push_back(&me);
    wanted_.notify(sc_core::SC_ZERO_TIME);
  } else {
    running_ = &me;
  }
  await_core(me, pay_switch);
}

void HostThreads::leave(const char* waits_for, std::uint64_t number) {
  if (alone() || stopped_) return;
  Thread& me = self();
  DEPUTY_CHECK(running_ == &me, "a host thread ran without the core");
  me.waits_for = waits_for;
  me.number = number;
  hand_over();
}

void HostThreads::work(sc_core::sc_time t) {
  if (alone()) return sim::wait_for(t);
  Thread& me = self();
  while (t > sc_core::SC_ZERO_TIME) {
    DEPUTY_CHECK(running_ == &me, "a host thread worked without the core");
    if (!ready_.empty() && slice_used()) yield(me);
    const sc_core::sc_time start = now();
    if (ready_.empty())
      sim::wait_on(wanted_, t);
    else
      sim::wait_for(std::min(t, slice_start_ + time_slice_ - start));
    t -= now() - start;
  }
}

sc_core::sc_time HostThreads::make_way(const std::function<void()>& settle) {
  if (ready_.empty() || !slice_used()) return sc_core::SC_ZERO_TIME;
  settle();
  const sc_core::sc_time start = now();
  yield(self());
  return now() - start;
}

std::string HostThreads::unjoined() const {
  std::string out;
  for (std::size_t id = 1; id < threads_.size(); ++id)
    if (threads_[id])
      out += fmt::format("{}host thread {} was started and not joined{}", out.empty() ? "" : "; ",
                         id, threads_[id]->done ? "" : ", and has not ended");
  return out;
}

std::string HostThreads::waits() const {
  std::string out;
  for (const auto& thread : threads_)
    if (thread && thread->waits_for)
      out += fmt::format("{}thread {} {} {}", out.empty() ? "" : "; ", thread->id,
                         thread->waits_for, thread->number);
  return out;
}

}  // namespace deputy::soc
