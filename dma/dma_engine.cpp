#include "dma/dma_engine.h"

#include "base/check.h"
#include "dma/core/chunks.h"
#include "sim/process.h"
#include "sim/register_access.h"

namespace deputy::dma {
namespace reg = arch::dma_reg;

DmaEngine::DmaEngine(sc_core::sc_module_name name, const DmaParams& params,
                     std::function<void(bool)> irq)
    : sc_module(name),
      registers("registers"),
      reader("dma.read", params.outstanding),
      writer("dma.write", params.outstanding),
      params_(params),
      clock_(params.clock_mhz),
      irq_(std::move(irq)),
      file_(arch::dma_registers()) {
  registers.register_b_transport(this, &DmaEngine::b_transport);
  sc_core::sc_spawn([this] { read_thread(); }, sc_core::sc_gen_unique_name("reader"));
  sc_core::sc_spawn([this] { write_thread(); }, sc_core::sc_gen_unique_name("writer"));
}

void DmaEngine::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  sim::register_access(
      payload, delay, [&](std::uint32_t offset) { return file_.find(offset) != nullptr; },
      [&](std::uint32_t offset) { return file_.bus_read(offset); },
      [&](std::uint32_t offset, std::uint32_t value) { write_register(offset, value); });
}

void DmaEngine::update_irq() {
  irq_((file_.get(reg::kIrqStatus) & file_.get(reg::kIrqEnable)) != 0);
}

void DmaEngine::write_register(std::uint32_t offset, std::uint32_t value) {
  file_.bus_write(offset, value);
  if (offset == reg::kReset && (value & 1)) {
    abort_job();
  } else if (offset == reg::kCmd && (value & 1) &&
             !(file_.get(reg::kStatus) & arch::kStatusRunning) &&
             !faults_.hit(sim::FaultKind::kLostDoorbell, "dma")) {
    set_context(0);
    start();
  }
  update_irq();
}

void DmaEngine::set_context(std::uint32_t context) {
  reader.set_context(context);
  writer.set_context(context);
}

void DmaEngine::attach(sim::FaultInjector* injector) {
  faults_.attach(injector);
  reader.attach(injector);
  writer.attach(injector);
}

void DmaEngine::start() {
  file_.set(reg::kStatus, arch::kStatusRunning);
  file_.set(reg::kProgress, 0);
  write_failed_ = false;
  start_.notify(sc_core::SC_ZERO_TIME);
}

void DmaEngine::run_job(const sim::Job& job, Done done) {
  DEPUTY_CHECK(!busy(), "the engine is busy");
  file_.set(reg::kDescLo, static_cast<std::uint32_t>(job.address));
  file_.set(reg::kDescHi, static_cast<std::uint32_t>(job.address >> 32));
  job_done_ = std::move(done);
  set_context(job.context);
  start();
}

void DmaEngine::abort_job() {
  job_done_ = nullptr;
  ++epoch_;
  file_.reset();
  buffer_.clear();
  write_failed_ = false;
  slow_ = 1;
  reader.abandon();
  writer.abandon();
  pushed_.notify();
  popped_.notify();
}

void DmaEngine::finish(arch::DmaError error, std::uint64_t address) {
  const bool failed = error != arch::DmaError::kNone;
  if (job_done_) {
    file_.set(reg::kStatus, 0);
    const Done done = std::move(job_done_);
    job_done_ = nullptr;
    return done({failed, static_cast<std::uint32_t>(error) << 24, address});
  }
  file_.set(reg::kStatus, failed ? arch::kStatusError | static_cast<std::uint32_t>(error) << 8
                                 : arch::kStatusDone);
  file_.set(reg::kErrAddrLo, static_cast<std::uint32_t>(address));
  file_.set(reg::kErrAddrHi, static_cast<std::uint32_t>(address >> 32));
  file_.set(reg::kIrqStatus,
            file_.get(reg::kIrqStatus) | (failed ? arch::kIrqFailed : arch::kIrqDone));
  update_irq();
}

void DmaEngine::read_thread() {
  for (;;) {
    if (!(file_.get(reg::kStatus) & arch::kStatusRunning)) sim::wait_on(start_);
    if (file_.get(reg::kStatus) & arch::kStatusRunning) run_chain();
  }
}

void DmaEngine::run_chain() {
  const std::uint64_t epoch = epoch_;
  std::uint64_t at = file_.get(reg::kDescLo) | std::uint64_t{file_.get(reg::kDescHi)} << 32;
  arch::DmaError error = arch::DmaError::kNone;
  std::uint64_t fault = 0;
  while (at != 0) {
    arch::DmaDescriptor descriptor;
    error = fetch(at, descriptor);
    if (aborted(epoch)) return;
    if (error == arch::DmaError::kNone && arch::first_bad_field(descriptor))
      error = arch::DmaError::kBadDescriptor;
    if (error == arch::DmaError::kNone) error = inject();
    if (aborted(epoch)) return;
    if (error != arch::DmaError::kNone) {
      fault = at;
      break;
    }
    const std::uint64_t began = sim::to_ps(sc_core::sc_time_stamp());
    if (!copy(descriptor)) {
      if (aborted(epoch)) return;
      error = arch::DmaError::kBus, fault = write_failed_ ? write_fault_ : read_fault_;
      break;
    }
    if (aborted(epoch)) return;
    if (trace_) {
      const std::uint64_t bytes =
          std::uint64_t{descriptor.row_bytes} * descriptor.rows * descriptor.planes;
      trace_->slice(track_, {began, sim::to_ps(sc_core::sc_time_stamp()), began, "COPY", -1,
                             file_.get(reg::kProgress), bytes});
    }
    file_.set(reg::kProgress, file_.get(reg::kProgress) + 1);
    at = descriptor.next;
  }
  if (error != arch::DmaError::kNone && !write_failed_) wait_written();
  if (!aborted(epoch)) finish(error, fault);
}

arch::DmaError DmaEngine::inject() {
  if (!faults_.injector()) return arch::DmaError::kNone;
  if (faults_.hit(sim::FaultKind::kParseError, "dma")) return arch::DmaError::kBadDescriptor;
  if (faults_.hit(sim::FaultKind::kEngineFault, "dma")) return arch::DmaError::kInternal;
  if (const sim::Fault* f = faults_.hit(sim::FaultKind::kEngineSlow, "dma"))
    slow_ = static_cast<std::uint64_t>(f->factor);
  if (faults_.hit(sim::FaultKind::kEngineHang, "dma"))
    for (const std::uint64_t epoch = epoch_; !aborted(epoch);) sim::wait_on(popped_);
  return arch::DmaError::kNone;
}

void DmaEngine::lag(const sc_core::sc_time& began) {
  const std::uint64_t epoch = epoch_;
  const sc_core::sc_time until = reader.last_done() + (slow_ - 1) * (reader.last_done() - began);
  while (!aborted(epoch) && sc_core::sc_time_stamp() < until)
    sim::wait_on(popped_, until - sc_core::sc_time_stamp());
}

arch::DmaError DmaEngine::fetch(std::uint64_t address, arch::DmaDescriptor& descriptor) {
  const std::uint64_t epoch = epoch_;
  std::vector<std::uint32_t> words(
      static_cast<std::size_t>(arch::packed_words<arch::DmaDescriptor>()));
  auto* bytes = reinterpret_cast<std::uint8_t*>(words.data());
  const Walk walk{address, words.size() * 4, 1, 1, 0, 0};
  const bool ok = for_each_chunk(
      walk, Walk{0, words.size() * 4, 1, 1, 0, 0}, 4096, true, false, [&](const Chunk& c) {
        return !aborted(epoch) && reader.issue(c.a, bytes + c.b, c.bytes, false);
      });
  reader.drain();
  sim::wait_for(clock_.cycles(static_cast<std::uint64_t>(params_.descriptor_cycles)));
  if (!ok) return arch::DmaError::kBus;
  if (faults_.hit(sim::FaultKind::kCommandParity, "dma",
                  {address, static_cast<std::uint32_t>(words.size() * 4), -1}))
    return arch::DmaError::kParity;
  descriptor = arch::unpack<arch::DmaDescriptor>(words);
  return arch::DmaError::kNone;
}

bool DmaEngine::copy(const arch::DmaDescriptor& d) {
  const std::uint64_t epoch = epoch_;
  const Walk src{d.src, d.row_bytes, d.rows, d.planes, d.src_row_stride, d.src_plane_stride};
  const Walk dst{d.dst, d.row_bytes, d.rows, d.planes, d.dst_row_stride, d.dst_plane_stride};
  const bool ok = for_each_chunk(
      src, dst, static_cast<std::uint32_t>(params_.chunk_bytes), true, true, [&](const Chunk& c) {
        while (buffer_.size() >= static_cast<std::size_t>(params_.outstanding) && !write_failed_ &&
               !aborted(epoch))
          sim::wait_on(popped_);
        if (write_failed_ || aborted(epoch)) return false;
        Piece piece{c.b, c.bytes, {}, {}};
        if (params_.functional) piece.data.resize(c.bytes);
        const sc_core::sc_time began = sc_core::sc_time_stamp();
        if (!reader.issue(c.a, params_.functional ? piece.data.data() : nullptr, c.bytes, false)) {
          read_fault_ = c.a;
          return false;
        }
        if (aborted(epoch) || write_failed_) return false;
        ++chunks_;
        piece.ready = reader.last_done();
        buffer_.push_back(std::move(piece));
        pushed_.notify();
        if (slow_ > 1) lag(began);
        return !aborted(epoch);
      });
  if (ok) wait_written();
  return ok && !write_failed_;
}

// A descriptor is complete when its last byte is written, not when it is read.
void DmaEngine::wait_written() {
  while ((!buffer_.empty() || writing_) && !write_failed_) sim::wait_on(popped_);
}

void DmaEngine::write_thread() {
  for (;;) {
    while (buffer_.empty()) {
      writer.drain();
      if (!buffer_.empty()) break;
      writing_ = false;
      popped_.notify();
      sim::wait_on(pushed_);
    }
    writing_ = true;
    const std::uint64_t epoch = epoch_;
    Piece piece = std::move(buffer_.front());
    buffer_.pop_front();
    sim::wait_until(piece.ready);
    if (aborted(epoch)) continue;
    if (!writer.issue(piece.dst, params_.functional ? piece.data.data() : nullptr, piece.bytes,
                      true) &&
        !aborted(epoch)) {
      write_failed_ = true;
      write_fault_ = piece.dst;
      buffer_.clear();
    } else {
      ++chunks_;
    }
    popped_.notify();
  }
}

}  // namespace deputy::dma
