// Interrupt controller, arch/registers.h: level lines in, rising edges of enabled lines latched in
// PENDING.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>
#include <vector>

#include "arch/register_file.h"
#include "sim/fault_injector.h"
#include "sim/trace.h"

namespace deputy::soc {

class Intc : public sc_core::sc_module {
 public:
  explicit Intc(sc_core::sc_module_name name);
  tlm_utils::simple_target_socket<Intc> socket;

  /// A device drives its line. Only a rising edge of an enabled line becomes pending.
  void set_line(std::uint32_t line, bool level);
  /// Planned faults: lost and late interrupts. Null: none.
  void attach(sim::FaultInjector* injector) { faults_.attach(injector); }
  /// Records the level of every line that something drives. Null: does not.
  void attach(sim::Trace* trace);
  std::uint32_t pending() const { return registers_.get(arch::intc_reg::kPending); }
  /// Notified whenever a bit of PENDING is set.
  const sc_core::sc_event& raised() const { return raised_; }
  std::uint64_t interrupts() const { return interrupts_; }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void write(std::uint32_t offset, std::uint32_t value);
  void latch(std::uint32_t bits);
  /// True when the rising edge of `line` is lost, or arrives later by itself.
  bool inject(std::uint32_t line);

  sim::FaultPoint faults_;
  arch::RegisterFile registers_;
  sc_core::sc_event raised_;
  std::uint64_t interrupts_ = 0;
  sim::Trace* trace_ = nullptr;
  std::vector<int> signals_;  ///< of the trace, by line
};

}  // namespace deputy::soc
