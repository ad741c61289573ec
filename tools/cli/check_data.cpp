// deputy check-data
#include "tools/check_data.h"

#include <fmt/format.h>

#include <map>

#include "tools/cli/common.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

constexpr const char* kOutcomeNames[] = {"equal", "within one step", "DIFFERS", "refused", "no golden"};

base::Result<int> check(const CommonOptions& common, const CheckDataCommand& command) {
  CheckDataOptions options;
  DEPUTY_ASSIGN(options.simulate, simulate_options(common, command.runtime == "ort" ? "model.onnx" : ""));
  options.filter = command.filter;
  options.runtime = command.runtime;
  options.layers = command.layers;
  std::vector<CaseResult> results;
  {
    Progress progress;
    DEPUTY_ASSIGN(results, check_data(command.manifest, options, [&](std::size_t done, std::size_t total, auto& name) {
      progress.show(fmt::format("{}/{} {}", done, total, name));
    }));
  }
  Table table({"case", "outcome", "detail"});
  std::map<CaseOutcome, int> counts;
  std::int64_t equal = 0, unequal = 0;
  for (const auto& r : results) {
    ++counts[r.outcome];
    for (const auto& t : r.tensors) ++(t.different == 0 ? equal : unequal);
    if (command.verbose || (r.outcome != CaseOutcome::kEqual && r.outcome != CaseOutcome::kNoGolden))
      table.row({r.name, kOutcomeNames[static_cast<int>(r.outcome)], r.detail});
  }
  if (!table.empty()) fmt::print("{}\n", table.text());
  fmt::print("tensors: {} equal, {} unequal\n", equal, unequal);
  fmt::print("cases: {} equal, {} within one step, {} differ, {} refused, {} without a golden\n",
             counts[CaseOutcome::kEqual], counts[CaseOutcome::kWithinOne], counts[CaseOutcome::kDiffers],
             counts[CaseOutcome::kRefused], counts[CaseOutcome::kNoGolden]);
  return counts[CaseOutcome::kDiffers] > 0 ? static_cast<int>(base::ErrorKind::kMismatch) : 0;
}

}  // namespace

int check_data_command(const CommonOptions& common, const CheckDataCommand& command) {
  const auto result = check(common, command);
  return result.ok() ? *result : fail(result.error());
}

}  // namespace deputy::tools
