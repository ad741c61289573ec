// A HwPort without hardware, for unit tests: byte arrays for memory, register files with the
// documented access rules for the NPU, the DMA engine, the interrupt controller, the queue managers
// and the sync unit, and virtual time. What an engine does is scripted by the test: hooks on
// register accesses, and events at a later time. Rings and timelines work as docs/queues.md says
// (fake_queues.cpp): a job from a ring programs the engine's registers and calls the hook of its
// CMD register, and finish() ends it.
//
// Time: a register access takes kRegisterPs, cache maintenance and CPU work nothing, wait_irq()
// until the interrupt or the deadline. Everything is deterministic. Host threads change only where
// one blocks (fake_threads.h): a thread that polls a register for what another one does never sees
// it happen.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "arch/memory_map.h"
#include "arch/npu_config.h"
#include "arch/queue_entry.h"
#include "arch/register_file.h"
#include "arch/registers.h"
#include "deputy/hw_port.h"
#include "host_runtime/ports/fake_threads.h"

namespace deputy::host_runtime {

class FakePort : public HwPort {
 public:
  static constexpr std::uint64_t kRegisterPs = 10'000;
  enum Device { kNpu, kDma, kIntc, kNpuQueue, kDmaQueue, kSync };
  using Hook = std::function<void(std::uint32_t value)>;

  explicit FakePort(const arch::NpuConfig& npu = {});

  // The script.
  /// Called after a write to this register has taken effect.
  void on_write(Device device, std::uint32_t offset, Hook hook) {
    hooks_[{device, offset}] = std::move(hook);
  }
  /// Calls `event` `delay_ps` from now; a reset of the NPU or the DMA engine drops it.
  void after(std::uint64_t delay_ps, std::function<void()> event);
  /// The same; only a reset or an abort of `engine` drops it.
  void after(Device engine, std::uint64_t delay_ps, std::function<void()> event);
  /// Sets a device register, past all access rules; interrupt lines follow.
  void set(Device device, std::uint32_t offset, std::uint32_t value);
  std::uint32_t get(Device device, std::uint32_t offset) const {
    return devices_[device].get(offset);
  }
  /// Ends a job or chain as the hardware would: STATUS, IRQ_STATUS and the line. error 0: success.
  void finish(Device device, std::uint32_t error = 0);
  /// While on, no edge of an interrupt line reaches the controller.
  void lose_interrupts(bool on) { lose_interrupts_ = on; }
  /// Decides which of the rising lines (a bit each) reach the controller.
  void filter_interrupts(std::function<std::uint32_t(std::uint32_t rising)> filter) {
    filter_ = std::move(filter);
  }
  void set_functional(bool on) { functional_ = on; }
  void limit_memory(MemoryKind kind, std::uint64_t bytes) {
    limit_[static_cast<int>(kind)] = bytes;
  }

  // What happened.
  struct Maintenance {
    bool clean;  ///< or invalidate
    std::uint64_t address, bytes;
  };
  struct Charge {
    CpuKernel kernel;
    std::uint64_t amount;
    std::vector<MemoryTouch> touches;
  };
  std::vector<Maintenance> maintenance;
  std::vector<Charge> charges;
  /// The host mapping of a bus address inside an allocation; nullptr elsewhere.
  std::uint8_t* at(std::uint64_t address, std::uint64_t bytes = 1);
  std::size_t allocations() const { return blocks_.size(); }
  std::size_t unjoined_threads() const { return threads_.unjoined(); }

  // HwPort.
  std::uint32_t read32(std::uint64_t address) override;
  void write32(std::uint64_t address, std::uint32_t value) override;
  std::uint64_t bus_errors() const override { return bus_errors_; }
  base::Result<SharedMemory> alloc(MemoryKind kind, std::uint64_t bytes,
                                   std::uint64_t align) override;
  void free(const SharedMemory& memory) override;
  void clean(std::uint64_t address, std::uint64_t bytes) override {
    maintenance.push_back({true, address, bytes});
  }
  void invalidate(std::uint64_t address, std::uint64_t bytes) override {
    maintenance.push_back({false, address, bytes});
  }
  std::uint32_t wait_irqs(std::uint32_t lines, std::uint64_t deadline_ps) override;
  void wake_waiters() override { ++wakes_; }
  void sleep_until(std::uint64_t time_ps) override {
    if (time_ps > now_) threads_.block([] { return false; }, time_ps);
  }
  ThreadId start_thread(std::function<void()> body) override {
    return threads_.start(std::move(body));
  }
  void join(ThreadId thread) override { threads_.join(thread); }
  ThreadId current_thread() override { return threads_.current(); }
  void lock() override { threads_.lock(); }
  void unlock() override { threads_.unlock(); }
  std::uint64_t now_ps() override {
    return threads_.stopping() ? ~std::uint64_t{0} : now_;  // then every deadline has passed
  }
  void charge(CpuKernel kernel, std::uint64_t amount,
              std::span<const MemoryTouch> touches) override {
    charges.push_back({kernel, amount, {touches.begin(), touches.end()}});
  }
  bool functional() const override { return functional_; }

 private:
  struct Place {
    Device device;
    std::uint32_t offset;
  };
  bool find(std::uint64_t address, Place& place);
  void reset_device(Device device);
  // fake_queues.cpp
  void write_queue(Device queue, std::uint32_t offset, std::uint32_t value, std::uint32_t before);
  void publish_timelines();
  void write_sync(std::uint32_t offset, std::uint32_t value);
  void run_queues();
  bool run_queue(Device queue);
  bool run_head(Device queue, std::uint32_t ring);
  void start_job(Device queue, std::uint32_t ring, const arch::QueueEntry& entry);
  void end_entry(Device queue, std::uint32_t ring, const arch::QueueEntry& entry, bool success,
                 std::uint32_t failure);
  void halt(Device queue, std::uint32_t ring, std::uint32_t cause, std::uint32_t info,
            std::uint64_t address = 0);
  void stop_job(Device queue);
  bool read_head(Device queue, std::uint32_t ring, arch::QueueEntry& entry);
  void signal(std::uint32_t timeline, std::uint64_t value);
  void fail(std::uint32_t timeline, std::uint32_t failure);
  bool end_job(Device engine, std::uint32_t error);
  void write_controller(std::uint32_t offset, std::uint32_t value);
  void update_lines();
  void run_events_until(std::uint64_t time);
  bool advance(std::optional<std::uint64_t> deadline_ps);

  arch::NpuConfig npu_;
  std::vector<arch::RegisterFile> devices_;
  std::map<std::pair<Device, std::uint32_t>, Hook> hooks_;
  struct Event {
    std::optional<Device> engine;  ///< whose reset drops it; none: either's
    std::function<void()> run;
  };
  std::multimap<std::uint64_t, Event> events_;
  std::function<std::uint32_t(std::uint32_t)> filter_;
  std::map<std::uint64_t, std::vector<std::uint8_t>> blocks_;  ///< by address
  struct Running {
    std::uint32_t ring;
    arch::QueueEntry entry;
  };
  std::map<Device, Running> running_;          ///< by queue
  std::map<Device, std::uint32_t> last_ring_;  ///< by queue: who had the engine last
  struct Timeline {
    std::uint64_t value = 0;
    std::uint32_t failure = 0;
  };
  std::array<Timeline, arch::kTimelineCount> timelines_;
  std::uint64_t next_[2] = {arch::kSramBase, arch::kDramBase};
  std::uint64_t limit_[2] = {arch::kSramRange.size, arch::kDramRange.size};
  std::uint64_t now_ = 0, bus_errors_ = 0, wakes_ = 0;
  bool functional_ = true, lose_interrupts_ = false;
  // Last: it is unwound first.
  FakeThreads threads_{[this] { return now_; },
                       [this](auto deadline_ps) { return advance(deadline_ps); }};
};

}  // namespace deputy::host_runtime
