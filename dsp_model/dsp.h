// The DSP as the bus sees it: registers, a bus master behind the IOMMU, and lists of commands
// (arch/dsp_job.h) that bring programs and data in, run the core, and bring results out.
//
// Time. Commands follow each other. A transfer is chunks over the bus, several in flight, and takes
// the data memory's port for its bytes at least. The core runs ahead of simulated time by slices of
// kDspSlice cycles (kDspNear while a transfer of its own channel is on its way, whose end it sees
// that much later at most); then the time passes. Mail and events reach it between slices.
//
// A job of another isolated context than the last first clears both memories.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <systemc>
#include <vector>

#include "arch/dsp_job.h"
#include "arch/dsp_registers.h"
#include "arch/register_file.h"
#include "dsp_model/dsp_record.h"
#include "sim/bus_initiator.h"
#include "sim/job_engine.h"
#include "sim/power_gate.h"
#include "sim/throttled_clock.h"
#include "sim/trace.h"

namespace deputy::dsp_model {

class Dsp : public sc_core::sc_module, public sim::JobEngine {
 public:
  /// `irq` is called with the level of the interrupt line. Where the rest of the SoC leaves out the
  /// values, programs run on whatever bytes are in memory: a gather's bank conflicts may differ.
  Dsp(sc_core::sc_module_name name, const arch::DspConfig& config, std::function<void(bool)> irq);

  tlm_utils::simple_target_socket<Dsp> registers;
  sim::BusInitiator bus;  ///< "dsp.dma"

  void attach(sim::FaultInjector* injector);
  /// Records every command. Null: does not.
  void attach(sim::Trace* trace) { trace_ = trace, track_ = trace ? trace->track("dsp") : 0; }
  /// Its power switch; a job that finds it off waits. The memories keep their contents.
  void attach(const sim::PowerGate& gate) { gate_ = gate; }
  const sim::PowerGate& gate() const { return gate_; }

  bool busy() const override { return running_; }
  void run_job(const sim::Job& job, Done done) override;
  void abort_job() override;
  std::uint32_t job_progress() const override { return progress_; }

  /// Jobs that have ended, oldest first.
  const std::vector<DspJobRecord>& jobs() const { return jobs_; }
  std::uint64_t scrubs() const { return scrubs_; }
  /// Called for every packet of every program, with its record; slows the model down.
  void on_packet(std::function<void(const DspTraceRow&)> sink) { core_.on_packet(std::move(sink)); }

 private:
  static constexpr std::uint64_t kDspNear = 64;
  struct Region {
    std::uint64_t base = 0, bytes = 0;
  };
  struct Failure {
    arch::DspError error = arch::DspError::kNone;
    std::uint32_t program_fault = 0;
    std::uint64_t address = 0;
  };

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  std::uint32_t read_register(std::uint32_t offset);
  void write_register(std::uint32_t offset, std::uint32_t value);
  void raise(std::uint32_t bits);
  void start();
  void job_thread();
  void channel_thread();
  /// Each of these returns early, with anything, when the job was aborted meanwhile: live() says
  /// so.
  Failure run_list();
  Failure fetch(std::vector<std::uint32_t>& words);
  Failure inject();
  Failure do_command(const arch::DspCommand& command);
  /// At the command that runs.
  Failure at_command(arch::DspError error) const {
    return {error, 0, list_ + command_ * arch::kDspCommandBytes};
  }
  void name_memories();
  Failure load_program(const arch::DspCommand& command);
  Failure move(const arch::DspCommand& command);
  Failure run_program(const arch::DspCommand& command);
  void serve_signals();
  /// Waits for a signal(), and counts the time as the program's.
  void idle();
  /// Something that a program may wait for has happened.
  void signal();
  bool transfer(std::uint64_t address, std::span<std::uint8_t> data, bool write,
                std::uint64_t& fault);
  void wait_channel();
  void scrub();
  void finish(const Failure& failure);
  void close_record(std::uint32_t error, bool aborted);
  void add_programs();
  bool live(std::uint64_t epoch) const { return epoch == epoch_; }
  /// Waits until then, or until the job is aborted.
  void sleep_until(const sc_core::sc_time& until);

  arch::DspConfig config_;
  std::function<void(bool)> irq_;
  arch::RegisterFile file_;
  DspCore core_;
  sim::ThrottledClock clock_;
  sim::FaultPoint faults_;
  sim::PowerGate gate_;
  sim::Trace* trace_ = nullptr;
  int track_ = 0;
  sc_core::sc_event start_, wake_, channel_;

  std::array<Region, arch::kRegionCount> regions_{};
  std::uint64_t list_ = 0;
  std::uint32_t list_bytes_ = 0, context_ = 0, last_context_ = 0;
  bool running_ = false, start_pending_ = false, program_runs_ = false;
  /// What the program memory holds; bytes 0: nothing.
  struct Loaded {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0, context = 0, number = 0;
    bool operator==(const Loaded&) const = default;
  } loaded_;
  std::optional<DspDmaRequest> request_;
  bool channel_busy_ = false;
  std::uint32_t progress_ = 0, command_ = 0;
  std::uint64_t epoch_ = 0, scrubs_ = 0, signals_ = 0;
  DspJobRecord record_;
  std::vector<DspJobRecord> jobs_;
  Done job_done_;
};

}  // namespace deputy::dsp_model
