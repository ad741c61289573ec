// deputy check-data
#include "tools/check_data.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

constexpr const char* kOutcomeWords[] = {"equal", "within_one", "differs", "refused",
                                         "no_golden"};  // for programs
constexpr const char* kOutcomeNames[] = {"equal", "within one step", "DIFFERS", "refused",
                                         "no golden"};

// Every case, whatever --verbose says.
std::string json_of(const std::vector<CaseResult>& results) {
  using Json = nlohmann::ordered_json;
  Json cases = Json::array();
  std::map<std::string, int> counts;
  for (const CaseResult& r : results) {
    const char* const outcome = kOutcomeWords[static_cast<int>(r.outcome)];
    ++counts[outcome];
    Json tensors = Json::array();
    for (const TensorCheck& t : r.tensors)
      tensors.push_back({{"name", t.name},
                         {"elements", t.elements},
                         {"different", t.different},
                         {"max_difference", t.max_difference}});
    cases.push_back(
        {{"name", r.name}, {"outcome", outcome}, {"detail", r.detail}, {"tensors", tensors}});
  }
  return json_text("deputy-check-data-1", {{"counts", counts}, {"cases", cases}});
}

base::Result<int> check(const CommonOptions& common, const CheckDataCommand& command) {
  CheckDataOptions options;
  DEPUTY_ASSIGN(options.simulate,
                simulate_options(common, command.runtime == "ort" ? "model.onnx" : ""));
  options.filter = command.filter;
  options.runtime = command.runtime;
  options.layers = command.layers;
  std::vector<CaseResult> results;
  {
    Progress progress;
    DEPUTY_ASSIGN(results, check_data(command.manifest, options,
                                      [&](std::size_t done, std::size_t total, auto& name) {
                                        progress.show(fmt::format("{}/{} {}", done, total, name));
                                      }));
  }
  Table table({"case", "outcome", "detail"});
  std::map<CaseOutcome, int> counts;
  std::int64_t equal = 0, unequal = 0;
  for (const auto& r : results) {
    ++counts[r.outcome];
    for (const auto& t : r.tensors) ++(t.different == 0 ? equal : unequal);
    if (command.verbose ||
        (r.outcome != CaseOutcome::kEqual && r.outcome != CaseOutcome::kNoGolden))
      table.row({r.name, kOutcomeNames[static_cast<int>(r.outcome)], r.detail});
  }
  const int code =
      counts[CaseOutcome::kDiffers] > 0 ? static_cast<int>(base::ErrorKind::kMismatch) : 0;
  if (command.json) {
    fmt::print("{}", json_of(results));
    return code;
  }
  if (!table.empty()) fmt::print("{}\n", table.text());
  fmt::print("tensors: {} equal, {} unequal\n", equal, unequal);
  fmt::print("cases: {} equal, {} within one step, {} differ, {} refused, {} without a golden\n",
             counts[CaseOutcome::kEqual], counts[CaseOutcome::kWithinOne],
             counts[CaseOutcome::kDiffers], counts[CaseOutcome::kRefused],
             counts[CaseOutcome::kNoGolden]);
  return code;
}

}  // namespace

int check_data_command(const CommonOptions& common, const CheckDataCommand& command) {
  const auto result = check(common, command);
  return result.ok() ? *result : fail(result.error());
}

}  // namespace deputy::tools
