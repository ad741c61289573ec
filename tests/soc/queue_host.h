// The host's side of a whole board, for tests of rings, timelines and translation.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <vector>

#include "arch/dma_descriptor.h"
#include "arch/isa.h"
#include "arch/memory_map.h"
#include "arch/queue_entry.h"
#include "arch/registers.h"
#include "deputy/hw_port.h"

namespace deputy::soc_test {

namespace queue = arch::queue_reg;
namespace sync = arch::sync_reg;
using arch::RingCause, arch::RingState, arch::SyncFailure;

constexpr std::uint32_t kBytes = 4096, kEntries = 8;

// The host's side of the rings, as plain register writes.
struct Host {
  HwPort& port;
  SharedMemory dram, rings;
  std::uint32_t tail[2][arch::kRings] = {};

  static constexpr std::uint64_t kBase[2] = {arch::kNpuQueueBase, arch::kDmaQueueBase};
  enum { kNpu, kDma };

  explicit Host(HwPort& p)
      : port(p),
        dram(*p.alloc(MemoryKind::kDram, 1 << 20, 4096)),
        rings(*p.alloc(MemoryKind::kDram, 2 * arch::kRings * kEntries * arch::kQueueEntryBytes,
                       256)) {}

  std::uint32_t reg(int engine, std::uint32_t ring0_register, std::uint32_t ring) {
    return port.read32(kBase[engine] + ring0_register + ring * arch::kRingStride);
  }
  void set(int engine, std::uint32_t ring0_register, std::uint32_t ring, std::uint32_t value) {
    port.write32(kBase[engine] + ring0_register + ring * arch::kRingStride, value);
  }
  std::uint64_t ring_offset(int engine, std::uint32_t ring) const {
    return (static_cast<std::uint64_t>(engine) * arch::kRings + ring) * kEntries *
           arch::kQueueEntryBytes;
  }
  void enable(int engine, std::uint32_t ring, std::uint32_t priority = 0,
              std::uint32_t context = 0) {
    set(engine, queue::kRing0BaseLo, ring,
        static_cast<std::uint32_t>(rings.address + ring_offset(engine, ring)));
    set(engine, queue::kRing0Entries, ring, kEntries);
    set(engine, queue::kRing0Config, ring, 1 | priority << 4 | context << 8);
  }
  void write_entry(int engine, std::uint32_t ring, const arch::QueueEntry& entry) {
    std::vector<std::uint32_t> words;
    arch::pack(entry, words);
    REQUIRE(words.size() * 4 <= arch::kQueueEntryBytes);
    const std::uint64_t at =
        ring_offset(engine, ring) + tail[engine][ring]++ % kEntries * arch::kQueueEntryBytes;
    std::memcpy(rings.host + at, words.data(), words.size() * 4);
    port.clean(rings.address + at, arch::kQueueEntryBytes);
  }
  void ring_doorbell(int engine, std::uint32_t ring) {
    set(engine, queue::kRing0Tail, ring, tail[engine][ring]);
  }
  void submit(int engine, std::uint32_t ring, const arch::QueueEntry& entry) {
    write_entry(engine, ring, entry);
    ring_doorbell(engine, ring);
  }

  // A DMA copy inside `dram`, its descriptor at `at`.
  arch::QueueEntry copy(std::uint32_t at, std::uint32_t from, std::uint32_t to) {
    arch::DmaDescriptor d;
    d.src = dram.address + from, d.dst = dram.address + to, d.row_bytes = kBytes;
    std::vector<std::uint32_t> words;
    arch::pack(d, words);
    std::memcpy(dram.host + at, words.data(), words.size() * 4);
    port.clean(dram.address + at, words.size() * 4);
    arch::QueueEntry e;
    e.kind = 1, e.address = dram.address + at;
    return e;
  }
  // An NPU job that copies kBytes of region 0 from `from` to `to` by way of the scratchpad.
  arch::QueueEntry npu_copy(std::uint32_t at, std::uint32_t from, std::uint32_t to,
                            std::uint32_t region_bytes = 1 << 20) {
    const auto transfer = [](auto t, std::uint32_t offset, std::uint32_t wait) {
      t.mem_offset = offset, t.row_bytes = kBytes;
      arch::Instruction i;
      i.header.tag = 7, i.header.wait_load = wait, i.op = t;
      return i;
    };
    std::vector<std::uint32_t> words;
    arch::encode(transfer(arch::Load{}, from, 0), words);
    arch::encode(transfer(arch::Store{}, to, 1), words);
    arch::Instruction end;
    end.op = arch::End{};
    arch::encode(end, words);
    std::memcpy(dram.host + at, words.data(), words.size() * 4);
    port.clean(dram.address + at, words.size() * 4);
    arch::QueueEntry e;
    e.kind = 1, e.address = dram.address + at,
    e.bytes = static_cast<std::uint32_t>(words.size() * 4);
    e.region_base[0] = dram.address, e.region_bytes[0] = region_bytes;
    return e;
  }

  std::uint64_t value(std::uint32_t t) {
    const std::uint64_t base = arch::kSyncBase + t * arch::kTimelineStride;
    const std::uint32_t low = port.read32(base + sync::kTimeline0ValueLo);
    return low | std::uint64_t{port.read32(base + sync::kTimeline0ValueHi)} << 32;
  }
  SyncFailure failure(std::uint32_t t) {
    return static_cast<SyncFailure>(
        port.read32(arch::kSyncBase + t * arch::kTimelineStride + sync::kTimeline0Fail));
  }
  void signal(std::uint32_t t, std::uint64_t v) {
    const std::uint64_t base = arch::kSyncBase + t * arch::kTimelineStride;
    port.write32(base + sync::kTimeline0SignalLo, static_cast<std::uint32_t>(v));
    port.write32(base + sync::kTimeline0SignalHi, static_cast<std::uint32_t>(v >> 32));
  }
  // Sleeps until timeline t reaches v or fails; false after a millisecond.
  bool wait(std::uint32_t t, std::uint64_t v) {
    const std::uint64_t base = arch::kSyncBase + t * arch::kTimelineStride;
    const auto line = static_cast<std::uint32_t>(arch::IrqLine::kSync);
    port.write32(base + sync::kTimeline0WaitLo, static_cast<std::uint32_t>(v));
    port.write32(base + sync::kTimeline0WaitHi, static_cast<std::uint32_t>(v >> 32));
    port.write32(arch::kIntcBase + arch::intc_reg::kEnableSet, 1u << line);
    port.write32(arch::kSyncBase + sync::kIrqEnable, 1u << t);
    const bool came = port.wait_irq(line, port.now_ps() + 1'000'000'000);
    port.write32(arch::kSyncBase + sync::kIrqEnable, 0);
    port.write32(arch::kSyncBase + sync::kIrqStatus, 1u << t);
    port.write32(arch::kIntcBase + arch::intc_reg::kPending, 1u << line);
    return came;
  }
  void rest(std::uint64_t us) { port.wait_irq(31, port.now_ps() + us * 1'000'000); }
  RingState state(int engine, std::uint32_t ring) {
    return static_cast<RingState>(reg(engine, queue::kRing0Status, ring) & 7);
  }
  RingCause cause(int engine, std::uint32_t ring) {
    return static_cast<RingCause>(reg(engine, queue::kRing0Status, ring) >> 8 & 0xFF);
  }
};

inline arch::TimelinePoint point(std::uint8_t timeline, std::uint64_t value) {
  return {1, timeline, value};
}

}  // namespace deputy::soc_test
