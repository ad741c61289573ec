// The system DMA engine: register block, descriptor fetch, a reader and a writer that overlap.
//
// Reads run ahead of writes by at most `outstanding` chunks, held in an internal buffer; a chunk is
// written once its read has completed. Faults (malformed descriptor, bus error) stop the chain with
// STATUS.error.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <systemc>
#include <vector>

#include "arch/dma_descriptor.h"
#include "arch/register_file.h"
#include "sim/bus_initiator.h"
#include "sim/fault_injector.h"
#include "sim/job_engine.h"
#include "sim/time.h"
#include "sim/trace.h"

namespace deputy::dma {

struct DmaParams {
  double clock_mhz = 200;
  std::int32_t chunk_bytes = 512, outstanding = 4, descriptor_cycles = 8;
  bool functional = true;  ///< false: move no bytes (descriptors are still fetched for real)
};

class DmaEngine : public sc_core::sc_module, public sim::JobEngine {
 public:
  /// `irq` is called with the level of the interrupt line.
  DmaEngine(sc_core::sc_module_name name, const DmaParams& params, std::function<void(bool)> irq);

  tlm_utils::simple_target_socket<DmaEngine> registers;
  sim::BusInitiator reader, writer;

  /// Planned faults of the engine and its ports. Null: none.
  void attach(sim::FaultInjector* injector);

  /// Records every descriptor. Null: does not.
  void attach(sim::Trace* trace) { trace_ = trace, track_ = trace ? trace->track("dma") : 0; }

  // A queue manager's jobs. They end with a call instead of IRQ_STATUS.
  bool busy() const override {
    return (file_.get(arch::dma_reg::kStatus) & arch::kStatusRunning) != 0;
  }
  void run_job(const sim::Job& job, Done done) override;
  void abort_job() override;
  std::uint32_t job_progress() const override { return chunks_; }

 private:
  struct Piece {
    std::uint64_t dst;
    std::uint32_t bytes;
    sc_core::sc_time ready;
    std::vector<std::uint8_t> data;
  };

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void write_register(std::uint32_t offset, std::uint32_t value);
  void update_irq();
  void read_thread();
  void write_thread();
  void set_context(std::uint32_t context);
  void start();
  void run_chain();
  /// kNone, kBus or kParity.
  arch::DmaError fetch(std::uint64_t address, arch::DmaDescriptor& descriptor);
  /// Planned faults of the descriptor's execution; kNone when it goes on. May block until a reset.
  arch::DmaError inject();
  /// What a slowed engine waits after a chunk whose read began at `began`.
  void lag(const sc_core::sc_time& began);
  bool copy(const arch::DmaDescriptor& descriptor);
  void wait_written();
  void finish(arch::DmaError error, std::uint64_t address);
  bool aborted(std::uint64_t epoch) const { return epoch != epoch_; }

  DmaParams params_;
  sim::Clock clock_;
  std::function<void(bool)> irq_;
  arch::RegisterFile file_;
  sc_core::sc_event start_, pushed_, popped_;
  std::deque<Piece> buffer_;
  bool writing_ = false, write_failed_ = false;
  std::uint64_t read_fault_ = 0, write_fault_ = 0;
  std::uint32_t chunks_ = 0;  ///< read and written so far, over all jobs
  sim::FaultPoint faults_;
  sim::Trace* trace_ = nullptr;
  int track_ = 0;
  std::uint64_t slow_ = 1;   ///< by a fault: speed divided by this until a reset
  Done job_done_;            ///< set while a queue manager's job runs
  std::uint64_t epoch_ = 0;  ///< bumped by RESET: what was in flight then no longer counts
};

}  // namespace deputy::dma
