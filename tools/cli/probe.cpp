// deputy probe
#include "api/probe.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "tools/files.h"
#include "tools/json_text.h"
#include "tools/table.h"
#include "workloads/selftest/cases.h"

namespace deputy::tools {
namespace {

std::string versions(const api::ProbeReport& r) {
  return fmt::format("hardware {}, firmware {}", r.hardware.text(), r.firmware.text());
}

std::string when_text(const api::Quirk& q) {
  std::string out;
  for (const auto& [name, range] : q.when)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, range.text());
  for (const DType type : q.types)
    out += fmt::format("{}{}", out.empty() ? "" : ", ", dtype_name(type));
  return out.empty() ? "always" : out;
}

std::size_t count(const api::ProbeReport& r, api::ProbeState state) {
  std::size_t n = 0;
  for (const auto& o : r.outcomes) n += o.state == state;
  return n;
}

void print_text(const api::ProbeReport& r) {
  fmt::print("  {}: {} self-tests passed, {} failed, {} skipped\n", versions(r),
             count(r, api::ProbeState::kPassed), count(r, api::ProbeState::kFailed),
             count(r, api::ProbeState::kSkipped));
  Table failed({"failed", "what was seen"}), skipped({"skipped", "why"}),
      found({"operator", "when", "reason"});
  for (const auto& o : r.outcomes) {
    if (o.state == api::ProbeState::kFailed) failed.row({o.name, o.text});
    if (o.state == api::ProbeState::kSkipped) skipped.row({o.name, o.text});
  }
  for (const auto& q : r.findings)
    found.row({std::string(arch::op_name(*q.op)), when_text(q), q.reason});
  for (const Table* table : {&skipped, &failed, &found})
    if (!table->empty()) fmt::print("\n{}", table->text());
}

void print_json(const api::ProbeReport& r) {
  using Json = nlohmann::ordered_json;
  constexpr const char* kStates[] = {"passed", "failed", "skipped"};
  Json out = {{"hardware", r.hardware.text()}, {"firmware", r.firmware.text()}};
  for (const auto state :
       {api::ProbeState::kPassed, api::ProbeState::kFailed, api::ProbeState::kSkipped})
    out[kStates[static_cast<int>(state)]] = count(r, state);
  out["findings"] = Json::array(), out["cases"] = Json::array();
  for (const auto& q : r.findings) {
    Json when = Json::object(), types = Json::array();
    for (const auto& [name, range] : q.when) when[name] = range.text();
    for (const DType type : q.types) types.push_back(dtype_name(type));
    out["findings"].push_back({{"id", q.id},
                               {"op", arch::op_name(*q.op)},
                               {"types", types},
                               {"when", when},
                               {"reason", q.reason}});
  }
  for (const auto& o : r.outcomes)
    out["cases"].push_back(
        {{"name", o.name}, {"state", kStates[static_cast<int>(o.state)]}, {"text", o.text}});
  fmt::print("{}", json_text("deputy-probe-1", out));
}

base::Status probe(const CommonOptions& common, const ProbeCommand& command) {
  DEPUTY_ASSIGN(const auto options, simulate_options(common));
  std::vector<api::ProbeCase> cases;
  for (auto& c : graphs::selftest_cases())
    cases.push_back({c.name, std::move(c.graph), c.numerics, std::move(c.inputs)});
  api::ProbeReport report;
  {
    Progress progress;
    soc::Platform platform(options.soc, {});
    DEPUTY_TRY(platform.run([&](HwPort& port) -> base::Status {
      DEPUTY_ASSIGN(
          report, api::probe(port, cases, compile_options(options), [&](std::size_t i) {
            progress.show(fmt::format("{} of {}: {}", i + 1, cases.size(), cases[i].name));
          }));
      return {};
    }));
  }
  command.json ? print_json(report) : print_text(report);
  if (!command.output.empty()) {
    const std::string comment = fmt::format(
        "# Written by deputy probe on {}, {}: {} of {} self-tests failed.\n", options.soc.name,
        versions(report), count(report, api::ProbeState::kFailed), cases.size());
    DEPUTY_TRY(write_text(command.output, api::quirks_text(report.findings, comment)));
  }
  if (report.findings.empty()) return {};
  return base::Error{base::ErrorKind::kMismatch, options.soc.name,
                     fmt::format("the NPU is wrong in {} of {} self-tests",
                                 count(report, api::ProbeState::kFailed), cases.size()),
                     command.output.empty() ? "--out FILE writes a quirk file"
                                            : "run with --quirks " + command.output};
}

}  // namespace

int probe_command(const CommonOptions& common, const ProbeCommand& options) {
  return finish(probe(common, options));
}

}  // namespace deputy::tools
