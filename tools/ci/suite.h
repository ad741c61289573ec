// A suite of runs that should stay as they are (docs/ci.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/result.h"
#include "tools/worker_pool.h"
#include "tools/workload_row.h"

namespace deputy::tools {

struct CiCase : WorkloadRow {
  std::string soc = "wearable", effort = "full", engine = "auto", numerics = "auto";
  std::int64_t seed = 1;
  std::vector<std::string> sets;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    WorkloadRow::fields(s, v);
    v(s.soc, Field{.name = "soc", .doc = "a name below configs/soc, or a file beside the suite's"});
    v(s.effort, Field{.name = "effort", .doc = "fast or full"});
    v(s.engine, Field{.name = "engine", .doc = "auto, npu or cpu"});
    v(s.numerics, Field{.name = "numerics", .doc = "auto, tflite, single or fp32"});
    v(s.seed, Field{.name = "seed", .doc = "of the inputs", .min = 0, .max = 2147483647});
  }
};

struct CiSuite {
  std::string name;
  std::vector<CiCase> cases;
  std::map<std::string, double> tolerances;  ///< percent by metric; a metric that is not there: 0
  double tolerance(const std::string& metric) const {
    const auto it = tolerances.find(metric);
    return it == tolerances.end() ? 0 : it->second;
  }
};

/// What is compared: one number each.
struct CiMetric {
  const char* name;
  const char* unit;
};
const std::vector<CiMetric>& ci_metrics();

/// One operator of a case.
struct CiLayer {
  std::string name, kind, engine;
  double cycles = 0, energy_nj = 0, bytes = 0;
  bool operator==(const CiLayer&) const = default;
};

struct CiResult {
  std::string error;                      ///< why the case gave nothing; empty: it ran
  std::vector<std::string> outputs;       ///< SHA-256 of each output's bytes
  std::map<std::string, double> metrics;  ///< by name
  std::vector<CiLayer> layers;
};
using CiResults = std::map<std::string, CiResult>;  ///< by case

base::Result<CiSuite> load_suite(const std::string& path);

/// Runs every case with values, in worker processes. `sets` go behind each case's own.
CiResults run_suite(const CiSuite& suite, const std::vector<std::string>& sets, int jobs);

std::string ci_results_json(const CiResults& results);
/// kConfig when the text is none of ours.
base::Result<CiResults> parse_ci_results(const std::string& text, const std::string& where);

}  // namespace deputy::tools
