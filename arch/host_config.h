// What the host CPU's work costs: the knobs that the simulated host is charged by and that the
// compiler weighs engines with.
#pragma once

#include <cstdint>

#include "base/fields.h"

namespace deputy::arch {

/// All the knobs of the host CPU (YAML group "host").
struct HostConfig {
  double clock_mhz = 200;
  double mac_int8 = 1.0, mac_float = 2.0, elementwise = 4.0, transcendental = 60.0, copy_byte = 0.5;
  std::int32_t control = 400;
  std::int32_t register_access = 12, cache_line_bytes = 32, maintenance_line = 10,
               maintenance_call = 60;
  std::int32_t interrupt_entry = 30, context_switch = 600, chunk_bytes = 256, outstanding = 2;
  std::int32_t time_slice_us = 100;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.clock_mhz,
      Field{.name = "clock_mhz", .doc = "host CPU clock", .unit = "MHz", .min = 1, .max = 5000});
    v(s.mac_int8, Field{.name = "mac_int8",
                        .doc = "integer multiply-accumulate in a kernel",
                        .unit = "cycles",
                        .min = 0,
                        .max = 1000});
    v(s.mac_float, Field{.name = "mac_float",
                         .doc = "float multiply-accumulate in a kernel",
                         .unit = "cycles",
                         .min = 0,
                         .max = 1000});
    v(s.elementwise, Field{.name = "elementwise",
                           .doc = "one element of simple arithmetic",
                           .unit = "cycles",
                           .min = 0,
                           .max = 10000});
    v(s.transcendental, Field{.name = "transcendental",
                              .doc = "one element needing exp, tanh or a division",
                              .unit = "cycles",
                              .min = 0,
                              .max = 100000});
    v(s.copy_byte,
      Field{
          .name = "copy_byte", .doc = "one byte copied", .unit = "cycles", .min = 0, .max = 1000});
    v(s.control, Field{.name = "control",
                       .doc = "dispatch of one operator",
                       .unit = "cycles",
                       .min = 0,
                       .max = 1e6});
    v(s.register_access, Field{.name = "register_access",
                               .doc = "device register read or write, less the bus",
                               .unit = "cycles",
                               .min = 0,
                               .max = 1e5});
    v(s.cache_line_bytes,
      Field{
          .name = "cache_line_bytes", .doc = "cache line", .unit = "bytes", .min = 4, .max = 1024});
    v(s.maintenance_line, Field{.name = "maintenance_line",
                                .doc = "clean or invalidate of one line",
                                .unit = "cycles",
                                .min = 0,
                                .max = 1e5});
    v(s.maintenance_call, Field{.name = "maintenance_call",
                                .doc = "fixed cost of one clean or invalidate (barrier)",
                                .unit = "cycles",
                                .min = 0,
                                .max = 1e6});
    v(s.interrupt_entry, Field{.name = "interrupt_entry",
                               .doc = "interrupt latency of the core",
                               .unit = "cycles",
                               .min = 0,
                               .max = 1e6});
    v(s.context_switch,
      Field{.name = "context_switch",
            .doc = "switching the core to another thread, or waking the waiting one",
            .unit = "cycles",
            .min = 0,
            .max = 1e7});
    v(s.time_slice_us, Field{.name = "time_slice_us",
                             .doc = "how long a thread keeps the core while another one wants it",
                             .unit = "us",
                             .min = 1,
                             .max = 1e6});
    v(s.chunk_bytes, Field{.name = "chunk_bytes",
                           .doc = "largest bus transaction of streaming accesses",
                           .unit = "bytes",
                           .min = 16,
                           .max = 4096});
    v(s.outstanding,
      Field{.name = "outstanding", .doc = "transactions in flight", .min = 1, .max = 64});
  }
};

}  // namespace deputy::arch
