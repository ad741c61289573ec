// One run of a campaign: contexts, frames and copies in flight on a fresh SoC, every wait with its
// bound, every output held against the fault-free one.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delegate/compile.h"
#include "soc/platform.h"
#include "tools/campaign.h"
#include "workloads/networks.h"
#include "workloads/random.h"

namespace deputy::tools {
using namespace host_runtime;
using base::Error;
using base::ErrorKind;
using Bytes = std::vector<std::uint8_t>;

const char* campaign_outcome_name(CampaignOutcome outcome) {
  constexpr const char* kNames[kCampaignOutcomes] = {"never came",   "unaffected", "recovered",
                                                     "degraded",     "failed",     "WRONG OUTPUT",
                                                     "BEYOND BOUND", "BOOKS",      "CRASH"};
  return kNames[static_cast<int>(outcome)];
}

/// What a run showed.
struct Campaign::Trial {
  soc::RunOutcome soc;
  std::uint64_t begin_ps = 0, end_ps = 0;
  std::uint64_t worst_ps = 0, bound_ps = 1;
  std::vector<RecoveryEvent> events;
  bool degraded = false;
  std::optional<Error> failure;  ///< the first that was reported
  std::string wrong, late;       ///< what may not be
};

namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  std::string item;
  for (const char c : list + ",")
    if (c != ',' && c != ' ')
      item += c;
    else if (!item.empty())
      out.push_back(std::exchange(item, ""));
  return out;
}

/// One frame's way through a round.
struct Lane {
  Session* session = nullptr;
  std::shared_ptr<Context> context;
  std::size_t frame = 0;
  Buffer camera, radio;  ///< only with DMA
  Fence in, run, out;
  std::size_t inference = 0;
  int started = 0;  ///< of in, run and out, or of run alone
};

class Round {
 public:
  Round(Device& device, bool dma, const std::vector<Bytes>& inputs,
        const std::vector<Bytes>& outputs)
      : device_(device), dma_(dma), inputs_(inputs), outputs_(outputs) {}

  std::function<void(std::uint64_t took, std::uint64_t bound)> on_wait;
  std::function<void(const Error&)> on_failure;
  std::function<void(std::string)> on_wrong, on_late;

  void submit(Lane& lane) {
    lane.in = lane.run = lane.out = Fence();
    lane.started = 0;
    if (const base::Status status = start(lane); !status.ok()) on_failure(status.error());
  }

  // Every fence against the same bound: of all that is in flight.
  void finish(Lane& lane, std::uint64_t start_ps, std::uint64_t bound) {
    const auto wait = [&](const Fence& fence) {
      const base::Status status = device_.wait(fence, start_ps + bound);
      if (fence.pending())
        on_late(fmt::format("a fence is pending after its bound of {} us", bound / 1'000'000));
      const std::uint64_t took = device_.port().now_ps() - start_ps;
      if (took > bound)
        on_late(fmt::format("a wait took {} of {} us", took / 1'000'000, bound / 1'000'000));
      on_wait(took, bound);
      if (!status.ok() && !fence.pending()) on_failure(status.error());
      return status.ok();
    };
    Session::Frame& frame = lane.session->frame(lane.frame);
    if (dma_ && lane.started > 0) (void)wait(lane.in);
    if (lane.started > (dma_ ? 1 : 0))
      compare(wait(lane.run), frame.output(0), lane.inference, "the frame's output");
    if (dma_ && lane.started > 2)
      compare(wait(lane.out), lane.radio, lane.inference, "the copied output");
    // Nothing may be left that blocks the frame for ever.
    const base::Status quiet =
        device_.wait_until([&] { return frame.idle(); }, start_ps + 2 * bound);
    if (!quiet.ok()) on_late("a frame that is over is not idle after twice its bound");
  }

 private:
  base::Status start(Lane& lane) {
    Session::Frame& frame = lane.session->frame(lane.frame);
    if (!dma_) {
      DEPUTY_TRY(frame.input(0).write(inputs_[lane.inference]));
      DEPUTY_ASSIGN(lane.run, frame.submit({}));
      ++lane.started;
      return {};
    }
    DEPUTY_TRY(lane.camera.write(inputs_[lane.inference]));
    DEPUTY_ASSIGN(lane.in, device_.copy(lane.context, frame.input(0), lane.camera, {}));
    ++lane.started;
    DEPUTY_ASSIGN(lane.run, frame.submit({.waits = {lane.in}}));
    ++lane.started;
    DEPUTY_ASSIGN(lane.out, device_.copy(lane.context, lane.radio, frame.output(0),
                                         std::vector<Fence>{lane.run}));
    ++lane.started;
    return {};
  }

  void compare(bool success, const Buffer& buffer, std::size_t inference, const char* what) {
    const auto bytes = buffer.read();
    if (!success) {
      if (bytes.ok()) on_wrong(fmt::format("{} can be read although its job failed", what));
      return;
    }
    if (!bytes.ok()) return on_failure(bytes.error());
    if (*bytes != outputs_[inference])
      on_wrong(fmt::format("{} differs from the fault-free run's", what));
  }

  Device& device_;
  bool dma_;
  const std::vector<Bytes>&inputs_, &outputs_;
};

}  // namespace

DeviceOptions Campaign::device_options(const CampaignSetup& setup) const {
  DeviceOptions out;
  out.isolation = plan_.isolation;
  out.board = board_times(options_.soc, out.isolation);
  if (setup.full) out.recovery = RecoveryPolicy::full();
  return out;
}

Campaign::Trial Campaign::run_trial(const CampaignSetup& setup, const sim::FaultPlan& faults,
                                    const Wrap& wrap) const {
  Trial out;
  const Network& network = networks_[setup.network];
  soc::Platform platform(options_.soc, {.seed = 1, .faults = faults});
  out.soc = platform.run_to_end([&](HwPort& real) -> base::Status {
    const std::unique_ptr<HwPort> between = wrap ? wrap(real) : nullptr;
    HwPort& port = between ? *between : real;
    Device device(port, device_options(setup));
    const auto failed = [&](const Error& error) {
      if (!out.failure) out.failure = error;
    };
    const auto body = [&]() -> base::Status {
      std::vector<std::unique_ptr<Session>> sessions;
      std::vector<Lane> lanes;
      for (int c = 0; c < setup.contexts; ++c) {
        DEPUTY_ASSIGN(auto context, device.create_context({}));
        DEPUTY_ASSIGN(auto session,
                      Session::load(device, network.file, "campaign", {context, setup.frames}));
        for (int f = 0; f < setup.frames; ++f) {
          Lane& lane = lanes.emplace_back();
          lane.session = session.get(), lane.context = context,
          lane.frame = static_cast<std::size_t>(f);
          if (!setup.dma) continue;
          DEPUTY_ASSIGN(lane.camera, Buffer::make(device.space(), MemoryKind::kDram,
                                                  network.inputs[0].size(), 64));
          DEPUTY_ASSIGN(lane.radio, Buffer::make(device.space(), MemoryKind::kDram,
                                                 network.outputs[0].size(), 64));
        }
        sessions.push_back(std::move(session));
      }
      Round round(device, setup.dma, network.inputs, network.outputs);
      round.on_failure = failed;
      round.on_wrong = [&](std::string what) { out.wrong = std::move(what); };
      round.on_late = [&](std::string what) { out.late = std::move(what); };
      round.on_wait = [&](std::uint64_t took, std::uint64_t bound) {
        if (static_cast<double>(took) / static_cast<double>(bound) >
            static_cast<double>(out.worst_ps) / static_cast<double>(out.bound_ps))
          out.worst_ps = took, out.bound_ps = bound;
      };
      out.begin_ps = port.now_ps();
      for (int i = 0; i < plan_.inferences && out.late.empty(); ++i) {
        for (std::size_t l = 0; l < lanes.size(); ++l) {
          lanes[l].inference =
              (static_cast<std::size_t>(i) * lanes.size() + l) % network.inputs.size();
          round.submit(lanes[l]);
        }
        const std::uint64_t start = port.now_ps(), bound = device.bound_ps();
        for (Lane& lane : lanes) round.finish(lane, start, bound);
        for (const Lane& lane : lanes)
          out.degraded = out.degraded || !lane.session->frame(lane.frame).record().degraded.empty();
      }
      out.end_ps = port.now_ps();
      return {};
    };
    if (const base::Status status = body(); !status.ok()) failed(status.error());
    out.events = device.recovery_events();
    out.degraded = out.degraded || device.copies_by_cpu() != 0;
    return {};
  });
  return out;
}

InjectionResult Campaign::run(std::size_t index) const {
  if (!tamper) return run(injection(index));
  return run(injection(index), [&](HwPort& port) { return tamper(port, index); });
}

InjectionResult Campaign::run(const Injection& injection, const Wrap& wrap) const {
  const Trial t = run_trial(injection.setup, {{injection.fault}}, wrap);
  InjectionResult out;
  out.worst_ps = t.worst_ps, out.bound_ps = t.bound_ps, out.events = t.events;
  const bool fired =
      std::ranges::any_of(t.soc.record.faults, [](const auto& f) { return f.fired != 0; });
  if (t.failure) out.error_kind = static_cast<int>(t.failure->kind), out.text = t.failure->text();
  const auto is = [&](CampaignOutcome outcome, const std::string& text) {
    out.outcome = outcome, out.text = text;
  };
  if (!t.wrong.empty())
    is(CampaignOutcome::kWrong, t.wrong);
  else if (!t.late.empty())
    is(CampaignOutcome::kLate, t.late);
  else if (!t.soc.status.ok())
    is(CampaignOutcome::kLate, t.soc.status.error().text());
  else if (!t.soc.record.imbalances.empty())
    is(CampaignOutcome::kBooks, t.soc.record.imbalances[0]);
  else if (t.failure && !fired)
    is(CampaignOutcome::kWrong, "failed without a fault: " + out.text);
  else if (t.failure)
    out.outcome = CampaignOutcome::kFailed;
  else if (t.degraded)
    out.outcome = CampaignOutcome::kDegraded;
  else if (!t.events.empty())
    out.outcome = CampaignOutcome::kRecovered;
  else
    out.outcome = fired ? CampaignOutcome::kUnaffected : CampaignOutcome::kNeverCame;
  return out;
}

base::Status Campaign::compile(const std::string& name) {
  DEPUTY_ASSIGN(const auto graph, workloads::build_network(name));
  SimulateOptions options = options_;
  options.fallback = true;
  options.io = delegate::IoPlacement::kDram;
  DEPUTY_ASSIGN(const auto executable, delegate::compile(graph, compile_options(options)));
  Network& network = networks_.emplace_back();
  network.file = arch::write_executable(executable);
  // The oracle: the same operators on the CPU alone, which outside runtimes hold to their bytes.
  options.engine = delegate::EnginePolicy::kCpu, options.fallback = false;
  for (std::uint64_t i = 1; i <= 4; ++i) {
    network.inputs.push_back(workloads::seeded_input(graph.tensor(graph.inputs[0]).desc, i));
    DEPUTY_ASSIGN(auto cpu, simulate(graph, options, {network.inputs.back()}));
    network.outputs.push_back(std::move(cpu.outputs[0]));
  }
  return {};
}

// Counts events with faults that never come.
base::Status Campaign::measure(const CampaignSetup& setup) {
  sim::FaultPlan counting;
  for (const sim::FaultKindInfo& kind : sim::fault_kinds())
    for (const char* target : kind.targets) {
      sim::Fault fault;
      fault.kind = kind.name, fault.target = target;
      if (kind.kind == sim::FaultKind::kThrottle)
        fault.at_ns = 1'000'000'000'000'000;
      else
        fault.nth = 1'000'000'000'000'000;
      if (kind.kind == sim::FaultKind::kLateInterrupt || kind.kind == sim::FaultKind::kLateSignal)
        fault.delay_ns = 1;
      counting.faults.push_back(fault);
    }
  const Trial trial = run_trial(setup, counting, nullptr);
  DEPUTY_TRY(trial.soc.status);
  if (trial.failure) return *trial.failure;
  if (!trial.wrong.empty() || !trial.late.empty() || !trial.soc.record.imbalances.empty())
    return Error{ErrorKind::kMismatch, names_[setup.network],
                 "the fault-free run is not right: " + trial.wrong + trial.late, ""};
  Baseline& base = baselines_[{setup.network, setup.frames, setup.contexts, setup.dma}];
  base.span_ps = trial.end_ps;
  for (const soc::FaultCount& count : trial.soc.record.faults)
    if (count.seen != 0 || count.kind == "throttle")
      base.events[{count.kind, count.target}] = count.seen;
  return {};
}

base::Result<Campaign> Campaign::prepare(const CampaignPlan& plan, const SimulateOptions& options,
                                         std::uint64_t seed) {
  Campaign out;
  out.plan_ = plan, out.options_ = options, out.seed_ = seed;
  out.names_ = split(plan.networks), out.targets_ = split(plan.targets);
  if (out.names_.empty())
    return Error{ErrorKind::kConfig, "campaign.networks", "there is none",
                 "name a built-in network"};
  for (const std::string& name : out.names_) DEPUTY_TRY(out.compile(name));
  CampaignSetup s;
  for (s.network = 0; s.network < out.names_.size(); ++s.network)
    for (s.frames = 1; s.frames <= plan.frames; ++s.frames)
      for (s.contexts = 1; s.contexts <= plan.contexts; ++s.contexts)
        for (const bool dma : {false, true}) {
          s.dma = dma;
          DEPUTY_TRY(out.measure(s));
          const auto possible = [&](const auto& e) {
            return out.drawn(e.first.second) && plan.weight(e.first.first) > 0;
          };
          if (std::ranges::none_of(out.baseline(s).events, possible))
            return Error{ErrorKind::kConfig, "campaign",
                         "no fault of these kinds can happen at these targets",
                         "see docs/faults.md for which kind happens where"};
        }
  return out;
}

}  // namespace deputy::tools
