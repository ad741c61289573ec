// Voltage, power switches and battery of a SoC: the groups "power" and "battery" of its file.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"

namespace deputy::soc {

inline std::uint64_t us_to_ps(double us) {
  return static_cast<std::uint64_t>(std::llround(us * 1e6));
}

/// A block that is switched off when it has been idle for a while.
struct GateConfig {
  bool gating = false;
  double idle_us = 100, wake_us = 5;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.gating, Field{.name = "gating", .doc = "switch it off when idle"});
    v(s.idle_us,
      Field{
          .name = "idle_us", .doc = "idle for so long first", .unit = "us", .min = 0, .max = 1e9});
    v(s.wake_us,
      Field{.name = "wake_us", .doc = "until it works again", .unit = "us", .min = 0, .max = 1e6});
  }
};

/// A voltage with the clock that it allows.
struct OperatingPoint {
  std::string name, source;
  double volts = 0, mhz = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.name, Field{.name = "name", .doc = "what power.point calls it"});
    v(s.volts, Field{.name = "volts", .doc = "supply", .unit = "V", .min = 0.1, .max = 10});
    v(s.mhz, Field{.name = "mhz", .doc = "NPU clock", .unit = "MHz", .min = 1, .max = 5000});
    v(s.source, Field{.name = "source", .doc = "who is cited for it"});
  }
};

struct PowerConfig {
  double reference_volts = 0, volts = 0;
  std::string rail = "soc", point = "none";
  bool clock_gating = true;
  GateConfig npu, sram, host, dsp;
  double trace_us = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.reference_volts, Field{.name = "reference_volts",
                               .doc = "voltage that the energy rows hold at; 0: the table's",
                               .unit = "V",
                               .min = 0,
                               .max = 10});
    v(s.volts, Field{.name = "volts",
                     .doc = "voltage of the rail; 0: reference_volts",
                     .unit = "V",
                     .min = 0,
                     .max = 10});
    v(s.rail, Field{.name = "rail",
                    .doc = "what shares the NPU's rail and is clocked in proportion: soc "
                           "(interconnect, SRAM, DMA, DSP, host) or npu (nothing)"});
    v(s.point,
      Field{
          .name = "point",
          .doc =
              "operating point, one of power.points, which sets volts and clocks; none: as given"});
    v(s.clock_gating, Field{.name = "clock_gating", .doc = "the NPU's clock stops between jobs"});
    v(s.npu, Field{.name = "npu", .doc = "power switch of the NPU"});
    v(s.sram, Field{.name = "sram", .doc = "retention of the shared SRAM"});
    v(s.host, Field{.name = "host", .doc = "power switch of the CPU"});
    v(s.dsp, Field{.name = "dsp", .doc = "power switch of the DSP"});
    v(s.trace_us, Field{.name = "trace_us",
                        .doc = "interval of power over time; 0: a hundredth of the run",
                        .unit = "us",
                        .min = 0,
                        .max = 1e9});
  }
};

/// What the device lives on, and how often it computes.
struct BatteryConfig {
  double mah = 0, volts = 3.7, efficiency = 1, period_ms = 1000;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.mah,
      Field{.name = "mah", .doc = "capacity; 0: no battery", .unit = "mAh", .min = 0, .max = 1e9});
    v(s.volts,
      Field{.name = "volts", .doc = "average voltage", .unit = "V", .min = 0.1, .max = 1000});
    v(s.efficiency, Field{.name = "efficiency", .doc = "of the regulator", .min = 0.01, .max = 1});
    v(s.period_ms, Field{.name = "period_ms",
                         .doc = "one inference in so long",
                         .unit = "ms",
                         .min = 1e-6,
                         .max = 1e9});
  }
};

}  // namespace deputy::soc
