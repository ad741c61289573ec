#include "tools/explore/sweep.h"

#include "tools/explore/evaluator.h"

namespace deputy::tools {

Sweep::Sweep(SweepWork work, explore::Store& store, SweepOptions options)
    : work_(std::move(work)),
      store_(store),
      options_(std::move(options)),
      pool_(options_.jobs, options_.time_limit_s, work_.run, /*retry_killed=*/true) {}

base::Result<std::vector<PointResult>> Sweep::run(const std::vector<explore::Point>& points) {
  const std::size_t workloads = work_.workloads.size();
  std::vector<PointResult> out;
  std::size_t done = 0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    out.push_back({points[p], "ok", "", std::vector<explore::StoredRun>(workloads)});
    for (std::size_t w = 0; w < workloads; ++w) {
      explore::StoredRun& run = out[p].runs[w];
      const std::string key = work_.key(points[p], w);
      DEPUTY_ASSIGN(auto known, store_.find(key));
      if (known) {
        run = std::move(*known), ++done, ++reused_;
        continue;
      }
      run.key = key, run.parameters = points[p].id(), run.workload = work_.workloads[w];
      pool_.submit(p * workloads + w, work_.job(points[p], w),
                   work_.group ? work_.group(points[p], w) : "");
    }
  }
  while (const auto answer = pool_.wait()) {
    explore::StoredRun& run = out[answer->id / workloads].runs[answer->id % workloads];
    if (answer->end == WorkerPool::Answer::End::kDone) {
      Evaluator::Outcome outcome = Evaluator::decode(answer->text);
      run.status = outcome.status, run.reason = outcome.reason,
      run.values = std::move(outcome.values);
    } else {
      run.status = answer->end == WorkerPool::Answer::End::kHung ? "hung" : "crashed",
      run.reason = answer->text;
    }
    DEPUTY_TRY(store_.add(run));
    ++done, ++ran_;
    if (options_.progress) options_.progress(done, points.size() * workloads);
  }
  for (PointResult& point : out)
    for (const explore::StoredRun& run : point.runs)
      if (run.status != "ok" && point.status == "ok")
        point.status = run.status, point.reason = run.workload + ": " + run.reason;
  return out;
}

}  // namespace deputy::tools
