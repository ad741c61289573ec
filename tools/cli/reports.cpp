// deputy compare, deputy explain
#include <fmt/format.h>

#include "tools/cli/commands.h"
#include "tools/reports/compare_reports.h"
#include "tools/reports/explain_report.h"

namespace deputy::tools {
namespace {

base::Status compare_two(const ReportsCommand& command) {
  DEPUTY_ASSIGN(const auto before, read_report(command.report));
  DEPUTY_ASSIGN(const auto now, read_report(command.other));
  const ReportComparison comparison = compare_reports(before, now);
  fmt::print("{}", command.json ? comparison_json(comparison) : comparison_text(comparison, command.top));
  return {};
}

base::Status explain_one(const ReportsCommand& command) {
  DEPUTY_ASSIGN(const auto report, read_report(command.report));
  const Explanation explanation = explain_report(report);
  fmt::print("{}", command.json ? explanation_json(explanation) : explanation_text(explanation, command.top));
  return {};
}

}  // namespace

int compare_command(const ReportsCommand& command) { return finish(compare_two(command)); }
int explain_command(const ReportsCommand& command) { return finish(explain_one(command)); }

}  // namespace deputy::tools
