// deputy check-onnx
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "api/onnx_cases.h"
#include "tools/cli/common.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

constexpr const char* kWords[] = {"pass", "refused", "wrong"};  // for programs
constexpr const char* kNames[] = {"pass", "refused", "WRONG"};

base::Result<int> check(const CommonOptions& common, const CheckOnnxCommand& command) {
  DEPUTY_ASSIGN(auto options, simulate_options(common, "model.onnx"));
  options.effort = delegate::Effort::kFast;
  const auto folders = api::onnx_case_folders(command.folder, command.filter);
  if (folders.empty())
    return base::Error{base::ErrorKind::kInput, command.folder,
                       fmt::format("no case matches '{}'", command.filter),
                       "install libonnx-testdata"};
  const auto run = [&](const delegate::Graph& graph,
                       const std::vector<std::vector<std::uint8_t>>& inputs)
      -> base::Result<std::vector<std::vector<std::uint8_t>>> {
    DEPUTY_ASSIGN(auto simulation, simulate(graph, options, inputs));
    if (!simulation.soc.imbalances.empty())
      return base::Error{base::ErrorKind::kMismatch, "books", simulation.soc.imbalances[0], ""};
    return std::move(simulation.outputs);
  };
  std::map<api::OnnxOutcome, int> counts;
  std::set<std::string> ops;
  int bound = 0, native = 0;
  Table table({"case", "outcome", "detail"});
  auto cases = nlohmann::ordered_json::array();
  Progress progress;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const auto result = api::run_onnx_case(folders[i], run);
    ++counts[result.outcome];
    bound += result.bound && result.outcome == api::OnnxOutcome::kPass;
    native += result.native > 0 && result.outcome == api::OnnxOutcome::kPass;
    if (result.outcome == api::OnnxOutcome::kPass) ops.insert(result.ops.begin(), result.ops.end());
    if (command.verbose || result.outcome != api::OnnxOutcome::kPass)
      table.row({result.name, kNames[static_cast<int>(result.outcome)], result.detail});
    cases.push_back({{"name", result.name},
                     {"outcome", kWords[static_cast<int>(result.outcome)]},
                     {"detail", result.detail}});
    progress.show(fmt::format("{}/{} {}", i + 1, folders.size(), result.name));
  }
  const int code =
      counts[api::OnnxOutcome::kWrong] > 0 ? static_cast<int>(base::ErrorKind::kMismatch) : 0;
  if (command.json) {
    const auto n = [&](api::OnnxOutcome o) { return counts[o]; };
    fmt::print("{}", json_text("deputy-check-onnx-1", {{"counts",
                                                        {{"pass", n(api::OnnxOutcome::kPass)},
                                                         {"refused", n(api::OnnxOutcome::kRefused)},
                                                         {"wrong", n(api::OnnxOutcome::kWrong)}}},
                                                       {"operators", ops},
                                                       {"cases", cases}}));
    return code;
  }
  if (!table.empty()) fmt::print("{}\n", table.text());
  fmt::print("{} cases: {} pass, {} refused, {} wrong; {} operators occur in cases that pass\n",
             folders.size(), counts[api::OnnxOutcome::kPass], counts[api::OnnxOutcome::kRefused],
             counts[api::OnnxOutcome::kWrong], ops.size());
  fmt::print(
      "{} of those that pass need the values of integer operands when compiled; in {} Deputy's own "
      "operators take part\n",
      bound, native);
  return code;
}

}  // namespace

int check_onnx_command(const CommonOptions& common, const CheckOnnxCommand& command) {
  const auto result = check(common, command);
  return result.ok() ? *result : fail(result.error());
}

}  // namespace deputy::tools
