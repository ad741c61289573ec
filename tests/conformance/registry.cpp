#define CATCH_CONFIG_EXTERNAL_INTERFACES  // the listener's base
#include "tests/conformance/registry.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "base/check.h"

namespace deputy::conformance {
namespace {

std::vector<Case>& all_cases() {
  static std::vector<Case> cases;
  return cases;
}

class Invoker final : public Catch::ITestInvoker {
 public:
  Invoker(std::size_t c, std::size_t port) : case_(c), port_(port) {}
  void invoke() const override {
    PortUnderTest& port = *ports()[port_];
    const std::string reason = skip_reason(cases()[case_], port);
    if (reason.empty()) return cases()[case_].body(port);
    fmt::print("skipped on {}: {}: {}\n", port.name(), cases()[case_].name, reason);
  }

 private:
  std::size_t case_, port_;
};

// The table comes last, when the whole suite has run.
class TablePrinter final : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;
  void testRunEnded(const Catch::TestRunStats& stats) override {
    if (stats.totals.testCases.total() > cases().size()) fmt::print("{}", table());
  }
};
CATCH_REGISTER_LISTENER(TablePrinter)

}  // namespace

const char* capability_name(Capability capability) {
  switch (capability) {
    case Capability::kPresetCounters:
      return "preset ring counters";
    case Capability::kCountsMemory:
      return "count of allocations";
    case Capability::kSensor:
      return "sensor";
  }
  DEPUTY_CHECK(false, "unknown capability");
}

void PortUnderTest::preset_counters(HwPort&, std::uint64_t, std::uint32_t, std::uint32_t) {
  DEPUTY_CHECK(false, "a case uses what it has not named");
}
std::size_t PortUnderTest::allocations(HwPort&) const {
  DEPUTY_CHECK(false, "a case uses what it has not named");
}

const std::vector<Case>& cases() { return all_cases(); }

std::string skip_reason(const Case& c, const PortUnderTest& port) {
  std::string out;
  const auto add = [&](const std::string& what, const std::string& reason) {
    if (!reason.empty()) out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", what, reason);
  };
  for (const Capability capability : c.needs.capabilities)
    add(capability_name(capability), port.lacks(capability));
  for (const sim::FaultKind kind : c.needs.faults)
    add(sim::fault_kind_info(kind).name, port.lacks(kind));
  return out;
}

std::string table() {
  std::string out = fmt::format("conformance: {} cases", all_cases().size());
  for (const PortUnderTest* port : ports()) {
    std::size_t skipped = 0;
    for (const Case& c : cases()) skipped += !skip_reason(c, *port).empty();
    out +=
        fmt::format(", {}: {} run and {} skipped", port->name(), cases().size() - skipped, skipped);
  }
  out += "\n";
  for (const Case& c : cases())
    for (const PortUnderTest* port : ports())
      if (const std::string reason = skip_reason(c, *port); !reason.empty())
        out += fmt::format("  {:<5} {:<60} {}\n", port->name(), c.name, reason);
  return out;
}

Registrar::Registrar(const char* name, void (*body)(PortUnderTest&), const char* file,
                     std::size_t line, Needs needs) {
  all_cases().push_back({name, std::move(needs), body});
  for (std::size_t port = 0; port < ports().size(); ++port)
    Catch::AutoReg(new Invoker(all_cases().size() - 1, port), Catch::SourceLineInfo(file, line), "",
                   Catch::NameAndTags(fmt::format("{}: {}", ports()[port]->name(), name),
                                      fmt::format("[{}]", ports()[port]->name())));
}

}  // namespace deputy::conformance

TEST_CASE("every case runs on every port, or the port says why not") {
  using namespace deputy::conformance;
  CHECK(cases().size() >= 55);
  CHECK(ports().size() >= 2);
  for (const Case& c : cases()) {
    std::size_t skipped = 0;
    for (const PortUnderTest* port : ports()) skipped += !skip_reason(c, *port).empty();
    INFO(c.name);
    CHECK(skipped < ports().size());  // somebody must run it
  }
}
