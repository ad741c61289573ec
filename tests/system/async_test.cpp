// Inferences in flight on the whole board: what the runtime promises of frames, fences, contexts
// and deadlines. The oracle of every value is the synchronous run, which other tests hold to
// outside runtimes.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "arch/dma_descriptor.h"
#include "arch/executable.h"
#include "host_runtime/runtime/session.h"
#include "tests/system/deputy_process.h"
#include "tools/cli/common.h"
#include "workloads/networks.h"
#include "workloads/random.h"

using namespace deputy;
using namespace deputy::host_runtime;

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::uint64_t kForever = ~std::uint64_t{0}, kMs = 1'000'000'000;

struct Model {
  tools::SimulateOptions options;
  Bytes file;
  std::vector<Bytes> inputs, outputs;  ///< of some frames, outputs of synchronous runs
};

tools::SimulateOptions wearable() {
  tools::CommonOptions common;
  common.soc = test::project_file("configs/soc/wearable.yaml");
  common.engine = "npu";
  auto options = tools::simulate_options(common);
  REQUIRE(options.ok());
  return *options;
}

Model make(const char* network, int frames) {
  Model m;
  m.options = wearable();
  auto graph = workloads::build_network(network);
  REQUIRE(graph.ok());
  auto executable = delegate::compile(*graph, tools::compile_options(m.options));
  REQUIRE(executable.ok());
  m.file = arch::write_executable(*executable);
  for (int i = 0; i < frames; ++i)
    m.inputs.push_back(workloads::seeded_input(graph->tensor(graph->inputs[0]).desc,
                                               static_cast<std::uint64_t>(i + 1)));
  soc::Platform platform(m.options.soc, {});
  const auto record = platform.run([&](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(auto session, Session::load(device, m.file, network));
    for (const Bytes& input : m.inputs) {
      DEPUTY_TRY(session->run(std::vector<Bytes>{input}));
      DEPUTY_ASSIGN(auto output, session->read_tensor(session->executable().outputs[0]));
      m.outputs.push_back(std::move(output));
    }
    return {};
  });
  if (!record.ok()) FAIL(record.error().text());
  return m;
}

void on_board(const Model& m, const std::function<base::Status(HwPort&)>& program) {
  soc::Platform platform(m.options.soc, {});
  const auto record = platform.run(program);
  if (!record.ok()) FAIL(record.error().text());
  CHECK(record->imbalances.empty());
}

}  // namespace

TEST_CASE("frames in flight give the bytes of synchronous runs, and overlap") {
  const Model m = make("ds_cnn", 6);
  std::uint64_t took[2] = {};
  for (const int frames : {1, 3}) {
    on_board(m, [&](HwPort& port) -> base::Status {
      Device device(port, {});
      DEPUTY_ASSIGN(auto session,
                    Session::load(device, m.file, "m", {.context = nullptr, .frames = frames}));
      const std::uint64_t start = port.now_ps();
      std::vector<Fence> fences(session->frames());
      for (std::size_t i = 0; i < m.inputs.size() + session->frames(); ++i) {
        const std::size_t f = i % session->frames();
        if (i >= session->frames()) {
          DEPUTY_TRY(device.wait(fences[f], kForever));
          DEPUTY_ASSIGN(auto output, session->frame(f).output(0).read());
          CHECK(output == m.outputs[i - session->frames()]);
        }
        if (i >= m.inputs.size()) continue;
        DEPUTY_TRY(session->frame(f).input(0).write(m.inputs[i]));
        DEPUTY_ASSIGN(fences[f], session->frame(f).submit({}));
      }
      took[frames == 3] = port.now_ps() - start;
      return {};
    });
  }
  CHECK(took[1] < took[0]);
}

TEST_CASE("a frame waits for a fence that nobody has promised yet, and fails with it") {
  const Model m = make("ecg_tcn", 2);
  on_board(m, [&](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(auto session,
                  Session::load(device, m.file, "m", {.context = nullptr, .frames = 2}));
    DEPUTY_ASSIGN(const std::uint8_t timeline, device.create_timeline());
    DEPUTY_TRY(session->frame(0).input(0).write(m.inputs[0]));
    DEPUTY_TRY(session->frame(1).input(0).write(m.inputs[1]));
    DEPUTY_ASSIGN(const Fence first,
                  session->frame(0).submit({.waits = {Fence(timeline, 5, true)}}));
    DEPUTY_ASSIGN(const Fence second,
                  session->frame(1).submit({.waits = {Fence(timeline, 9, true)}}));
    CHECK(device.wait(first, port.now_ps() + kMs).error().kind == base::ErrorKind::kDeadline);
    CHECK(first.pending());
    device.sync().signal(timeline, 7);
    DEPUTY_TRY(device.wait(first, port.now_ps() + 100 * kMs));
    DEPUTY_ASSIGN(auto output, session->frame(0).output(0).read());
    CHECK(output == m.outputs[0]);
    CHECK(second.pending());
    device.sync().fail(timeline, arch::SyncFailure::kCancelled);
    const base::Status failed = device.wait(second, port.now_ps() + 100 * kMs);
    CHECK(failed.error().kind == base::ErrorKind::kHardwareFault);
    CHECK_THAT(failed.error().message, Catch::Contains("what it waited for failed"));
    CHECK_FALSE(session->frame(1).output(0).read().ok());  // undefined
    // The frame works again.
    DEPUTY_TRY(session->frame(1).input(0).write(m.inputs[1]));
    DEPUTY_ASSIGN(const Fence again, session->frame(1).submit({}));
    DEPUTY_TRY(device.wait(again, kForever));
    DEPUTY_ASSIGN(output, session->frame(1).output(0).read());
    CHECK(output == m.outputs[1]);
    device.retire_timeline(timeline);
    return {};
  });
}

TEST_CASE("deadlines and cancellation end a frame now, and leave the others alone") {
  const Model m = make("ds_cnn", 3);
  on_board(m, [&](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(auto session,
                  Session::load(device, m.file, "m", {.context = nullptr, .frames = 3}));
    for (std::size_t f = 0; f < 3; ++f) DEPUTY_TRY(session->frame(f).input(0).write(m.inputs[f]));
    DEPUTY_ASSIGN(const Fence late, session->frame(0).submit(
                                        {.waits = {}, .deadline_ps = port.now_ps() + kMs / 100}));
    DEPUTY_ASSIGN(const Fence dropped, session->frame(1).submit({}));
    DEPUTY_ASSIGN(const Fence good, session->frame(2).submit({}));
    CHECK(device.wait(late, kForever).error().kind == base::ErrorKind::kDeadline);
    session->frame(1).cancel();
    CHECK(device.wait(dropped, kForever).error().kind == base::ErrorKind::kCancelled);
    CHECK(session->frame(1).submit({}).ok() == session->frame(1).idle());
    DEPUTY_TRY(device.wait(good, kForever));
    DEPUTY_ASSIGN(auto output, session->frame(2).output(0).read());
    CHECK(output == m.outputs[2]);
    CHECK_FALSE(session->frame(0).output(0).read().ok());
    return {};
  });
}

TEST_CASE("a chain of DMA, NPU and DMA runs with the host asleep") {
  const Model m = make("ds_cnn", 1);
  on_board(m, [&](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(auto context, device.create_context({}));
    DEPUTY_ASSIGN(auto session,
                  Session::load(device, m.file, "m", {.context = context, .frames = 1}));
    Session::Frame& frame = session->frame(0);
    DEPUTY_ASSIGN(Buffer camera,
                  Buffer::make(device.space(), MemoryKind::kDram, frame.input(0).bytes(), 64));
    DEPUTY_ASSIGN(Buffer radio,
                  Buffer::make(device.space(), MemoryKind::kDram, frame.output(0).bytes(), 64));
    DEPUTY_TRY(camera.write(m.inputs[0]));
    DEPUTY_ASSIGN(const Fence in, device.copy(context, frame.input(0), camera, {}));
    DEPUTY_ASSIGN(const Fence run, frame.submit({.waits = {in}}));
    DEPUTY_ASSIGN(const Fence out,
                  device.copy(context, radio, frame.output(0), std::vector<Fence>{run}));
    // All three are in the rings: only the last interrupt matters, and the host looks at none
    // before.
    CHECK(in.pending());
    CHECK(run.pending());
    const std::uint64_t copied = device.space().copied_bytes;
    DEPUTY_TRY(device.wait(out, kForever));
    CHECK(device.space().copied_bytes == copied);
    DEPUTY_ASSIGN(auto output, radio.read());
    CHECK(output == m.outputs[0]);
    return {};
  });
}

TEST_CASE("contexts of two sessions share the NPU by priority") {
  const Model m = make("ds_cnn", 4);
  on_board(m, [&](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(auto low, device.create_context({.priority = 0}));
    DEPUTY_ASSIGN(auto high, device.create_context({.priority = 3}));
    DEPUTY_ASSIGN(auto slow, Session::load(device, m.file, "slow", {.context = low, .frames = 3}));
    DEPUTY_ASSIGN(auto fast, Session::load(device, m.file, "fast", {.context = high, .frames = 1}));
    std::vector<Fence> fences;
    for (std::size_t f = 0; f < 3; ++f) {
      DEPUTY_TRY(slow->frame(f).input(0).write(m.inputs[f]));
    }
    DEPUTY_TRY(fast->frame(0).input(0).write(m.inputs[3]));
    for (std::size_t f = 0; f < 3; ++f) {
      DEPUTY_ASSIGN(fences.emplace_back(), slow->frame(f).submit({}));
    }
    DEPUTY_ASSIGN(const Fence urgent, fast->frame(0).submit({}));
    DEPUTY_TRY(device.wait(urgent, kForever));
    CHECK(fences[2].pending());  // the later ones were overtaken
    DEPUTY_ASSIGN(auto output, fast->frame(0).output(0).read());
    CHECK(output == m.outputs[3]);
    for (std::size_t f = 0; f < 3; ++f) {
      DEPUTY_TRY(device.wait(fences[f], kForever));
      DEPUTY_ASSIGN(output, slow->frame(f).output(0).read());
      CHECK(output == m.outputs[f]);
    }
    return {};
  });
}

TEST_CASE("all frames taken, all timelines taken, all contexts taken: busy, and nothing lost") {
  const Model m = make("ecg_tcn", 1);
  on_board(m, [&](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(auto session,
                  Session::load(device, m.file, "m", {.context = nullptr, .frames = 1}));
    DEPUTY_TRY(session->frame(0).input(0).write(m.inputs[0]));
    DEPUTY_ASSIGN(const Fence fence, session->frame(0).submit({}));
    CHECK(session->frame(0).submit({}).error().kind == base::ErrorKind::kBusy);
    std::vector<std::shared_ptr<Context>> contexts;
    for (;;) {
      auto context = device.create_context({});
      if (!context.ok()) {
        CHECK(context.error().kind == base::ErrorKind::kBusy);
        break;
      }
      contexts.push_back(*context);
    }
    CHECK(contexts.size() == 3);
    std::vector<std::unique_ptr<Session>> sessions;
    for (;;) {
      auto more = Session::load(device, m.file, "m", {.context = nullptr, .frames = 4});
      if (!more.ok()) {
        CHECK(more.error().kind == base::ErrorKind::kBusy);
        break;
      }
      sessions.push_back(std::move(*more));
    }
    CHECK(sessions.size() == 3);  // 16 timelines
    DEPUTY_TRY(device.wait(fence, kForever));
    DEPUTY_ASSIGN(auto output, session->frame(0).output(0).read());
    CHECK(output == m.outputs[0]);
    sessions.clear();
    DEPUTY_ASSIGN(auto again,
                  Session::load(device, m.file, "m", {.context = contexts[0], .frames = 4}));
    DEPUTY_TRY(again->run(m.inputs));
    return {};
  });
}

TEST_CASE("two host threads with a session each share one device") {
  const Model m = make("ds_cnn", 4);
  on_board(m, [&](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(auto first,
                  Session::load(device, m.file, "first", {.context = nullptr, .frames = 1}));
    DEPUTY_ASSIGN(auto second,
                  Session::load(device, m.file, "second", {.context = nullptr, .frames = 2}));
    std::vector<Bytes> got(8);
    const ThreadId thread = port.start_thread([&] {
      for (std::size_t i = 0; i < 4; ++i)
        if (first->run(std::vector<Bytes>{m.inputs[i]}).ok())
          got[i] = *first->read_tensor(first->executable().outputs[0]);
    });
    for (std::size_t i = 0; i < 4; ++i) {
      Session::Frame& frame = second->frame(i % 2);
      DEPUTY_TRY(frame.input(0).write(m.inputs[i]));
      DEPUTY_ASSIGN(const Fence fence, frame.submit({}));
      DEPUTY_TRY(device.wait(fence, kForever));
      DEPUTY_ASSIGN(got[4 + i], frame.output(0).read());
    }
    port.join(thread);
    for (std::size_t i = 0; i < 8; ++i) CHECK(got[i] == m.outputs[i % 4]);
    return {};
  });
}

TEST_CASE(
    "isolated contexts run side by side, and a job that leaves its own is stopped with an "
    "account") {
  const Model m = make("ds_cnn", 2);
  on_board(m, [&](HwPort& port) -> base::Status {
    Device device(port, {.isolation = true});
    DEPUTY_ASSIGN(auto good, device.create_context({}));
    DEPUTY_ASSIGN(auto bad, device.create_context({}));
    DEPUTY_ASSIGN(auto session, Session::load(device, m.file, "m", {.context = good, .frames = 2}));
    DEPUTY_ASSIGN(Buffer own, Buffer::make(device.space(), MemoryKind::kDram, 4096, 64));
    DEPUTY_TRY(own.write(Bytes(4096, 0xEE)));
    for (std::size_t f = 0; f < 2; ++f) DEPUTY_TRY(session->frame(f).input(0).write(m.inputs[f]));
    // A descriptor of the other context that writes over this one's input.
    arch::DmaDescriptor d;
    d.src = own.address(), d.dst = session->frame(1).input(0).address(), d.row_bytes = 64;
    std::vector<std::uint32_t> words;
    arch::pack(d, words);
    DEPUTY_ASSIGN(Buffer descriptor,
                  Buffer::make(device.space(), MemoryKind::kDram, words.size() * 4, 64));
    DEPUTY_TRY(
        descriptor.write({reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * 4}));
    std::vector<Mapping> mapped;
    for (const Buffer* buffer : {&own, &descriptor}) {
      DEPUTY_ASSIGN(mapped.emplace_back(),
                    Mapping::make(bad->space(), buffer->address(), buffer->bytes(), true));
      buffer->before_engine();
    }
    arch::QueueEntry entry;
    entry.kind = 1, entry.address = descriptor.address();
    DEPUTY_ASSIGN(const auto job, device.push(EngineId::kDma, *bad, entry, {kMs, kMs, true}));
    DEPUTY_ASSIGN(const Fence a, session->frame(0).submit({}));
    DEPUTY_ASSIGN(const Fence b, session->frame(1).submit({}));
    DEPUTY_TRY(
        device.wait_until([&] { return job->state != Job::State::kQueued; }, port.now_ps() + kMs));
    CHECK(job->state == Job::State::kFailed);
    REQUIRE(job->error);
    INFO(job->error->message);
    CHECK_THAT(job->error->message,
               Catch::Contains(fmt::format("context 2 a write to {:#x}", d.dst)));
    DEPUTY_TRY(device.wait(a, kForever));
    DEPUTY_TRY(device.wait(b, kForever));
    for (std::size_t f = 0; f < 2; ++f) {
      DEPUTY_ASSIGN(const auto output, session->frame(f).output(0).read());
      CHECK(output == m.outputs[f]);
    }
    return {};
  });
}
