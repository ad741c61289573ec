#include "dsp_model/core/core.h"

#include <algorithm>

#include "base/check.h"

namespace deputy::dsp_model {

using arch::DspControl, arch::DspFault, arch::DspOp, arch::DspOpcode;

bool isa_available([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2) return __builtin_cpu_supports("avx2") != 0;
#endif
  return isa == Isa::kPortable;
}
Isa best_isa() { return isa_available(Isa::kAvx2) ? Isa::kAvx2 : Isa::kPortable; }

const HandlerTable& handlers(Isa isa) {
  const auto make = [](Isa which) {
    HandlerTable table{};
    add_scalar_handlers(table);
    add_memory_handlers(table);
#if defined(__x86_64__)
    if (which == Isa::kAvx2) {
      add_avx2_lanes(table);
      return table;
    }
#endif
    add_portable_lanes(table);
    return table;
  };
  DEPUTY_CHECK(isa_available(isa), "this host cannot run these lane loops");
  static const HandlerTable portable = make(Isa::kPortable);
  static const HandlerTable best = make(best_isa());
  return isa == Isa::kPortable ? portable : best;
}

DspCore::DspCore(const arch::DspConfig& config, Isa isa)
    : config_(config), handlers_(handlers(isa)), tcm_(static_cast<std::size_t>(config.tcm.bytes)) {
  m_.tcm = tcm_;
}

bool DspCore::load(std::span<const std::uint32_t> words) {
  if (words.size() * 4 > static_cast<std::size_t>(config_.tcm.program_bytes)) return false;
  words_.assign(words.begin(), words.end());
  packets_.assign(words.size(), Packet{});
  return true;
}

void DspCore::start(std::uint32_t pc) {
  m_ = Machine{};
  m_.tcm = tcm_;
  m_.next = pc;
  ready_.fill(0);
  stats_ = {};
  running_ = true, halt_ = signal_ = may_interrupt_ = looping_ = false;
  mail_in_.clear(), mail_out_.clear();
  host_interrupts_ = 0, dma_.reset(), dma_busy_ = false;
  fault_ = DspFault::kNone, fault_pc_ = fault_detail_ = 0;
}

DspCore::Stop DspCore::stop(DspFault fault, std::uint32_t detail) {
  fault_ = fault, fault_pc_ = m_.next, fault_detail_ = detail;
  running_ = false;
  return Stop::kFault;
}

const Packet* DspCore::fetch() {
  if (m_.next >= packets_.size()) return nullptr;
  Packet& packet = packets_[m_.next];
  if (packet.state == Packet::State::kUnread)
    prepare(words_, m_.next, config_.latency, handlers_, packet);
  return &packet;
}

void DspCore::take_interrupt() {
  m_.control[static_cast<std::size_t>(DspControl::kReturn)] = m_.next;
  m_.control[static_cast<std::size_t>(DspControl::kInterrupts)] = 0;
  m_.next = m_.control[static_cast<std::size_t>(DspControl::kVector)];
  may_interrupt_ = false;
  stats_.cycles += static_cast<std::uint64_t>(config_.latency.interrupt);
  stats_.stall_branch += static_cast<std::uint64_t>(config_.latency.interrupt);
}

void DspCore::close_loops() {
  looping_ = false;
  bool jumped = false;
  for (int l = arch::kDspLoopLevels - 1; l >= 0; --l) {
    LoopState& loop = m_.loops[static_cast<std::size_t>(l)];
    if (!loop.active) continue;
    if (!jumped && m_.next == loop.end) {
      if (--loop.left == 0) {
        loop.active = false;
        continue;
      }
      m_.next = loop.start, jumped = true;
    }
    looping_ = true;
  }
}

// Operations of a packet read the registers as they were before it. Where no order of theirs gives
// that, each runs on a copy, and what it writes is put together.
void DspCore::execute(const Packet& packet) {
  const auto run_one = [&](int i) {
    if (packet.handlers[i])
      packet.handlers[i](m_, packet.ops[i]);
    else
      do_control(packet.ops[i]);
  };
  if (!packet.crossed) {
    for (int i = 0; i < packet.count; ++i) run_one(i);
    return;
  }
  const Registers before = m_.x;
  Registers after = before;
  for (int i = 0; i < packet.count; ++i) {
    m_.x = before;
    run_one(i);
    for (std::size_t id = 0; id < arch::kDspForwardId; ++id) {
      if (!packet.written[i][id]) continue;
      if (id < arch::kDspVectorId)
        after.r[id] = m_.x.r[id];
      else if (id < arch::kDspAccumulatorId)
        after.v[id - arch::kDspVectorId] = m_.x.v[id - arch::kDspVectorId];
      else if (id < arch::kDspMaskId)
        after.a[id - arch::kDspAccumulatorId] = m_.x.a[id - arch::kDspAccumulatorId];
      else
        after.m[id - arch::kDspMaskId] = m_.x.m[id - arch::kDspMaskId];
    }
  }
  m_.x = after;
}

DspCore::Stop DspCore::run(std::uint64_t until) {
  if (!running_) return fault_ == DspFault::kNone ? Stop::kHalted : Stop::kFault;
  for (;;) {
    if (stats_.cycles >= until) return Stop::kTime;
    if (may_interrupt_) take_interrupt();
    const Packet* const packet = fetch();
    if (!packet) return stop(DspFault::kFetch, m_.next);
    if (packet->state == Packet::State::kBad)
      return stop(DspFault::kDecode, static_cast<std::uint32_t>(packet->fault));

    // Nothing of a packet happens unless all of it can.
    if (packet->control) {
      const DspOp& op = packet->ops[packet->control_op];
      Stop why{};
      if (const DspFault fault = check_control(op); fault != DspFault::kNone)
        return stop(fault, fault_detail_);
      if (must_wait(op, why)) return why;
    }
    if (packet->memory) {
      const DspFault fault = check_memory(packet->ops[packet->memory_op]);
      if (fault != DspFault::kNone) return stop(fault, fault_detail_);
    }

    std::uint64_t issue = stats_.cycles;
    int waited_for = -1;
    for (int i = 0; i < packet->read_count; ++i)
      if (ready_[packet->reads[i]] > issue)
        issue = ready_[packet->reads[i]], waited_for = packet->reads[i];
    for (int i = 0; i < packet->write_count; ++i) {
      const Packet::Result w = packet->writes[i];
      if (ready_[w.id] >= issue + w.latency)
        issue = ready_[w.id] - w.latency + 1, waited_for = w.id;
    }
    std::uint64_t bank = 0, dma = 0;
    if (packet->memory) {
      bank = bank_conflicts(packet->ops[packet->memory_op]);
      // The channel gathers a line and then takes the memory for a cycle.
      const auto period =
          static_cast<std::uint64_t>(arch::kDspVectorBytes / config_.dma.bytes_per_cycle);
      if (dma_busy_ && (issue - dma_since_) % period == period - 1) dma = 1;
    }
    for (int i = 0; i < packet->write_count; ++i)
      ready_[packet->writes[i].id] = issue + dma + bank + packet->writes[i].latency;

    m_.pc = m_.next, m_.next += packet->count, m_.taken = false;
    execute(*packet);
    const std::uint64_t branch = m_.taken ? static_cast<std::uint64_t>(config_.latency.branch) : 0;
    if (looping_ || packet->control) close_loops();

    stats_.stall_operand += issue - stats_.cycles;
    stats_.stall_bank += bank, stats_.stall_dma += dma, stats_.stall_branch += branch;
    ++stats_.packets, stats_.vector_operations += packet->vector_operations;
    stats_.read_bytes += packet->read_bytes, stats_.written_bytes += packet->written_bytes;
    for (int s = 0; s < arch::kDspSlots; ++s)
      stats_.slots[static_cast<std::size_t>(s)] += packet->slots >> s & 1;
    if (trace_)
      trace_({issue, m_.pc, static_cast<std::uint32_t>(issue - stats_.cycles),
              static_cast<std::uint32_t>(bank), static_cast<std::uint32_t>(dma),
              static_cast<std::uint32_t>(branch), waited_for});
    stats_.cycles = issue + 1 + bank + dma + branch;
    if (halt_) {
      running_ = false;
      return Stop::kHalted;
    }
    if (signal_) {
      signal_ = false;
      return Stop::kSignal;
    }
  }
}

void DspCore::idle_until(std::uint64_t cycle) {
  if (cycle <= stats_.cycles) return;
  stats_.stall_idle += cycle - stats_.cycles;
  stats_.cycles = cycle;
}

}  // namespace deputy::dsp_model
