// Timelines: 64 bits, strictly increasing, waits before signals, failures that reach everybody and
// stay.
#include "tests/conformance/rig.h"

using namespace deputy;
using namespace deputy::conformance;
using arch::SyncFailure;

CONFORMANCE_CASE("timelines: waits come before signals, from rings of both engines and the host") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.npu.open(0, 4, 1, 0).ok());
    REQUIRE(r.npu.open(1, 4, 1, 0).ok());
    REQUIRE(r.dma.open(0, 4, 1, 0).ok());
    r.put(0, ramp(1));
    arch::QueueEntry a = r.npu_job(0, 1024, {3, 1}), b = r.npu_job(0, 2048, {5, 2}),
                     c = r.dma_job(0, 3072);
    for (arch::QueueEntry* e : {&a, &b, &c}) e->wait[0] = point(0, 7);
    a.signal[0] = point(1, 1), b.signal[0] = point(2, 1), c.signal[0] = point(3, 1);
    REQUIRE(r.npu.push(0, a).ok());
    REQUIRE(r.npu.push(1, b).ok());
    REQUIRE(r.dma.push(0, c).ok());
    CHECK_FALSE(r.wait(0, 7, 50 * kUs));
    r.sync.signal(0, 6);
    CHECK_FALSE(r.wait(0, 7, 50 * kUs));
    for (std::uint32_t t = 1; t < 4; ++t) CHECK(r.sync.value(static_cast<std::uint8_t>(t)) == 0);
    r.sync.signal(0, 9);
    for (std::uint32_t t = 0; t < 4; ++t) CHECK(r.wait(t, t == 0 ? 9 : 1));
    CHECK(r.get(1024) == Affine{3, 1}(ramp(1)));
    CHECK(r.get(2048) == Affine{5, 2}(ramp(1)));
    CHECK(r.get(3072) == ramp(1));
  });
}

CONFORMANCE_CASE("timelines: an entry waits for all of its four points") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.dma.open(0, 4, 1, 0).ok());
    arch::QueueEntry e = fence_entry();
    for (std::uint32_t i = 0; i < 4; ++i) e.wait[i] = point(i, 10 + i);
    e.signal[0] = point(8, 1);
    REQUIRE(r.dma.push(0, e).ok());
    for (const std::uint8_t t : {2, 0, 3}) {
      r.sync.signal(t, 20);
      CHECK_FALSE(r.wait(8, 1, 20 * kUs));
    }
    r.sync.signal(1, 11);
    CHECK(r.wait(8, 1));
  });
}

CONFORMANCE_CASE(
    "timelines: a signal that is not above fails, the first failure stays, what was reached "
    "stays") {
  on_rig(board, [](Rig& r) {
    for (const std::uint64_t second : {std::uint64_t{5}, std::uint64_t{4}, std::uint64_t{0}}) {
      const auto t = *r.sync.allocate();
      CHECK(r.sync.value(t) == 0);
      CHECK(r.sync.failure(t) == SyncFailure::kNone);
      r.sync.signal(t, 5);
      r.sync.signal(t, second);
      CHECK(r.sync.failure(t) == SyncFailure::kNotIncreasing);
      r.sync.fail(t, SyncFailure::kCancelled);
      r.sync.signal(t, 6);
      CHECK(r.sync.value(t) == 5);
      CHECK(r.sync.failure(t) == SyncFailure::kNotIncreasing);
      CHECK(r.wait(t, 5));
      CHECK_FALSE(r.wait(t, 6));
      r.sync.release(t);
    }
    const auto t = *r.sync.allocate();
    r.sync.signal(t, 0);  // not above the first value either
    CHECK(r.sync.failure(t) == SyncFailure::kNotIncreasing);
  });
}

CONFORMANCE_CASE("timelines: an entry's signal that is not above fails for its waiters") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.dma.open(0, 4, 1, 0).ok());
    REQUIRE(r.npu.open(0, 4, 1, 0).ok());
    r.sync.signal(0, 3);
    arch::QueueEntry late = fence_entry(), waiter = fence_entry(), satisfied = fence_entry();
    late.signal[0] = point(0, 2);
    waiter.wait[0] = point(0, 4), waiter.signal[0] = point(1, 1);
    satisfied.wait[0] = point(0, 3), satisfied.signal[0] = point(2, 1);
    REQUIRE(r.npu.push(0, waiter).ok());
    REQUIRE(r.dma.push(0, late).ok());
    CHECK_FALSE(r.wait(1, 1));
    CHECK(r.sync.failure(1) == SyncFailure::kUpstream);
    REQUIRE(r.npu.push(0, satisfied).ok());
    CHECK(r.wait(2, 1));
  });
}

CONFORMANCE_CASE(
    "timelines: a failure reaches every waiter, across engines, and none of their jobs runs") {
  on_rig(board, [](Rig& r) {
    for (const std::uint32_t ring : {0u, 1u}) {
      REQUIRE(r.npu.open(ring, 4, 1, 0).ok());
      REQUIRE(r.dma.open(ring, 4, 1, 0).ok());
    }
    r.put(0, ramp(1)), r.put(1024, ramp(100)), r.put(2048, ramp(200)), r.put(3072, ramp(50));
    arch::QueueEntry root = r.dma_job(0, 1024), npu = r.npu_job(1024, 2048, {3, 1}),
                     dma = r.dma_job(2048, 3072), other = r.npu_job(1024, 3072, {5, 1});
    root.wait[0] = point(0, 1), root.signal[0] = point(1, 1);
    npu.wait[0] = other.wait[0] = point(1, 1);
    npu.signal[0] = point(2, 1), npu.signal[1] = point(3, 1);
    dma.wait[0] = point(2, 1), dma.signal[0] = point(4, 1), other.signal[0] = point(5, 1);
    REQUIRE(r.dma.push(1, dma).ok());
    REQUIRE(r.npu.push(0, npu).ok());
    REQUIRE(r.npu.push(1, other).ok());
    REQUIRE(r.dma.push(0, root).ok());
    r.rest(50 * kUs);
    r.sync.fail(0, SyncFailure::kDeadline);
    CHECK_FALSE(r.wait(4, 1));
    CHECK_FALSE(r.wait(5, 1));
    CHECK(r.sync.failure(0) == SyncFailure::kDeadline);
    for (std::uint8_t t = 1; t < 6; ++t) CHECK(r.sync.failure(t) == SyncFailure::kUpstream);
    CHECK(r.get(1024) == ramp(100));
    CHECK(r.get(2048) == ramp(200));
    CHECK(r.get(3072) == ramp(50));
    CHECK(r.dma.finished(0) + r.dma.finished(1) + r.npu.finished(0) + r.npu.finished(1) == 4);
  });
}

CONFORMANCE_CASE("timelines: large values are plain numbers") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.dma.open(0, 8, 1, 0).ok());
    constexpr std::uint64_t kTop = std::uint64_t{1} << 62;
    std::uint64_t number = 0;
    for (const std::uint64_t v :
         {(std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 32, kTop - 1, kTop, kTop + 1}) {
      arch::QueueEntry waiter = fence_entry();
      waiter.wait[0] = point(0, v), waiter.signal[0] = point(1, v);
      REQUIRE(r.dma.push(0, waiter).ok());
      CHECK_FALSE(r.wait(1, v, 20 * kUs));
      r.sync.signal(0, v);
      CHECK(r.wait(1, v));
      CHECK(r.sync.value(0) == v);
      CHECK(r.sync.value(1) == v);
      CHECK(r.dma.finished(0) == ++number);
    }
    // The host signals up to the last bit; a ring entry that names more than 9.2e18 is refused as
    // malformed (docs/conformance.md).
    r.sync.signal(0, std::uint64_t{1} << 63);
    r.sync.signal(0, ~std::uint64_t{0});
    CHECK(r.sync.value(0) == ~std::uint64_t{0});
    r.sync.signal(0, 1);
    CHECK(r.sync.failure(0) == SyncFailure::kNotIncreasing);
  });
}

CONFORMANCE_CASE("timelines: all can be taken, then it is busy, and released ones begin at 0") {
  on_rig(board, [](Rig& r) {
    for (std::uint32_t i = 0; i < arch::kTimelineCount; ++i) {
      const auto t = r.sync.allocate();
      REQUIRE(t.ok());
      r.sync.signal(*t, 100 + i);
      if (i % 2) r.sync.fail(*t, SyncFailure::kCancelled);
    }
    CHECK(r.sync.allocate().error().kind == base::ErrorKind::kBusy);
    for (std::uint8_t t = 3; t < 6; ++t) r.sync.release(t);
    for (int i = 0; i < 3; ++i) {
      const auto t = r.sync.allocate();
      REQUIRE(t.ok());
      CHECK((*t >= 3 && *t < 6));
      CHECK(r.sync.value(*t) == 0);
      CHECK(r.sync.failure(*t) == SyncFailure::kNone);
    }
    CHECK(r.sync.allocate().error().kind == base::ErrorKind::kBusy);
    CHECK(r.sync.value(6) == 106);  // the others were left alone
  });
}
