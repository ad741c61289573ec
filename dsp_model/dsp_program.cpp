// Running a program: slices of the core in simulated time, its signals, and its own DMA channel.
#include "arch/progress_bound.h"
#include "dsp_model/dsp.h"
#include "sim/process.h"

namespace deputy::dsp_model {
namespace reg = arch::dsp_reg;
using arch::DspError;
using sc_core::sc_time_stamp;

Dsp::Failure Dsp::run_program(const arch::DspCommand& command) {
  const std::uint64_t epoch = epoch_;
  core_.start(command.entry);
  for (std::uint32_t i = 0; i < command.arguments; ++i)
    core_.registers().r[i + 1] = command.argument[i];
  program_runs_ = true;
  DspCore::Stop stop = DspCore::Stop::kTime;
  while (stop != DspCore::Stop::kHalted && stop != DspCore::Stop::kFault) {
    const std::uint64_t before = core_.cycle();
    const std::uint64_t signals = signals_;
    const sc_core::sc_time began = sc_time_stamp();
    stop = core_.run(before + (channel_busy_ || request_ ? kDspNear : arch::kDspSlice));
    const std::uint64_t ran = core_.cycle() - before;
    if (ran > 0) ++progress_;
    sleep_until(clock_.after(began, ran));
    if (!live(epoch)) return {};
    if (stop == DspCore::Stop::kSignal) serve_signals();
    const bool waits = stop == DspCore::Stop::kWaiting || stop == DspCore::Stop::kBlocked;
    if (waits && signals == signals_)
      idle();  // else what it waits for may have come while its time passed
    if (!live(epoch)) return {};
  }
  wait_channel();
  if (!live(epoch)) return {};
  add_programs();
  if (stop == DspCore::Stop::kHalted) return {};
  return {DspError::kProgram, static_cast<std::uint32_t>(core_.fault()),
          std::uint64_t{core_.fault_pc()} << 32 | core_.fault_detail()};
}

void Dsp::idle() {
  const std::uint64_t before = core_.cycle();
  const sc_core::sc_time began = sc_time_stamp();
  sim::wait_on(wake_);
  core_.idle_until(before + clock_.cycles_between(began, sc_time_stamp()));
}

void Dsp::signal() {
  ++signals_;
  wake_.notify(sc_core::SC_ZERO_TIME);
}

void Dsp::serve_signals() {
  if (const std::uint32_t events = core_.take_host_interrupts()) {
    file_.set(reg::kHostEvents, file_.get(reg::kHostEvents) | events);
    raise(arch::kDspIrqEvent);
  }
  if (core_.mail_waiting() > 0) raise(arch::kDspIrqMail);
  if (auto request = core_.take_dma()) {
    request_ = *request;
    channel_.notify(sc_core::SC_ZERO_TIME);
  }
}

void Dsp::wait_channel() {
  while (channel_busy_ || request_) sim::wait_on(wake_);
}

void Dsp::channel_thread() {
  for (;;) {
    while (!request_) sim::wait_on(channel_);
    const std::uint64_t epoch = epoch_;
    const DspDmaRequest request = *request_;
    request_.reset();
    channel_busy_ = true;
    bool ok = true;
    for (std::uint32_t row = 0; row < request.rows && ok && live(epoch); ++row) {
      std::uint64_t fault = 0;
      const auto tcm = core_.tcm().subspan(request.tcm + std::uint64_t{row} * request.tcm_stride,
                                           request.row_bytes);
      ok = transfer(request.memory + std::uint64_t{row} * request.memory_stride, tcm, request.store,
                    fault);
      if (ok) (request.store ? record_.stored_bytes : record_.loaded_bytes) += request.row_bytes;
    }
    channel_busy_ = false;
    if (live(epoch)) core_.dma_done(ok);
    signal();
  }
}

}  // namespace deputy::dsp_model
