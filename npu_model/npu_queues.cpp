// The load, compute and store queues: in order each, decoupled from one another.
#include <algorithm>

#include "arch/memory_map.h"
#include "npu_model/core/transfer.h"
#include "npu_model/npu.h"

namespace deputy::npu_model {

namespace reg = arch::npu_reg;
using arch::NpuError;
using sc_core::sc_time, sc_core::sc_time_stamp;

bool NpuEngine::counters_reached(const arch::Header& h) const {
  return queues_[kLoad].completed >= h.wait_load && queues_[kCompute].completed >= h.wait_compute &&
         queues_[kStore].completed >= h.wait_store;
}

void NpuEngine::queue_thread(QueueId id) {
  QueueState& queue = queues_[id];
  for (;;) {
    while (queue.entries.empty()) sim::wait_on(queue.wake);
    const std::uint64_t epoch = epoch_;
    while (epoch == epoch_ && !counters_reached(queue.entries.front().instruction.header)) {
      queue.blocked = true;
      sim::wait_on(queue.wake);
    }
    if (epoch != epoch_) continue;
    queue.blocked = false;
    queue.dram_bytes = 0;
    const Entry entry = std::move(queue.entries.front());
    const bool was_full =
        queue.entries.size() >= static_cast<std::size_t>(config_.ctrl.queue_depth);
    queue.entries.pop_front();
    if (was_full) command_wake_.notify();

    note_hazards(id, entry);
    const sc_time start = sc_time_stamp();
    if (id == kCompute)
      run_compute(entry);
    else if (const auto* weights = std::get_if<arch::LoadWeights>(&entry.instruction.op))
      run_load_weights(*weights, entry);
    else if (id == kLoad)
      run_transfer(std::get<arch::Load>(entry.instruction.op), entry, load_port, load_staging_);
    else
      run_transfer(std::get<arch::Store>(entry.instruction.op), entry, store_port, store_staging_);
    if (epoch == epoch_) complete(id, entry, start);
  }
}

void NpuEngine::note_hazards(QueueId id, const Entry& entry) {
  queues_[id].working = true;
  queues_[id].in_flight = entry.accesses;
  for (int other = 0; other < kQueues; ++other) {
    if (other == id || !queues_[other].working ||
        !conflict(entry.accesses, queues_[other].in_flight))
      continue;
    if (job_.record.hazards++ == 0) job_.record.hazard_tag = entry.instruction.header.tag;
  }
}

// The work is done when its time is over: a job that is reset meanwhile does not cost the host
// anything.
void NpuEngine::run_compute(const Entry& entry) {
  if (!sleep_until(clock_.after(sc_time_stamp(), entry.cost.cycles), epoch_)) return;
  if (timing_only_) return;
  executor_.execute(entry.instruction.op);
  apply_defect(identity_.defect, entry.instruction.op, executor_.spm());
}

// After the set-up, chunks leave as fast as the window of dma.outstanding and the interconnect let
// them; the transfer ends when the last one has.
void NpuEngine::run_transfer(const arch::Transfer& transfer, const Entry& entry,
                             sim::BusInitiator& port, std::vector<std::uint8_t>& staging) {
  const std::uint64_t epoch = epoch_;
  const bool is_store = &port == &store_port;
  const auto chunk_bytes = static_cast<std::uint64_t>(config_.dma.chunk_bytes);
  staging.resize(timing_only_ ? 0 : std::min(chunk_bytes, kBusBoundary));
  std::uint8_t* data = timing_only_ ? nullptr : staging.data();
  if (!sleep_until(clock_.after(sc_time_stamp(), config_.dma.issue_cycles), epoch)) return;

  for (ChunkWalker walker(transfer, job_.base[transfer.region], chunk_bytes); !walker.done();) {
    const ChunkWalker::Chunk chunk = walker.next();
    if (data && is_store) gather(transfer, chunk, executor_.spm(), data);
    const bool ok =
        port.issue(chunk.address, data, static_cast<std::uint32_t>(chunk.bytes), is_store);
    if (!sleep_until(sc_time_stamp(), epoch)) return;  // the job ended while the interconnect kept us waiting
    if (!ok) {
      if (sleep_until(port.last_done(), epoch))
        raise_fault(NpuError::kBus, chunk.address, entry.instruction.header.opcode,
                    entry.instruction.header.tag);
      return;
    }
    if (port.last_address() >= arch::kDramBase)
      queues_[is_store ? kStore : kLoad].dram_bytes += chunk.bytes;
    ++progress_;
    if (data && !is_store) scatter(transfer, chunk, data, executor_.spm());
  }
  sleep_until(port.last_done(), epoch);
}

// Chunks go into the decoder as they arrive and it works on one while the next is on its way: a chunk's share
// of the bytes is out no earlier than the chunk is in, and no faster than the decoder's rate. The scratchpad
// changes when the last byte is out.
void NpuEngine::run_load_weights(const arch::LoadWeights& load, const Entry& entry) {
  const std::uint64_t epoch = epoch_;
  const arch::Header& header = entry.instruction.header;
  const auto rate = static_cast<std::uint64_t>(config_.wdec.bytes_per_cycle);
  load_staging_.resize(timing_only_ ? 0 : load.stream_bytes);
  if (!sleep_until(clock_.after(sc_time_stamp(), config_.dma.issue_cycles), epoch)) return;

  const sc_time ready = clock_.after(sc_time_stamp(), config_.wdec.setup_cycles);
  sc_time out = ready;
  ChunkWalker walker(stream_of(load), job_.base[load.region],
                     static_cast<std::uint64_t>(config_.dma.chunk_bytes));
  const auto decoded_by = [&](std::uint64_t position) {
    return std::uint64_t{load.bytes} * position / load.stream_bytes;
  };
  while (!walker.done()) {
    const ChunkWalker::Chunk chunk = walker.next();
    std::uint8_t* data = timing_only_ ? nullptr : load_staging_.data() + chunk.position;
    const bool ok =
        load_port.issue(chunk.address, data, static_cast<std::uint32_t>(chunk.bytes), false);
    if (!sleep_until(sc_time_stamp(), epoch)) return;
    if (!ok) {
      if (sleep_until(load_port.last_done(), epoch))
        raise_fault(NpuError::kBus, chunk.address, header.opcode, header.tag);
      return;
    }
    if (load_port.last_address() >= arch::kDramBase) queues_[kLoad].dram_bytes += chunk.bytes;
    ++progress_;
    const std::uint64_t share = decoded_by(chunk.position + chunk.bytes) - decoded_by(chunk.position);
    out = std::max(clock_.after(out, (share + rate - 1) / rate), load_port.last_done());
  }
  if (!sleep_until(out, epoch) || timing_only_) return;
  if (executor_.load_weights(load, load_staging_) != arch::CodeFault::kNone)
    raise_fault(NpuError::kCompression, entry.offset, header.opcode, header.tag);
}

void NpuEngine::complete(QueueId id, const Entry& entry, const sc_time& start) {
  QueueState& queue = queues_[id];
  const sc_time now = sc_time_stamp();
  const std::uint64_t busy = clock_.cycles_between(start, now);
  NpuOpRecord& op = job_.ops[entry.instruction.header.tag];
  if (op.instructions == 0) op.first_start_ps = sim::to_ps(start);
  op.tag = entry.instruction.header.tag;
  op.first_start_ps = std::min(op.first_start_ps, sim::to_ps(start));
  op.last_end_ps = sim::to_ps(now);
  ++op.instructions;
  queue.active_cycles += busy;
  if (id == kCompute) {
    op.macs += entry.cost.macs;
    op.compute_cycles += busy;
    op.mac_cycles += entry.cost.mac_cycles;
    op.vec_cycles += entry.cost.vec_cycles;
    op.spm_cycles += entry.cost.spm_cycles;
    op.unit_cycles += std::max(entry.cost.mac_cycles, entry.cost.vec_cycles);
    op.spm_bytes += entry.cost.spm_bytes;
    op.vec_results += entry.cost.vec_results;
    job_.mac_active_cycles += entry.cost.mac_cycles;
  } else if (id == kLoad) {
    const arch::Transfer load = *memory_side(entry.instruction.op);
    if (const auto* weights = std::get_if<arch::LoadWeights>(&entry.instruction.op)) {
      op.stream_bytes += weights->stream_bytes;
      op.decoded_bytes += weights->bytes;
      if (!weights->fixed_code) op.spm_bytes += arch::kCodeTableBytes;
    }
    op.load_cycles += busy;
    op.load_bytes += load.bytes();
    if (static_cast<arch::Traffic>(load.traffic) != arch::Traffic::kFeatureMap)
      op.weight_bytes += load.bytes();
    op.dram_load_bytes += queue.dram_bytes;
  } else {
    const auto& store = std::get<arch::Store>(entry.instruction.op);
    op.store_cycles += busy;
    op.store_bytes += store.bytes();
    op.dram_store_bytes += queue.dram_bytes;
  }

  if (id == kCompute || (id == kStore && op.compute_cycles == 0)) {
    op.own_ps += sim::to_ps(now) - job_.shared_until_ps;
    job_.shared_until_ps = sim::to_ps(now);
  }
  job_.last_tag = op.tag;

  queue.working = false;
  ++queue.completed;
  ++progress_;
  file_.set(reg::kProgress, static_cast<std::uint32_t>(++completed_instructions_));
  for (QueueState& other : queues_)
    if (other.blocked && counters_reached(other.entries.front().instruction.header))
      other.wake.notify();
  if (drained()) command_wake_.notify();
}

}  // namespace deputy::npu_model
