// Results and fence states do not depend on the order in which engines complete.
#include "tests/conformance/explorer.h"

#include <fmt/format.h>

#include "tests/conformance/models.h"

using namespace deputy;
using namespace deputy::conformance;
using namespace deputy::host_runtime;

namespace {

// What a fence and a buffer came to.
void note(Device& device, Outcome& out, const char* name, const Fence& fence) {
  const base::Status status = device.wait(fence, device.port().now_ps() + kLong);
  std::string what = "reached";
  if (!status.ok())
    what = fence.pending() ? "waits for ever"
                           : fmt::format("failed {}", static_cast<int>(fence.error().kind));
  out.push_back(fmt::format("{}: {}", name, what));
}
void note(Outcome& out, const char* name, const Buffer& buffer) {
  const auto bytes = buffer.read();
  std::string what = "undefined";
  if (bytes.ok()) {
    what.clear();
    for (const std::uint8_t b : *bytes) what += fmt::format("{:02x}", b);
  }
  out.push_back(fmt::format("{}: {}", name, what));
}

// camera -> DMA -> frame 0 -> DMA -> radio, beside frame 1, which the radio's copy need not wait
// for.
base::Status chain(HwPort& port, Outcome& out, bool wait_for_frame, bool with_relu) {
  Device device(port, {});
  DEPUTY_ASSIGN(auto context, device.default_context());
  auto session = load(device, model({3, 1}, with_relu), 2);
  Buffer camera = buffer(device, ramp(40)), radio = buffer(device, ramp(0));
  auto &first = session->frame(0), &second = session->frame(1);
  DEPUTY_TRY(second.input(0).write(ramp(90)));
  DEPUTY_TRY(first.output(0).write(ramp(7)));
  DEPUTY_ASSIGN(const Fence in, device.copy(context, first.input(0), camera, {}));
  DEPUTY_ASSIGN(const Fence run, first.submit({.waits = {in}}));
  DEPUTY_ASSIGN(const Fence beside, second.submit({}));
  std::vector<Fence> waits;
  if (wait_for_frame) waits.push_back(run);
  DEPUTY_ASSIGN(const Fence sent, device.copy(context, radio, first.output(0), waits));
  note(device, out, "in", in), note(device, out, "run", run);
  note(device, out, "beside", beside), note(device, out, "sent", sent);
  note(out, "radio", radio), note(out, "second", second.output(0));
  return {};
}

// Three contexts. One's frame waits for what nobody has promised, and what comes of it goes through
// the second; the third has a frame and a copy of its own. The host signals when all is submitted.
base::Status late_signal(HwPort& port, Outcome& out) {
  Device device(port, {});
  DEPUTY_ASSIGN(auto one, device.create_context({}));
  DEPUTY_ASSIGN(auto two, device.create_context({.priority = 3}));
  DEPUTY_ASSIGN(auto three, device.create_context({.priority = 2}));
  auto a = load(device, model({3, 1}), 1, one), b = load(device, model({5, 2}), 1, two),
       c = load(device, model({7, 3}), 1, three);
  DEPUTY_ASSIGN(const std::uint8_t timeline, device.create_timeline());
  DEPUTY_TRY(a->frame(0).input(0).write(ramp(1)));
  DEPUTY_TRY(c->frame(0).input(0).write(ramp(50)));
  Buffer end = buffer(device, ramp(0)), aside = buffer(device, ramp(0)),
         source = buffer(device, ramp(70));
  DEPUTY_ASSIGN(const Fence beside, c->frame(0).submit({}));
  DEPUTY_ASSIGN(const Fence copied, device.copy(three, aside, source, {}));
  DEPUTY_ASSIGN(const Fence first, a->frame(0).submit({.waits = {Fence(timeline, 5, true)}}));
  DEPUTY_ASSIGN(const Fence moved, device.copy(two, b->frame(0).input(0), a->frame(0).output(0),
                                               std::vector<Fence>{first}));
  DEPUTY_ASSIGN(const Fence second, b->frame(0).submit({.waits = {moved}}));
  DEPUTY_ASSIGN(const Fence last,
                device.copy(one, end, b->frame(0).output(0), std::vector<Fence>{second}));
  device.sync().signal(timeline, 6);
  note(device, out, "last", last), note(device, out, "second", second);
  note(device, out, "moved", moved), note(device, out, "first", first);
  note(device, out, "beside", beside), note(device, out, "copied", copied);
  note(out, "end", end), note(out, "aside", aside);
  note(out, "c", c->frame(0).output(0));
  device.retire_timeline(timeline);
  return {};
}

// Frame 0 is cancelled while it waits, or (fault plan) fails; what waits for it fails, what does
// not goes on.
base::Status broken(HwPort& port, Outcome& out, bool cancel) {
  Device device(port, {});
  DEPUTY_ASSIGN(auto context, device.default_context());
  auto session = load(device, model({3, 1}), 2);
  DEPUTY_ASSIGN(const std::uint8_t timeline, device.create_timeline());
  Buffer after = buffer(device, ramp(0)), free = buffer(device, ramp(0)),
         source = buffer(device, ramp(33));
  auto &first = session->frame(0), &second = session->frame(1);
  DEPUTY_TRY(first.input(0).write(ramp(1)));
  DEPUTY_TRY(second.input(0).write(ramp(2)));
  std::vector<Fence> never;
  if (cancel) never.push_back(Fence(timeline, 1, true));
  DEPUTY_ASSIGN(const Fence bad, first.submit({.waits = never}));
  DEPUTY_ASSIGN(const Fence good, second.submit({}));
  DEPUTY_ASSIGN(const Fence beside, device.copy(context, free, source, {}));
  DEPUTY_ASSIGN(const Fence behind,
                device.copy(context, after, first.output(0), std::vector<Fence>{bad}));
  if (cancel) first.cancel();
  note(device, out, "bad", bad), note(device, out, "good", good);
  note(device, out, "beside", beside), note(device, out, "behind", behind);
  note(out, "first", first.output(0)), note(out, "second", second.output(0));
  note(out, "free", free), note(out, "after", after);
  device.retire_timeline(timeline);
  return {};
}

void check(const char* name, const Scenario& scenario, const Outcome& expected,
           const sim::FaultPlan& plan = {}) {
  const Exploration fake = explore_fake(scenario, plan), tlm = explore_tlm(scenario, plan);
  fmt::print("explorer: {:<28} fake: {} runs, {} orders{}; tlm: {} latencies\n", name, fake.runs,
             fake.orders.size(), fake.complete ? "" : " (bounded)", tlm.runs);
  for (const Exploration* e : {&fake, &tlm}) {
    CHECK(e->outcomes.size() == 1);
    for (const Outcome& outcome : e->outcomes)
      CHECK(Outcome(outcome.begin(), outcome.begin() + 4) == expected);
  }
  CHECK(fake.outcomes == tlm.outcomes);
  CHECK(fake.complete);
  CHECK(fake.orders.size() > 1);
}

const std::string kHardware =
    fmt::format("failed {}", static_cast<int>(base::ErrorKind::kHardwareFault));
const std::string kCancelled =
    fmt::format("failed {}", static_cast<int>(base::ErrorKind::kCancelled));

}  // namespace

TEST_CASE("explorer: a chain over both engines, beside another frame") {
  check("chain", [](HwPort& port, Outcome& out) { return chain(port, out, true, false); },
        {"in: reached", "run: reached", "beside: reached", "sent: reached"});
}
TEST_CASE("explorer: the same with a host step in each frame") {
  check("chain with host steps",
        [](HwPort& port, Outcome& out) { return chain(port, out, true, true); },
        {"in: reached", "run: reached", "beside: reached", "sent: reached"});
}
TEST_CASE("explorer: waits before the signal, over three contexts") {
  check("late signal", late_signal,
        {"last: reached", "second: reached", "moved: reached", "first: reached"});
}
TEST_CASE("explorer: a job that fails") {
  check(
      "failing job", [](HwPort& port, Outcome& out) { return broken(port, out, false); },
      {"bad: " + kHardware, "good: reached", "beside: reached", "behind: " + kHardware},
      faults({{.kind = "engine_fault", .target = "npu"}}));
}
TEST_CASE("explorer: a job that is cancelled") {
  check("cancelled job", [](HwPort& port, Outcome& out) { return broken(port, out, true); },
        {"bad: " + kCancelled, "good: reached", "beside: reached", "behind: " + kCancelled});
}
TEST_CASE("explorer: a missing wait is found") {
  const Scenario missing = [](HwPort& port, Outcome& out) {
    return chain(port, out, false, false);
  };
  CHECK(explore_fake(missing).outcomes.size() > 1);
}
