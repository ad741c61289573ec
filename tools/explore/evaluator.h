// From a point of an experiment to numbers: a SoC, its compiled programs, one inference of each
// workload.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/explore/experiment.h"
#include "tools/explore/metrics.h"
#include "tools/explore/recent.h"
#include "tools/simulate.h"
#include "tools/stream/scenario.h"

namespace deputy::tools {

class Evaluator {
 public:
  /// Loads SoC, workloads and tables, and says what makes no sense before anything runs. Sets
  /// experiment.space.base.
  static base::Result<Evaluator> prepare(Experiment& experiment);

  /// Names the run by all that it follows from: the SoC with what is in the files it names, the
  /// point's knobs, the workload's bytes, the compiler and the simulator (by their sources).
  std::string key(const explore::Point& point, std::size_t workload) const;
  /// What run() takes, of this evaluator or a copy of it in a forked process.
  std::string job(const explore::Point& point, std::size_t workload) const;

  /// Jobs with the same label can share programs: they are best run one after the other, in one
  /// process. A guess, by the names of the knobs; what is shared is decided by the compiler's own
  /// key.
  std::string group(const explore::Point& point, std::size_t workload) const;

  struct Outcome {
    std::string status, reason;  ///< ok; refused: the SoC or the compiler does not take it; failed:
                                 ///< it ran and went wrong
    std::map<std::string, double> values;
  };
  Outcome run(const std::string& job);
  static std::string encode(const Outcome& outcome);
  static Outcome decode(const std::string& text);
  std::size_t compiled() const { return compiled_; }    ///< programs that run() had to compile
  std::size_t simulated() const { return simulated_; }  ///< and runs that it had to simulate

 private:
  struct Loaded {
    std::string name, digest;
    delegate::Graph graph;
    std::vector<std::vector<std::uint8_t>> inputs;
    Numerics numerics = Numerics::kTflite;
    ArrivalPlan arrivals;
    std::optional<StreamScenario> stream;  ///< then there is no graph
  };
  static base::Result<Loaded> load_stream(const Workload& workload);
  base::Result<soc::SocConfig> soc_of(const std::vector<explore::Assignment>& sets) const;
  std::string settings(const explore::Point& point) const;
  base::Result<Simulation*> simulated(const Loaded& workload, const SimulateOptions& options);
  base::Result<std::map<std::string, double>> measure_one(const std::string& job);

  base::Config base_;     ///< the SoC's file with the experiment's own settings
  std::string folder_;    ///< of that file
  std::string names_;     ///< folder of the experiment's file: where names of files in it begin
  std::string identity_;  ///< everything of a key that points share
  SimulateOptions options_;
  int frames_ = 0;  ///< of workloads that come in frames
  AreaTable area_;
  std::vector<Loaded> workloads_;
  // Programs by what the compiler saw, and runs by what the simulator saw besides: points that
  // differ in what neither sees, only in the prices of what happens, share both.
  Recent<std::vector<std::uint8_t>> programs_{256 << 20};
  Recent<Simulation> runs_{64 << 20};
  std::size_t compiled_ = 0, simulated_ = 0;
  mutable std::pair<std::string, std::string>
      settings_;  ///< of the point that was asked for last, with its id
};

}  // namespace deputy::tools
