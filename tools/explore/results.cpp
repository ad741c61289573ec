#include "tools/explore/results.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/explore/metrics.h"

namespace deputy::tools {

double objective_of(const Experiment& experiment, const PointResult& point,
                    const std::string& objective) {
  const std::size_t at = objective.find('@');
  const std::string name = objective.substr(0, at),
                    only = at == std::string::npos ? "" : objective.substr(at + 1);
  const Metric& metric = **find_metric(name);  // checked when the experiment was read
  double out = 0;
  for (std::size_t w = 0; w < point.runs.size(); ++w) {
    if (!only.empty() && experiment.workloads[w].name != only) continue;
    const auto it = point.runs[w].values.find(name);
    const double value = it == point.runs[w].values.end() ? 0 : it->second;
    if (metric.over == Metric::Over::kSum)
      out += value * (only.empty() ? experiment.workloads[w].weight : 1);
    else
      out = std::max(out, value);
  }
  return out;
}

explore::Values objectives_of(const Experiment& experiment, const PointResult& point) {
  explore::Values out;
  if (point.status != "ok") return out;
  for (const std::string& objective : experiment.objectives)
    out.push_back(objective_of(experiment, point, objective));
  return out;
}

namespace {

// The word of the bound that took most of a run's time; empty: none did.
std::string most_bound(const explore::StoredRun& run) {
  std::string most;
  double share = -1;
  for (auto it = run.values.lower_bound("bound.");
       it != run.values.end() && it->first.starts_with("bound."); ++it)
    if (it->second > share) most = it->first.substr(6), share = it->second;
  return most;
}

// `words`: of each workload at each of the points.
std::vector<BottleneckRow> bottleneck_map(const Experiment& e,
                                          const std::vector<explore::Point>& points,
                                          const std::vector<std::vector<std::string>>& words) {
  std::vector<BottleneckRow> out;
  for (std::size_t w = 0; w < e.workloads.size(); ++w)
    for (std::size_t p = 0; p < e.space.parameters.size(); ++p) {
      std::vector<std::string> names;
      const auto levels = explore::levels_of(e.space.parameters[p], p, points, names);
      std::vector<BottleneckRow> rows(names.size());
      for (std::size_t i = 0; i < points.size(); ++i)
        if (!words[i][w].empty()) ++rows[levels[i]].points, ++rows[levels[i]].bounds[words[i][w]];
      for (std::size_t l = 0; l < rows.size(); ++l) {
        if (rows[l].points == 0) continue;
        rows[l].workload = e.workloads[w].name, rows[l].parameter = e.space.parameters[p].name,
        rows[l].level = names[l];
        out.push_back(std::move(rows[l]));
      }
    }
  return out;
}

}  // namespace

ExploreResults make_results(const Experiment& experiment, std::vector<PointResult> points) {
  ExploreResults out{experiment, std::move(points), {}, {}, {}, {}, {}, {}};
  std::vector<explore::Point> good;
  std::vector<std::vector<std::string>> words;
  for (const PointResult& p : out.points) {
    ++out.statuses[p.status];
    out.values.push_back(objectives_of(experiment, p));
    if (p.status != "ok") continue;
    good.push_back(p.point);
    words.emplace_back();
    for (const explore::StoredRun& run : p.runs) {
      words.back().push_back(most_bound(run));
      if (!words.back().back().empty()) ++out.bounds[run.workload][words.back().back()];
    }
  }
  out.map = bottleneck_map(experiment, good, words);
  out.front = explore::pareto_front(out.values);
  for (std::size_t o = 0; o < experiment.objectives.size(); ++o) {
    std::vector<double> column;
    for (const explore::Values& v : out.values)
      if (!v.empty()) column.push_back(v[o]);
    out.effects.push_back(explore::sensitivity(experiment.space, good, column));
  }
  return out;
}

}  // namespace deputy::tools
