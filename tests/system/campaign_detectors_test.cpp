// The campaign's detectors fire: runs are spoilt on purpose between the runtime and the SoC, and
// each is counted as what it is. Without this a campaign without findings would prove nothing.
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "tests/support/forwarding_port.h"
#include "tests/system/deputy_process.h"
#include "tools/campaign.h"
#include "tools/cli/common.h"

using namespace deputy;
using tools::CampaignOutcome;

namespace {

enum Spoilt : std::size_t { kNot, kBytes, kWait, kCache, kAbort, kEndless, kRuns };

class SpoiltPort final : public test::ForwardingPort {
 public:
  SpoiltPort(HwPort& port, std::size_t how) : ForwardingPort(port), how_(how) {}

  base::Result<SharedMemory> alloc(MemoryKind kind, std::uint64_t bytes,
                                   std::uint64_t align) override {
    auto out = port_.alloc(kind, bytes, align);
    if (out.ok()) memory_.push_back(*out);
    return out;
  }
  void free(const SharedMemory& memory) override {
    std::erase_if(memory_, [&](const SharedMemory& m) { return m.address == memory.address; });
    port_.free(memory);
  }
  // What the CPU is about to read is not what the engine wrote.
  void invalidate(std::uint64_t address, std::uint64_t bytes) override {
    port_.invalidate(address, bytes);
    for (const SharedMemory& m : memory_)
      if (how_ == kBytes && address >= m.address && address < m.address + m.bytes)
        m.host[address - m.address] ^= 1;
  }
  // Nobody wakes up for four minutes, three more than a run's longest bound.
  std::uint32_t wait_irqs(std::uint32_t lines, std::uint64_t deadline_ps) override {
    if (how_ == kWait) port_.sleep_until(port_.now_ps() + std::uint64_t{240} * 1'000'000'000'000);
    if (how_ == kAbort) {
      std::signal(SIGABRT, SIG_DFL);  // not the test program's own report
      std::abort();
    }
    while (how_ == kEndless) (void)port_.bus_errors();
    return port_.wait_irqs(lines, deadline_ps);
  }
  // The CPU writes what it does not clean, with the bytes that were there: the output is right by
  // luck.
  void write32(std::uint64_t address, std::uint32_t value) override {
    if (how_ == kCache)
      for (const SharedMemory& m : memory_) port_.announce({m.address, m.bytes, true});
    port_.write32(address, value);
  }

 private:
  std::size_t how_;
  std::vector<SharedMemory> memory_;
};

}  // namespace

TEST_CASE(
    "a campaign counts wrong bytes, late waits, unbalanced books, crashes and endless runs as what "
    "they are") {
  tools::CommonOptions common;
  common.soc = test::project_file("configs/soc/wearable.yaml");
  const auto options = tools::simulate_options(common);
  REQUIRE(options.ok());
  tools::CampaignPlan plan;
  plan.networks = "ecg_tcn", plan.policy = "none", plan.injections = kRuns;
  plan.inferences = plan.frames = plan.contexts = 1;
  for (const sim::FaultKindInfo& kind : sim::fault_kinds()) plan.weights[kind.name] = 0;
  plan.weights["ecc_single"] = 1;  // which does no harm
  auto campaign = tools::Campaign::prepare(plan, *options, 1);
  if (!campaign.ok()) FAIL(campaign.error().text());
  campaign->most_seconds = 2;
  campaign->tamper = [](HwPort& port, std::size_t run) {
    return std::make_unique<SpoiltPort>(port, run);
  };
  const auto results = campaign->run_all(2);
  const CampaignOutcome expected[] = {CampaignOutcome::kUnaffected, CampaignOutcome::kWrong,
                                      CampaignOutcome::kLate,       CampaignOutcome::kBooks,
                                      CampaignOutcome::kCrash,      CampaignOutcome::kCrash};
  REQUIRE(results.size() == kRuns);
  for (std::size_t i = 0; i < kRuns; ++i) {
    INFO("run " << i << ": " << tools::campaign_outcome_name(results[i].outcome) << ": "
                << results[i].text);
    CHECK(results[i].outcome == expected[i]);
    CHECK(tools::forbidden(results[i].outcome) == (i != kNot));
  }
  CHECK_THAT(results[kAbort].text, Catch::Contains("killed by signal 6"));
  CHECK_THAT(results[kEndless].text, Catch::Contains("still computing after 2 s"));
}
