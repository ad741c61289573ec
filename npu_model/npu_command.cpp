// The command processor: fetch ahead, decode, check, dispatch.
#include <algorithm>
#include <cstring>
#include <optional>

#include "arch/npu_timing.h"
#include "npu_model/core/transfer.h"
#include "npu_model/npu.h"

namespace deputy::npu_model {

namespace reg = arch::npu_reg;
using arch::NpuError;
using sc_core::sc_time, sc_core::sc_time_stamp;

// The stream as far as it has arrived. One fetch of ctrl.fetch_bytes is in flight while the words
// before it are decoded.
class NpuEngine::CommandStream {
 public:
  explicit CommandStream(NpuEngine& npu)
      : npu_(npu), epoch_(npu.epoch_), base_(npu.job_.stream_base), size_(npu.job_.stream_bytes) {
    fetch();
  }

  /// Words from `offset` bytes on that have arrived.
  std::span<const std::uint32_t> from(std::uint32_t offset) const {
    return std::span(words_).subspan(offset / 4, (arrived_ - offset) / 4);
  }
  bool complete() const { return arrived_ == size_; }

  /// Waits for the fetch in flight and starts the next. False when the job ended, by a bus error or
  /// else.
  bool advance() {
    if (!npu_.sleep_until(completion_, epoch_)) return false;
    if (!ok_) {
      npu_.raise_fault(NpuError::kBus, bad_address_, 0, 0);
      return false;
    }
    if (bad_parity_) {
      npu_.raise_fault(NpuError::kParity, *bad_parity_, 0, 0);
      return false;
    }
    arrived_ = requested_;
    fetch();
    return true;
  }

 private:
  void fetch() {
    const auto fetch_bytes = static_cast<std::uint32_t>(npu_.config_.ctrl.fetch_bytes) / 4 * 4;
    const std::uint32_t end = requested_ + std::min(fetch_bytes, size_ - requested_);
    words_.resize(end / 4);
    while (ok_ && requested_ < end) {
      const std::uint64_t address = base_ + requested_;
      const auto bytes = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(end - requested_, kBusBoundary - address % kBusBoundary));
      ok_ = npu_.command_port.issue(
          address, reinterpret_cast<std::uint8_t*>(words_.data()) + requested_, bytes, false);
      if (epoch_ != npu_.epoch_) return;
      npu_.job_.record.command_bytes += bytes;
      // The flipped word keeps the parity bit it was sent with, so that one flip in a word is
      // always seen.
      if (const auto* f =
              npu_.faults_.hit(sim::FaultKind::kCommandParity, "npu", {address, bytes, -1});
          f && ok_)
        bad_parity_ = address + static_cast<std::uint64_t>(f->bit) / 32 % (bytes / 4) * 4;
      bad_address_ = address;
      requested_ += bytes;
    }
    completion_ = npu_.command_port.last_done();
  }

  NpuEngine& npu_;
  const std::uint64_t epoch_, base_;
  const std::uint32_t size_;
  std::vector<std::uint32_t> words_;
  std::uint32_t requested_ = 0, arrived_ = 0;  ///< bytes
  bool ok_ = true;
  std::optional<std::uint64_t>
      bad_parity_;                 ///< bus address of a word that arrived with wrong parity
  std::uint64_t bad_address_ = 0;  ///< of the last transaction
  sc_time completion_;
};

void NpuEngine::command_thread() {
  for (;;) {
    while (!start_pending_) sim::wait_on(start_event_);
    start_pending_ = false;
    if (sleep_until(job_.start, epoch_)) run_stream();
  }
}

void NpuEngine::run_stream() {
  const std::uint64_t epoch = epoch_;
  CommandStream stream(*this);
  for (std::uint32_t offset = 0;;) {
    arch::Decoded decoded = arch::decode(stream.from(offset));
    while (decoded.fault == arch::DecodeFault::kTruncated && !stream.complete()) {
      if (!stream.advance()) return;
      decoded = arch::decode(stream.from(offset));
    }
    if (!sleep_until(clock_.after(sc_time_stamp(), config_.ctrl.decode_cycles), epoch)) return;
    const arch::Header& header = decoded.instruction.header;
    if (faults_.injector() && !inject(header, offset, epoch)) return;
    if (decoded.fault != arch::DecodeFault::kNone) {
      static_assert(int(NpuError::kTruncated) == int(arch::DecodeFault::kTruncated) &&
                    int(NpuError::kUnknownOpcode) == int(arch::DecodeFault::kUnknownOpcode) &&
                    int(NpuError::kBadLength) == int(arch::DecodeFault::kBadLength) &&
                    int(NpuError::kBadField) == int(arch::DecodeFault::kBadField));
      return raise_fault(static_cast<NpuError>(decoded.fault), offset, header.opcode, header.tag);
    }
    if (!dispatch(decoded.instruction, offset)) return;
    offset += header.words * 4u;
    file_.set(reg::kQRead, offset);
    if (decoded.instruction.queue() == arch::Queue::kControl) break;  // END
  }
  while (epoch == epoch_ && !drained()) sim::wait_on(command_wake_);
  if (epoch != epoch_) return;
  file_.set(reg::kProgress, static_cast<std::uint32_t>(++completed_instructions_));
  ++progress_;
  end_job(NpuError::kNone, false);
}

bool NpuEngine::inject(const arch::Header& header, std::uint32_t offset, std::uint64_t epoch) {
  constexpr std::uint32_t kNoOpcode = 0xFF;
  if (faults_.hit(sim::FaultKind::kParseError, "npu")) {
    raise_fault(NpuError::kUnknownOpcode, offset, kNoOpcode, header.tag);
    return false;
  }
  if (faults_.hit(sim::FaultKind::kEngineFault, "npu")) {
    raise_fault(NpuError::kInternal, offset, header.opcode, header.tag);
    return false;
  }
  if (const sim::Fault* f = faults_.hit(sim::FaultKind::kEngineSlow, "npu"))
    clock_.slow_down(static_cast<std::uint64_t>(f->factor));
  if (faults_.hit(sim::FaultKind::kEngineHang, "npu")) hung_ = true;
  return sleep_until(sc_time_stamp(), epoch);
}

NpuError NpuEngine::check(const arch::Instruction& instruction) const {
  const arch::Header& header = instruction.header;
  if (header.wait_load > queues_[kLoad].dispatched ||
      header.wait_compute > queues_[kCompute].dispatched ||
      header.wait_store > queues_[kStore].dispatched)
    return NpuError::kBadWait;
  if (const auto transfer = memory_side(instruction.op)) {
    const std::uint64_t extent = memory_extent(*transfer);
    if (extent > job_.size[transfer->region] || job_.base[transfer->region] > UINT64_MAX - extent)
      return NpuError::kRegionBounds;
  }
  return check_instruction(instruction.op, config_);
}

bool NpuEngine::dispatch(const arch::Instruction& instruction, std::uint32_t offset) {
  if (const NpuError error = check(instruction); error != NpuError::kNone) {
    raise_fault(error, offset, instruction.header.opcode, instruction.header.tag);
    return false;
  }
  if (instruction.queue() == arch::Queue::kControl) return true;
  QueueState& queue =
      queues_[static_cast<int>(instruction.queue()) - static_cast<int>(arch::Queue::kLoad)];
  const std::uint64_t epoch = epoch_;
  while (epoch == epoch_ &&
         queue.entries.size() >= static_cast<std::size_t>(config_.ctrl.queue_depth))
    sim::wait_on(command_wake_);
  if (epoch != epoch_) return false;
  queue.entries.push_back({instruction, offset, arch::compute_cost(instruction.op, config_),
                           spm_accesses(instruction.op)});
  ++queue.dispatched;
  trace_depth(static_cast<QueueId>(&queue - queues_.data()));
  if (queue.entries.size() == 1) queue.wake.notify();
  return true;
}

bool NpuEngine::drained() const {
  return std::ranges::all_of(queues_,
                             [](const QueueState& q) { return q.completed == q.dispatched; });
}

}  // namespace deputy::npu_model
