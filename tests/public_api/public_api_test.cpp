// The public API on the simulated SoC: what the C++ headers promise beyond what the runtime's own
// tests hold. The oracle of scores is the ECG network's golden, by an independent integer model.
#include <catch2/catch.hpp>

#include "deputy/session.h"
#include "deputy/simulate.h"
#include "tests/public_api/c_api_test.h"
#include "tests/support/golden.h"
#include "tests/support/source_dir.h"

using namespace deputy;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes read(const std::string& path) { return tests::read_bytes(tests::source_dir() + "/" + path); }

struct Ecg {
  Bytes tflite = read("workloads/ecg/ecg_beats.tflite");
  Bytes input = tail(read("workloads/ecg/sample_beat.npy"), 256);
  Bytes golden = tail(read("workloads/ecg/golden/sample_beat_tflite.npy"), 5);
  static Bytes tail(Bytes file, std::ptrdiff_t bytes) { return {file.end() - bytes, file.end()}; }
};

void on_soc(const SimulationOptions& options,
            const std::function<base::Status(HwPort&, const Target&)>& program) {
  const auto report = simulate("wearable", options, program);
  if (!report.ok()) FAIL(report.error().text());
}

}  // namespace

TEST_CASE("a C99 program runs a network, and every mistake is a status with a text") {
  const Ecg ecg;
  const c_api_case c{ecg.tflite.data(), ecg.tflite.size(), ecg.input.data(), ecg.golden.data(),
                     ecg.golden.size()};
  CHECK(c_api_failures(&c) == 0);
}

TEST_CASE("bound buffers must be what the tensor requires") {
  const Ecg ecg;
  on_soc({}, [&](HwPort& port, const Target& target) -> base::Status {
    ModelOptions options;
    options.engine = EnginePolicy::kNpu, options.io = IoPlacement::kDram;
    DEPUTY_ASSIGN(const Model model, Model::compile(target, ecg.tflite, "ecg", options));
    DEPUTY_ASSIGN(const Device device, Device::open(port));
    DEPUTY_ASSIGN(const Session session, Session::load(device, model));
    DEPUTY_ASSIGN(const Frame frame, session.frame(0));
    DEPUTY_ASSIGN(const BufferRequirements wanted, session.input_requirements(0));
    CHECK(wanted.bytes == 256);
    CHECK(wanted.kind == MemoryKind::kDram);
    CHECK(session.input_requirements(1).error().kind == base::ErrorKind::kInput);
    DEPUTY_ASSIGN(const Buffer room, Buffer::create(device, MemoryKind::kDram, 4096));
    DEPUTY_ASSIGN(const Buffer crooked, room.view(8, 256));
    DEPUTY_ASSIGN(const Buffer small, room.view(0, 255));
    for (const Buffer& bad : {crooked, small, Buffer()})
      CHECK(frame.bind_input(0, bad).error().kind == base::ErrorKind::kInput);
    {
      // The frame keeps what is bound.
      DEPUTY_ASSIGN(const Buffer fits, Buffer::create(device, wanted));
      DEPUTY_TRY(fits.write(ecg.input));
      DEPUTY_TRY(frame.bind_input(0, fits));
    }
    DEPUTY_ASSIGN(const Fence fence, frame.submit());
    CHECK(frame.bind_input(0, room).error().kind == base::ErrorKind::kBusy);
    DEPUTY_TRY(fence.wait());
    DEPUTY_ASSIGN(const Buffer output, frame.output(0));
    DEPUTY_ASSIGN(const Bytes scores, output.read());
    CHECK(scores == ecg.golden);
    return {};
  });
}

TEST_CASE("tensors that the CPU computes with, or may have to, refuse uncached memory") {
  const Ecg ecg;
  on_soc({}, [&](HwPort& port, const Target& target) -> base::Status {
    const Model npu = *Model::compile(target, ecg.tflite, "ecg",
                                      {.engine = EnginePolicy::kNpu, .io = IoPlacement::kDram});
    const Model cpu = *Model::compile(target, ecg.tflite, "ecg",
                                      {.engine = EnginePolicy::kCpu, .io = IoPlacement::kDram});
    const Model both =
        *Model::compile(target, ecg.tflite, "ecg",
                        {.engine = EnginePolicy::kNpu, .io = IoPlacement::kDram, .fallback = true});
    DEPUTY_ASSIGN(const Device device, Device::open(port, {.recovery = RecoveryOptions::full()}));
    DEPUTY_ASSIGN(const SharedMemory memory, port.alloc(MemoryKind::kDram, 256, 64));
    {
      DEPUTY_ASSIGN(const Buffer camera, Buffer::import(device, memory, {.uncached = true}));
      CHECK(camera.traits().uncached);
      CHECK(Buffer::import(device, {memory.address, 100, memory.host}, {.uncached = true})
                .error()
                .kind == base::ErrorKind::kInput);
      for (const Model* model : {&npu, &cpu, &both}) {
        DEPUTY_ASSIGN(const Session session, Session::load(device, *model));
        DEPUTY_ASSIGN(const Frame frame, session.frame(0));
        DEPUTY_ASSIGN(const BufferRequirements wanted, session.input_requirements(0));
        CHECK(wanted.cached == (model != &npu));  // a fallback is the CPU's, too
        CHECK(camera.fits(wanted).ok() == !wanted.cached);
        const base::Status bound = frame.bind_input(0, camera);
        CHECK(bound.ok() == !wanted.cached);
        if (!bound.ok()) CHECK_THAT(bound.error().text(), Catch::Contains("uncached"));
      }
    }
    port.free(memory);
    return {};
  });
}

TEST_CASE(
    "a copy that the CPU did in a dead DMA engine's place is a step of recovery with a name") {
  on_soc({.fault_plan = tests::source_dir() + "/configs/faults/dma_dead.yaml"},
         [&](HwPort& port, const Target&) -> base::Status {
           DEPUTY_ASSIGN(const Device device,
                         Device::open(port, {.recovery = RecoveryOptions::full()}));
           DEPUTY_ASSIGN(const Buffer from, Buffer::create(device, MemoryKind::kDram, 100));
           DEPUTY_ASSIGN(const Buffer to, Buffer::create(device, MemoryKind::kDram, 100));
           DEPUTY_TRY(from.write(Bytes(100, 7)));
           DEPUTY_ASSIGN(const Fence copied, device.copy(to, from));
           DEPUTY_TRY(copied.wait(port.now_ps() + 1'000'000'000'000));
           DEPUTY_ASSIGN(const Bytes bytes, to.read());
           CHECK(bytes == Bytes(100, 7));
           const auto events = device.recovery_events();
           REQUIRE(!events.empty());
           CHECK(events.back().step == RecoveryStep::kToCpu);
           CHECK(std::string(recovery_step_text(events.back().step)) == "to CPU");
           CHECK(events.back().engine == "dma");
           return {};
         });
}

TEST_CASE(
    "timelines: what is dropped or failed fails its waiters, and nothing is left in the way") {
  const Ecg ecg;
  on_soc({}, [&](HwPort& port, const Target& target) -> base::Status {
    DEPUTY_ASSIGN(const Model model,
                  Model::compile(target, ecg.tflite, "ecg", {.engine = EnginePolicy::kNpu}));
    DEPUTY_ASSIGN(const Device device, Device::open(port));
    DEPUTY_ASSIGN(const Session session, Session::load(device, model));
    DEPUTY_ASSIGN(const Frame frame, session.frame(0));
    Fence waiting, forgotten;
    {
      DEPUTY_ASSIGN(const Timeline sensor, Timeline::create(device));
      CHECK(sensor.at(4).pending());
      DEPUTY_TRY(sensor.signal(4));
      CHECK(sensor.at(4).state() == FenceState::kReached);
      CHECK(sensor.signal(4).error().kind == base::ErrorKind::kInput);
      DEPUTY_ASSIGN(waiting, frame.submit({.waits = {sensor.at(5)}}));
      CHECK(waiting.pending());
    }
    const base::Status failed = waiting.wait(device.now_ps() + 1'000'000'000);
    CHECK(failed.error().kind == base::ErrorKind::kHardwareFault);
    CHECK_THAT(failed.error().message, Catch::Contains("what it waited for failed"));
    CHECK(waiting.state() == FenceState::kFailed);
    // All sixteen can be had again and again, beside the frame's own.
    for (int round = 0; round < 3; ++round) {
      std::vector<Timeline> all;
      for (;;) {
        auto one = Timeline::create(device);
        if (!one.ok()) {
          CHECK(one.error().kind == base::ErrorKind::kBusy);
          break;
        }
        all.push_back(*one);
      }
      CHECK(all.size() == 15);
      all[0].fail();
      CHECK(all[0].at(1).wait().error().kind == base::ErrorKind::kHardwareFault);
      CHECK(all[0].signal(1).error().kind == base::ErrorKind::kCancelled);
    }
    // The same frame, after its failure.
    DEPUTY_ASSIGN(const auto scores, session.run(std::vector<Bytes>{ecg.input}));
    CHECK(scores[0] == ecg.golden);
    CHECK(wait_any({}, kNoDeadline).error().kind == base::ErrorKind::kInput);
    return {};
  });
}

TEST_CASE("a session that goes while its frame and a copy wait for nobody's signal does not hang") {
  const Ecg ecg;
  on_soc({}, [&](HwPort& port, const Target& target) -> base::Status {
    DEPUTY_ASSIGN(const Model model,
                  Model::compile(target, ecg.tflite, "ecg", {.engine = EnginePolicy::kNpu}));
    DEPUTY_ASSIGN(const Device device, Device::open(port));
    DEPUTY_ASSIGN(const Timeline never, Timeline::create(device));
    Fence copied, run;
    {
      DEPUTY_ASSIGN(const Session session,
                    Session::load(device, model, {.context = {}, .frames = 2, .input_shapes = {}}));
      DEPUTY_ASSIGN(const Frame frame, session.frame(0));
      DEPUTY_ASSIGN(const Buffer input, frame.input(0));
      DEPUTY_ASSIGN(const Buffer from, Buffer::create(device, MemoryKind::kDram, 256));
      const std::vector<Fence> waits{never.at(1)};
      DEPUTY_ASSIGN(copied, device.copy(input, from, waits));
      DEPUTY_ASSIGN(run, frame.submit({.waits = waits}));
    }
    CHECK(copied.state() == FenceState::kFailed);
    CHECK(run.state() == FenceState::kFailed);
    CHECK(never.signal(1).error().kind == base::ErrorKind::kCancelled);
    return {};
  });
}

TEST_CASE("other shapes go by the policy, and a second session shares the device by priority") {
  const Ecg ecg;
  on_soc({}, [&](HwPort& port, const Target& target) -> base::Status {
    DEPUTY_ASSIGN(const Device device, Device::open(port));
    DEPUTY_ASSIGN(const Model fixed, Model::compile(target, ecg.tflite, "ecg"));
    SessionOptions shorter;
    shorter.input_shapes = {{1, 1, 128, 1}};
    CHECK(Session::load(device, fixed, shorter).error().kind == base::ErrorKind::kInput);
    DEPUTY_ASSIGN(const Context urgent, device.create_context({.priority = 3}));
    DEPUTY_ASSIGN(
        const Session first,
        Session::load(device, fixed, {.context = urgent, .frames = 1, .input_shapes = {}}));
    DEPUTY_ASSIGN(const Session second, Session::load(device, fixed));
    for (const Session& session : {first, second}) {
      DEPUTY_ASSIGN(const auto scores, session.run(std::vector<Bytes>{ecg.input}));
      CHECK(scores[0] == ecg.golden);
      CHECK(session.note().empty());
    }
    return {};
  });
}

TEST_CASE("a target can be had without a simulation, and one simulation runs at a time") {
  const Ecg ecg;
  const auto target = soc_target("wearable");
  REQUIRE(target.ok());
  CHECK(target->name() == "wearable");
  const auto model = Model::compile(*target, ecg.tflite, "ecg");
  REQUIRE(model.ok());
  CHECK(model->inputs()[0].shape == Shape{1, 1, 256, 1});
  CHECK(Model::compile(Target(), ecg.tflite, "ecg").error().kind == base::ErrorKind::kInput);
  CHECK(soc_target("wearable", {"npu.mac.oc_lanes=0"}).error().kind == base::ErrorKind::kConfig);
  on_soc({}, [&](HwPort&, const Target&) -> base::Status {
    const auto nothing = [](HwPort&, const Target&) { return base::Status(); };
    CHECK(simulate("wearable", {}, nothing).error().kind == base::ErrorKind::kBusy);
    return {};
  });
  // A program that waits for what cannot happen is an error, not a hang.
  const auto hangs = simulate("wearable", {}, [](HwPort& port, const Target&) -> base::Status {
    DEPUTY_ASSIGN(const Device device, Device::open(port));
    DEPUTY_ASSIGN(const Timeline never, Timeline::create(device));
    return never.at(1).wait();
  });
  CHECK(hangs.error().kind == base::ErrorKind::kHardwareFault);
}
