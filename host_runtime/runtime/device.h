// The SoC as a program sees it: its engines' queues, its timelines, and the one place where the
// host waits.
//
// Work is pushed into rings and returns at once; nothing moves behind the program's back: while
// some host thread is inside wait(), poll() or a submission, the device looks at interrupts, runs
// the host's part of whatever is in flight (HostWork), watches engines for hangs and takes the
// recovery steps. Order is deterministic.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "deputy/hw_port.h"
#include "host_runtime/hal/dsp_driver.h"
#include "host_runtime/hal/intc_driver.h"
#include "host_runtime/hal/iommu_driver.h"
#include "host_runtime/hal/npu_driver.h"
#include "host_runtime/hal/queue_driver.h"
#include "host_runtime/hal/sync_driver.h"
#include "host_runtime/runtime/address_space.h"
#include "host_runtime/runtime/bounds.h"
#include "host_runtime/runtime/buffer.h"
#include "host_runtime/runtime/fence.h"
#include "host_runtime/runtime/job.h"
#include "host_runtime/runtime/recovery.h"

namespace deputy::host_runtime {

struct DeviceOptions {
  std::uint32_t ring_entries = 16;
  /// How often the host looks at an engine that has said nothing: lost interrupts, swallowed
  /// doorbells and hangs are found then.
  std::uint64_t watchdog_ps = 10'000'000'000;
  /// Each context has an address space of its own: engines reach only what its sessions mapped
  /// (docs/isolation.md). Memory is then allocated in whole pages.
  bool isolation = false;
  bool dsp = false;  ///< the board has a DSP
  RecoveryPolicy recovery;
  BoardTimes board;
};

struct ContextOptions {
  std::uint32_t priority = 1;  ///< 0 to 3, the highest first
};

/// Somebody's share of the engines: a ring on each, with a priority.
class Context {
 public:
  std::uint32_t ring() const { return ring_; }
  std::uint32_t priority() const { return priority_; }
  const std::shared_ptr<AddressSpace>& space() const { return space_; }

 private:
  friend class Device;
  std::shared_ptr<AddressSpace> space_;
  std::uint32_t ring_ = 0, priority_ = 0;
};

/// The host's part of something in flight.
class HostWork {
 public:
  virtual ~HostWork() = default;
  /// Does what can be done without waiting; false when that was nothing.
  virtual bool advance() = 0;
  virtual bool done() const = 0;
  virtual std::uint32_t priority() const = 0;
  /// When advance() must be called at the latest (a deadline); UINT64_MAX: none.
  virtual std::uint64_t wake_ps() const = 0;
  /// From its beginning to its end at most, with the SoC to itself; what it waits for not included.
  virtual std::uint64_t bound_ps() const = 0;
};

struct DspTask;  // dsp_work.h

class Device {
 public:
  /// `port` must outlive the device; one device a port. Touches no hardware until something needs
  /// it.
  Device(HwPort& port, const DeviceOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  HwPort& port() { return port_; }
  BufferSpace& space() { return space_; }
  NpuDriver& npu() { return npu_; }
  DspDriver& dsp() { return dsp_; }
  SyncDriver& sync() { return sync_; }
  /// Memory that engines use, in whole pages where contexts are isolated.
  base::Result<SharedBuffer> allocate(MemoryKind kind, std::uint64_t bytes, std::uint64_t align) {
    return SharedBuffer::make(port_, kind, bytes, align, space_.page);
  }
  const DeviceOptions& options() const { return options_; }

  /// Probes the engines once. kHardwareFault names what does not answer.
  base::Status start();
  /// A context of its own; kBusy when every ring is taken. The pointer lives as long as somebody
  /// holds it.
  base::Result<std::shared_ptr<Context>> create_context(const ContextOptions& options);
  /// The context of whoever does not ask for one, priority 1.
  base::Result<std::shared_ptr<Context>> default_context();
  /// One that exists, else the default one.
  base::Result<std::shared_ptr<Context>> any_context();

  /// A timeline for the caller until retire_timeline().
  base::Result<std::uint8_t> create_timeline() {
    const RuntimeGuard guard(space_.lock);
    return sync_.allocate();
  }
  /// Free again as soon as no entry in a ring names it.
  void retire_timeline(std::uint8_t timeline);

  /// Pushes an entry; kBusy when the ring is full.
  base::Result<std::shared_ptr<Job>> push(EngineId engine, const Context& context,
                                          const arch::QueueEntry& entry, const JobLimits& limits);
  /// Nobody wants the job any more: stops it if it runs, else it passes through.
  void abandon(Job& job);

  /// A copy by the DMA engine, bytes of `from` to `to`, after `waits`. The buffers must live until
  /// the fence is over.
  base::Result<Fence> copy(const std::shared_ptr<Context>& context, Buffer to, Buffer from,
                           std::span<const Fence> waits);

  /// A job of the DSP after `waits`. The task's buffers must live until the fence is over.
  base::Result<Fence> run_dsp(const std::shared_ptr<Context>& context, const DspTask& task,
                              std::span<const Fence> waits);

  /// Takes part in every wait until done.
  void add_work(std::shared_ptr<HostWork> work);

  /// Blocks until the fence is over, or `deadline_ps` (absolute) passes: kDeadline; the fence stays
  /// as it is. A failed fence's error is the answer.
  base::Status wait(const Fence& fence, std::uint64_t deadline_ps);
  /// The same until `done` holds.
  base::Status wait_until(const std::function<bool()>& done, std::uint64_t deadline_ps) {
    return wait_until(done, deadline_ps, false);
  }
  /// Does what can be done without waiting.
  void poll();
  /// The same, without looking at the hardware.
  void poll_works() {
    const RuntimeGuard guard(space_.lock);
    pump();
  }
  /// Looks whether a timeline's fence is over.
  void refresh(Fence& fence);
  /// Makes the host wake up when the fence is over: for fences that no work here signals.
  void arm(const Fence& fence);
  /// Whether the fence is over; if not, the host wakes up when it is.
  bool over(Fence& fence);

  /// False while an engine is out of service.
  bool healthy(EngineId engine);
  /// Every recovery step taken, in order.
  const std::vector<RecoveryEvent>& recovery_events() const { return events_; }

  /// Copies that the CPU did in the DMA engine's place.
  std::uint64_t copies_by_cpu() const { return copies_by_cpu_; }
  /// One more, and why; for the work itself.
  void count_copy_by_cpu(const std::string& why);

  /// Everything that is in flight now is over after this time, recovered, degraded or failed, if
  /// what it waits for is in flight here, too, and nothing more of the same or a higher priority is
  /// submitted (docs/recovery.md).
  std::uint64_t bound_ps();
  /// The same for the jobs in the rings alone.
  std::uint64_t queued_bound_ps();

 private:
  /// `watched`: `done` looks at the hardware, and should now and then.
  base::Status wait_until(const std::function<bool()>& done, std::uint64_t deadline_ps,
                          bool watched);
  struct Engine {
    EngineId id;
    QueueDriver queue;
    std::array<std::deque<std::shared_ptr<Job>>, arch::kRings> jobs;  ///< as unfinished in the ring
    // The watchdog's memory.
    int running = -1;
    std::uint64_t number = 0;
    std::uint32_t progress = 0;
    std::uint64_t started_ps = 0, moved_ps = 0;
    // A job that should begin and does not.
    int unstarted = -1;
    std::uint64_t unstarted_number = 0, unstarted_since_ps = 0;
    // Health.
    int given_up = 0;
    bool out_of_service = false;
    std::uint64_t out_since_ps = 0;
  };

  Engine& engine(EngineId id) {
    return id == EngineId::kNpu ? npu_engine_ : id == EngineId::kDma ? dma_engine_ : dsp_engine_;
  }
  void pump();
  void service(Engine& engine);
  void service_ring(Engine& engine, std::uint32_t ring);
  void finish_jobs(Engine& engine, std::uint32_t ring);
  void check_signal(Job& job, const arch::TimelinePoint& signal);
  void recover(Engine& engine, std::uint32_t ring, base::Error error,
               std::optional<std::uint32_t> tag);
  void give_up(Engine& engine, std::uint32_t ring);
  void reset(Engine& engine);
  void drop(Engine& engine, std::uint32_t ring);
  void drop_abandoned(Engine& engine, std::uint32_t ring);
  void count_given_up(Engine& engine);
  void watch(Engine& engine);
  void watch_idle(Engine& engine);
  void recover_unstarted(Engine& engine, std::uint32_t ring, base::Error error);
  bool may_run(const Job& job);
  void watch_all();
  void note(RecoveryStep step, const Engine& engine, std::string what);
  void collect_timelines();
  bool named_in_rings(std::uint8_t timeline);
  bool anything_queued() const;
  base::Error fault_error(const Engine& engine, std::uint32_t ring, const RingFault& fault);
  std::uint32_t wait_for_interrupt(std::uint64_t deadline_ps);

  HwPort& port_;
  DeviceOptions options_;
  BufferSpace space_;
  IntcDriver intc_;
  NpuDriver npu_;
  DspDriver dsp_;
  SyncDriver sync_;
  IommuDriver iommu_;
  Engine npu_engine_, dma_engine_, dsp_engine_;
  std::vector<Engine*> engines_;                  ///< those that the board has
  std::vector<std::shared_ptr<HostWork>> works_;  ///< by priority, then age
  std::vector<std::weak_ptr<Context>> contexts_ = std::vector<std::weak_ptr<Context>>(arch::kRings);
  std::shared_ptr<Context> default_context_;
  std::vector<std::uint8_t> retired_;
  std::vector<RecoveryEvent> events_;
  std::uint64_t next_watch_ps_ = 0, copies_by_cpu_ = 0;
  bool started_ = false, testing_ = false;
};

}  // namespace deputy::host_runtime
