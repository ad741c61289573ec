// deputy ci
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tools/ci/verdict.h"
#include "tools/cli/common.h"
#include "tools/files.h"

namespace deputy::tools {
namespace {

constexpr int kMoved = 1, kUnusable = 2;

base::Result<bool> update(const CiSuite& suite, const CiResults& results, const std::string& path) {
  bool good = true;
  for (const CiCase& c : suite.cases)
    if (const CiResult& r = results.at(c.name); !r.error.empty()) {
      fmt::print(stderr, "deputy: {}: {}\n", c.name, r.error);
      good = false;
    }
  if (!good) return false;
  DEPUTY_TRY(write_text(path, ci_results_json(results)));
  fmt::print("  {} cases written to {}\n", suite.cases.size(), path);
  return true;
}

/// True: all as in the baseline.
base::Result<bool> run(const CiCommand& command) {
  DEPUTY_ASSIGN(const CiSuite suite, load_suite(command.suite));
  std::string path = command.baseline;
  if (path.empty())
    path = std::filesystem::path(command.suite).replace_extension(".baseline.json").string();
  CiResults baseline;
  if (!command.update) {  // before the suite runs
    DEPUTY_ASSIGN(const auto bytes, read_file(path));
    DEPUTY_ASSIGN(baseline, parse_ci_results({bytes.begin(), bytes.end()}, path));
  }
  const CiResults results = run_suite(suite, command.sets, command.jobs);
  if (command.update) return update(suite, results, path);
  const auto verdict = judge(suite, results, baseline);
  if (!command.junit.empty())
    DEPUTY_TRY(write_text(command.junit, ci_junit(suite.name, verdict, command.top)));
  if (!command.markdown.empty())
    DEPUTY_TRY(write_text(command.markdown, ci_markdown(suite.name, verdict, command.top)));
  fmt::print("{}", command.json ? ci_json(verdict) : ci_text(verdict, command.top));
  return std::ranges::all_of(verdict, &CaseVerdict::good);
}

}  // namespace

int ci_command(const CiCommand& command) {
  const auto good = run(command);
  if (good.ok()) return *good ? 0 : kMoved;
  (void)fail(good.error());
  return kUnusable;
}

}  // namespace deputy::tools
