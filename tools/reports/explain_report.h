// `deputy explain RUN.json`: what holds a run up, and what changing it could gain at most.
#pragma once

#include <string>
#include <vector>

#include "tools/reports/report_file.h"

namespace deputy::tools {

/// A change that somebody could try, and the limit of its gain.
struct WhatIf {
  std::string change;  ///< "twice the bandwidth"
  double saves = 0;    ///< ns or nJ, at most
};

/// One cause of time or energy. Gains of several findings do not add up.
struct Finding {
  std::string id;    ///< see docs/compare.md
  double takes = 0;  ///< ns of the latency, or nJ of the energy, that it is the cause of
  double saves =
      0;  ///< of these, at most, if the cause were gone and nothing else got worse (Amdahl's law)
  std::string what;    ///< a sentence with the report's figures
  std::string advice;  ///< which knobs or changes of the network
  std::vector<WhatIf> what_ifs;
  std::vector<std::string> worst;  ///< layers, the largest first
};

struct Explanation {
  std::string title;
  double latency_ns = 0, npu_ns = 0, dsp_ns = 0, cpu_ns = 0, runtime_ns = 0, total_nj = 0,
         leakage_nj = 0;
  std::vector<Finding> time,
      energy;  ///< the largest possible gain first; those that could gain a percent
  /// How many times as fast (or as little energy) without what `saves`; infinite when nothing would
  /// be left.
  static double at_most(double all, double saves) {
    return all > saves ? all / (all - saves) : 1.0 / 0.0;
  }
};

Explanation explain_report(const ReportFile& report);

std::string explanation_text(const Explanation& explanation, int top);
std::string explanation_json(const Explanation& explanation);

}  // namespace deputy::tools
