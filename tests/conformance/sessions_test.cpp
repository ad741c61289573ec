// Sessions, frames and contexts, from one host thread and from several.
#include "arch/npu_config.h"
#include "tests/conformance/models.h"

using namespace deputy;
using namespace deputy::conformance;
using namespace deputy::host_runtime;
using base::ErrorKind;

CONFORMANCE_CASE(
    "sessions: runs give the model's bytes, again and again, with host steps and without") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    for (const bool with_relu : {false, true}) {
      auto session = load(device, model({5, 9}, with_relu), 1);
      for (const int start : {0, 77, 200}) {
        DEPUTY_TRY(session->run(std::vector<Bytes>{ramp(start)}));
        CHECK(*session->read_tensor(2) ==
              Affine{5, 9}(with_relu ? relu(ramp(start)) : ramp(start)));
      }
    }
    return {};
  });
}

CONFORMANCE_CASE("sessions: inputs of another size are refused, and the next run is right") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    auto session = load(device, model({3, 1}), 1);
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{kJobBytes - 1}, std::size_t{kJobBytes + 1}})
      CHECK(session->run(std::vector<Bytes>{Bytes(bytes)}).error().kind == ErrorKind::kInput);
    CHECK_FALSE(session->run(std::vector<Bytes>{}).ok());
    CHECK_FALSE(session->run(std::vector<Bytes>{ramp(0), ramp(0)}).ok());
    DEPUTY_TRY(session->run(std::vector<Bytes>{ramp(8)}));
    CHECK(*session->read_tensor(2) == Affine{3, 1}(ramp(8)));
    return {};
  });
}

CONFORMANCE_CASE("sessions: files that are none, end early or were changed are refused") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    const Bytes good = model({3, 1});
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{3}, good.size() / 2, good.size() - 1})
      CHECK_FALSE(
          Session::load(device,
                        Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)), "m")
              .ok());
    for (std::size_t at = 0; at < good.size(); at += good.size() / 23) {
      Bytes changed = good;
      changed[at] ^= 0x20;
      CHECK_FALSE(Session::load(device, changed, "m").ok());
    }
    auto session = load(device, good, 1);
    return session->run(std::vector<Bytes>{ramp(8)});
  });
}

CONFORMANCE_CASE("sessions: a frame in flight is busy, cancelled it is free again") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    auto session = load(device, model({3, 1}), 1);
    Session::Frame& frame = session->frame(0);
    DEPUTY_ASSIGN(const std::uint8_t never, device.create_timeline());
    DEPUTY_TRY(frame.input(0).write(ramp(2)));
    DEPUTY_ASSIGN(const Fence first, frame.submit({.waits = {Fence(never, 1, true)}}));
    CHECK(frame.submit({}).error().kind == ErrorKind::kBusy);
    CHECK(frame.bind_input(0, buffer(device, ramp(0))).error().kind == ErrorKind::kBusy);
    CHECK_FALSE(frame.idle());
    frame.cancel();
    CHECK(device.wait(first, port.now_ps() + kLong).error().kind == ErrorKind::kCancelled);
    DEPUTY_TRY(device.wait_until([&] { return frame.idle(); }, port.now_ps() + kLong));
    DEPUTY_ASSIGN(const Fence second, frame.submit({}));
    DEPUTY_TRY(device.wait(second, port.now_ps() + kLong));
    CHECK(*frame.output(0).read() == Affine{3, 1}(ramp(2)));
    device.retire_timeline(never);
    return {};
  });
}

CONFORMANCE_CASE("sessions: a deadline ends what waits for ever, and only that") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    auto session = load(device, model({3, 1}), 2);
    DEPUTY_ASSIGN(const std::uint8_t never, device.create_timeline());
    DEPUTY_TRY(session->frame(0).input(0).write(ramp(1)));
    DEPUTY_TRY(session->frame(1).input(0).write(ramp(2)));
    const std::uint64_t deadline = port.now_ps() + 5 * kMs;
    DEPUTY_ASSIGN(const Fence late, session->frame(0).submit({.waits = {Fence(never, 1, true)},
                                                              .deadline_ps = deadline}));
    DEPUTY_ASSIGN(const Fence behind, session->frame(1).submit({}));
    CHECK(device.wait(late, port.now_ps() + kLong).error().kind == ErrorKind::kDeadline);
    CHECK(port.now_ps() >= deadline);
    CHECK(session->frame(0).output(0).undefined());
    DEPUTY_TRY(device.wait(behind, port.now_ps() + kLong));
    CHECK(*session->frame(1).output(0).read() == Affine{3, 1}(ramp(2)));
    device.retire_timeline(never);
    return {};
  });
}

CONFORMANCE_CASE("sessions: more frames than a ring has entries all end, in order") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {.ring_entries = 2});
    auto session = load(device, model({3, 1}), 6);
    std::vector<Fence> fences;
    for (std::size_t f = 0; f < session->frames(); ++f) {
      DEPUTY_TRY(session->frame(f).input(0).write(ramp(static_cast<int>(10 * f))));
      DEPUTY_ASSIGN(fences.emplace_back(), session->frame(f).submit({}));
    }
    std::uint64_t last = 0;
    for (std::size_t f = 0; f < session->frames(); ++f) {
      DEPUTY_TRY(device.wait(fences[f], port.now_ps() + kLong));
      CHECK(*session->frame(f).output(0).read() == Affine{3, 1}(ramp(static_cast<int>(10 * f))));
      CHECK(session->frame(f).record().end_ps >= last);
      last = session->frame(f).record().end_ps;
    }
    return {};
  });
}

CONFORMANCE_CASE("sessions: rings and timelines are given back") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    for (int round = 0; round < 3; ++round) {
      std::vector<std::shared_ptr<Context>> contexts;
      for (std::uint32_t c = 0; c < arch::kRings; ++c) {
        DEPUTY_ASSIGN(contexts.emplace_back(), device.create_context({.priority = c}));
      }
      CHECK(device.create_context({}).error().kind == ErrorKind::kBusy);
      for (std::uint32_t i = 0; i < 2 * arch::kTimelineCount; ++i) {
        auto session = load(device, model({3, 1}), 2, contexts[i % arch::kRings]);
        if (i % 8 == 0) DEPUTY_TRY(session->run(std::vector<Bytes>{ramp(3)}));
      }
    }
    return {};
  });
}

CONFORMANCE_CASE("sessions: memory is given back", {Capability::kCountsMemory}) {
  board.run({}, [&board](HwPort& port) -> base::Status {
    {
      Device device(port, {});
      auto session = load(device, model({3, 1}, true), 3);
      DEPUTY_TRY(session->run(std::vector<Bytes>{ramp(3)}));
      CHECK(board.allocations(port) > 0);
    }
    CHECK(board.allocations(port) == 0);
    return {};
  });
}

CONFORMANCE_CASE(
    "threads: three with a model and a priority each share the engines, and each gets its own "
    "bytes") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    const Affine f[] = {{3, 1}, {5, 2}, {7, 3}};
    base::Status ended[3];
    int rounds[3] = {};
    std::vector<ThreadId> threads;
    for (std::uint32_t t = 0; t < 3; ++t)
      threads.push_back(port.start_thread([&, t] {
        ended[t] = [&]() -> base::Status {
          DEPUTY_ASSIGN(auto context, device.create_context({.priority = t}));
          // The middle one has a step on the CPU, whoever of the threads computes it.
          DEPUTY_ASSIGN(auto session, Session::load(device, model(f[t], t == 1), "m",
                                                    {.context = context, .frames = 2}));
          DEPUTY_ASSIGN(Buffer camera,
                        Buffer::make(device.space(), MemoryKind::kDram, kJobBytes, kCacheLine));
          DEPUTY_ASSIGN(Buffer radio,
                        Buffer::make(device.space(), MemoryKind::kDram, kJobBytes, kCacheLine));
          for (int i = 0; i < 6; ++i) {
            const Bytes here = ramp(31 * i + static_cast<int>(t)),
                        there = ramp(90 - i - static_cast<int>(t));
            auto &first = session->frame(0), &second = session->frame(1);
            DEPUTY_TRY(camera.write(here));
            DEPUTY_TRY(second.input(0).write(there));
            DEPUTY_ASSIGN(const Fence in, device.copy(context, first.input(0), camera, {}));
            DEPUTY_ASSIGN(const Fence ran, first.submit({.waits = {in}}));
            DEPUTY_ASSIGN(const Fence sent,
                          device.copy(context, radio, first.output(0), std::vector<Fence>{ran}));
            DEPUTY_ASSIGN(const Fence beside, second.submit({}));
            DEPUTY_TRY(device.wait(sent, port.now_ps() + kLong));
            DEPUTY_TRY(device.wait(beside, port.now_ps() + kLong));
            const auto expected = [&](const Bytes& x) { return f[t](t == 1 ? relu(x) : x); };
            DEPUTY_ASSIGN(const Bytes got, radio.read());
            DEPUTY_ASSIGN(const Bytes other, second.output(0).read());
            if (got != expected(here) || other != expected(there))
              return base::Error{ErrorKind::kMismatch, "thread", "another one's bytes, or none",
                                 ""};
            ++rounds[t];
          }
          return {};
        }();
      }));
    for (const ThreadId thread : threads) port.join(thread);
    for (int t = 0; t < 3; ++t) {
      INFO("thread " << t << (ended[t].ok() ? "" : ": " + ended[t].error().text()));
      CHECK(ended[t].ok());
      CHECK(rounds[t] == 6);
    }
    return {};
  });
}
