// What the runtime does about faults, on the whole board: the ladder step by step, who pays for it,
// and that nothing wrong is ever taken for right. The oracle of every output is the network on the
// CPU.
#include <catch2/catch.hpp>

#include "arch/executable.h"
#include "host_runtime/runtime/session.h"
#include "tests/system/deputy_process.h"
#include "tools/campaign.h"
#include "tools/cli/common.h"
#include "workloads/networks.h"
#include "workloads/random.h"

using namespace deputy;
using namespace deputy::host_runtime;

namespace {

using Bytes = std::vector<std::uint8_t>;

tools::SimulateOptions wearable() {
  tools::CommonOptions common;
  common.soc = test::project_file("configs/soc/wearable.yaml");
  auto options = tools::simulate_options(common);
  REQUIRE(options.ok());
  return *options;
}

tools::Campaign campaign(int inferences) {
  tools::CampaignPlan plan;
  plan.networks = "autoencoder";
  plan.inferences = inferences;
  auto out = tools::Campaign::prepare(plan, wearable(), 1);
  if (!out.ok()) FAIL(out.error().text());
  return std::move(*out);
}

sim::Fault fault(const char* kind, const char* target, std::int64_t nth, std::int64_t repeat) {
  sim::Fault out;
  out.kind = kind, out.target = target, out.nth = nth, out.repeat = repeat;
  return out;
}

struct Model {
  tools::SimulateOptions options = wearable();
  Bytes file, input, output;
  std::size_t programs = 0;
};

// ds_cnn with an operator of its middle on the CPU, so that there are two programs.
Model two_programs() {
  Model m;
  const auto graph = workloads::build_network("ds_cnn");
  REQUIRE(graph.ok());
  auto compile = tools::compile_options(m.options);
  compile.engine = delegate::EnginePolicy::kCpu;
  m.input = workloads::seeded_input(graph->tensor(graph->inputs[0]).desc, 1);
  auto cpu = m.options;
  cpu.engine = delegate::EnginePolicy::kCpu;
  const auto oracle = tools::simulate(*graph, cpu, {m.input});
  REQUIRE(oracle.ok());
  m.output = oracle->outputs[0];
  tools::CommonOptions common;
  common.soc = test::project_file("configs/soc/wearable.yaml");
  common.engine = "npu", common.fallback = true;
  common.force = {"#4=cpu"};
  const auto split = tools::simulate_options(common);
  REQUIRE(split.ok());
  m.options = *split;
  const auto executable = tools::compile_graph(*graph, m.options, nullptr, nullptr);
  if (!executable.ok()) FAIL(executable.error().text());
  m.programs = executable->programs.size();
  m.file = arch::write_executable(*executable);
  return m;
}

DeviceOptions full() {
  DeviceOptions out;
  out.recovery = RecoveryPolicy::full();
  return out;
}

soc::RunRecord on_board(const Model& m, const sim::FaultPlan& faults,
                        const std::function<base::Status(HwPort&)>& program) {
  soc::Platform platform(m.options.soc, {.timing_only = false, .seed = 1, .faults = faults});
  auto record = platform.run(program);
  if (!record.ok()) FAIL(record.error().text());
  CHECK(record->imbalances.empty());
  return *record;
}

std::vector<RecoveryStep> steps(const Device& device) {
  std::vector<RecoveryStep> out;
  for (const RecoveryEvent& e : device.recovery_events()) out.push_back(e.step);
  return out;
}

}  // namespace

TEST_CASE(
    "every fault at every place ends in equal bytes or a reported failure, within the bound") {
  using tools::CampaignOutcome;
  const tools::Campaign c = campaign(1);
  int kinds = 0;
  for (const sim::FaultKindInfo& kind : sim::fault_kinds())
    for (const char* target : kind.targets) {
      // The engines' own start registers are for bring-up: no driver here writes them.
      const std::string at = target;
      if (kind.kind == sim::FaultKind::kLostDoorbell && (at == "npu" || at == "dma")) continue;
      if (at.starts_with("dsp")) continue;  // no DSP here: tests/stream
      ++kinds;
      for (const int variant : {0, 1, 2, 3}) {
        const bool permanent = variant & 1, with_full = variant & 2;
        tools::Injection injection;
        injection.setup = {.network = 0,
                           .frames = 2,
                           .contexts = 1,
                           .dma = at.starts_with("dma"),
                           .full = with_full};
        sim::Fault& f = injection.fault;
        f = fault(kind.name, target, kind.kind == sim::FaultKind::kThrottle ? 1 : 2,
                  permanent ? 0 : 1);
        if (kind.kind == sim::FaultKind::kThrottle) f.repeat = 1;
        if (kind.kind == sim::FaultKind::kLateInterrupt || kind.kind == sim::FaultKind::kLateSignal)
          f.delay_ns = 30'000'000;
        const tools::InjectionResult r = c.run(injection);
        INFO(kind.name << " at " << target << (permanent ? ", permanent" : "")
                       << (with_full ? ", full: " : ", none: ")
                       << tools::campaign_outcome_name(r.outcome) << " " << r.text);
        CHECK_FALSE(tools::forbidden(r.outcome));
        CHECK(r.worst_ps <= r.bound_ps);
        // One fault passes; and what an engine cannot do the CPU does, as long as nothing else is
        // broken.
        if (with_full && !permanent) CHECK(r.outcome != CampaignOutcome::kFailed);
        const bool npu_alone =
            at == "npu" || at == "npu.load" || at == "npu.store" || at == "npu.cmd";
        if (with_full && permanent && (npu_alone || at.starts_with("dma")))
          CHECK(r.outcome != CampaignOutcome::kFailed);
      }
    }
  CHECK(kinds > 30);
}

TEST_CASE("the ladder is climbed in order, and only the program that fails goes to the CPU") {
  const Model m = two_programs();
  REQUIRE(m.programs >= 2);
  for (const std::int64_t repeat : {1, 2, 3, 4}) {
    on_board(m, {{fault("engine_fault", "npu", 1, repeat)}}, [&](HwPort& port) -> base::Status {
      Device device(port, full());
      DEPUTY_ASSIGN(auto session, Session::load(device, m.file, "m"));
      DEPUTY_TRY(session->run(std::vector<Bytes>{m.input}));
      DEPUTY_ASSIGN(const Bytes output, session->read_tensor(session->executable().outputs[0]));
      CHECK(output == m.output);
      const std::vector<RecoveryStep> ladder = {RecoveryStep::kRetry, RecoveryStep::kRestartRing,
                                                RecoveryStep::kResetEngine, RecoveryStep::kGiveUp};
      CHECK(steps(device) == std::vector<RecoveryStep>(ladder.begin(), ladder.begin() + repeat));
      CHECK(session->record().degraded ==
            (repeat == 4 ? std::vector<std::uint32_t>{0} : std::vector<std::uint32_t>{}));
      CHECK(device.healthy(EngineId::kNpu));
      return {};
    });
  }
}

TEST_CASE("an engine that fails again and again is out of service until its self-test passes") {
  const Model m = two_programs();
  // Three programs give up, four attempts each; then the engine is whole again, but nobody knows.
  on_board(m, {{fault("engine_fault", "npu", 1, 12)}}, [&](HwPort& port) -> base::Status {
    Device device(port, full());
    DEPUTY_ASSIGN(auto session, Session::load(device, m.file, "m"));
    const auto run = [&]() -> base::Status {
      DEPUTY_TRY(session->run(std::vector<Bytes>{m.input}));
      DEPUTY_ASSIGN(const Bytes output, session->read_tensor(session->executable().outputs[0]));
      CHECK(output == m.output);
      return {};
    };
    while (device.healthy(EngineId::kNpu)) DEPUTY_TRY(run());
    CHECK(device.recovery_events().back().what == "out of service");
    const std::size_t events = device.recovery_events().size();
    DEPUTY_TRY(run());
    CHECK(session->record().degraded.size() == m.programs);
    CHECK(device.recovery_events().size() == events);
    port.sleep_until(port.now_ps() + RecoveryPolicy::full().readmit_after_ps);
    DEPUTY_TRY(run());
    CHECK(session->record().degraded.empty());
    REQUIRE(device.recovery_events().size() == events + 1);
    CHECK(device.recovery_events().back().what == "back in service: its self-test passed");
    return {};
  });
}

TEST_CASE("innocent jobs are replayed when a neighbour's fault resets the engine") {
  const Model m = two_programs();
  on_board(m, {{fault("engine_hang", "npu", 5, 3)}}, [&](HwPort& port) -> base::Status {
    Device device(port, full());
    std::vector<std::unique_ptr<Session>> sessions;
    std::vector<Fence> fences;
    for (int c = 0; c < 3; ++c) {
      DEPUTY_ASSIGN(auto context, device.create_context({}));
      DEPUTY_ASSIGN(auto session,
                    Session::load(device, m.file, "m", {.context = context, .frames = 1}));
      DEPUTY_TRY(session->frame(0).input(0).write(m.input));
      DEPUTY_ASSIGN(fences.emplace_back(), session->frame(0).submit({}));
      sessions.push_back(std::move(session));
    }
    const std::uint64_t start = port.now_ps(), bound = device.bound_ps();
    for (std::size_t c = 0; c < 3; ++c) {
      DEPUTY_TRY(device.wait(fences[c], start + bound));
      DEPUTY_ASSIGN(const Bytes output, sessions[c]->frame(0).output(0).read());
      CHECK(output == m.output);
      CHECK(sessions[c]->frame(0).record().degraded.empty());
    }
    CHECK(device.recovery_events().size() == 3);
    return {};
  });
}

TEST_CASE("what is cancelled while it waits for nobody's signal leaves its ring") {
  const Model m = two_programs();
  on_board(m, {}, [&](HwPort& port) -> base::Status {
    Device device(port, full());
    DEPUTY_ASSIGN(auto session,
                  Session::load(device, m.file, "m", {.context = nullptr, .frames = 2}));
    DEPUTY_ASSIGN(const std::uint8_t timeline, device.create_timeline());
    for (std::size_t f : {0u, 1u}) DEPUTY_TRY(session->frame(f).input(0).write(m.input));
    DEPUTY_ASSIGN(const Fence never,
                  session->frame(0).submit({.waits = {Fence(timeline, 5, true)}}));
    session->frame(0).cancel();
    CHECK(session->frame(0).idle());
    CHECK(device.wait(never, ~std::uint64_t{0}).error().kind == base::ErrorKind::kCancelled);
    DEPUTY_ASSIGN(const Fence fence, session->frame(1).submit({}));
    DEPUTY_TRY(device.wait(fence, port.now_ps() + device.bound_ps()));
    device.retire_timeline(timeline);
    return {};
  });
}

TEST_CASE(
    "a short campaign has no forbidden outcome, and the same results for any number of workers") {
  test::TempFolder folder;
  const auto run = [&](const char* jobs, const char* n) {
    return test::run_deputy({"campaign", test::project_file("configs/campaigns/short.yaml"),
                             "--jobs", jobs, "--injections", n, "--findings",
                             folder.file("findings"), "--report", folder.file(jobs)});
  };
  const auto outcome = run("2", "300");
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  REQUIRE(run("1", "20").exit_code == 0);
  REQUIRE(run("3", "20").exit_code == 0);
  CHECK(test::read_text(folder.file("1")) == test::read_text(folder.file("3")));
}

TEST_CASE("run tells the recovery steps it took") {
  test::TempFolder folder;
  const std::string model = folder.file("m.tflite");
  REQUIRE(test::run_deputy({"network", "autoencoder", "-o", model}).exit_code == 0);
  const std::string faults = test::project_file("configs/faults/npu_dead.yaml");
  CHECK(test::run_deputy({"run", model, "--engine", "npu", "--faults", faults}).exit_code == 6);
  const auto full =
      test::run_deputy({"run", model, "--engine", "npu", "--faults", faults, "--recover", "full"});
  CHECK(full.exit_code == 0);
  CHECK_THAT(full.out, Catch::Contains("restart ring") && Catch::Contains("give up") &&
                           Catch::Contains("the job hangs"));
  const auto json = test::run_deputy(
      {"run", model, "--engine", "npu", "--faults", faults, "--recover", "full", "--json"});
  CHECK_THAT(json.out, Catch::Contains("\"programs_on_cpu\"") &&
                           Catch::Contains("\"step\": \"reset engine\""));
}
