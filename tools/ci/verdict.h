// A suite's results beside the baseline's: what moved, and which layers.
#pragma once

#include <string>
#include <vector>

#include "tools/ci/suite.h"

namespace deputy::tools {

struct MetricVerdict {
  std::string name;
  double before = 0, now = 0, tolerance = 0;  ///< tolerance: percent
  bool moved = false;
  double percent() const {
    return before != 0 ? 100 * (now - before) / before : now == 0 ? 0 : 100;
  }
};

struct LayerVerdict {
  std::string what;  ///< "3 conv1 (CONV_2D)"
  CiLayer before, now;
};

struct CaseVerdict {
  std::string name, error;           ///< error: why there is nothing to compare
  std::vector<std::string> outputs;  ///< what is wrong with them, one line each
  std::vector<MetricVerdict> metrics;
  std::vector<LayerVerdict> layers;  ///< those that moved, the largest change of cycles first
  bool structure = false;            ///< the case has other layers than the baseline
  bool good() const;
};

/// One a case of the suite, then one for each case that only the baseline has. A change for the
/// better is a change.
std::vector<CaseVerdict> judge(const CiSuite& suite, const CiResults& now,
                               const CiResults& baseline);

std::string ci_text(const std::vector<CaseVerdict>& cases, int top);
std::string ci_markdown(const std::string& suite, const std::vector<CaseVerdict>& cases, int top);
std::string ci_junit(const std::string& suite, const std::vector<CaseVerdict>& cases, int top);
std::string ci_json(const std::vector<CaseVerdict>& cases);

}  // namespace deputy::tools
