// Rings: order, wrap-around, back-pressure, priorities, what makes no sense.
#include <cstring>

#include "tests/conformance/rig.h"

using namespace deputy;
using namespace deputy::conformance;
namespace queue = arch::queue_reg;
using arch::RingCause, arch::RingState;

namespace {
// f after f after ... on every byte, in the order given.
Bytes applied(Bytes bytes, const std::vector<Affine>& order) {
  for (const Affine& f : order) bytes = f(bytes);
  return bytes;
}
}  // namespace

CONFORMANCE_CASE("rings: many times their size goes through in order") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.npu.open(0, 4, 1, 0).ok());
    r.put(0, ramp(5));
    std::vector<Affine> order;
    std::uint64_t number = 0;
    for (std::uint32_t i = 1; i <= 27; ++i) {
      order.push_back({2 * i + 1, i});
      arch::QueueEntry e = r.npu_job(0, 0, order.back());
      e.signal[0] = point(0, i);
      auto pushed = r.npu.push(0, e);
      if (!pushed.ok()) {
        CHECK(pushed.error().kind == base::ErrorKind::kBusy);
        REQUIRE(r.wait(0, i - 4));
        pushed = r.npu.push(0, e);
      }
      REQUIRE(pushed.ok());
      CHECK(*pushed == number++);
    }
    REQUIRE(r.wait(0, 27));
    CHECK(r.npu.finished(0) == 27);
    CHECK(r.npu.unfinished(0).empty());
    CHECK(r.get(0) == applied(ramp(5), order));
  });
}

CONFORMANCE_CASE("rings: a full one is busy, loses nothing and recovers") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.dma.open(2, 2, 0, 0).ok());
    r.put(0, ramp(1));
    arch::QueueEntry first = r.dma_job(0, 1024), second = r.dma_job(1024, 2048),
                     third = r.dma_job(2048, 3072);
    first.wait[0] = point(0, 1), first.signal[0] = point(1, 1);
    third.signal[0] = point(1, 2);
    REQUIRE(r.dma.push(2, first).ok());
    REQUIRE(r.dma.push(2, second).ok());
    for (int i = 0; i < 3; ++i) CHECK(r.dma.push(2, third).error().kind == base::ErrorKind::kBusy);
    CHECK(r.dma.state(2) == RingState::kWaiting);
    r.sync.signal(0, 1);
    REQUIRE(r.wait(1, 1));
    REQUIRE(r.dma.push(2, third).ok());
    REQUIRE(r.wait(1, 2));
    CHECK(r.get(3072) == ramp(1));
  });
}

CONFORMANCE_CASE(
    "rings: closing drops what waits, changes no timeline, and the ring opens afresh") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.npu.open(1, 4, 0, 0).ok());
    r.put(0, ramp(9)), r.put(512, ramp(0));
    arch::QueueEntry e = r.npu_job(0, 512, {5, 2});
    e.wait[0] = point(3, 1), e.signal[0] = point(4, 1);
    REQUIRE(r.npu.push(1, e).ok());
    r.rest(20 * kUs);
    r.npu.close(1);
    CHECK(r.npu.state(1) == RingState::kOff);
    r.sync.signal(3, 1);
    r.rest(20 * kUs);
    CHECK(r.sync.value(4) == 0);
    CHECK(r.sync.failure(4) == arch::SyncFailure::kNone);
    CHECK(r.get(512) == ramp(0));
    REQUIRE(r.npu.open(1, 8, 3, 0).ok());
    CHECK(*r.npu.push(1, e) == 0);
    REQUIRE(r.wait(4, 1));
    CHECK(r.get(512) == Affine{5, 2}(ramp(9)));
  });
}

CONFORMANCE_CASE("rings: the highest priority first, equals take turns") {
  on_rig(board, [](Rig& r) {
    const Affine f[3][2] = {{{3, 1}, {5, 2}}, {{7, 3}, {9, 4}}, {{11, 5}, {13, 6}}};
    const std::uint32_t priority[3] = {1, 3, 1};
    r.put(0, ramp(0));
    for (std::uint32_t ring = 0; ring < 3; ++ring) {
      REQUIRE(r.npu.open(ring, 4, priority[ring], 0).ok());
      for (std::uint32_t i = 0; i < 2; ++i) {
        arch::QueueEntry e = r.npu_job(0, 0, f[ring][i]);
        if (i == 0) e.wait[0] = point(0, 1);
        e.signal[0] = point(1 + ring, i + 1);
        REQUIRE(r.npu.push(ring, e).ok());
      }
    }
    r.rest(50 * kUs);  // all first entries are waiting
    r.sync.signal(0, 1);
    for (std::uint32_t ring = 0; ring < 3; ++ring) REQUIRE(r.wait(1 + ring, 2));
    const Bytes got = r.get(0);
    const Bytes turns[] = {
        applied(ramp(0), {f[1][0], f[1][1], f[0][0], f[2][0], f[0][1], f[2][1]}),
        applied(ramp(0), {f[1][0], f[1][1], f[2][0], f[0][0], f[2][1], f[0][1]})};
    CHECK((got == turns[0] || got == turns[1]));
  });
}

CONFORMANCE_CASE("rings: entries without work wait and signal while the engine is occupied", {},
                 {sim::FaultKind::kEngineHang}) {
  on_rig(board, faults({{.kind = "engine_hang", .target = "dma"}}), [](Rig& r) {
    REQUIRE(r.dma.open(0, 4, 3, 0).ok());
    REQUIRE(r.dma.open(1, 4, 0, 0).ok());
    REQUIRE(r.dma.push(0, r.dma_job(0, 1024)).ok());  // for ever
    arch::QueueEntry fence = fence_entry();
    fence.wait[0] = point(0, 5), fence.signal[0] = point(1, 1), fence.signal[1] = point(2, 9);
    REQUIRE(r.dma.push(1, fence).ok());
    CHECK_FALSE(r.wait(1, 1, 50 * kUs));
    r.sync.signal(0, 5);
    REQUIRE(r.wait(1, 1));
    CHECK(r.sync.value(2) == 9);
    CHECK(r.dma.finished(1) == 1);
    CHECK(r.dma.running() == 0);
  });
}

CONFORMANCE_CASE("rings: HEAD counts, and an interrupt comes for entries that asked for one") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.dma.open(3, 8, 0, 0).ok());
    arch::QueueEntry quiet = fence_entry(), loud = fence_entry();
    quiet.signal[0] = point(0, 1), loud.signal[0] = point(0, 2), loud.irq = 1;
    REQUIRE(r.dma.push(3, quiet).ok());
    REQUIRE(r.wait(0, 1));
    CHECK(r.dma.take_interrupts() == 0);
    REQUIRE(r.dma.push(3, loud).ok());
    REQUIRE(r.wait(0, 2));
    CHECK(r.dma.take_interrupts() == 1u << 3);
    CHECK(r.dma.finished(3) == 2);
    CHECK(r.dma.state(3) == RingState::kIdle);
  });
}

CONFORMANCE_CASE(
    "rings: a malformed entry halts its ring with its address, and skipping it goes on") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.dma.open(0, 4, 0, 0).ok());
    REQUIRE(r.dma.open(1, 4, 0, 0).ok());
    arch::QueueEntry bad = fence_entry(), good = fence_entry();
    bad.kind = 9;
    good.signal[0] = point(0, 1);
    REQUIRE(r.dma.push(0, bad).ok());
    REQUIRE(r.dma.push(0, good).ok());
    REQUIRE(r.halted(r.dma, 0));
    const host_runtime::RingFault fault = r.dma.fault(0);
    CHECK(fault.cause == RingCause::kBadEntry);
    CHECK(fault.address == (r.port.read32(arch::kDmaQueueBase + queue::kRing0BaseLo)));
    CHECK(r.sync.value(0) == 0);
    r.dma.skip(0);
    REQUIRE(r.wait(0, 1));
    arch::QueueEntry other = fence_entry();
    other.signal[0] = point(1, 1);
    REQUIRE(r.dma.push(1, other).ok());
    REQUIRE(r.wait(1, 1));
  });
}

CONFORMANCE_CASE(
    "rings: no memory, an odd size and a doorbell too far halt the ring and name the cause") {
  on_rig(board, [](Rig& r) {
    const auto set = [&](std::uint32_t reg, std::uint32_t ring, std::uint32_t value) {
      r.port.write32(arch::kDmaQueueBase + reg + ring * arch::kRingStride, value);
    };
    set(queue::kRing0BaseLo, 0, 0x70000000), set(queue::kRing0Entries, 0, 4),
        set(queue::kRing0Config, 0, 1);
    set(queue::kRing0Tail, 0, 1);
    REQUIRE(r.halted(r.dma, 0));
    CHECK(r.dma.fault(0).cause == RingCause::kBus);
    set(queue::kRing0Entries, 1, 6), set(queue::kRing0Config, 1, 1);
    REQUIRE(r.halted(r.dma, 1));
    CHECK(r.dma.fault(1).cause == RingCause::kBadEntry);
    REQUIRE(r.dma.open(2, 4, 0, 0).ok());
    set(queue::kRing0Tail, 2, 5);
    REQUIRE(r.halted(r.dma, 2));
    CHECK(r.dma.fault(2).cause == RingCause::kOverflow);
    REQUIRE(r.dma.open(3, 4, 0, 0).ok());  // and others go on
    arch::QueueEntry e = r.dma_job(0, 1024);
    e.signal[0] = point(0, 1);
    r.put(0, ramp(3));
    REQUIRE(r.dma.push(3, e).ok());
    REQUIRE(r.wait(0, 1));
    CHECK(r.get(1024) == ramp(3));
    for (std::uint32_t ring = 0; ring < 3; ++ring) set(queue::kRing0Config, ring, 0);
  });
}

CONFORMANCE_CASE("rings: counters pass 2^32", {Capability::kPresetCounters}) {
  on_rig(board, [&board](Rig& r) {
    REQUIRE(r.dma.open(0, 4, 0, 0).ok());
    constexpr std::uint32_t kStart = 0xFFFFFFFD;
    board.preset_counters(r.port, arch::kDmaQueueBase, 0, kStart);
    const std::uint64_t ring = r.port.read32(arch::kDmaQueueBase + queue::kRing0BaseLo);
    const SharedMemory copy =
        *r.port.alloc(MemoryKind::kDram, 4 * arch::kQueueEntryBytes, arch::kPageBytes);
    REQUIRE(ring != 0);
    r.port.write32(arch::kDmaQueueBase + queue::kRing0BaseLo,
                   static_cast<std::uint32_t>(copy.address));
    for (std::uint32_t i = 0; i < 4; ++i) {
      arch::QueueEntry e = fence_entry();
      e.signal[0] = point(0, i + 1);
      std::vector<std::uint32_t> words;
      arch::pack(e, words);
      const std::uint32_t slot = (kStart + i) % 4;
      std::memcpy(copy.host + slot * arch::kQueueEntryBytes, words.data(), words.size() * 4);
    }
    r.port.clean(copy.address, copy.bytes);
    r.port.write32(arch::kDmaQueueBase + queue::kRing0Tail, kStart + 4);
    REQUIRE(r.wait(0, 4));
    CHECK(r.sync.failure(0) == arch::SyncFailure::kNone);  // strictly in order
    CHECK(r.port.read32(arch::kDmaQueueBase + queue::kRing0Head) == 1);
    CHECK(r.dma.state(0) == RingState::kIdle);
    r.dma.close(0);
    r.port.free(copy);
  });
}
