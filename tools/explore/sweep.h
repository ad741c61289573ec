// Runs points: those that the store lacks in worker processes, each into the store as it ends.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explore/space.h"
#include "explore/store.h"
#include "tools/worker_pool.h"

namespace deputy::tools {

/// What there is to run at a point, named and done by functions, so that tests can bring their own.
struct SweepWork {
  std::vector<std::string> workloads;
  std::function<std::string(const explore::Point&point, std::size_t workload)> key, job;
  /// May be empty; see WorkerPool::submit().
  std::function<std::string(const explore::Point& point, std::size_t workload)> group;
  WorkerPool::Work run;  ///< a job to Evaluator::encode()'s text; in a worker process
};

struct SweepOptions {
  int jobs = 2;
  unsigned time_limit_s = 60;  ///< of processor time, a run
  /// Called after each run with the runs that are over and those there are, of this call of run().
  std::function<void(std::size_t done, std::size_t all)> progress;
};

struct PointResult {
  explore::Point point;
  std::string status, reason;            ///< the first run's that is not ok, else ok
  std::vector<explore::StoredRun> runs;  ///< by workload
};

class Sweep {
 public:
  /// `store` must outlive the sweep.
  Sweep(SweepWork work, explore::Store& store, SweepOptions options);
  /// The points' results in their order. kIo when the store cannot be written.
  base::Result<std::vector<PointResult>> run(const std::vector<explore::Point>& points);
  std::size_t ran() const { return ran_; }        ///< runs that were not in the store
  std::size_t reused() const { return reused_; }  ///< runs that were

 private:
  SweepWork work_;
  explore::Store& store_;
  SweepOptions options_;
  WorkerPool pool_;
  std::size_t ran_ = 0, reused_ = 0;
};

}  // namespace deputy::tools
