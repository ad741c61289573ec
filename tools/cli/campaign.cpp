// deputy campaign
#include "tools/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "tools/files.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

/// What became of one kind's faults.
struct Row {
  std::array<std::size_t, kCampaignOutcomes> counts{};
  std::size_t all = 0;
  std::uint64_t worst_ps = 0;
  double nearest = 0;  ///< the largest part of its bound that a wait took
  void add(const InjectionResult& r) {
    ++counts[static_cast<std::size_t>(r.outcome)], ++all;
    worst_ps = std::max(worst_ps, r.worst_ps);
    if (r.bound_ps != 0)
      nearest =
          std::max(nearest, static_cast<double>(r.worst_ps) / static_cast<double>(r.bound_ps));
  }
};

std::string what_ran(const Campaign& campaign, std::size_t index, const Injection& i) {
  return fmt::format("run {}: {}, {} context{} of {} frame{}{}, recovery {}", index,
                     campaign.networks()[i.setup.network], i.setup.contexts,
                     i.setup.contexts == 1 ? "" : "s", i.setup.frames,
                     i.setup.frames == 1 ? "" : "s", i.setup.dma ? ", copies by DMA" : "",
                     i.setup.full ? "full" : "none");
}

std::string table_text(const std::map<std::string, Row>& rows, const Row& all) {
  std::vector<std::string> titles = {"fault", ">runs"};
  for (int o = 0; o < kCampaignOutcomes; ++o)
    titles.push_back(">" + std::string(campaign_outcome_name(static_cast<CampaignOutcome>(o))));
  titles.insert(titles.end(), {">longest wait", ">of its bound"});
  Table table(titles);
  const auto add = [&](const std::string& name, const Row& row) {
    std::vector<std::string> cells = {name, std::to_string(row.all)};
    for (const std::size_t count : row.counts) cells.push_back(count ? std::to_string(count) : "-");
    cells.push_back(human_time(static_cast<double>(row.worst_ps) / 1000));
    cells.push_back(fmt::format("{:.1f} %", 100 * row.nearest));
    table.row(cells);
  };
  for (const auto& [name, row] : rows) add(name, row);
  add("all", all);
  return table.text();
}

using Json = nlohmann::ordered_json;

Json counts_json(const Row& row) {
  Json out = {{"runs", row.all}};
  for (int o = 0; o < kCampaignOutcomes; ++o)
    out[campaign_outcome_name(static_cast<CampaignOutcome>(o))] =
        row.counts[static_cast<std::size_t>(o)];
  out["longest_wait_us"] = static_cast<double>(row.worst_ps) / 1e6;
  out["of_bound"] = row.nearest;
  return out;
}

base::Status run_one(const Campaign& campaign, std::size_t index, const CampaignCommand& command) {
  const Injection injection = campaign.injection(index);
  const InjectionResult result = campaign.run(index);
  const std::string plan = fault_plan_text(injection.fault, what_ran(campaign, index, injection));
  Table table({">time", "engine", "step", "because"});
  Json steps = Json::array();
  for (const auto& e : result.events) {
    const char* const step = host_runtime::recovery_step_name(e.step);
    table.row({human_time(static_cast<double>(e.time_ps) / 1000), e.engine, step, e.what});
    steps.push_back({{"time_ns", static_cast<double>(e.time_ps) / 1000},
                     {"engine", e.engine},
                     {"step", step},
                     {"what", e.what}});
  }
  const Json json = {{"run", index},
                     {"outcome", campaign_outcome_name(result.outcome)},
                     {"text", result.text},
                     {"plan", plan},
                     {"longest_wait_us", static_cast<double>(result.worst_ps) / 1e6},
                     {"bound_us", static_cast<double>(result.bound_ps) / 1e6},
                     {"steps", steps}};
  const std::string text =
      fmt::format("{}{}{}\n  {}{}{}; longest wait {} of {}\n", plan, table.empty() ? "" : "\n",
                  table.empty() ? "" : table.text(), campaign_outcome_name(result.outcome),
                  result.text.empty() ? "" : ": ", result.text,
                  human_time(static_cast<double>(result.worst_ps) / 1000),
                  human_time(static_cast<double>(result.bound_ps) / 1000));
  DEPUTY_TRY(
      give_results(command.json, command.report, json_text("deputy-campaign-run-1", json), text));
  if (!forbidden(result.outcome)) return {};
  return base::Error{base::ErrorKind::kMismatch, "campaign", campaign_outcome_name(result.outcome),
                     ""};
}

base::Status campaign(const CommonOptions& common, const CampaignCommand& command) {
  DEPUTY_ASSIGN(const auto options, simulate_options(common));
  DEPUTY_ASSIGN(auto config, base::Config::from_file(command.plan));
  DEPUTY_ASSIGN(auto plan, parse_campaign(std::move(config)));
  if (command.injections > 0) plan.injections = command.injections;
  DEPUTY_ASSIGN(const auto campaign, Campaign::prepare(plan, options, command.seed));
  if (command.only >= 0) return run_one(campaign, static_cast<std::size_t>(command.only), command);
  const auto results = campaign.run_all(command.jobs);

  std::map<std::string, Row> kinds, places;
  Row all;
  std::map<int, std::size_t> errors;
  Json findings = Json::array();
  std::string text;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const InjectionResult& r = results[i];
    const Injection injection = campaign.injection(i);
    kinds[injection.fault.kind].add(r), places[injection.fault.target].add(r), all.add(r);
    if (r.outcome == CampaignOutcome::kFailed) ++errors[r.error_kind];
    if (!forbidden(r.outcome)) continue;
    const std::string what = what_ran(campaign, i, injection);
    const std::string file = fmt::format("{}/{}.yaml", command.findings, i);
    findings.push_back({{"run", i},
                        {"outcome", campaign_outcome_name(r.outcome)},
                        {"what", what},
                        {"text", r.text},
                        {"plan", file}});
    DEPUTY_TRY(write_text(
        file, fault_plan_text(injection.fault,
                              fmt::format("{}\n{}: {}\ndeputy campaign {} --seed {} --only {}",
                                          what, campaign_outcome_name(r.outcome), r.text,
                                          command.plan, command.seed, i))));
    text +=
        fmt::format("  {}: {}: {} ({})\n", campaign_outcome_name(r.outcome), what, r.text, file);
  }
  text += table_text(kinds, all) + "\n" + table_text(places, all);
  for (const auto& [kind, count] : errors)
    text += fmt::format("\n  {} runs reported failure with error kind {}\n", count, kind);
  Json out = {{"seed", command.seed},
              {"all", counts_json(all)},
              {"kinds", Json::object()},
              {"targets", Json::object()}};
  for (const auto& [name, row] : kinds) out["kinds"][name] = counts_json(row);
  for (const auto& [name, row] : places) out["targets"][name] = counts_json(row);
  out["findings"] = findings;
  DEPUTY_TRY(give_results(command.json, command.report, json_text("deputy-campaign-1", out), text));
  if (findings.empty()) return {};
  return base::Error{
      base::ErrorKind::kMismatch, command.plan,
      fmt::format("{} of {} runs ended as none may", findings.size(), results.size()),
      "each has its fault plan in " + command.findings};
}

}  // namespace

int campaign_command(const CommonOptions& common, const CampaignCommand& options) {
  return finish(campaign(common, options));
}

}  // namespace deputy::tools
