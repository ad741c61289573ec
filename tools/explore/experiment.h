// An experiment's file: what to vary, what to run, what to look at (docs/explore.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/config.h"
#include "explore/space.h"
#include "tools/workload_row.h"

namespace deputy::tools {

struct ExperimentPlan {
  std::string name, soc = "wearable", area = "28nm", method = "grid", effort = "fast";
  std::int64_t seed = 1, points = 200, time_limit_s = 60;
  std::int32_t population = 0, frames = 100;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.name, Field{.name = "name", .doc = "shown above the tables; the file's name without it"});
    v(s.soc,
      Field{
          .name = "soc",
          .doc =
              "what the points depart from: a name below configs/soc, or a file beside this one"});
    v(s.area,
      Field{
          .name = "area",
          .doc = "table of the area proxy: a name below configs/area, or a file beside this one"});
    v(s.method,
      Field{.name = "method",
            .doc = "grid, random, lhs (Latin hypercube), or a search: nsga2, nspso, maco"});
    v(s.effort, Field{.name = "effort", .doc = "how long the compiler searches: fast or full"});
    v(s.seed, Field{.name = "seed", .doc = "of draws and searches", .min = 0, .max = 2147483647});
    v(s.points,
      Field{.name = "points", .doc = "how many; a grid has all of its own", .min = 1, .max = 1e7});
    v(s.population, Field{.name = "population",
                          .doc = "of a search; 0: chosen by the points",
                          .min = 0,
                          .max = 10000});
    v(s.frames, Field{.name = "frames",
                      .doc = "for p99: how many of a workload with a period_us",
                      .min = 2,
                      .max = 10000});
    v(s.time_limit_s,
      Field{.name = "time_limit_s",
            .doc = "processor time of one workload at one point, after which it counts as hung",
            .unit = "s",
            .min = 1,
            .max = 86400});
  }
};

/// A network's inference, or a stream (tools/stream), whose scenario's own SoC does not count.
struct Workload : WorkloadRow {
  double weight = 1, period_us = 0, jitter_us = 0;
  std::string stream;             ///< a scenario's file; empty: a network or a model
  std::vector<std::string> with;  ///< "key=value" of the scenario
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    WorkloadRow::fields(s, v);
    v(s.stream,
      base::Field{
          .name = "stream",
          .doc =
              "or a stream's scenario: a name below configs/streams, or a file beside this one"});
    v(s.weight,
      base::Field{.name = "weight", .doc = "in sums over workloads", .min = 0, .max = 1e9});
    v(s.period_us, base::Field{.name = "period_us",
                               .doc = "for p99: a frame comes every so often",
                               .unit = "us",
                               .min = 0,
                               .max = 1e9});
    v(s.jitter_us, base::Field{.name = "jitter_us",
                               .doc = "and is late by up to this, drawn evenly",
                               .unit = "us",
                               .min = 0,
                               .max = 1e9});
  }
};

struct Experiment {
  ExperimentPlan plan;
  std::vector<std::string> sets;  ///< of every point: "key=value"
  std::vector<Workload> workloads;
  std::vector<std::string> objectives;  ///< NAME, or NAME@WORKLOAD
  explore::Space space;
  std::string folder;  ///< where names of files begin
};

base::Result<Experiment> load_experiment(const std::string& path);
/// `folder`: where names of files begin.
base::Result<Experiment> parse_experiment(base::Config config, const std::string& folder);

}  // namespace deputy::tools
