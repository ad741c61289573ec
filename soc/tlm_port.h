// HwPort over TLM: the host CPU as an initiator on the interconnect, with its cost model.
//
// CPU work takes max(compute cycles, time of its memory traffic): a core with a cache and
// prefetching overlaps the two, and the slower one shows. Everything else (register access, cache
// maintenance, interrupt entry) is serial. All of it needs the core, which host threads share
// (host_threads.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <systemc>

#include "deputy/hw_port.h"
#include "sim/bus_initiator.h"
#include "sim/power_gate.h"
#include "sim/time.h"
#include "sim/trace.h"
#include "soc/busy_log.h"
#include "soc/heap.h"
#include "soc/host_cache.h"
#include "soc/host_threads.h"
#include "soc/intc.h"
#include "soc/memory.h"
#include "soc/soc_config.h"

namespace deputy::soc {

class TlmPort : public HwPort {
 public:
  TlmPort(const HostConfig& config, sim::BusInitiator& bus, Intc& intc, Memory& sram, Memory& dram,
          bool functional);

  /// Where the CPU's accesses go, before any memory is allocated. Null: straight to the memories,
  /// coherent.
  void attach(HostCache* cache) { cache_ = cache; }

  /// Records what the CPU does. Null: does not.
  void attach(sim::Trace* trace) { trace_ = trace, track_ = trace ? trace->track("host") : 0; }

  /// The CPU's power switch: after a wait in which nothing worked it takes a while to come back.
  void attach(const sim::PowerGate& gate) { gate_ = gate; }
  const sim::PowerGate& gate() const { return gate_; }

  std::uint32_t read32(std::uint64_t address) override;
  void write32(std::uint64_t address, std::uint32_t value) override;
  std::uint64_t bus_errors() const override { return bus_errors_; }
  base::Result<SharedMemory> alloc(MemoryKind kind, std::uint64_t bytes,
                                   std::uint64_t align) override;
  void free(const SharedMemory& memory) override;
  void clean(std::uint64_t address, std::uint64_t bytes) override;
  void invalidate(std::uint64_t address, std::uint64_t bytes) override;
  void announce(const MemoryTouch& touch) override;
  std::uint32_t wait_irqs(std::uint32_t lines, std::uint64_t deadline_ps) override;
  void wake_waiters() override;
  void sleep_until(std::uint64_t time_ps) override;
  ThreadId start_thread(std::function<void()> body) override {
    return threads_.start(std::move(body));
  }
  void join(ThreadId thread) override { threads_.join(thread); }
  ThreadId current_thread() override { return threads_.current(); }
  void lock() override { threads_.lock(); }
  void unlock() override { threads_.unlock(); }
  std::uint64_t now_ps() override;
  void charge(CpuKernel kernel, std::uint64_t amount,
              std::span<const MemoryTouch> touches) override;
  bool functional() const override { return functional_; }

  HostThreads& threads() { return threads_; }
  const HostThreads& threads() const { return threads_; }
  std::uint64_t busy_ps() const { return busy_ps_ + sim::to_ps(threads_.switching()); }
  const BusyLog& busy() const { return busy_; }
  std::uint64_t register_reads() const { return register_reads_; }
  std::uint64_t register_writes() const { return register_writes_; }
  std::uint64_t maintained_lines() const { return maintained_lines_; }

 private:
  /// The CPU computes for `cycles`, nothing else.
  void spend(std::uint64_t cycles, std::string_view what);
  /// After a wait: the power comes back, if it was off.
  void power_up();
  /// Waits for an event or a list of them until the deadline, which must be ahead.
  template <class Events>
  void wait_on(const Events& events, std::uint64_t deadline_ps);
  void maintain(std::uint64_t address, std::uint64_t bytes);
  bool access32(std::uint64_t address, std::uint32_t& value, bool write);
  /// The CPU worked for `busy_ps` of the time since `start_ps`.
  void worked(std::uint64_t start_ps, std::uint64_t busy_ps, std::string_view what,
              std::uint64_t bytes = 0);
  Memory* memory_at(std::uint64_t address, std::uint64_t bytes);

  HostConfig config_;
  sim::Clock clock_;
  sim::BusInitiator& bus_;
  Intc& intc_;
  Memory &sram_, &dram_;
  HostCache* cache_ = nullptr;
  sim::Trace* trace_ = nullptr;
  int track_ = 0;
  sim::PowerGate gate_;
  int working_ = 0;  ///< threads that compute; more than one while the core changes hands
  Heap sram_heap_, dram_heap_;
  BusyLog busy_;  ///< before threads_, which writes there too
  HostThreads threads_;
  sc_core::sc_event never_;  ///< nobody notifies it
  bool functional_;
  sc_core::sc_event woken_;
  std::uint64_t wakes_ = 0;
  std::uint64_t bus_errors_ = 0, busy_ps_ = 0, register_reads_ = 0, register_writes_ = 0,
                maintained_lines_ = 0;
};

}  // namespace deputy::soc
