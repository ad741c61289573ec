// Rings, timelines and the queue managers on a whole board: engines wait for each other without the
// host, failures spread to every waiter and stay, a halted ring leaves the others alone.
#include <catch2/catch.hpp>
#include <cstring>

#include "soc/platform.h"
#include "tests/soc/queue_host.h"
#include "tests/support/source_dir.h"

namespace deputy::soc_test {
namespace {

void on_board(const std::function<void(Host&)>& test) {
  auto config = soc::load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml", {});
  REQUIRE(config.ok());
  soc::Platform platform(*config, {});
  const auto record = platform.run([&](HwPort& port) -> base::Status {
    Host host(port);
    test(host);
    return {};
  });
  if (!record.ok()) FAIL(record.error().text());
}

}  // namespace

TEST_CASE("a chain DMA, NPU, DMA runs without the host, submitted last link first") {
  on_board([](Host& h) {
    for (std::uint32_t i = 0; i < kBytes; ++i)
      h.dram.host[i] = static_cast<std::uint8_t>(i * 7 + 3);
    h.port.clean(h.dram.address, kBytes);
    h.enable(Host::kNpu, 0), h.enable(Host::kDma, 1);
    h.enable(Host::kDma, 2);
    arch::QueueEntry last = h.copy(0x80000, 0x20000, 0x30000);
    last.wait[0] = point(1, 1), last.signal[0] = point(2, 9), last.irq = 1;
    h.submit(Host::kDma, 2, last);  // waits for what nobody has submitted yet
    arch::QueueEntry middle = h.npu_copy(0x81000, 0x10000, 0x20000);
    middle.wait[0] = point(0, 5), middle.signal[0] = point(1, 1);
    h.submit(Host::kNpu, 0, middle);
    h.rest(20);
    CHECK(h.state(Host::kDma, 2) == RingState::kWaiting);
    CHECK(h.value(1) == 0);
    arch::QueueEntry first = h.copy(0x82000, 0, 0x10000);
    first.signal[0] = point(0, 5);
    h.submit(Host::kDma, 1, first);
    REQUIRE(h.wait(2, 9));
    CHECK(h.value(0) == 5);
    CHECK(h.value(1) == 1);
    CHECK(h.value(2) == 9);
    h.port.invalidate(h.dram.address + 0x30000, kBytes);
    CHECK(std::memcmp(h.dram.host, h.dram.host + 0x30000, kBytes) == 0);
    CHECK(h.reg(Host::kDma, queue::kRing0Head, 2) == 1);
    CHECK(h.state(Host::kDma, 2) == RingState::kIdle);
    CHECK((h.port.read32(arch::kDmaQueueBase + queue::kIrqStatus) & 1u << 2) != 0);
  });
}

TEST_CASE(
    "a faulting job halts its ring alone; skipping it fails its timeline and all that wait for "
    "it") {
  on_board([](Host& h) {
    h.enable(Host::kNpu, 0), h.enable(Host::kNpu, 1), h.enable(Host::kDma, 0);
    arch::QueueEntry bad = h.npu_copy(0x80000, 0, 0x20000, kBytes);  // stores beyond its region
    bad.signal[0] = point(0, 1), bad.job = 42;
    arch::QueueEntry dependent = h.copy(0x81000, 0, 0x30000);
    dependent.wait[0] = point(0, 1), dependent.signal[0] = point(1, 1);
    arch::QueueEntry innocent = h.npu_copy(0x82000, 0, 0x40000);
    innocent.signal[0] = point(2, 1);
    h.submit(Host::kNpu, 0, bad);
    h.submit(Host::kDma, 0, dependent);
    h.submit(Host::kNpu, 1, innocent);
    REQUIRE(h.wait(2, 1));
    CHECK(h.failure(2) == SyncFailure::kNone);
    CHECK(h.state(Host::kNpu, 0) == RingState::kHalted);
    CHECK(h.cause(Host::kNpu, 0) == RingCause::kEngineFault);
    const std::uint32_t info = h.reg(Host::kNpu, queue::kRing0ErrInfo, 0);
    CHECK((info & 0xFF) == static_cast<std::uint32_t>(arch::Opcode::kStore));
    CHECK((info >> 8 & 0xFFFF) == 7);
    CHECK(info >> 24 == static_cast<std::uint32_t>(arch::NpuError::kRegionBounds));
    CHECK(h.failure(0) == SyncFailure::kNone);  // a retry may still succeed
    CHECK(h.state(Host::kDma, 0) == RingState::kWaiting);
    h.set(Host::kNpu, queue::kRing0Ctrl, 0, 2);
    REQUIRE(h.wait(1, 1));  // woken by the failure
    CHECK(h.failure(0) == SyncFailure::kJobFailed);
    CHECK(h.failure(1) == SyncFailure::kUpstream);
    CHECK(h.value(1) == 0);
    CHECK(h.state(Host::kNpu, 0) == RingState::kIdle);
    h.signal(0, 7);  // sticky
    CHECK(h.value(0) == 0);
    h.port.write32(arch::kSyncBase + sync::kClear, 1);
    CHECK(h.failure(0) == SyncFailure::kNone);
    h.signal(0, 7);
    CHECK(h.value(0) == 7);
  });
}

TEST_CASE("a retry runs the head entry again and succeeds once its cause is gone") {
  on_board([](Host& h) {
    h.enable(Host::kNpu, 3);
    arch::QueueEntry bad = h.npu_copy(0x80000, 0, 0x20000, kBytes);
    bad.signal[0] = point(0, 1);
    h.submit(Host::kNpu, 3, bad);
    h.rest(50);
    REQUIRE(h.state(Host::kNpu, 3) == RingState::kHalted);
    h.set(Host::kNpu, queue::kRing0Ctrl, 3, 1);
    h.rest(50);
    CHECK(h.state(Host::kNpu, 3) == RingState::kHalted);  // the same fault again
    h.npu_copy(0x80000, 0, 0x800);  // a stream that stays inside the region, at the same place
    h.set(Host::kNpu, queue::kRing0Ctrl, 3, 1);
    h.rest(50);
    CHECK(h.cause(Host::kNpu, 3) == RingCause::kEngineFault);  // 0x800 + 4096 is still beyond 4096
    h.npu_copy(0x80000, 0, 0);
    h.set(Host::kNpu, queue::kRing0Ctrl, 3, 1);
    REQUIRE(h.wait(0, 1));
    CHECK(h.value(0) == 1);
  });
}

TEST_CASE("priorities order the ready jobs of an engine; equal ones take turns") {
  on_board([](Host& h) {
    h.enable(Host::kDma, 0, 0), h.enable(Host::kDma, 1, 2), h.enable(Host::kDma, 2, 0);
    // All wait for timeline 0, so that all are ready at once; each entry signals the next value of
    // its ring.
    for (std::uint32_t ring : {0u, 1u, 2u})
      for (std::uint64_t i = 1; i <= 3; ++i) {
        arch::QueueEntry e = h.copy(0x80000, 0, 0x10000);
        if (i == 1) e.wait[0] = point(0, 1);
        // Ring 1's last job must be over before any job of rings 0 and 2 ends.
        e.signal[0] = point(static_cast<std::uint8_t>(1 + ring), i);
        h.submit(Host::kDma, ring, e);
      }
    h.signal(0, 1);
    REQUIRE(h.wait(1, 1));
    CHECK(h.value(2) == 3);
    REQUIRE(h.wait(3, 2));
    CHECK(h.value(1) >= 1);  // turns: ring 0 was not starved by ring 2, nor the other way round
    CHECK(h.value(1) <= 2);
    REQUIRE(h.wait(1, 3));
  });
}

TEST_CASE("entries and doorbells that make no sense halt the ring and name the cause") {
  on_board([](Host& h) {
    h.enable(Host::kDma, 0);
    h.set(Host::kDma, queue::kRing0Tail, 0, kEntries + 1);
    CHECK(h.cause(Host::kDma, 0) == RingCause::kOverflow);
    h.enable(Host::kDma, 1);
    arch::QueueEntry e;
    e.kind = 9;
    h.submit(Host::kDma, 1, e);
    h.rest(20);
    CHECK(h.cause(Host::kDma, 1) == RingCause::kBadEntry);
    h.set(Host::kDma, queue::kRing0BaseLo, 2, 0x70000000);  // nobody there
    h.set(Host::kDma, queue::kRing0Entries, 2, 4);
    h.set(Host::kDma, queue::kRing0Config, 2, 1);
    h.set(Host::kDma, queue::kRing0Tail, 2, 1);
    h.rest(20);
    CHECK(h.cause(Host::kDma, 2) == RingCause::kBus);
    h.set(Host::kDma, queue::kRing0Entries, 3, 6);  // no power of two
    h.set(Host::kDma, queue::kRing0Config, 3, 1);
    CHECK(h.cause(Host::kDma, 3) == RingCause::kBadEntry);
    h.signal(5, 10);
    h.signal(5, 10);
    CHECK(h.failure(5) == SyncFailure::kNotIncreasing);
  });
}

TEST_CASE("aborting a running job halts its ring and frees the engine for the others") {
  on_board([](Host& h) {
    h.enable(Host::kNpu, 0), h.enable(Host::kNpu, 1);
    arch::QueueEntry slow = h.npu_copy(0x80000, 0, 0x20000), next = h.npu_copy(0x81000, 0, 0x30000);
    slow.signal[0] = point(0, 1), next.signal[0] = point(1, 1);
    h.submit(Host::kNpu, 0, slow);
    h.submit(Host::kNpu, 1, next);
    REQUIRE(h.port.read32(arch::kNpuQueueBase + queue::kStatus) == 1);
    h.set(Host::kNpu, queue::kRing0Ctrl, 0, 4);
    CHECK(h.cause(Host::kNpu, 0) == RingCause::kAborted);
    REQUIRE(h.wait(1, 1));
    CHECK(h.value(0) == 0);
    h.set(Host::kNpu, queue::kRing0Ctrl, 0, 1);
    REQUIRE(h.wait(0, 1));
    CHECK(h.value(0) == 1);
  });
}

}  // namespace deputy::soc_test
