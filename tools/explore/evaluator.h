// From a point of an experiment to numbers: a SoC, its compiled programs, one inference of each workload.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tools/explore/experiment.h"
#include "tools/explore/metrics.h"
#include "tools/simulate.h"

namespace deputy::tools {

class Evaluator {
 public:
  /// Loads SoC, workloads and tables, and says what makes no sense before anything runs. Sets experiment.space.base.
  static base::Result<Evaluator> prepare(Experiment& experiment);

  /// Names the run by all that it follows from: the SoC and the point's knobs, the workload's bytes, the compiler and the
  /// simulator (by their sources).
  std::string key(const explore::Point& point, std::size_t workload) const;
  /// What run() takes, of this evaluator or a copy of it in a forked process.
  std::string job(const explore::Point& point, std::size_t workload) const;

  struct Outcome {
    std::string status, reason;  ///< ok; refused: the SoC or the compiler does not take it; failed: it ran and went wrong
    std::map<std::string, double> values;
  };
  Outcome run(const std::string& job);
  static std::string encode(const Outcome& outcome);
  static Outcome decode(const std::string& text);

 private:
  struct Loaded {
    std::string name, digest;
    delegate::Graph graph;
    std::vector<std::vector<std::uint8_t>> inputs;
    Numerics numerics = Numerics::kTflite;
  };
  base::Result<soc::SocConfig> soc_of(const std::vector<explore::Assignment>& sets) const;
  base::Result<std::vector<std::uint8_t>> program(const Loaded& workload, const SimulateOptions& options);
  base::Result<std::map<std::string, double>> measure_one(const std::string& job);

  base::Config base_;     ///< the SoC's file with the experiment's own settings
  std::string folder_;    ///< of that file
  std::string identity_;  ///< everything of a key that points share
  SimulateOptions options_;
  AreaTable area_;
  std::vector<Loaded> workloads_;
  // Programs by what the compiler saw, the newest last. Points that differ in what it does not see share one.
  std::map<std::string, std::vector<std::uint8_t>> programs_;
  std::deque<std::string> order_;
  std::size_t program_bytes_ = 0;
};

}  // namespace deputy::tools
