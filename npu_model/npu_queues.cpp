// The load, compute and store queues: in order each, decoupled from one another.
#include <algorithm>

#include "arch/memory_map.h"
#include "npu_model/core/transfer.h"
#include "npu_model/npu.h"

namespace deputy::npu_model {

namespace reg = arch::npu_reg;
using arch::NpuError;
using sc_core::sc_time, sc_core::sc_time_stamp;

bool NpuEngine::may_start(QueueId id) const {
  const QueueState& queue = queues_[id];
  const Entry& entry = queue.entries.front();
  const arch::Header& h = entry.instruction.header;
  if (queues_[kLoad].completed < h.wait_load || queues_[kCompute].completed < h.wait_compute ||
      queues_[kStore].completed < h.wait_store)
    return false;
  return queue.flights.size() < static_cast<std::size_t>(config_.dma.outstanding) &&
         std::ranges::none_of(queue.flights, [&](const Flight& flight) {
           return conflict(entry.accesses, flight.entry.accesses);
         });
}

void NpuEngine::queue_thread(QueueId id) {
  QueueState& queue = queues_[id];
  for (;;) {
    while (queue.entries.empty()) sim::wait_on(queue.wake);
    const std::uint64_t epoch = epoch_;
    while (epoch == epoch_ && !may_start(id)) {
      queue.blocked = true;
      const bool on_loads =
          queues_[kLoad].completed < queue.entries.front().instruction.header.wait_load;
      const sc_time since = sc_time_stamp();
      sim::wait_on(queue.wake);
      if (id == kCompute && epoch == epoch_)
        (on_loads ? job_.stall_load_ps : job_.stall_store_ps) +=
            clock_.worked_ps(since, sc_time_stamp());
    }
    if (epoch != epoch_) continue;
    queue.blocked = false;
    Entry entry = std::move(queue.entries.front());
    const bool was_full =
        queue.entries.size() >= static_cast<std::size_t>(config_.ctrl.queue_depth);
    queue.entries.pop_front();
    trace_depth(id);
    if (was_full) command_wake_.notify();

    note_hazards(id, entry);
    if (id != kCompute) {
      begin_transfer(id, std::move(entry), epoch);
      continue;
    }
    queue.working = true;
    queue.in_flight = entry.accesses;
    const sc_time start = sc_time_stamp();
    run_compute(entry);
    if (epoch == epoch_) complete(id, entry, start, 0);
  }
}

void NpuEngine::note_hazards(QueueId id, const Entry& entry) {
  const auto note = [&](const AccessList& other) {
    if (conflict(entry.accesses, other) && job_.record.hazards++ == 0)
      job_.record.hazard_tag = entry.instruction.header.tag;
  };
  for (int other = 0; other < kQueues; ++other) {
    if (other == id) continue;
    if (queues_[other].working) note(queues_[other].in_flight);
    for (const Flight& flight : queues_[other].flights) note(flight.entry.accesses);
  }
}

// The work is done when its time is over: a job that is reset meanwhile does not cost the host
// anything. The RTL's time is known only when its work is done.
void NpuEngine::run_compute(const Entry& entry) {
  const sc_time start = sc_time_stamp();
  const arch::Operation& op = entry.instruction.op;
  const bool measured = path_->measures_time();
  const std::uint64_t cycles =
      (measured ? path_->execute(op).value() : entry.cost.cycles) + defect_cycles(identity_.defect);
  std::uint64_t left = cycles;
  do {
    if (!sleep_until(clock_.after(sc_time_stamp(), left), epoch_)) return;
    // A clock that a fault slowed down meanwhile has not come as far as was foreseen.
    const std::uint64_t done =
        faults_.injector() ? clock_.cycles_between(start, sc_time_stamp()) : left;
    left = cycles - std::min(done, cycles);
  } while (left > 0);
  if (timing_only_) return;
  if (!measured) path_->execute(op);
  apply_defect(identity_.defect, op, path_->spm());
}

void NpuEngine::begin_transfer(QueueId id, Entry entry, std::uint64_t epoch) {
  const bool constants = id == kLoad && memory_side(entry.instruction.op)->region ==
                                            static_cast<int>(arch::Region::kConstants);
  queues_[id].flights.push_back({std::move(entry), sc_time_stamp(), false, {}, {}, {}, 0});
  Flight& flight = queues_[id].flights.back();
  if (!sleep_until(clock_.after(sc_time_stamp(), config_.dma.issue_cycles), epoch)) return;
  if (!constants) return send(id, flight, id == kLoad ? load_port : store_port, epoch);
  while (epoch == epoch_ && constants_flight_) sim::wait_on(constants_free_);
  if (epoch != epoch_) return;
  constants_flight_ = &flight;
  constants_wake_.notify();
}

void NpuEngine::constants_thread() {
  for (;;) {
    while (!constants_flight_) sim::wait_on(constants_wake_);
    const std::uint64_t epoch = epoch_;
    send(kLoad, *constants_flight_, load_constants_port, epoch);
    if (epoch != epoch_) continue;
    constants_flight_ = nullptr;
    constants_free_.notify();
  }
}

// After this the flight may be gone at any time.
void NpuEngine::send(QueueId id, Flight& flight, sim::BusInitiator& port, std::uint64_t epoch) {
  const arch::Operation& op = flight.entry.instruction.op;
  bool ours = false;
  if (const auto* weights = std::get_if<arch::LoadWeights>(&op))
    ours = send_weights(*weights, flight, port, epoch);
  else
    ours = send_chunks(*memory_side(op), flight, port, epoch);
  if (!ours) return;
  flight.sent = true;
  if (&flight == &queues_[id].flights.front()) queues_[id].sent.notify();
}

// Chunks leave as fast as the window of dma.outstanding and the interconnect let them; the transfer
// ends when the last one has. False when the job ended meanwhile.
bool NpuEngine::send_chunks(const arch::Transfer& transfer, Flight& flight, sim::BusInitiator& port,
                            std::uint64_t epoch) {
  const bool is_store = &port == &store_port;
  const auto chunk_bytes = static_cast<std::uint64_t>(config_.dma.chunk_bytes);
  std::vector<std::uint8_t> staging(timing_only_ ? 0 : std::min(chunk_bytes, kBusBoundary));
  std::uint8_t* data = timing_only_ ? nullptr : staging.data();
  for (ChunkWalker walker(transfer, job_.base[transfer.region], chunk_bytes); !walker.done();) {
    const ChunkWalker::Chunk chunk = walker.next();
    if (data && is_store) gather(transfer, chunk, path_->spm(), data);
    const bool ok =
        port.issue(chunk.address, data, static_cast<std::uint32_t>(chunk.bytes), is_store);
    if (!sleep_until(sc_time_stamp(), epoch))
      return false;  // the job ended while the interconnect kept us waiting
    if (!ok) {
      flight.bus_error = chunk.address;
      break;
    }
    if (port.last_address() >= arch::kDramBase) flight.dram_bytes += chunk.bytes;
    ++progress_;
    if (data && !is_store) scatter(transfer, chunk, data, path_->spm());
  }
  flight.done = port.last_done();
  return true;
}

// Chunks go into the decoder as they arrive and it works on one while the next is on its way: a
// chunk's share of the bytes is out no earlier than the chunk is in, and no faster than the
// decoder's rate. The decoder takes one stream after the other, and the next transfer leaves no
// earlier than it has room for another chunk. The scratchpad changes when the last byte is out.
bool NpuEngine::send_weights(const arch::LoadWeights& load, Flight& flight, sim::BusInitiator& port,
                             std::uint64_t epoch) {
  const auto rate = static_cast<std::uint64_t>(config_.wdec.bytes_per_cycle);
  std::vector<std::uint8_t> stream(
      timing_only_ ? 0 : load.stream_bytes);  // outlives the flight if the job ends
  sc_time out = clock_.after(std::max(sc_time_stamp(), decoder_free_), config_.wdec.setup_cycles),
          last = out;
  ChunkWalker walker(stream_of(load), job_.base[load.region],
                     static_cast<std::uint64_t>(config_.dma.chunk_bytes));
  const auto decoded_by = [&](std::uint64_t position) {
    return std::uint64_t{load.bytes} * position / load.stream_bytes;
  };
  while (!walker.done()) {
    const ChunkWalker::Chunk chunk = walker.next();
    std::uint8_t* data = timing_only_ ? nullptr : stream.data() + chunk.position;
    const bool ok = port.issue(chunk.address, data, static_cast<std::uint32_t>(chunk.bytes), false);
    if (!sleep_until(sc_time_stamp(), epoch)) return false;
    if (!ok) {
      flight.bus_error = chunk.address;
      flight.done = port.last_done();
      return true;
    }
    if (port.last_address() >= arch::kDramBase) flight.dram_bytes += chunk.bytes;
    ++progress_;
    const std::uint64_t share =
        decoded_by(chunk.position + chunk.bytes) - decoded_by(chunk.position);
    last = out;
    out = std::max(clock_.after(out, (share + rate - 1) / rate), port.last_done());
  }
  flight.stream = std::move(stream);
  flight.done = decoder_free_ = out;
  return sleep_until(last, epoch);
}

// Completes what has been sent, in order.
void NpuEngine::landing_thread(QueueId id) {
  QueueState& queue = queues_[id];
  for (;;) {
    while (queue.flights.empty() || !queue.flights.front().sent) sim::wait_on(queue.sent);
    const std::uint64_t epoch = epoch_;
    if (!sleep_until(queue.flights.front().done, epoch)) continue;
    const Flight flight = std::move(queue.flights.front());
    queue.flights.pop_front();
    const Entry& entry = flight.entry;
    const arch::Header& header = entry.instruction.header;
    if (flight.bus_error) {
      raise_fault(NpuError::kBus, *flight.bus_error, header.opcode, header.tag);
      continue;
    }
    const auto* weights = std::get_if<arch::LoadWeights>(&entry.instruction.op);
    if (weights && !timing_only_ &&
        path_->load_weights(*weights, flight.stream) != arch::CodeFault::kNone) {
      raise_fault(NpuError::kCompression, entry.offset, header.opcode, header.tag);
      continue;
    }
    complete(id, entry, flight.start, flight.dram_bytes);
  }
}

void NpuEngine::trace_depth(QueueId id) {
  if (trace_)
    trace_->change(queues_[id].depth_signal, sim::to_ps(sc_time_stamp()),
                   queues_[id].entries.size());
}

// Transfers overlap: the slice is the time that is charged.
void NpuEngine::trace_slice(QueueId id, const Entry& entry, const sc_time& start) {
  const arch::Header& header = entry.instruction.header;
  sim::TraceSlice slice;
  slice.issued_ps = sim::to_ps(start);
  slice.from_ps = sim::to_ps(std::max(start, queues_[id].last_completion));
  slice.to_ps = sim::to_ps(sc_time_stamp());
  slice.what = arch::opcode_name(header.opcode);
  slice.op = header.tag;
  slice.command = entry.offset;
  slice.macs = entry.cost.macs;
  if (const auto side = memory_side(entry.instruction.op)) {
    slice.bytes = side->bytes();
    slice.region = side->region;
    slice.weights = static_cast<arch::Traffic>(side->traffic) != arch::Traffic::kFeatureMap;
    slice.offset = side->mem_offset;
    slice.extent = memory_extent(*side) - side->mem_offset;
  }
  trace_->slice(queues_[id].track, slice);
}

void NpuEngine::complete(QueueId id, const Entry& entry, const sc_time& start,
                         std::uint64_t dram_bytes) {
  QueueState& queue = queues_[id];
  const sc_time now = sc_time_stamp();
  // Transfers overlap: each is charged with the time since the one before it completed.
  const std::uint64_t busy = clock_.cycles_between(std::max(start, queue.last_completion), now);
  NpuOpRecord& op = job_.ops[entry.instruction.header.tag];
  if (op.instructions == 0) op.first_start_ps = sim::to_ps(start);
  op.tag = entry.instruction.header.tag;
  op.first_start_ps = std::min(op.first_start_ps, sim::to_ps(start));
  op.last_end_ps = sim::to_ps(now);
  ++op.instructions;
  queue.active_cycles += busy;
  if (trace_) trace_slice(id, entry, start);
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
    op.dram_load_bytes += dram_bytes;
  } else {
    const auto& store = std::get<arch::Store>(entry.instruction.op);
    op.store_cycles += busy;
    op.store_bytes += store.bytes();
    op.dram_store_bytes += dram_bytes;
  }

  const bool copies_constants =
      id == kStore && std::get<arch::Store>(entry.instruction.op).traffic !=
                          static_cast<std::uint8_t>(arch::Traffic::kFeatureMap);
  if (id == kCompute || (id == kStore && op.compute_cycles == 0 && !copies_constants)) {
    op.own_ps += sim::to_ps(now) - job_.shared_until_ps;
    job_.shared_until_ps = sim::to_ps(now);
  }
  job_.last_tag = op.tag;

  queue.working = false;
  queue.last_completion = now;
  ++queue.completed;
  ++progress_;
  file_.set(reg::kProgress, static_cast<std::uint32_t>(++completed_instructions_));
  for (const QueueId other : {kLoad, kCompute, kStore})
    if (queues_[other].blocked && may_start(other)) queues_[other].wake.notify();
  if (drained()) command_wake_.notify();
}

}  // namespace deputy::npu_model
