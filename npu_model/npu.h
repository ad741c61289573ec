// The NPU as the bus sees it: registers, a command processor that fetches its stream from memory,
// and load, compute and store queues that run decoupled under completion counters (arch/isa.h).
// Function is core/executor.h and compute time arch/npu_timing.h (or both the RTL's,
// core/compute_path.h), transfer time that of real bus transactions.
//
// Time. Nothing happens per cycle. An instruction costs a wait in the command processor (decode), a
// wait for its operands' counters where they are not there yet, one for its set-up and one for its
// work; a transfer of more than dma.outstanding chunks (none crosses a
// multiple of dma.chunk_bytes or of 4 KiB) adds one for each more. The next
// part of the command stream is fetched while the present one is decoded. A compute instruction
// takes effect when it starts, a chunk's bytes move when it is issued.
//
// Transfers. The bus has no notion of instructions: what limits a queue is dma.outstanding
// transactions in flight, so the next LOAD or STORE is set up as soon as the last request of the
// one before it has left. LOADs from region 0, the constants, have a port of their own, as engines
// of this size have one for feature maps and one for weights: while one takes its time there, other
// LOADs behind it go on. Transfers of a queue complete in order, and one that touches scratchpad
// bytes of another still in flight (a LOADW and its table) waits for it.
//
// Faults stop everything at once: queues are emptied, work in flight is abandoned with the bytes it
// has already moved; a transaction that has no grant yet is withdrawn. ERR_ADDR holds the bus
// address for NpuError::kBus and kParity, else the instruction's stream offset. A job of another
// isolated context than the last first clears scratchpad and accumulators. RESET does the same,
// clears the registers and the scratchpad, and leaves the engine ready for a new job. QBASE, QSIZE,
// BASEn and SIZEn are sampled when CMD starts a job.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "arch/isa.h"
#include "arch/npu_config.h"
#include "arch/npu_timing.h"
#include "arch/register_file.h"
#include "arch/registers.h"
#include "npu_model/core/defect.h"
#include "npu_model/core/executor.h"
#include "npu_model/npu_record.h"
#include "sim/bus_initiator.h"
#include "sim/job_engine.h"
#include "sim/power_gate.h"
#include "sim/process.h"
#include "sim/throttled_clock.h"
#include "sim/time.h"
#include "sim/trace.h"

namespace deputy::npu_model {

using arch::AccessList;

/// What is particular about this engine (arch/silicon.h).
struct NpuIdentity {
  std::uint32_t revision = 0x01000100;  ///< what REVISION reads
  Defect defect = Defect::kNone;
};

class NpuEngine : public sc_core::sc_module, public sim::JobEngine {
 public:
  /// timing_only: no values are computed and feature maps, weights and parameters do not move
  /// (transactions with a null data pointer); the command stream is still read.
  /// `path` does the work; null: the fast executor. One that measures time cannot be timing_only.
  NpuEngine(sc_core::sc_module_name name, const arch::NpuConfig& config, bool timing_only,
            NpuIdentity identity = {}, std::unique_ptr<ComputePath> path = nullptr);
  ~NpuEngine() override;

  /// The register block: aligned 32-bit accesses, at the low 12 bits of the address, in no time.
  tlm_utils::simple_target_socket<NpuEngine> registers;
  /// Bus masters "npu.load" (two ports, the second for constants), "npu.store" and "npu.cmd"; bind
  /// the socket of each.
  sim::BusInitiator load_port, load_constants_port, store_port, command_port;

  /// Called with the interrupt line's new level whenever it changes, in the context of whoever
  /// caused it.
  // A queue manager's jobs. They end with a call instead of IRQ_STATUS.
  bool busy() const override { return running_; }
  void run_job(const sim::Job& job, Done done) override;
  void abort_job() override;
  std::uint32_t job_progress() const override;

  void on_interrupt(std::function<void(bool)> handler) { interrupt_handler_ = std::move(handler); }

  /// Planned faults of the engine and its ports. Null: none.
  void attach(sim::FaultInjector* injector);

  /// Records every instruction, and how full its queues are. Null: does not.
  void attach(sim::Trace* trace);

  /// Its power switch; a job that finds it off waits. The scratchpad keeps its contents.
  void attach(const sim::PowerGate& gate) { gate_ = gate; }
  const sim::PowerGate& gate() const { return gate_; }

  std::uint64_t scrubs() const { return scrubs_; }
  /// Jobs that have ended, oldest first.
  const std::vector<NpuJobRecord>& jobs() const { return jobs_; }

 private:
  enum QueueId { kLoad = 0, kCompute = 1, kStore = 2, kQueues = 3 };

  struct Entry {
    arch::Instruction instruction;
    std::uint32_t offset = 0;  ///< in the command stream
    arch::ComputeCost cost;
    AccessList accesses;
  };
  /// A transfer from its start to its completion.
  struct Flight {
    Entry entry;
    sc_core::sc_time start;
    bool sent = false;  ///< its last request has left: `done` is known
    sc_core::sc_time done;
    std::optional<std::uint64_t> bus_error;  ///< address of the transaction that failed
    std::vector<std::uint8_t> stream;        ///< LOADW: what has arrived
    std::uint64_t dram_bytes = 0;            ///< of those moved
  };
  struct QueueState {
    std::deque<Entry> entries;
    std::deque<Flight> flights;  ///< oldest first; of the load and store queues
    std::uint64_t dispatched = 0, completed = 0;
    std::uint64_t active_cycles = 0;
    sc_core::sc_time last_completion;
    bool blocked = false;  ///< head instruction waits: may_start() is false
    bool working = false;  ///< compute: an instruction is in flight
    AccessList in_flight;  ///< what it touches
    sc_core::sc_event wake, sent;
    int track = 0, depth_signal = 0;  ///< of the trace
  };
  /// What a job sees of the registers, and what it has counted.
  struct Job {
    std::uint64_t stream_base = 0;
    std::uint32_t stream_bytes = 0;
    std::array<std::uint64_t, arch::kRegionCount> base{};
    std::array<std::uint32_t, arch::kRegionCount> size{};
    sc_core::sc_time start;
    std::uint64_t mac_active_cycles = 0;
    std::uint64_t stall_load_ps = 0, stall_store_ps = 0;  ///< ThrottledClock::worked_ps
    std::uint64_t shared_until_ps = 0;  ///< up to where time has been given to operators
    std::uint32_t last_tag = 0;         ///< of the instruction that completed last
    NpuJobRecord record;
    std::map<std::uint32_t, NpuOpRecord> ops;
  };
  class CommandStream;

  // npu.cpp: registers and the life of a job.
  void access_registers(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void write_register(std::uint32_t offset, std::uint32_t value, const sc_core::sc_time& when);
  void start_job(const sc_core::sc_time& when, std::uint32_t context);
  /// Clears what another context's jobs left in the scratchpad; answers the cycles that takes.
  std::uint64_t scrub(std::uint32_t context);
  void reset_engine();
  void end_job(arch::NpuError error, bool aborted);
  /// Adds a job to PMU_COUNT.
  void count(const NpuJobRecord& record);
  void raise_fault(arch::NpuError error, std::uint64_t address, std::uint32_t opcode,
                   std::uint32_t tag);
  void stop_queues();
  void update_interrupt();
  std::uint64_t get64(std::uint32_t low_offset) const;
  void set64(std::uint32_t low_offset, std::uint64_t value);

  // npu_command.cpp: the command processor.
  void command_thread();
  void run_stream();
  /// Checks and queues one instruction; false when the job is over (fault or reset).
  bool dispatch(const arch::Instruction& instruction, std::uint32_t offset);
  /// Planned faults of the command processor; false when the job is over.
  bool inject(const arch::Header& header, std::uint32_t offset, std::uint64_t epoch);
  arch::NpuError check(const arch::Instruction& instruction) const;
  bool drained() const;

  // npu_queues.cpp: the three queues.
  void queue_thread(QueueId id);
  void load_thread() { queue_thread(kLoad); }
  void compute_thread() { queue_thread(kCompute); }
  void store_thread() { queue_thread(kStore); }
  /// The load queue's second port.
  void constants_thread();
  void landing_thread(QueueId id);
  void load_landing_thread() { landing_thread(kLoad); }
  void store_landing_thread() { landing_thread(kStore); }
  bool may_start(QueueId id) const;
  void run_compute(const Entry& entry);
  /// From the set-up to the last request, or to the hand-over to the constants' port.
  void begin_transfer(QueueId id, Entry entry, std::uint64_t epoch);
  void send(QueueId id, Flight& flight, sim::BusInitiator& port, std::uint64_t epoch);
  bool send_chunks(const arch::Transfer& transfer, Flight& flight, sim::BusInitiator& port,
                   std::uint64_t epoch);
  bool send_weights(const arch::LoadWeights& load, Flight& flight, sim::BusInitiator& port,
                    std::uint64_t epoch);
  void note_hazards(QueueId id, const Entry& entry);
  void complete(QueueId id, const Entry& entry, const sc_core::sc_time& start,
                std::uint64_t dram_bytes);

  /// What complete() tells the trace.
  void trace_slice(QueueId id, const Entry& entry, const sc_core::sc_time& start);
  void trace_depth(QueueId id);

  // Waiting. A job's processes remember its epoch; a fault, a reset or the end of the job begins a
  // new one.
  /// False when the job ended meanwhile. Also where a hung engine hangs.
  bool sleep_until(const sc_core::sc_time& when, std::uint64_t epoch);

  const arch::NpuConfig config_;
  const bool timing_only_;
  const NpuIdentity identity_;
  sim::ThrottledClock clock_;
  sim::FaultPoint faults_;
  sim::PowerGate gate_;
  sim::Trace* trace_ = nullptr;
  std::uint32_t spm_context_ =
      0;  ///< whose bytes the scratchpad may hold; 0: nobody's that is isolated
  std::uint64_t scrubs_ = 0;
  bool hung_ = false;           ///< by a fault: nothing moves until a reset
  std::uint32_t progress_ = 0;  ///< instructions and transactions completed, over all jobs
  const std::unique_ptr<ComputePath> path_;
  arch::RegisterFile file_;
  std::function<void(bool)> interrupt_handler_;
  Done job_done_;  ///< set while a queue manager's job runs
  bool interrupt_level_ = false;

  Job job_;
  bool running_ = false;
  bool start_pending_ = false;
  std::uint64_t epoch_ = 0;
  std::array<QueueState, kQueues> queues_;
  std::uint64_t completed_instructions_ = 0;
  sc_core::sc_event start_event_, command_wake_, abort_event_;
  Flight* constants_flight_ = nullptr;  ///< what the load queue's second port sends
  sc_core::sc_event constants_wake_, constants_free_;
  sc_core::sc_time decoder_free_;

  std::vector<NpuJobRecord> jobs_;
};

}  // namespace deputy::npu_model
