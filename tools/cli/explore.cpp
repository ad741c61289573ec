// deputy explore
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "explore/methods.h"
#include "explore/sample.h"
#include "explore/search.h"
#include "tools/cli/common.h"
#include "tools/explore/evaluator.h"
#include "tools/explore/results.h"
#include "tools/explore/slurm.h"
#include "tools/files.h"
#include "tools/html/page.h"

namespace deputy::tools {
namespace {

using Clock = std::chrono::steady_clock;

/// "#####.....  1234 of 6000 runs, 3 min 20 s left", from the runs of this process.
class Bar {
 public:
  void show(std::size_t done, std::size_t all) {
    if (ran_++ == 0) known_ = done - 1;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double left = seconds / static_cast<double>(ran_) * static_cast<double>(all - done);
    const std::size_t filled = 20 * done / all;
    const auto whole = static_cast<long long>(left + 0.5);
    progress_.show(fmt::format("{}{}  {} of {} runs{}, {}{} s left", std::string(filled, '#'),
                               std::string(20 - filled, '.'), done, all,
                               known_ ? fmt::format(" ({} known)", known_) : "",
                               whole >= 60 ? fmt::format("{} min ", whole / 60) : "", whole % 60));
  }

 private:
  Progress progress_;
  Clock::time_point start_ = Clock::now();
  std::size_t ran_ = 0, known_ = 0;
};

base::Result<std::vector<explore::Point>> planned(const Experiment& e) {
  const auto count = static_cast<std::size_t>(e.plan.points);
  const auto seed = static_cast<std::uint64_t>(e.plan.seed);
  DEPUTY_ASSIGN(const auto all, e.plan.method == "grid" ? e.space.grid()
                                : e.plan.method == "lhs"
                                    ? explore::draw_latin(e.space, count, seed)
                                    : explore::draw_random(e.space, count, seed));
  std::vector<explore::Point> out;
  for (const auto& genes : all) {
    DEPUTY_ASSIGN(auto point, e.space.point(genes));
    DEPUTY_ASSIGN(const bool allowed, e.space.allowed(point));
    if (allowed) out.push_back(std::move(point));
  }
  if (out.empty())
    return base::Error{base::ErrorKind::kConfig, "constraints", "allow no point", "loosen them"};
  return out;
}

/// Keeps the points of "I/N".
base::Result<std::vector<explore::Point>> shard_of(std::vector<explore::Point> points,
                                                   const std::string& shard) {
  if (shard.empty()) return points;
  std::size_t index = 0, count = 0;
  int end = 0;
  if (std::sscanf(shard.c_str(), "%zu/%zu%n", &index, &count, &end) != 2 ||
      static_cast<std::size_t>(end) != shard.size() || index >= count)
    return base::Error{base::ErrorKind::kUsage, "--shard",
                       fmt::format("'{}' is not understood", shard),
                       "write I/N with I from 0 to N - 1"};
  std::vector<explore::Point> out;
  for (std::size_t i = index; i < points.size(); i += count) out.push_back(std::move(points[i]));
  return out;
}

base::Result<std::vector<PointResult>> searched(const Experiment& e, Sweep& sweep) {
  std::vector<PointResult> all;
  const auto evaluate =
      [&](const std::vector<explore::Point>& points) -> base::Result<std::vector<explore::Values>> {
    DEPUTY_ASSIGN(auto results, sweep.run(points));
    std::vector<explore::Values> out;
    for (const PointResult& r : results) out.push_back(objectives_of(e, r));
    all.insert(all.end(), std::make_move_iterator(results.begin()),
               std::make_move_iterator(results.end()));
    return out;
  };
  DEPUTY_TRY(
      explore::search(e.space, e.objectives.size(),
                      {e.plan.method, e.plan.population, static_cast<std::size_t>(e.plan.points),
                       static_cast<std::uint64_t>(e.plan.seed)},
                      evaluate));
  return all;
}

/// Options that do not go together.
base::Status check_command(const ExploreCommand& command, bool search) {
  const auto bad = [](const char* option, const char* what, const char* remedy) {
    return base::Error{base::ErrorKind::kUsage, option, what, remedy};
  };
  const bool slurm = command.engine == "slurm";
  if (search && (slurm || !command.shard.empty()))
    return bad(slurm ? "--engine" : "--shard", "a search decides point by point",
               "use the method grid, random or lhs");
  if (slurm && !command.shard.empty())
    return bad("--shard", "the job array deals out all shards itself",
               "drop --shard, or --engine slurm; --shards says how many there are");
  if (!slurm && command.shards > 0)
    return bad("--shards", "says how many tasks a job array has",
               "add --engine slurm; a part of the points is --shard I/N");
  return {};
}

base::Status explore_one(const ExploreCommand& command) {
  DEPUTY_ASSIGN(auto experiment, load_experiment(command.experiment));
  if (!command.method.empty()) experiment.plan.method = command.method;
  if (command.points > 0) experiment.plan.points = command.points;
  if (command.seed >= 0) experiment.plan.seed = command.seed;
  const bool fixed = !explore::find_method(experiment.plan.method)->search;
  DEPUTY_TRY(check_command(command, !fixed));
  DEPUTY_ASSIGN(auto evaluator, Evaluator::prepare(experiment));
  const std::string path =
      command.db.empty() ? std::filesystem::path(command.experiment).stem().string() + ".sqlite"
                         : command.db;
  DEPUTY_ASSIGN(auto store, explore::Store::open(path));
  for (const std::string& other : command.merge) DEPUTY_TRY(store.merge(other));
  if (command.retry) DEPUTY_TRY(store.forget_dead());

  if (command.engine == "slurm") {  // what is left to do here is to merge and to print
    DEPUTY_ASSIGN(const auto files, run_on_slurm(command, path));
    for (const std::string& file : files) DEPUTY_TRY(store.merge(file));
  }

  Bar bar;
  SweepWork work;
  for (const Workload& w : experiment.workloads) work.workloads.push_back(w.name);
  work.key = [&](const explore::Point& point, std::size_t w) { return evaluator.key(point, w); };
  work.job = [&](const explore::Point& point, std::size_t w) { return evaluator.job(point, w); };
  work.group = [&](const explore::Point& point, std::size_t w) {
    return evaluator.group(point, w);
  };
  work.run = [&](const std::string& job) { return Evaluator::encode(evaluator.run(job)); };
  const auto most = static_cast<std::size_t>(experiment.plan.points) * experiment.workloads.size();
  const Sweep* running = nullptr;
  const auto progress = [&](std::size_t done, std::size_t all) {
    if (fixed)
      bar.show(done, all);
    else  // it comes in generations
      bar.show(running->ran() + running->reused(), most);
  };
  Sweep sweep(std::move(work), store,
              {command.jobs, static_cast<unsigned>(experiment.plan.time_limit_s), progress});
  running = &sweep;
  std::vector<PointResult> points;
  if (fixed) {
    DEPUTY_ASSIGN(auto all, planned(experiment));
    DEPUTY_ASSIGN(const auto plan, shard_of(std::move(all), command.shard));
    DEPUTY_ASSIGN(points, sweep.run(plan));
  } else {
    DEPUTY_ASSIGN(points, searched(experiment, sweep));
  }
  const ExploreResults results = make_results(experiment, std::move(points));
  if (!command.csv.empty()) DEPUTY_TRY(write_text(command.csv, results_csv(results)));
  if (!command.html.empty()) DEPUTY_TRY(write_text(command.html, explore_page(results)));
  if (command.json)
    fmt::print("{}", results_json(results));
  else
    fmt::print("{} on {} by {}: {} runs, {} of them from {}\n\n{}", experiment.plan.name,
               experiment.plan.soc, experiment.plan.method, sweep.ran() + sweep.reused(),
               sweep.reused(), path, results_text(results, command.top));
  for (const char* dead : {"crashed", "hung", "failed"})
    if (results.statuses.contains(dead))
      return base::Error{
          base::ErrorKind::kMismatch, command.experiment,
          fmt::format("{} of {} points {}", results.statuses.at(dead), results.points.size(), dead),
          "that is a defect of the simulator, or time_limit_s is too short; --retry runs crashed "
          "and hung points again"};
  if (!results.statuses.contains("ok"))
    return base::Error{base::ErrorKind::kUnsupported, command.experiment, "every point was refused",
                       "the table above has the reasons"};
  return {};
}

}  // namespace

int explore_command(const ExploreCommand& command) { return finish(explore_one(command)); }

}  // namespace deputy::tools
