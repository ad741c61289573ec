// Cycles and picoseconds. The kernel's resolution is 1 ps; a clock's period is rounded to it once.
#pragma once

#include <cmath>
#include <cstdint>
#include <systemc>

namespace deputy::sim {

inline sc_core::sc_time from_ps(std::uint64_t ps) {
  return sc_core::sc_time::from_value(ps);  // exact: the resolution is never changed from 1 ps
}
inline std::uint64_t to_ps(const sc_core::sc_time& t) { return t.value(); }

/// A clock as the models use it: whole picoseconds a period.
class Clock {
 public:
  explicit Clock(double mhz) : period_ps_(static_cast<std::uint64_t>(std::llround(1e6 / mhz))) {}
  sc_core::sc_time cycles(std::uint64_t n) const { return from_ps(n * period_ps_); }
  std::uint64_t period_ps() const { return period_ps_; }
  /// Whole cycles that cover `t`, rounded up.
  std::uint64_t cycles_in(const sc_core::sc_time& t) const {
    return (to_ps(t) + period_ps_ - 1) / period_ps_;
  }

 private:
  std::uint64_t period_ps_;
};

}  // namespace deputy::sim
