// The conformance suite's cases, written once and run on every port. A case names what it needs
// beyond the contract's core; a port answers for each of these whether it has it, or why not. So a
// case is skipped only with a reason.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arch/npu_config.h"
#include "base/result.h"
#include "deputy/hw_port.h"
#include "sim/fault_plan.h"

namespace deputy::conformance {

/// What not every port can do.
enum class Capability {
  kPresetCounters,  ///< HEAD and TAIL of an empty ring can be put anywhere
  kCountsMemory,    ///< tells how many blocks of shared memory are allocated
  kSensor,          ///< a sensor brings frames
};
const char* capability_name(Capability capability);

using Program = std::function<base::Status(HwPort&)>;

/// A kind of hardware, or of stand-in for it, behind HwPort.
class PortUnderTest {
 public:
  virtual ~PortUnderTest() = default;
  virtual const char* name() const = 0;
  /// Empty: it has it. Else why not, for the table of skips.
  virtual std::string lacks(Capability capability) const = 0;
  virtual std::string lacks(sim::FaultKind kind) const = 0;
  /// Runs a host program on a fresh board; an error of the program fails the test.
  virtual void run(const sim::FaultPlan& faults, const Program& program) = 0;
  /// kPresetCounters.
  virtual void preset_counters(HwPort& port, std::uint64_t queue_base, std::uint32_t ring,
                               std::uint32_t value);
  /// kCountsMemory.
  virtual std::size_t allocations(HwPort& port) const;
};
const std::vector<PortUnderTest*>& ports();
/// The board that all ports stand for.
const arch::NpuConfig& npu_config();

struct Needs {
  std::vector<Capability> capabilities;
  std::vector<sim::FaultKind> faults;
};
struct Case {
  std::string name;
  Needs needs;
  void (*body)(PortUnderTest&) = nullptr;
};
const std::vector<Case>& cases();
/// Empty: the case runs there. Else everything that the port lacks, with reasons.
std::string skip_reason(const Case& c, const PortUnderTest& port);
/// A line for every case that some port skips, and a count.
std::string table();

class Registrar {
 public:
  Registrar(const char* name, void (*body)(PortUnderTest&), const char* file, std::size_t line,
            Needs needs = {});
};

}  // namespace deputy::conformance

#define CONFORMANCE_JOIN2(a, b) a##b
#define CONFORMANCE_JOIN(a, b) CONFORMANCE_JOIN2(a, b)
/// CONFORMANCE_CASE("name") or ("name", {capabilities}, {fault kinds}), then the body; `board` is
/// the port under test.
#define CONFORMANCE_CASE(name, ...)                                                          \
  static void CONFORMANCE_JOIN(case_, __LINE__)(deputy::conformance::PortUnderTest & board); \
  static const deputy::conformance::Registrar CONFORMANCE_JOIN(registrar_, __LINE__)(        \
      name, &CONFORMANCE_JOIN(case_, __LINE__), __FILE__, __LINE__,                          \
      deputy::conformance::Needs{__VA_ARGS__});                                              \
  static void CONFORMANCE_JOIN(                                                              \
      case_, __LINE__)([[maybe_unused]] deputy::conformance::PortUnderTest & board)
