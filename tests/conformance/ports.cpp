// The ports under test: the simulated board (TLM), and the fake port with reference engines.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/check.h"
#include "soc/platform.h"
#include "tests/conformance/registry.h"
#include "tests/support/reference_device.h"
#include "tests/support/source_dir.h"

extern "C" int sc_main(int, char**) { return 0; }  // the library wants one; main() is Catch2's

namespace deputy::conformance {
namespace {

const soc::SocConfig& soc_config() {
  static const soc::SocConfig config = [] {
    auto loaded = soc::load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml", {});
    DEPUTY_CHECK(loaded.ok(), "configs/soc/wearable.yaml cannot be read");
    return *loaded;
  }();
  return config;
}

class Tlm final : public PortUnderTest {
 public:
  const char* name() const override { return "tlm"; }
  std::string lacks(Capability capability) const override {
    switch (capability) {
      case Capability::kPresetCounters:
        return "HEAD begins at 0 and only finished entries move it: 2^32 of them would take days";
      case Capability::kCountsMemory:
        return "the port keeps its heap to itself";
      case Capability::kSensor:
        return "";
    }
    DEPUTY_CHECK(false, "unknown capability");
  }
  std::string lacks(sim::FaultKind) const override { return ""; }
  void run(const sim::FaultPlan& faults, const Program& program) override {
    soc::PlatformOptions options;
    options.faults = faults;
    soc::Platform platform(soc_config(), options);
    const soc::RunOutcome outcome = platform.run_to_end(program);
    if (!outcome.status.ok()) FAIL(outcome.status.error().text());
    for (const std::string& line : outcome.record.imbalances) FAIL_CHECK(line);
  }
};

class Fake final : public PortUnderTest {
 public:
  const char* name() const override { return "fake"; }
  std::string lacks(Capability capability) const override {
    return capability == Capability::kSensor ? "nothing brings frames to it" : "";
  }
  std::string lacks(sim::FaultKind kind) const override {
    const auto has = test::ReferenceDevice::faults_it_has();
    if (std::ranges::find(has, kind) != has.end()) return "";
    switch (kind) {
      case sim::FaultKind::kBusError:
      case sim::FaultKind::kStuckTransaction:
      case sim::FaultKind::kCommandParity:
        return "it has no bus whose transactions could fail";
      case sim::FaultKind::kThrottle:
        return "its engines have no clock";
      case sim::FaultKind::kEccSingle:
      case sim::FaultKind::kEccDouble:
        return "its memories are byte arrays without ECC";
      default:
        return "its queues and decoders follow the contract without messages that could be lost";
    }
  }
  void run(const sim::FaultPlan& faults, const Program& program) override {
    test::ReferenceDevice port(npu_config(), faults);
    if (const base::Status status = program(port); !status.ok()) FAIL(status.error().text());
    CHECK(port.allocations() == 0);
    CHECK(port.unjoined_threads() == 0);
  }
  void preset_counters(HwPort& port, std::uint64_t queue_base, std::uint32_t ring,
                       std::uint32_t value) override {
    auto& fake = dynamic_cast<test::ReferenceDevice&>(port);
    const auto queue = queue_base == arch::kNpuQueueBase ? test::ReferenceDevice::kNpuQueue
                                                         : test::ReferenceDevice::kDmaQueue;
    for (const std::uint32_t reg : {arch::queue_reg::kRing0Head, arch::queue_reg::kRing0Tail})
      fake.set(queue, reg + ring * arch::kRingStride, value);
  }
  std::size_t allocations(HwPort& port) const override {
    return dynamic_cast<test::ReferenceDevice&>(port).allocations();
  }
};

}  // namespace

const arch::NpuConfig& npu_config() { return soc_config().npu; }

const std::vector<PortUnderTest*>& ports() {
  static Tlm tlm;
  static Fake fake;
  static const std::vector<PortUnderTest*> all = {&tlm, &fake};
  return all;
}

}  // namespace deputy::conformance
