// `deputy compare A.json B.json`: what two runs differ in, layer by layer, and why.
#pragma once

#include <string>
#include <vector>

#include "tools/reports/report_file.h"

namespace deputy::tools {

/// One total of both runs.
struct TotalChange {
  std::string name, unit;
  double before = 0, now = 0;
  double ratio() const { return before != 0 ? now / before : now == 0 ? 1 : 0; }
};

/// A layer that changed: what it is, what it gained or lost, and why in plain words.
struct LayerChange {
  std::string layer;
  double before_ns = 0, now_ns = 0, before_nj = 0, now_nj = 0, before_bytes = 0, now_bytes = 0;
  std::vector<std::string> why;
  double ns() const { return now_ns - before_ns; }
};

struct ReportComparison {
  std::string before, now;  ///< "ds_cnn on wearable (a.json)"
  std::vector<TotalChange> totals;
  std::vector<TotalChange> time;    ///< NPU jobs, DSP jobs if any, operators on the CPU, runtime:
                                    ///< they add up to the latency
  std::vector<TotalChange> energy;  ///< by component, the largest change first; those that changed
  std::vector<LayerChange> layers;  ///< those that changed, the largest change of time first
  std::size_t same_layers = 0;      ///< how many did not
  std::vector<std::string> only_before, only_now;
};

/// Layers go together by name and kind, the n-th of a name with the n-th.
ReportComparison compare_reports(const ReportFile& before, const ReportFile& now);

std::string comparison_text(const ReportComparison& comparison, int top);
std::string comparison_json(const ReportComparison& comparison);

}  // namespace deputy::tools
