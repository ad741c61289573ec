// Work that goes from engine to engine while the host sleeps, and from the sensor to them.
#include "host_runtime/runtime/sensor_ring.h"
#include "tests/conformance/models.h"

using namespace deputy;
using namespace deputy::conformance;
using namespace deputy::host_runtime;

CONFORMANCE_CASE("chains: twelve jobs hand over from engine to engine on one signal of the host") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.npu.open(0, 16, 1, 0).ok());
    REQUIRE(r.dma.open(0, 16, 1, 0).ok());
    r.put(0, ramp(11));
    Bytes expected = ramp(11);
    for (std::uint32_t i = 0; i < 12; ++i) {
      const std::uint64_t from = 512 * i, to = 512 * (i + 1);
      const Affine f{2 * i + 3, i};
      arch::QueueEntry e = i % 2 == 0 ? r.dma_job(from, to) : r.npu_job(from, to, f);
      if (i % 2 != 0) expected = f(expected);
      e.wait[0] = point(0, i + 1), e.signal[0] = point(0, i + 2);
      REQUIRE((i % 2 == 0 ? r.dma : r.npu).push(0, e).ok());
    }
    r.rest(100 * kUs);
    CHECK(r.sync.value(0) == 0);
    r.sync.signal(0, 1);
    r.rest(5 * kMs);  // the host does nothing
    CHECK(r.sync.value(0) == 13);
    CHECK(r.sync.failure(0) == arch::SyncFailure::kNone);
    CHECK(r.get(512 * 12) == expected);
  });
}

CONFORMANCE_CASE(
    "chains: a failure in the middle reaches the end without the host, and nothing behind it "
    "runs") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.npu.open(0, 8, 1, 0).ok());
    REQUIRE(r.dma.open(0, 8, 1, 0).ok());
    r.put(0, ramp(11)), r.put(2048, ramp(0));
    arch::QueueEntry in = r.dma_job(0, 512), bad = r.bad_npu_job(512), out = r.dma_job(1024, 2048);
    in.wait[0] = point(0, 1), in.signal[0] = point(1, 1);
    bad.wait[0] = point(1, 1), bad.signal[0] = point(2, 1), bad.fail_fast = 1;
    out.wait[0] = point(2, 1), out.signal[0] = point(3, 1);
    REQUIRE(r.dma.push(0, in).ok());
    REQUIRE(r.npu.push(0, bad).ok());
    REQUIRE(r.dma.push(0, out).ok());
    r.sync.signal(0, 1);
    r.rest(5 * kMs);
    CHECK(r.sync.value(1) == 1);
    CHECK(r.sync.failure(2) == arch::SyncFailure::kJobFailed);
    CHECK(r.sync.failure(3) == arch::SyncFailure::kUpstream);
    CHECK(r.get(2048) == ramp(0));
  });
}

CONFORMANCE_CASE(
    "chains: camera, network and radio, submitted at once, are done when the host wakes up") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(auto context, device.default_context());
    auto session = load(device, model({3, 1}), 2);
    Buffer camera[] = {buffer(device, ramp(1)), buffer(device, ramp(2))},
           radio[] = {buffer(device, ramp(0)), buffer(device, ramp(0))};
    Fence sent[2];
    for (std::size_t i = 0; i < 2; ++i) {
      Session::Frame& frame = session->frame(i);
      DEPUTY_ASSIGN(const Fence in, device.copy(context, frame.input(0), camera[i], {}));
      DEPUTY_ASSIGN(const Fence ran, frame.submit({.waits = {in}}));
      DEPUTY_ASSIGN(sent[i],
                    device.copy(context, radio[i], frame.output(0), std::vector<Fence>{ran}));
    }
    port.sleep_until(port.now_ps() + 10 * kMs);
    for (const Fence& fence : sent) CHECK(device.sync().value(fence.timeline()) >= fence.value());
    for (std::size_t i = 0; i < 2; ++i) {
      DEPUTY_TRY(device.wait(sent[i], port.now_ps() + kLong));
      CHECK(*radio[i].read() == Affine{3, 1}(ramp(static_cast<int>(i) + 1)));
    }
    return {};
  });
}

CONFORMANCE_CASE("chains: when the DMA engine is stuck for good the CPU copies, and it counts", {},
                 {sim::FaultKind::kEngineHang}) {
  board.run(faults({{.kind = "engine_hang", .target = "dma", .repeat = 0}}),
            [](HwPort& port) -> base::Status {
              Device device(port, {.recovery = RecoveryPolicy::full()});
              DEPUTY_ASSIGN(auto context, device.default_context());
              auto session = load(device, model({3, 1}, true), 1);
              Session::Frame& frame = session->frame(0);
              Buffer camera = buffer(device, ramp(0)), radio = buffer(device, ramp(0));
              for (std::uint64_t round = 1; round <= 4;
                   ++round) {  // more than it takes to put the engine out of service
                const Bytes scene = ramp(static_cast<int>(50 * round));
                DEPUTY_TRY(camera.write(scene));
                DEPUTY_ASSIGN(const Fence in, device.copy(context, frame.input(0), camera, {}));
                DEPUTY_ASSIGN(const Fence ran, frame.submit({.waits = {in}}));
                DEPUTY_ASSIGN(const Fence sent, device.copy(context, radio, frame.output(0),
                                                            std::vector<Fence>{ran}));
                const std::uint64_t start = port.now_ps(), bound = device.bound_ps();
                DEPUTY_TRY(device.wait(sent, start + bound));
                CHECK(*radio.read() == Affine{3, 1}(relu(scene)));
                CHECK(device.copies_by_cpu() == 2 * round);
                CHECK(frame.record().degraded.empty());
              }
              CHECK_FALSE(device.healthy(EngineId::kDma));
              return {};
            });
}

CONFORMANCE_CASE(
    "sensor: its frames go through the network where they lie, for the NPU and for the CPU",
    {Capability::kSensor}) {
  for (const bool with_relu : {false, true})
    board.run({}, [&](HwPort& port) -> base::Status {
      Device device(port, {});
      auto session = load(device, model({3, 1}, with_relu), 1);
      DEPUTY_ASSIGN(auto ring, SensorRing::start(device, {.frames = 3, .frame_bytes = kJobBytes}));
      Session::Frame& frame = session->frame(0);
      Bytes before;
      for (std::uint64_t n = 0; n < 8; ++n) {
        DEPUTY_TRY(frame.bind_input(0, ring->buffer(n)));
        DEPUTY_ASSIGN(const Fence ran, frame.submit({.waits = {ring->ready(n)}}));
        DEPUTY_TRY(device.wait(ran, port.now_ps() + kLong));
        DEPUTY_ASSIGN(const Bytes scene, ring->buffer(n).read());
        CHECK(scene != before);
        CHECK(*frame.output(0).read() == Affine{3, 1}(with_relu ? relu(scene) : scene));
        before = scene;
        ring->release(n);
      }
      CHECK(ring->dropped() == 0);
      return {};
    });
}

CONFORMANCE_CASE(
    "sensor: frames without a free buffer are dropped and counted, the others stay in order",
    {Capability::kSensor}) {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(
        auto ring,
        SensorRing::start(device, {.frames = 2, .frame_bytes = kJobBytes, .period_ns = 100'000}));
    DEPUTY_TRY(device.wait(ring->ready(1), port.now_ps() + kLong));
    DEPUTY_ASSIGN(const Bytes first, ring->buffer(0).read());
    port.sleep_until(port.now_ps() + 500 * kUs);
    const std::uint32_t dropped = ring->dropped();
    CHECK(dropped >= 4);
    CHECK(*ring->buffer(0).read() == first);  // nobody wrote what was not released
    ring->release(1);
    DEPUTY_TRY(device.wait(ring->ready(3), port.now_ps() + kLong));
    CHECK(*ring->buffer(2).read() != first);
    CHECK(ring->dropped() >= dropped);
    return {};
  });
}
