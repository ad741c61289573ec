// Faults to inject into the hardware models: plain data, loadable from YAML. docs/faults.md says
// what each kind stands for; sim/fault_injector.h decides when one happens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "base/fields.h"
#include "base/result.h"

namespace deputy::sim {

enum class FaultKind : std::uint8_t {
  kBusError,          ///< a transaction is answered with an error; nothing moves
  kStuckTransaction,  ///< a transaction is never answered: its channel stands still
  kCommandParity,     ///< a bit of a command, descriptor or ring entry flips on its way; the parity
                      ///< check sees it
  kParseError,        ///< the decoder reads an opcode or descriptor that does not exist
  kEngineFault,       ///< the engine's own checks stop the job
  kEngineHang,        ///< the engine stops in the middle of a job
  kEngineSlow,        ///< the engine goes on at a fraction of its speed
  kThrottle,          ///< the clock is divided for a while
  kLostInterrupt,     ///< a rising edge of an interrupt line is not seen
  kLateInterrupt,     ///< or seen later
  kLostDoorbell,      ///< a write to TAIL or CMD has no effect
  kLostSignal,        ///< a job's end does not reach its timelines
  kLateSignal,        ///< or later
  kEccSingle,         ///< a read finds one wrong bit: corrected, counted
  kEccDouble,         ///< a read finds two: a bus error, counted, with its address
};

/// One kind: its name in YAML, what it can be aimed at, and what counts as its event.
struct FaultKindInfo {
  FaultKind kind;
  const char* name;
  std::span<const char* const> targets;
  const char* event;
  const char* doc;
};
std::span<const FaultKindInfo> fault_kinds();
const FaultKindInfo& fault_kind_info(FaultKind kind);

/// When: of the events of `kind` at `target` from `at_ns` on, inside [address, address + bytes)
/// when `bytes` is given, the nth and those after it, `repeat` in all.
struct Fault {
  std::string kind, target;
  std::int64_t nth = 1, at_ns = 0, repeat = 1;
  std::int64_t address = 0, bytes = 0;
  std::int32_t ring = -1, bit = 0, factor = 4;
  std::int64_t delay_ns = 0, duration_ns = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.kind, Field{.name = "kind", .doc = "what goes wrong"});
    v(s.target, Field{.name = "target", .doc = "where"});
    v(s.nth, Field{.name = "nth",
                   .doc = "which of the events that fit is the first to go wrong",
                   .min = 1,
                   .max = 1e15});
    v(s.at_ns, Field{.name = "at_ns",
                     .doc = "events before this time do not count",
                     .unit = "ns",
                     .min = 0,
                     .max = 1e15});
    v(s.repeat, Field{.name = "repeat",
                      .doc = "how many events go wrong, from the nth on; 0: all, a permanent fault",
                      .min = 0,
                      .max = 1e15});
    v(s.address, Field{.name = "address",
                       .doc = "only transactions that touch [address, address + bytes)",
                       .unit = "bytes",
                       .min = 0,
                       .max = 281474976710655.0});
    v(s.bytes, Field{.name = "bytes",
                     .doc = "length of that range; 0: any address",
                     .unit = "bytes",
                     .min = 0,
                     .max = 281474976710655.0});
    v(s.ring, Field{.name = "ring",
                    .doc = "lost_doorbell, lost_signal and late_signal at a queue manager: only "
                           "this ring; -1: any",
                    .min = -1,
                    .max = 3});
    v(s.bit, Field{.name = "bit",
                   .doc = "command_parity: the bit that flips, counted from the fetch's first",
                   .min = 0,
                   .max = 524287});
    v(s.factor, Field{.name = "factor",
                      .doc = "engine_slow, throttle: speed divided by this",
                      .min = 2,
                      .max = 1000000});
    v(s.delay_ns, Field{.name = "delay_ns",
                        .doc = "late_*: how late; ecc_single: what correcting costs",
                        .unit = "ns",
                        .min = 0,
                        .max = 1e12});
    v(s.duration_ns, Field{.name = "duration_ns",
                           .doc = "throttle: how long; 0: to the end",
                           .unit = "ns",
                           .min = 0,
                           .max = 1e15});
  }
};

struct FaultPlan {
  std::vector<Fault> faults;
  bool empty() const { return faults.empty(); }
};

/// The kind of a valid fault's name.
FaultKind fault_kind(const Fault& fault);

/// An error when kind, target or a parameter makes no sense; `where` is put before the field's
/// name.
base::Status check_fault(const Fault& fault, const std::string& where);

/// A file with one key, `faults`, a list. Errors name file and line, unknown keys included.
base::Result<FaultPlan> load_fault_plan(const std::string& path);
base::Result<FaultPlan> parse_fault_plan(base::Config config);

}  // namespace deputy::sim
