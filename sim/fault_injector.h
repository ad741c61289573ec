// Decides, event by event, whether a planned fault happens. One for a board; models hold a pointer
// that is null when nothing is planned, so that a run without faults pays a comparison.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/fault_plan.h"

namespace deputy::sim {

/// A fault that happened.
struct FaultEvent {
  std::string kind, target;
  std::uint64_t time_ps = 0;
  std::uint64_t address = 0;  ///< of the transaction; 0 where there is none
};

class FaultInjector {
 public:
  /// The plan's faults must have passed check_fault().
  explicit FaultInjector(const FaultPlan& plan);

  struct Event {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::int32_t ring = -1;
  };
  /// Counts an event of `kind` at `target`, now. The fault that happens to it, or nullptr.
  const Fault* hit(FaultKind kind, std::string_view target, const Event& event);
  const Fault* hit(FaultKind kind, std::string_view target) { return hit(kind, target, Event{}); }

  /// The times in which a clock is throttled, for sim/throttled_clock.h; `note_throttle` says that
  /// one has told.
  struct Window {
    std::uint64_t begin_ps, end_ps, factor;
    bool told = false;
  };
  std::vector<Window> windows(std::string_view target) const;
  void note_throttle(std::string_view target, std::uint64_t begin_ps);

  /// The first kMostEvents that happened, in order.
  const std::vector<FaultEvent>& events() const { return events_; }
  static constexpr std::size_t kMostEvents = 1000;
  /// How often each of the plan's faults has happened, in its order.
  std::vector<std::uint64_t> fired() const;
  /// How many events each has counted.
  std::vector<std::uint64_t> seen() const;
  const FaultPlan& plan() const { return plan_; }

 private:
  struct Count {
    FaultKind kind;
    std::uint64_t seen = 0, fired = 0;
  };
  void fire(std::size_t index, std::uint64_t time_ps, std::uint64_t address);

  FaultPlan plan_;
  std::vector<Count> counts_;
  std::vector<FaultEvent> events_;
};

/// A model's handle: hit() of the injector, or nullptr when nothing is planned.
class FaultPoint {
 public:
  void attach(FaultInjector* injector) { injector_ = injector; }
  FaultInjector* injector() const { return injector_; }
  const Fault* hit(FaultKind kind, std::string_view target,
                   const FaultInjector::Event& event = {}) const {
    return injector_ ? injector_->hit(kind, target, event) : nullptr;
  }

 private:
  FaultInjector* injector_ = nullptr;
};

}  // namespace deputy::sim
