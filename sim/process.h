// Waiting, counted: every SC_THREAD of the models waits through these, so that a run can say how
// many times the kernel had to resume a process. That number, not simulated cycles, is what a
// simulation costs.
#pragma once

#include <cstdint>
#include <systemc>

namespace deputy::sim {

/// Process activations since the last reset_kernel_events().
std::uint64_t kernel_events();
void reset_kernel_events();
void count_kernel_event();

inline void wait_for(const sc_core::sc_time& t) {
  count_kernel_event();
  sc_core::wait(t);
}
inline void wait_on(const sc_core::sc_event& e) {
  count_kernel_event();
  sc_core::wait(e);
}
/// Until the event or the time-out, whichever comes first.
inline void wait_on(const sc_core::sc_event& e, const sc_core::sc_time& time_out) {
  count_kernel_event();
  sc_core::wait(time_out, e);
}
inline void wait_on(const sc_core::sc_event_or_list& events) {
  count_kernel_event();
  sc_core::wait(events);
}
inline void wait_on(const sc_core::sc_event_or_list& events, const sc_core::sc_time& time_out) {
  count_kernel_event();
  sc_core::wait(time_out, events);
}
/// Until the absolute time `t`; returns at once when it has passed.
inline void wait_until(const sc_core::sc_time& t) {
  if (t > sc_core::sc_time_stamp()) wait_for(t - sc_core::sc_time_stamp());
}

}  // namespace deputy::sim
