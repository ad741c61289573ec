// What an exploration found: its points by objective, the best of them, what matters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "explore/pareto.h"
#include "explore/sensitivity.h"
#include "tools/explore/experiment.h"
#include "tools/explore/sweep.h"

namespace deputy::tools {

/// The number that `objective` (NAME or NAME@WORKLOAD) has at a point whose runs are all ok.
double objective_of(const Experiment& experiment, const PointResult& point,
                    const std::string& objective);
/// All of them; empty when a run is not ok.
explore::Values objectives_of(const Experiment& experiment, const PointResult& point);

/// How often each bound took most of a workload's time, at the points that have one level of a
/// parameter.
struct BottleneckRow {
  std::string workload, parameter, level;
  std::size_t points = 0;
  std::map<std::string, std::size_t> bounds;  ///< by word; they add up to `points`
};

struct ExploreResults {
  const Experiment& experiment;
  std::vector<PointResult> points;
  std::vector<explore::Values> values;                     ///< by point
  std::vector<std::size_t> front;                          ///< indices of points
  std::vector<std::vector<explore::Sensitivity>> effects;  ///< by objective
  std::map<std::string, std::map<std::string, double>>
      bounds;  ///< by workload: how often each bound took most of the time
  std::map<std::string, std::size_t> statuses;
  std::vector<BottleneckRow> map;  ///< by workload, parameter and level, those that have points
};
ExploreResults make_results(const Experiment& experiment, std::vector<PointResult> points);

/// Tables: the front (at most `top` points), sensitivity, bounds and where they are, what went
/// wrong.
std::string results_text(const ExploreResults& results, int top);
/// All points, one a line; the first line names the columns.
std::string results_csv(const ExploreResults& results);
std::string results_json(const ExploreResults& results);

}  // namespace deputy::tools
