// Buffers: one memory by several names, what may be bound to a network, and what is not a result.
#include "tests/conformance/models.h"

using namespace deputy;
using namespace deputy::conformance;
using namespace deputy::host_runtime;

namespace {

Bytes part(const Bytes& of, std::size_t from, std::size_t bytes) {
  const auto begin = of.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}
bool refused(const base::Status& status) {
  return !status.ok() && status.error().kind == base::ErrorKind::kInput;
}
base::Status run(Device& device, Session::Frame& frame) {
  DEPUTY_ASSIGN(const Fence fence, frame.submit({}));
  return device.wait(fence, device.port().now_ps() + kLong);
}

}  // namespace

CONFORMANCE_CASE("buffers: a view is a part of the same memory, and nothing outside it") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    Buffer whole = buffer(device, ramp(0, 4096));
    DEPUTY_ASSIGN(Buffer view, whole.view(1024, 512));
    DEPUTY_ASSIGN(Buffer inner, view.view(128, 64));
    CHECK(inner.address() == whole.address() + 1024 + 128);
    CHECK(*inner.read() == part(ramp(0, 4096), 1152, 64));
    DEPUTY_TRY(inner.write(Bytes(64, 0xAB)));
    CHECK(part(*whole.read(), 1152, 64) == Bytes(64, 0xAB));
    CHECK(part(*whole.read(), 1216, 64) == part(ramp(0, 4096), 1216, 64));
    for (const auto& [offset, bytes] : {std::pair<std::uint64_t, std::uint64_t>{512, 1},
                                        {0, 513},
                                        {~std::uint64_t{0}, 2},
                                        {2, ~std::uint64_t{0}}}) {
      CHECK(view.view(offset, bytes).error().kind == base::ErrorKind::kInput);
    }
    CHECK(refused(view.write(Bytes(8), 505)));
    CHECK(view.view(512, 0).ok());
    return {};
  });
}

CONFORMANCE_CASE(
    "buffers: what is exported and imported is one memory, for the CPU and the engines") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(auto context, device.default_context());
    const Buffer owner = buffer(device, ramp(0, 1024));
    Buffer guest = Buffer::import(device.space(), owner.exported());
    DEPUTY_TRY(guest.write(ramp(9, 1024)));
    CHECK(*owner.read() == ramp(9, 1024));
    Buffer copy = buffer(device, Bytes(1024));
    DEPUTY_ASSIGN(const Fence sent, device.copy(context, copy, guest, {}));
    DEPUTY_TRY(device.wait(sent, port.now_ps() + kLong));
    CHECK(*copy.read() == ramp(9, 1024));
    auto session = load(device, model({3, 1}), 1);
    DEPUTY_ASSIGN(Buffer input, guest.view(256, kJobBytes));
    DEPUTY_TRY(session->frame(0).bind_input(0, input));
    DEPUTY_TRY(run(device, session->frame(0)));
    CHECK(*session->frame(0).output(0).read() == Affine{3, 1}(part(ramp(9, 1024), 256, kJobBytes)));
    return {};
  });
}

CONFORMANCE_CASE("buffers: what is too small or not aligned as required is not bound") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    auto session = load(device, model({3, 1}), 1);
    Session::Frame& frame = session->frame(0);
    const BufferRequirements wants = session->input_requirements(0);
    CHECK(wants.bytes == kJobBytes);
    REQUIRE(wants.alignment >= kCacheLine);
    Buffer large = buffer(device, ramp(0, 4096));
    CHECK(refused(frame.bind_input(0, *large.view(wants.alignment / 2, kJobBytes))));
    CHECK(refused(frame.bind_input(0, *large.view(1, kJobBytes))));
    CHECK(refused(frame.bind_input(0, *large.view(0, kJobBytes - 1))));
    CHECK(refused(frame.bind_output(0, *large.view(wants.alignment / 2, kJobBytes))));
    CHECK(refused(frame.bind_input(0, Buffer())));
    DEPUTY_TRY(frame.input(0).write(ramp(5)));  // its own memory is still bound
    DEPUTY_TRY(run(device, frame));
    CHECK(*frame.output(0).read() == Affine{3, 1}(ramp(5)));
    DEPUTY_TRY(frame.bind_input(0, *large.view(wants.alignment, kJobBytes)));
    DEPUTY_TRY(run(device, frame));
    CHECK(*frame.output(0).read() == Affine{3, 1}(part(ramp(0, 4096), wants.alignment, kJobBytes)));
    return {};
  });
}

CONFORMANCE_CASE("buffers: memory whose rows lie otherwise than the tensor's is not bound") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    auto session = load(device, model({3, 1}), 1);
    Session::Frame& frame = session->frame(0);
    CHECK(session->input_requirements(0).stride == kRowBytes);
    CHECK(session->output_requirements(0).stride == kRowBytes);
    const Buffer owner = buffer(device, ramp(8, 1024));
    const Buffer padded =
        Buffer::import(device.space(), owner.exported(), {.stride = kRowBytes + 16});
    const base::Status input = frame.bind_input(0, padded),
                       output = frame.bind_output(0, *padded.view(512, 512));
    CHECK(refused(input));
    CHECK(refused(output));
    CHECK_THAT(input.error().text(), Catch::Contains("80 bytes apart") && Catch::Contains("'in'"));
    DEPUTY_TRY(frame.bind_input(
        0, Buffer::import(device.space(), owner.exported(), {.stride = kRowBytes})));
    DEPUTY_TRY(run(device, frame));
    CHECK(*frame.output(0).read() == Affine{3, 1}(ramp(8)));
    return {};
  });
}

CONFORMANCE_CASE(
    "buffers: uncached memory is bound where no step is the CPU's, and nothing is maintained "
    "there") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(auto context, device.default_context());
    DEPUTY_ASSIGN(const SharedMemory memory, port.alloc(MemoryKind::kDram, kJobBytes, kCacheLine));
    {
      // No CPU ever touches it: the DMA engine writes, the NPU reads.
      Buffer camera = Buffer::import(device.space(), memory, {.uncached = true});
      const Buffer scene = buffer(device, ramp(6));
      auto session = load(device, model({3, 1}), 1),
           behind_cpu = load(device, model({3, 1}, true), 1);
      CHECK_FALSE(session->input_requirements(0).cached);
      CHECK(behind_cpu->input_requirements(0).cached);
      CHECK_FALSE(behind_cpu->output_requirements(0).cached);
      const base::Status status = behind_cpu->frame(0).bind_input(0, camera);
      CHECK(refused(status));
      CHECK_THAT(status.error().text(), Catch::Contains("uncached"));
      DEPUTY_TRY(session->frame(0).bind_input(0, camera));
      DEPUTY_ASSIGN(const Fence sent, device.copy(context, camera, scene, {}));
      DEPUTY_ASSIGN(const Fence done, session->frame(0).submit({.waits = {sent}}));
      DEPUTY_TRY(device.wait(done, port.now_ps() + kLong));
      CHECK(*session->frame(0).output(0).read() == Affine{3, 1}(ramp(6)));
    }
    port.free(memory);
    return {};
  });
}

CONFORMANCE_CASE(
    "buffers: bindings that overlap are refused before anything runs, and may change places") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    auto session = load(device, model({3, 1}), 2);
    Session::Frame& frame = session->frame(0);
    Buffer memory = buffer(device, ramp(0, 1024));
    DEPUTY_ASSIGN(const Buffer low, memory.view(0, kJobBytes));
    DEPUTY_ASSIGN(const Buffer middle, memory.view(kCacheLine, kJobBytes));
    DEPUTY_ASSIGN(const Buffer high, memory.view(512, kJobBytes));
    for (const Buffer& other : {low, middle}) {
      DEPUTY_TRY(frame.bind_input(0, low));
      DEPUTY_TRY(frame.bind_output(0, other));
      const auto fence = frame.submit({});
      REQUIRE_FALSE(fence.ok());
      CHECK(fence.error().kind == base::ErrorKind::kInput);
      CHECK_THAT(fence.error().text(), Catch::Contains("overlaps"));
    }
    CHECK(*memory.read() == ramp(0, 1024));
    DEPUTY_TRY(frame.bind_output(0, high));
    DEPUTY_TRY(run(device, frame));
    // Ping-pong: each is bound in turn, so that they overlap for a moment.
    DEPUTY_TRY(frame.bind_input(0, high));
    DEPUTY_TRY(frame.bind_output(0, low));
    DEPUTY_TRY(run(device, frame));
    CHECK(*low.read() == Affine{3, 1}(Affine{3, 1}(ramp(0))));
    // Two frames may read the same input.
    DEPUTY_TRY(session->frame(1).bind_input(0, high));
    DEPUTY_TRY(run(device, session->frame(1)));
    CHECK(*session->frame(1).output(0).read() == *low.read());
    return {};
  });
}

CONFORMANCE_CASE("buffers: memory of the session's own goes when the caller's is bound",
                 {Capability::kCountsMemory}) {
  board.run({}, [&board](HwPort& port) -> base::Status {
    Device device(port, {});
    auto session = load(device, model({3, 1}), 1);
    Buffer input = buffer(device, ramp(1)), output = buffer(device, ramp(2));
    const std::size_t before = board.allocations(port);
    DEPUTY_TRY(session->frame(0).bind_input(0, input));
    CHECK(board.allocations(port) == before - 1);
    const Buffer kept = session->frame(0).output(0);  // somebody still holds it
    DEPUTY_TRY(session->frame(0).bind_output(0, output));
    CHECK(board.allocations(port) == before - 1);
    CHECK(kept.read().ok());
    DEPUTY_TRY(run(device, session->frame(0)));
    CHECK(*output.read() == Affine{3, 1}(ramp(1)));
    return {};
  });
}

CONFORMANCE_CASE("buffers: copies that cannot be are refused") {
  board.run({}, [](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(auto context, device.default_context());
    Buffer small = buffer(device, ramp(0, 64)), large = buffer(device, ramp(1, 128));
    CHECK(device.copy(context, small, large, {}).error().kind == base::ErrorKind::kInput);
    CHECK(device.copy(context, large, *small.view(0, 0), {}).error().kind ==
          base::ErrorKind::kInput);
    CHECK(refused(small.copy_from(large)));
    CHECK(*small.read() == ramp(0, 64));
    return {};
  });
}

CONFORMANCE_CASE(
    "buffers: what a failed job should have written is no result until somebody writes it", {},
    {sim::FaultKind::kEngineFault}) {
  board.run(faults({{.kind = "engine_fault", .target = "npu"}}), [](HwPort& port) -> base::Status {
    Device device(port, {});
    DEPUTY_ASSIGN(auto context, device.default_context());
    auto session = load(device, model({3, 1}), 2);
    Session::Frame& frame = session->frame(0);
    DEPUTY_TRY(frame.input(0).write(ramp(1)));
    CHECK(run(device, frame).error().kind == base::ErrorKind::kHardwareFault);
    Buffer& output = frame.output(0);
    CHECK(output.undefined());
    CHECK(output.read().error().kind == base::ErrorKind::kInput);
    CHECK_FALSE(output.map(Access::kRead).ok());
    Buffer copy = buffer(device, ramp(7));
    CHECK(refused(copy.copy_from(output)));
    DEPUTY_TRY(session->frame(1).bind_input(0, output));
    CHECK(session->frame(1).submit({}).error().kind == base::ErrorKind::kInput);
    DEPUTY_ASSIGN(const Fence sent,
                  device.copy(context, copy, output, {}));  // nor does it become one on the way
    CHECK(device.wait(sent, port.now_ps() + kLong).error().kind == base::ErrorKind::kInput);
    CHECK_FALSE(copy.read().ok());
    DEPUTY_TRY(output.write(ramp(4)));
    CHECK(*output.read() == ramp(4));
    DEPUTY_TRY(run(device, session->frame(1)));
    CHECK(*session->frame(1).output(0).read() == Affine{3, 1}(ramp(4)));
    return {};
  });
}
