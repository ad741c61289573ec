#include "tools/explore/results.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/explore/metrics.h"

namespace deputy::tools {

double objective_of(const Experiment& experiment, const PointResult& point, const std::string& objective) {
  const std::size_t at = objective.find('@');
  const std::string name = objective.substr(0, at), only = at == std::string::npos ? "" : objective.substr(at + 1);
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
  for (const std::string& objective : experiment.objectives) out.push_back(objective_of(experiment, point, objective));
  return out;
}

ExploreResults make_results(const Experiment& experiment, std::vector<PointResult> points) {
  ExploreResults out{experiment, std::move(points), {}, {}, {}, {}, {}};
  std::vector<explore::Point> good;
  for (const PointResult& p : out.points) {
    ++out.statuses[p.status];
    out.values.push_back(objectives_of(experiment, p));
    if (p.status != "ok") continue;
    good.push_back(p.point);
    for (const explore::StoredRun& run : p.runs) {
      std::string most;
      double share = -1;
      for (auto it = run.values.lower_bound("bound."); it != run.values.end() && it->first.starts_with("bound."); ++it)
        if (it->second > share) most = it->first.substr(6), share = it->second;
      if (!most.empty()) ++out.bounds[run.workload][most];
    }
  }
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
