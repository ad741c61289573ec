// deputy compare, deputy explain, deputy report
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/cli/commands.h"
#include "tools/files.h"
#include "tools/html/page.h"
#include "tools/report.h"
#include "tools/reports/compare_reports.h"
#include "tools/reports/explain_report.h"

namespace deputy::tools {
namespace {

base::Status compare_two(const ReportsCommand& command) {
  DEPUTY_ASSIGN(const auto before, read_report(command.report));
  DEPUTY_ASSIGN(const auto now, read_report(command.other));
  const ReportComparison comparison = compare_reports(before, now);
  fmt::print("{}",
             command.json ? comparison_json(comparison) : comparison_text(comparison, command.top));
  return {};
}

base::Status explain_one(const ReportsCommand& command) {
  DEPUTY_ASSIGN(const auto report, read_report(command.report));
  const Explanation explanation = explain_report(report);
  fmt::print("{}", command.json ? explanation_json(explanation)
                                : explanation_text(explanation, command.top));
  return {};
}

// A saved run again, without simulating.
base::Status show_report(const ReportCommand& command) {
  DEPUTY_ASSIGN(const auto bytes, read_file(command.report));
  auto json = nlohmann::ordered_json::parse(bytes, nullptr,
                                            false);  // no exceptions: what is no JSON is no report
  DEPUTY_ASSIGN(const Report report, report_of_json(json, command.report));
  const nlohmann::ordered_json page = json.value("page", nlohmann::ordered_json());
  json.erase("page");
  std::string html;
  if (!command.html.empty()) {
    DEPUTY_ASSIGN(html, run_page(json, page, command.report));
  }
  if (command.json)
    fmt::print("{}\n", json.dump(1));
  else if (!command.quiet)
    fmt::print("{}{}", report_text(report, command.top),
               report.frames ? timeline_text(*report.frames) : "");
  return html.empty() ? base::Status{} : write_text(command.html, html);
}

}  // namespace

int report_command(const ReportCommand& command) { return finish(show_report(command)); }
int compare_command(const ReportsCommand& command) { return finish(compare_two(command)); }
int explain_command(const ReportsCommand& command) { return finish(explain_one(command)); }

}  // namespace deputy::tools
