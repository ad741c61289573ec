// The queue manager before an engine: takes jobs from rings in shared memory, waits for their
// timelines, starts them by priority, signals, and halts a ring whose job failed while the others
// go on. Registers: arch/registers.h; entries: arch/queue_entry.h.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <systemc>

#include "arch/queue_entry.h"
#include "arch/register_file.h"
#include "sim/bus_initiator.h"
#include "sim/fault_injector.h"
#include "sim/job_engine.h"
#include "sim/trace.h"
#include "soc/sync_unit.h"

namespace deputy::soc {

/// One job as the engine ran it, for timelines in reports. Times in ps.
struct RingJobRecord {
  std::uint32_t ring = 0, job = 0;
  std::uint64_t ready_ps = 0, start_ps = 0, end_ps = 0;
  bool failed = false;
};

class QueueManager : public sc_core::sc_module {
 public:
  /// `engine` and `sync` must outlive this; `irq` is called with the level of the interrupt line.
  QueueManager(sc_core::sc_module_name name, const std::string& bus_name, sim::JobEngine& engine,
               SyncUnit& sync, std::function<void(bool)> irq);

  tlm_utils::simple_target_socket<QueueManager> registers;
  sim::BusInitiator bus;  ///< fetches entries

  /// Planned faults of the rings. Null: none.
  void attach(sim::FaultInjector* injector) { faults_.attach(injector), bus.attach(injector); }

  /// Records its jobs, doorbells, fill and fences, under its bus name. Null: does not.
  void attach(sim::Trace* trace);

  const std::vector<RingJobRecord>& jobs() const { return records_; }

 private:
  struct Ring {
    std::optional<arch::QueueEntry> entry;  ///< the head entry, once fetched
    std::uint64_t ready_ps = 0;             ///< when its waits were satisfied
    bool ready = false;
  };
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void write_register(std::uint32_t offset, std::uint32_t value);
  void configure(std::uint32_t ring, std::uint32_t before);
  void control(std::uint32_t ring, std::uint32_t value);
  void reset();
  void thread();
  /// Brings every ring's head entry in and settles those that need no engine. True when anything
  /// changed.
  bool advance_rings();
  bool fetch(std::uint32_t ring);
  std::optional<std::uint32_t> choose() const;
  void run(std::uint32_t ring);
  void finish(std::uint32_t ring, bool success, arch::SyncFailure failure);
  void halt(std::uint32_t ring, arch::RingCause cause, const sim::JobEnd& end = {});
  void set_state(std::uint32_t ring, arch::RingState state);
  arch::RingState state(std::uint32_t ring) const;
  std::uint32_t get(std::uint32_t ring0_register, std::uint32_t ring) const;
  void set(std::uint32_t ring0_register, std::uint32_t ring, std::uint32_t value);
  /// A planned delay of a job's end; true when the ring was reset or aborted meanwhile.
  bool end_is_late();
  void raise(std::uint32_t bits);
  void update_irq();
  /// Ends the record of the job that ran.
  void job_over(bool failed);
  void trace_fences(std::span<const arch::TimelinePoint> points, bool signalled);
  void trace_depth();

  sim::JobEngine& engine_;
  SyncUnit& sync_;
  sim::FaultPoint faults_;
  std::function<void(bool)> irq_;
  arch::RegisterFile file_;
  std::array<Ring, arch::kRings> rings_;
  std::uint32_t last_ring_ = arch::kRings - 1;  ///< took its turn last
  std::optional<std::uint32_t> running_;
  std::optional<sim::JobEnd> end_;
  std::uint64_t epoch_ =
      0;  ///< bumped by RESET and aborts: what was in flight then no longer counts
  std::array<std::uint64_t, arch::kRings>
      fetch_epoch_{};  ///< of each ring: an entry fetched before the last change is void
  sc_core::sc_event wake_;
  std::vector<RingJobRecord> records_;
  sim::Trace* trace_ = nullptr;
  int track_ = 0, depth_signal_ = 0, doorbell_signal_ = 0;
};

}  // namespace deputy::soc
