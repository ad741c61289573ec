#include "tools/explore/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "explore/methods.h"
#include "tools/cli/common.h"
#include "tools/explore/metrics.h"
#include "tools/files.h"
#include "tools/simulator/target.h"

namespace deputy::tools {
namespace {

base::Error bad(const std::string& where, std::string what, std::string remedy) {
  return {base::ErrorKind::kConfig, where, std::move(what), std::move(remedy)};
}

std::vector<std::string> list(base::Config& config, const std::string& key) {
  std::vector<std::string> out;
  for (std::size_t i = 0;; ++i) {
    const auto* entry = config.find(fmt::format("{}.{}", key, i));
    if (!entry) return out;
    out.push_back(entry->value);
  }
}

base::Result<std::vector<Workload>> workloads(base::Config& config, const std::string& folder) {
  std::vector<Workload> out;
  std::set<std::string> names;
  for (std::size_t i = 0; config.has_group(fmt::format("workloads.{}", i)); ++i) {
    const std::string where = fmt::format("workloads.{}", i);
    Workload row;
    DEPUTY_TRY(config.load(where, row));
    row.with = list(config, where + ".with");
    if (row.stream.empty()) {
      DEPUTY_TRY(complete(row, where, folder));
      if (!row.with.empty())
        return bad(where + ".with", "only streams have keys to override", "name a 'stream'");
    } else {
      if (!row.network.empty() || !row.model.empty())
        return bad(where, "is a stream and a network",
                   "make two of it; a stream's scenario names its model");
      if (row.period_us > 0)
        return bad(where + ".period_us", "a stream's sensor says when frames come", "drop it");
      if (row.name.empty()) row.name = std::filesystem::path(row.stream).stem().string();
      row.stream = is_config_path(row.stream)
                       ? beside(folder, row.stream)
                       : fmt::format("{}/streams/{}.yaml", DEPUTY_CONFIG_DIR, row.stream);
    }
    if (row.name.empty()) row.name = row.stem();
    if (row.jitter_us > row.period_us)
      return bad(where + ".jitter_us", "a frame may be later than the next one",
                 "let it be at most period_us");
    if (!names.insert(row.name).second)
      return bad(where, "the name '" + row.name + "' is taken", "give it another 'name'");
    out.push_back(std::move(row));
  }
  if (out.empty())
    return bad("workloads", "nothing runs", "name at least one, for example - {network: ds_cnn}");
  return out;
}

base::Status check_objective(const Experiment& e, const std::string& text) {
  const std::size_t at = text.find('@');
  DEPUTY_ASSIGN(const Metric* metric, find_metric(text.substr(0, at)));
  const std::string only = at == std::string::npos ? "" : text.substr(at + 1);
  bool found = false;
  for (const Workload& w : e.workloads) {
    if (!only.empty() && w.name != only) continue;
    found = true;
    if (!w.stream.empty()) {
      if (!metric->of_stream)
        return bad(
            "objectives", fmt::format("'{}' is not measured of '{}', a stream", text, w.name),
            fmt::format("name another workload ({}@NAME), or measure p99, misses, power or area",
                        metric->name));
      continue;
    }
    if (!metric->value)
      return bad("objectives",
                 fmt::format("'{}' is not measured of '{}', which is no stream", text, w.name),
                 fmt::format("name a stream ({}@NAME)", metric->name));
    if (metric->frames && w.period_us == 0)
      return bad("objectives",
                 fmt::format("'{}': nobody says when the frames of '{}' come", text, w.name),
                 "give that workload a period_us");
  }
  if (!found)
    return bad("objectives", fmt::format("'{}': there is no workload '{}'", text, only),
               "write the name of one");
  return {};
}

}  // namespace

base::Result<Experiment> parse_experiment(base::Config config, const std::string& folder) {
  Experiment out;
  DEPUTY_TRY(config.load("", out.plan));
  for (std::string* name : {&out.plan.soc, &out.plan.area})
    if (is_config_path(*name)) *name = beside(folder, *name);
  out.folder = folder;
  out.sets = list(config, "set");
  DEPUTY_ASSIGN(out.workloads, workloads(config, folder));
  out.objectives = list(config, "objectives");
  const bool streams =
      std::ranges::any_of(out.workloads, [](const Workload& w) { return !w.stream.empty(); });
  if (out.objectives.empty() && streams)
    return bad("objectives", "there are none, and with streams there is no usual set",
               "for example [p99, misses, power]");
  if (out.objectives.empty()) out.objectives = {"latency", "energy", "area"};
  for (const std::string& objective : out.objectives) DEPUTY_TRY(check_objective(out, objective));
  DEPUTY_ASSIGN(out.space, explore::parse_space(config));
  if (!explore::find_method(out.plan.method))
    return bad("method", fmt::format("there is no method '{}'", out.plan.method),
               fmt::format("use one of {}", fmt::join(explore::method_names(), ", ")));
  CommonOptions words;
  words.effort = out.plan.effort;
  DEPUTY_TRY(check_words(words, "effort"));
  DEPUTY_TRY(config.finish());
  return out;
}

base::Result<Experiment> load_experiment(const std::string& path) {
  DEPUTY_ASSIGN(auto config, base::Config::from_file(path));
  const std::filesystem::path file(path);
  DEPUTY_ASSIGN(auto out,
                parse_experiment(std::move(config),
                                 file.has_parent_path() ? file.parent_path().string() : "."));
  if (out.plan.name.empty()) out.plan.name = file.stem().string();
  return out;
}

}  // namespace deputy::tools
