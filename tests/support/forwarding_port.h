// A port that hands every call on to another one: tests override what they tamper with.
#pragma once

#include <utility>

#include "deputy/hw_port.h"

namespace deputy::test {

class ForwardingPort : public HwPort {
 public:
  /// `port` must outlive this.
  explicit ForwardingPort(HwPort& port) : port_(port) {}

  std::uint32_t read32(std::uint64_t address) override { return port_.read32(address); }
  void write32(std::uint64_t address, std::uint32_t value) override {
    port_.write32(address, value);
  }
  std::uint64_t bus_errors() const override { return port_.bus_errors(); }
  base::Result<SharedMemory> alloc(MemoryKind kind, std::uint64_t bytes,
                                   std::uint64_t align) override {
    return port_.alloc(kind, bytes, align);
  }
  void free(const SharedMemory& memory) override { port_.free(memory); }
  void clean(std::uint64_t address, std::uint64_t bytes) override { port_.clean(address, bytes); }
  void invalidate(std::uint64_t address, std::uint64_t bytes) override {
    port_.invalidate(address, bytes);
  }
  void announce(const MemoryTouch& touch) override { port_.announce(touch); }
  std::uint32_t wait_irqs(std::uint32_t lines, std::uint64_t deadline_ps) override {
    return port_.wait_irqs(lines, deadline_ps);
  }
  void wake_waiters() override { port_.wake_waiters(); }
  void sleep_until(std::uint64_t time_ps) override { port_.sleep_until(time_ps); }
  ThreadId start_thread(std::function<void()> body) override {
    return port_.start_thread(std::move(body));
  }
  ThreadId current_thread() override { return port_.current_thread(); }
  void join(ThreadId thread) override { port_.join(thread); }
  void lock() override { port_.lock(); }
  void unlock() override { port_.unlock(); }
  std::uint64_t now_ps() override { return port_.now_ps(); }
  void charge(CpuKernel kernel, std::uint64_t amount,
              std::span<const MemoryTouch> touches) override {
    port_.charge(kernel, amount, touches);
  }
  bool functional() const override { return port_.functional(); }

 protected:
  HwPort& port_;
};

}  // namespace deputy::test
