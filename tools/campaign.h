// Fault campaigns: many runs of small networks, each on a fresh SoC with one planned fault, each
// held against the fault-free run. docs/recovery.md has the plan's format and what the outcomes
// mean.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/result.h"
#include "sim/fault_plan.h"
#include "tools/simulate.h"

namespace deputy::tools {

/// What a campaign draws from. Lists are separated by commas.
struct CampaignPlan {
  std::string networks = "ecg_tcn";
  std::string targets;  ///< empty: all
  std::string policy = "mixed";
  std::int64_t injections = 300;
  std::int32_t inferences = 2, frames = 2, contexts = 2;
  double permanent = 0.2;
  bool isolation = true;
  std::map<std::string, double> weights;  ///< by kind; a kind that is not there: 1
  double weight(const std::string& kind) const {
    const auto it = weights.find(kind);
    return it == weights.end() ? 1.0 : it->second;
  }
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.networks, Field{.name = "networks", .doc = "built-in networks, drawn evenly"});
    v(s.targets, Field{.name = "targets", .doc = "where faults happen; empty: everywhere"});
    v(s.policy, Field{.name = "policy", .doc = "recovery: full, none, or mixed (either, drawn)"});
    v(s.injections, Field{.name = "injections", .doc = "runs with a fault", .min = 1, .max = 1e7});
    v(s.inferences, Field{.name = "inferences",
                          .doc = "inferences of each frame, one after the other",
                          .min = 1,
                          .max = 16});
    v(s.frames, Field{.name = "frames",
                      .doc = "frames in flight of each context, drawn from 1 to this",
                      .min = 1,
                      .max = 2});
    v(s.contexts,
      Field{.name = "contexts", .doc = "contexts, drawn from 1 to this", .min = 1, .max = 2});
    v(s.permanent, Field{.name = "permanent",
                         .doc = "share of faults that stay; the others happen 1 to 4 times",
                         .min = 0,
                         .max = 1});
    v(s.isolation, Field{.name = "isolation", .doc = "contexts have address spaces of their own"});
  }
};
base::Result<CampaignPlan> parse_campaign(base::Config config);

/// What one run does, besides its fault.
struct CampaignSetup {
  std::size_t network = 0;
  int frames = 1, contexts = 1;
  bool dma = false;   ///< the DMA engine brings inputs and takes outputs away
  bool full = false;  ///< the whole recovery ladder; else none
};

struct Injection {
  CampaignSetup setup;
  sim::Fault fault;
};

enum class CampaignOutcome : std::uint8_t {
  kNeverCame,
  kUnaffected,
  kRecovered,
  kDegraded,
  kFailed,  // as it may be
  kWrong,
  kLate,
  kBooks,
  kCrash,  // forbidden
};
inline constexpr int kCampaignOutcomes = 9;
const char* campaign_outcome_name(CampaignOutcome outcome);
inline bool forbidden(CampaignOutcome outcome) { return outcome >= CampaignOutcome::kWrong; }

/// How one run ended.
struct InjectionResult {
  CampaignOutcome outcome = CampaignOutcome::kCrash;
  std::uint64_t worst_ps = 0,
                bound_ps = 0;  ///< of the wait that came nearest to its bound, from the submission
  int error_kind = 0;          ///< base::ErrorKind of the first failure that was reported
  std::string text;            ///< that failure, or what is forbidden about it
  std::vector<host_runtime::RecoveryEvent> events;  ///< only of a run in this process
};

/// A plan made ready: networks compiled, fault-free runs done.
class Campaign {
 public:
  /// kConfig when the plan makes no sense for the SoC.
  static base::Result<Campaign> prepare(const CampaignPlan& plan, const SimulateOptions& options,
                                        std::uint64_t seed);
  std::size_t size() const { return static_cast<std::size_t>(plan_.injections); }
  const std::vector<std::string>& networks() const { return names_; }
  /// The same for the same plan and seed, whoever asks and in whatever order.
  Injection injection(std::size_t index) const;
  /// On a fresh platform in this process.
  InjectionResult run(std::size_t index) const;
  InjectionResult run(const Injection& injection) const { return run(injection, nullptr); }
  /// All of them, by worker processes. A worker that dies is an outcome of the run it was at.
  std::vector<InjectionResult> run_all(int workers) const;

  /// To try the campaign's own detectors: stands between the runtime and the SoC in run `index`.
  /// Null: nothing does.
  using Tamper = std::function<std::unique_ptr<HwPort>(HwPort& port, std::size_t index)>;
  Tamper tamper;
  /// Seconds of processor time after which a run that is still computing counts as hung, ten times
  /// as many by the clock; simulated time has its own bounds.
  unsigned most_seconds = 300;

 private:
  struct Network {
    std::vector<std::uint8_t> file;
    std::vector<std::vector<std::uint8_t>> inputs, outputs;  ///< by inference
  };
  /// Of a fault-free run: how long it takes, and how many events each kind has at each target.
  struct Baseline {
    std::uint64_t span_ps = 0;
    std::map<std::pair<std::string, std::string>, std::uint64_t> events;
  };
  struct Trial;
  base::Status compile(const std::string& name);
  base::Status measure(const CampaignSetup& setup);
  host_runtime::DeviceOptions device_options(const CampaignSetup& setup) const;
  const Baseline& baseline(const CampaignSetup& s) const {
    return baselines_.at({s.network, s.frames, s.contexts, s.dma});
  }
  bool drawn(const std::string& target) const;
  using Wrap = std::function<std::unique_ptr<HwPort>(HwPort&)>;
  InjectionResult run(const Injection& injection, const Wrap& wrap) const;
  Trial run_trial(const CampaignSetup& setup, const sim::FaultPlan& faults, const Wrap& wrap) const;

  CampaignPlan plan_;
  SimulateOptions options_;
  std::uint64_t seed_ = 1;
  std::vector<std::string> names_, targets_;
  std::vector<Network> networks_;
  std::map<std::tuple<std::size_t, int, int, bool>, Baseline> baselines_;
};

/// One fault as a plan that `--faults` reads; `comment` goes before it, each line with a '#'.
std::string fault_plan_text(const sim::Fault& fault, const std::string& comment);

}  // namespace deputy::tools
