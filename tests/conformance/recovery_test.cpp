// Halted rings and what the driver does about them: retry, skip, abort, restart, reset.
#include "tests/conformance/rig.h"

using namespace deputy;
using namespace deputy::conformance;
using arch::RingCause, arch::RingState, arch::SyncFailure;

CONFORMANCE_CASE("recovery: a fault halts its ring alone and says where") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.npu.open(0, 4, 1, 0).ok());
    REQUIRE(r.npu.open(1, 4, 1, 0).ok());
    REQUIRE(r.dma.open(0, 4, 1, 0).ok());
    r.put(0, ramp(1));
    arch::QueueEntry bad = r.bad_npu_job(0), lost = r.bad_dma_job(0),
                     good = r.npu_job(0, 1024, {3, 1});
    bad.signal[0] = point(0, 1), lost.signal[0] = point(1, 1), good.signal[0] = point(2, 1);
    REQUIRE(r.npu.push(0, bad).ok());
    REQUIRE(r.dma.push(0, lost).ok());
    REQUIRE(r.npu.push(1, good).ok());
    REQUIRE(r.wait(2, 1));
    REQUIRE(r.halted(r.npu, 0));
    REQUIRE(r.halted(r.dma, 0));
    const auto npu = r.npu.fault(0), dma = r.dma.fault(0);
    CHECK(npu.cause == RingCause::kEngineFault);
    CHECK((npu.info & 0xFF) == static_cast<std::uint32_t>(arch::Opcode::kStore));
    CHECK((npu.info >> 8 & 0xFFFF) == 7);
    CHECK(npu.info >> 24 == static_cast<std::uint32_t>(arch::NpuError::kRegionBounds));
    CHECK(dma.cause == RingCause::kEngineFault);
    CHECK(dma.info >> 24 == static_cast<std::uint32_t>(arch::DmaError::kBus));
    CHECK(dma.address == 0x70000000);
    for (const std::uint8_t t : {0, 1}) {
      CHECK(r.sync.value(t) == 0);
      CHECK(r.sync.failure(t) == SyncFailure::kNone);  // a retry may still succeed
    }
    CHECK((r.npu.take_interrupts() & 1u << 8) != 0);
    CHECK((r.dma.take_interrupts() & 1u << 8) != 0);
  });
}

CONFORMANCE_CASE("recovery: a skipped entry's signals fail and the ring goes on") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.npu.open(0, 4, 1, 0).ok());
    r.put(0, ramp(1));
    arch::QueueEntry bad = r.bad_npu_job(0), good = r.npu_job(0, 1024, {3, 1});
    bad.signal[0] = point(0, 1), bad.signal[1] = point(1, 4), good.signal[0] = point(2, 1);
    REQUIRE(r.npu.push(0, bad).ok());
    REQUIRE(r.npu.push(0, good).ok());
    REQUIRE(r.halted(r.npu, 0));
    CHECK(r.sync.value(2) == 0);
    r.npu.skip(0);
    REQUIRE(r.wait(2, 1));
    CHECK(r.sync.failure(0) == SyncFailure::kJobFailed);
    CHECK(r.sync.failure(1) == SyncFailure::kJobFailed);
    CHECK(r.npu.finished(0) == 2);
    CHECK(r.get(1024) == Affine{3, 1}(ramp(1)));
  });
}

CONFORMANCE_CASE("recovery: fail_fast fails the signals without a halt") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.dma.open(0, 4, 1, 0).ok());
    arch::QueueEntry bad = r.bad_dma_job(0), next = fence_entry();
    bad.fail_fast = 1, bad.signal[0] = point(0, 1), next.signal[0] = point(1, 1);
    REQUIRE(r.dma.push(0, bad).ok());
    REQUIRE(r.dma.push(0, next).ok());
    CHECK(r.wait(1, 1));
    CHECK(r.sync.failure(0) == SyncFailure::kJobFailed);
    CHECK(r.dma.state(0) == RingState::kIdle);
  });
}

CONFORMANCE_CASE("recovery: a retry reads the entry again") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.npu.open(2, 4, 1, 0).ok());
    r.put(0, ramp(1));
    arch::QueueEntry bad = r.bad_npu_job(0), mended = r.npu_job(0, 1024, {7, 7});
    bad.signal[0] = mended.signal[0] = point(0, 1);
    REQUIRE(r.npu.push(2, fence_entry()).ok());
    REQUIRE(r.npu.push(2, bad).ok());
    REQUIRE(r.halted(r.npu, 2));
    r.npu.take_interrupts();
    r.npu.retry(2);
    REQUIRE(r.halted(r.npu, 2));  // the same fault again
    r.npu.retry_as(2, mended);
    REQUIRE(r.wait(0, 1));
    CHECK(r.get(1024) == Affine{7, 7}(ramp(1)));
    CHECK(r.npu.finished(2) == 2);
  });
}

CONFORMANCE_CASE("recovery: an abort stops what runs, the others go on, a retry runs it again", {},
                 {sim::FaultKind::kEngineHang}) {
  on_rig(board, faults({{.kind = "engine_hang", .target = "npu"}}), [](Rig& r) {
    REQUIRE(r.npu.open(0, 4, 3, 0).ok());
    REQUIRE(r.npu.open(1, 4, 0, 0).ok());
    r.put(0, ramp(1)), r.put(1024, ramp(0)), r.put(2048, ramp(0));
    arch::QueueEntry stuck = r.npu_job(0, 1024, {3, 1}), next = r.npu_job(0, 2048, {5, 1});
    stuck.signal[0] = point(0, 1), next.signal[0] = point(1, 1);
    REQUIRE(r.npu.push(0, stuck).ok());
    REQUIRE(r.npu.push(1, next).ok());
    CHECK_FALSE(r.wait(1, 1, 200 * kUs));
    CHECK(r.npu.running() == 0);
    const std::uint32_t progress = r.npu.progress();
    r.rest(1 * kMs);
    CHECK(r.npu.progress() == progress);  // no sign of life
    r.npu.abort(1);                       // it does not run: nothing happens
    CHECK(r.npu.running() == 0);
    r.npu.abort(0);
    CHECK(r.npu.state(0) == RingState::kHalted);
    CHECK(r.npu.fault(0).cause == RingCause::kAborted);
    REQUIRE(r.wait(1, 1));
    CHECK(r.npu.progress() != progress);
    CHECK(r.sync.value(0) == 0);
    CHECK(r.get(1024) == ramp(0));
    r.npu.retry(0);
    REQUIRE(r.wait(0, 1));
    CHECK(r.get(1024) == Affine{3, 1}(ramp(1)));
  });
}

CONFORMANCE_CASE(
    "recovery: a reset gives every ring its entries again, and the other engine goes on", {},
    {sim::FaultKind::kEngineHang}) {
  on_rig(board, faults({{.kind = "engine_hang", .target = "npu", .nth = 6}}), [](Rig& r) {
    for (const std::uint32_t ring : {0u, 1u, 3u}) REQUIRE(r.npu.open(ring, 4, 1, 0).ok());
    REQUIRE(r.dma.open(0, 4, 1, 0).ok());
    r.put(0, ramp(1)), r.put(4096, ramp(7, 16384));
    arch::QueueEntry done = r.npu_job(0, 1024, {3, 1}), stuck = r.npu_job(1024, 2048, {5, 2}),
                     waits = r.npu_job(2048, 3072, {7, 3}), copy = r.dma_job(4096, 32768, 16384);
    done.signal[0] = point(0, 1), stuck.signal[0] = point(0, 2), waits.signal[0] = point(1, 1),
    copy.signal[0] = point(2, 1);
    waits.wait[0] = point(0, 2), copy.wait[0] = point(3, 1);
    arch::QueueEntry later = fence_entry();
    later.wait[0] = point(1, 1), later.signal[0] = point(4, 1);
    REQUIRE(r.npu.push(0, done).ok());
    REQUIRE(r.wait(0, 1));
    REQUIRE(r.npu.push(0, stuck).ok());
    REQUIRE(r.npu.push(1, waits).ok());
    REQUIRE(r.npu.push(3, later).ok());
    REQUIRE(r.dma.push(0, copy).ok());
    CHECK_FALSE(r.wait(0, 2, 200 * kUs));
    r.sync.signal(3, 1);  // the copy begins
    r.npu.reset();
    CHECK(r.wait(0, 2));
    CHECK(r.wait(1, 1));
    CHECK(r.wait(4, 1));
    CHECK(r.wait(2, 1));
    for (std::uint8_t t = 0; t < 5; ++t)
      CHECK(r.sync.failure(t) == SyncFailure::kNone);  // nothing was signalled twice
    const Bytes first = Affine{3, 1}(ramp(1)), second = Affine{5, 2}(first);
    CHECK(r.get(2048) == second);
    CHECK(r.get(3072) == Affine{7, 3}(second));
    CHECK(r.get(32768, 16384) == ramp(7, 16384));
    CHECK(r.npu.finished(0) == 2);
    CHECK(r.npu.finished(1) == 1);
    CHECK(r.npu.finished(3) == 1);
  });
}

CONFORMANCE_CASE("recovery: a ring begins afresh with its entries while the others stay") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.dma.open(0, 2, 1, 0).ok());
    REQUIRE(r.dma.open(1, 2, 1, 0).ok());
    r.put(0, ramp(1));
    std::uint64_t value = 0;
    for (int i = 0; i < 3; ++i) {  // so that HEAD is not where the ring begins
      arch::QueueEntry e = fence_entry();
      e.signal[0] = point(0, ++value);
      REQUIRE(r.dma.push(0, e).ok());
      REQUIRE(r.wait(0, value));
    }
    arch::QueueEntry first = r.dma_job(0, 1024), second = r.dma_job(1024, 2048),
                     other = r.dma_job(0, 3072);
    first.wait[0] = other.wait[0] = point(1, 1);
    second.signal[0] = point(2, 1), other.signal[0] = point(3, 1);
    REQUIRE(r.dma.push(0, first).ok());
    REQUIRE(r.dma.push(0, second).ok());
    REQUIRE(r.dma.push(1, other).ok());
    r.dma.restart(0);
    r.sync.signal(1, 1);
    REQUIRE(r.wait(2, 1));
    REQUIRE(r.wait(3, 1));
    CHECK(r.get(2048) == ramp(1));
    CHECK(r.get(3072) == ramp(1));
    CHECK(r.dma.finished(0) == 5);
    CHECK(r.dma.finished(1) == 1);
  });
}

CONFORMANCE_CASE("recovery: a doorbell that got lost reads back as it was, and can be rung again",
                 {}, {sim::FaultKind::kLostDoorbell}) {
  on_rig(board, faults({{.kind = "lost_doorbell", .target = "dma.queue"}}), [](Rig& r) {
    REQUIRE(r.dma.open(0, 4, 1, 0).ok());
    arch::QueueEntry e = fence_entry();
    e.signal[0] = point(0, 1);
    REQUIRE(r.dma.push(0, e).ok());
    CHECK_FALSE(r.wait(0, 1, 100 * kUs));
    CHECK(r.dma.state(0) == RingState::kIdle);
    CHECK(r.port.read32(arch::kDmaQueueBase + arch::queue_reg::kRing0Tail) == 0);
    r.dma.ring_doorbell(0);
    CHECK(r.wait(0, 1));
  });
}
