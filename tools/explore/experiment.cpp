#include "tools/explore/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "explore/search.h"
#include "tools/explore/metrics.h"

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

struct WorkloadRow {
  std::string name, network, model;
  double weight = 1;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.name, Field{.name = "name", .doc = "shown"});
    v(s.network, Field{.name = "network", .doc = "a built-in network"});
    v(s.model, Field{.name = "model", .doc = "or a model file"});
    v(s.weight, Field{.name = "weight", .doc = "in sums over workloads", .min = 0, .max = 1e9});
  }
};

base::Result<std::vector<Workload>> workloads(base::Config& config, const std::string& folder) {
  std::vector<Workload> out;
  std::set<std::string> names;
  for (std::size_t i = 0; config.has_group(fmt::format("workloads.{}", i)); ++i) {
    const std::string where = fmt::format("workloads.{}", i);
    WorkloadRow row;
    DEPUTY_TRY(config.load(where, row));
    if (row.network.empty() == row.model.empty())
      return bad(where, "needs a network or a model, not both", "for example {network: ds_cnn}");
    const std::filesystem::path file(row.model);
    if (row.name.empty()) row.name = row.network.empty() ? file.stem().string() : row.network;
    if (!row.model.empty() && file.is_relative()) row.model = (std::filesystem::path(folder) / file).string();
    if (!names.insert(row.name).second) return bad(where, "the name '" + row.name + "' is taken", "give it another 'name'");
    out.push_back({row.name, row.network, row.model, row.weight});
  }
  if (out.empty()) return bad("workloads", "nothing runs", "name at least one, for example - {network: ds_cnn}");
  return out;
}

base::Status check_objective(const Experiment& e, const std::string& text) {
  const std::size_t at = text.find('@');
  DEPUTY_TRY(find_metric(text.substr(0, at)));
  if (at == std::string::npos) return {};
  const std::string name = text.substr(at + 1);
  if (std::ranges::any_of(e.workloads, [&](const Workload& w) { return w.name == name; })) return {};
  return bad("objectives", fmt::format("'{}': there is no workload '{}'", text, name), "write the name of one");
}

}  // namespace

base::Result<Experiment> parse_experiment(base::Config config, const std::string& folder) {
  Experiment out;
  DEPUTY_TRY(config.load("", out.plan));
  if (out.plan.soc.ends_with(".yaml") && std::filesystem::path(out.plan.soc).is_relative())
    out.plan.soc = (std::filesystem::path(folder) / out.plan.soc).string();
  out.sets = list(config, "set");
  DEPUTY_ASSIGN(out.workloads, workloads(config, folder));
  out.objectives = list(config, "objectives");
  if (out.objectives.empty()) out.objectives = {"latency", "energy", "area"};
  for (const std::string& objective : out.objectives) DEPUTY_TRY(check_objective(out, objective));
  DEPUTY_ASSIGN(out.space, explore::parse_space(config));
  std::vector<std::string> methods = explore::search_methods();
  methods.insert(methods.begin(), {"grid", "random", "lhs"});
  if (std::ranges::find(methods, out.plan.method) == methods.end())
    return bad("method", fmt::format("there is no method '{}'", out.plan.method), fmt::format("use one of {}", fmt::join(methods, ", ")));
  if (out.plan.effort != "fast" && out.plan.effort != "full")
    return bad("effort", fmt::format("there is no effort '{}'", out.plan.effort), "use fast or full");
  DEPUTY_TRY(config.finish());
  return out;
}

base::Result<Experiment> load_experiment(const std::string& path) {
  DEPUTY_ASSIGN(auto config, base::Config::from_file(path));
  const std::filesystem::path file(path);
  DEPUTY_ASSIGN(auto out, parse_experiment(std::move(config), file.has_parent_path() ? file.parent_path().string() : "."));
  if (out.plan.name.empty()) out.plan.name = file.stem().string();
  return out;
}

}  // namespace deputy::tools
