// The sync unit: timelines that engines and the host signal and wait for, arch/registers.h. Its
// state changes at the moment of the register write or of the engine's signal; waiting costs the
// waiter nothing on the bus.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <functional>
#include <systemc>

#include "arch/queue_entry.h"
#include "arch/register_file.h"
#include "sim/trace.h"

namespace deputy::soc {

class SyncUnit : public sc_core::sc_module {
 public:
  /// `irq` is called with the level of the interrupt line.
  SyncUnit(sc_core::sc_module_name name, std::function<void(bool)> irq);
  tlm_utils::simple_target_socket<SyncUnit> socket;

  /// Records every timeline's value. Null: does not.
  void attach(sim::Trace* trace);

  enum class Reach : std::uint8_t { kNotYet, kReached, kFailed };
  Reach reach(const arch::TimelinePoint& point) const;
  /// Fails the timeline instead when `value` does not exceed it. No effect on a failed timeline.
  void signal(std::uint32_t timeline, std::uint64_t value);
  void fail(std::uint32_t timeline, arch::SyncFailure failure);
  /// Notified whenever any timeline has changed.
  const sc_core::sc_event& changed() const { return changed_; }

 private:
  struct Timeline {
    std::uint64_t value = 0;
    arch::SyncFailure failure = arch::SyncFailure::kNone;
  };
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  std::uint32_t read(std::uint32_t offset);
  void write(std::uint32_t offset, std::uint32_t value);
  void publish(std::uint32_t timeline);
  void update_irq();

  std::function<void(bool)> irq_;
  arch::RegisterFile registers_;
  std::array<Timeline, arch::kTimelineCount> timelines_;
  sc_core::sc_event changed_;
  sim::Trace* trace_ = nullptr;
  std::array<int, arch::kTimelineCount> signals_{};  ///< of the trace
};

}  // namespace deputy::soc
