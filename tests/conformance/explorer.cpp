#include "tests/conformance/explorer.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "arch/memory_map.h"
#include "tests/support/reference_device.h"

namespace deputy::conformance {
namespace {

// A path through a tree of choices that is not known in advance: replayed up to the last choice,
// then one further.
class Choices {
 public:
  std::size_t choose(std::size_t options) {
    if (at_ == path_.size()) path_.push_back({0, options});
    return path_[at_++].taken;
  }
  /// To the next path; false when there is none.
  bool next() {
    path_.resize(at_);
    at_ = 0;
    while (!path_.empty() && path_.back().taken + 1 == path_.back().options) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

 private:
  struct Choice {
    std::size_t taken, options;
  };
  std::vector<Choice> path_;
  std::size_t at_ = 0;
};

class HeldDevice final : public test::ReferenceDevice {
 public:
  HeldDevice(const arch::NpuConfig& npu, const sim::FaultPlan& faults, Choices& choices)
      : ReferenceDevice(npu, faults), choices_(choices) {}

  void write32(std::uint64_t address, std::uint32_t value) override {
    if (decisive(address)) release(false);
    ReferenceDevice::write32(address, value);
  }
  std::uint32_t wait_irqs(std::uint32_t lines, std::uint64_t deadline_ps) override {
    // Asleep, the host makes way for as many completions as wake it, or more.
    while (!woken(lines) && release(true)) {
    }
    if (woken(lines)) release(false);
    return ReferenceDevice::wait_irqs(lines, deadline_ps);
  }
  const std::string& order() const { return order_; }

 protected:
  void on_start(Device engine) override { prepare(engine); }  // and nothing ends by itself

 private:
  // Writes whose effect depends on what has completed before.
  static bool decisive(std::uint64_t address) {
    for (const std::uint64_t base : {arch::kNpuQueueBase, arch::kDmaQueueBase}) {
      if (address < base + arch::queue_reg::kRing0BaseLo ||
          address >= base + arch::queue_reg::kRing0BaseLo + arch::kRings * arch::kRingStride)
        continue;
      const auto reg = static_cast<std::uint32_t>(address - base - arch::queue_reg::kRing0BaseLo) %
                           arch::kRingStride +
                       arch::queue_reg::kRing0BaseLo;
      return reg == arch::queue_reg::kRing0Tail || reg == arch::queue_reg::kRing0Ctrl;
    }
    if (address < arch::kSyncBase + arch::sync_reg::kTimeline0ValueLo ||
        address >= arch::kSyncBase + 0x1000)
      return false;
    const auto reg = static_cast<std::uint32_t>(address - arch::kSyncBase) % arch::kTimelineStride +
                     arch::sync_reg::kTimeline0ValueLo -
                     arch::sync_reg::kTimeline0ValueLo % arch::kTimelineStride;
    return reg == arch::sync_reg::kTimeline0SignalHi || reg == arch::sync_reg::kTimeline0FailSet;
  }
  bool woken(std::uint32_t lines) const {
    return (get(kIntc, arch::intc_reg::kPending) & lines) != 0;
  }
  std::vector<Device> working() const {
    std::vector<Device> out;
    for (const Device engine : {kNpu, kDma})
      if (get(engine == kNpu ? kNpuQueue : kDmaQueue, arch::queue_reg::kStatus) != 0 &&
          !hangs(engine))
        out.push_back(engine);
    return out;
  }
  // Lets engines complete: at least one when `must`, then as many as chosen. False when none could.
  bool release(bool must) {
    bool any = false;
    for (;;) {
      const auto engines = working();
      if (engines.empty()) return any;
      const bool stop = !must || any;  // stopping is a choice
      const std::size_t chosen = choices_.choose(engines.size() + stop);
      if (chosen == engines.size()) return any;
      order_ += engines[chosen] == kNpu ? 'N' : 'D';
      complete(engines[chosen]);
      any = true;
    }
  }

  Choices& choices_;
  std::string order_;
};

}  // namespace

Exploration explore_fake(const Scenario& scenario, const sim::FaultPlan& faults, std::size_t most) {
  Exploration out;
  Choices choices;
  do {
    if (out.runs == most) return out;
    HeldDevice port(npu_config(), faults, choices);
    Outcome outcome;
    if (const base::Status status = scenario(port, outcome); !status.ok())
      outcome.push_back(status.error().text());
    ++out.runs;
    out.orders.insert(port.order());
    out.outcomes.insert(outcome);
  } while (choices.next());
  out.complete = true;
  return out;
}

Exploration explore_tlm(const Scenario& scenario, const sim::FaultPlan& faults) {
  std::vector<sim::FaultPlan> plans = {faults};
  const auto with = [&](std::initializer_list<sim::Fault> more) {
    plans.push_back(faults);
    plans.back().faults.insert(plans.back().faults.end(), more);
  };
  for (const char* engine : {"npu", "dma"}) {
    const std::string queue = std::string(engine) + ".queue";
    for (const std::int32_t factor : {8, 200})
      with({{.kind = "engine_slow", .target = engine, .repeat = 0, .factor = factor}});
    with({{.kind = "engine_slow", .target = engine, .nth = 4, .repeat = 0, .factor = 50}});
    for (const std::int64_t nth : {1, 2}) {
      with({{.kind = "late_signal", .target = queue, .nth = nth, .delay_ns = 300'000}});
      with({{.kind = "late_interrupt", .target = queue, .nth = nth, .delay_ns = 300'000}});
    }
  }
  Exploration out;
  for (const sim::FaultPlan& plan : plans) {
    Outcome outcome;
    for (PortUnderTest* port : ports())
      if (std::string(port->name()) == "tlm")
        port->run(plan, [&](HwPort& hw) { return scenario(hw, outcome); });
    ++out.runs;
    out.outcomes.insert(outcome);
  }
  out.complete = true;
  return out;
}

}  // namespace deputy::conformance
