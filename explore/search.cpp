#include "explore/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <pagmo/algorithm.hpp>
#include <pagmo/algorithms/maco.hpp>
#include <pagmo/algorithms/nsga2.hpp>
#include <pagmo/algorithms/nspso.hpp>
#include <pagmo/batch_evaluators/member_bfe.hpp>
#include <pagmo/bfe.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>
#include <pagmo/types.hpp>
#include <set>

#include "explore/sample.h"

namespace deputy::explore {
namespace {

constexpr double kFailed =
    1e14;  // worse than anything that was measured; larger ones have no neighbours for maco
constexpr int kPatience = 60;  // generations without a new point

/// What pagmo's copies of the problem share.
struct State {
  const Space& space;
  const Evaluate& evaluate;
  std::size_t objectives, most;
  std::map<std::string, Values> known;
  std::vector<Point> points;  ///< evaluated, in order
  std::optional<base::Error> error;
  bool full() const { return points.size() >= most || error; }

  Values worst() const { return Values(objectives, kFailed); }

  std::vector<Values> values(const std::vector<Genes>& batch) {
    std::vector<std::string> ids;
    std::vector<Point> fresh;
    for (const Genes& genes : batch) {
      auto point = space.point(genes);
      const auto allowed = point.ok() ? space.allowed(*point) : base::Result<bool>(point.error());
      if (!allowed.ok()) error = allowed.error();
      ids.push_back(allowed.ok() && *allowed ? point->id() : "");
      if (ids.back().empty() || known.contains(ids.back()) || points.size() + fresh.size() >= most)
        continue;
      known[ids.back()] = worst();
      fresh.push_back(std::move(*point));
    }
    if (!fresh.empty() && !error) {
      const auto results = evaluate(fresh);
      if (!results.ok()) error = results.error();
      for (std::size_t i = 0; i < fresh.size() && results.ok(); ++i) {
        if ((*results)[i].size() == objectives) known[fresh[i].id()] = (*results)[i];
        points.push_back(std::move(fresh[i]));
      }
    }
    std::vector<Values> out;
    for (const std::string& id : ids) {
      const auto it =
          known.find(id);  // past the last evaluation there are points that nobody knows
      out.push_back(it == known.end() ? worst() : it->second);
    }
    return out;
  }
};

/// The space as pagmo sees it. Genes of levels are integers for algorithms that know such; the
/// integers come last.
struct Problem {
  State* state = nullptr;
  bool integers = false;
  std::vector<std::size_t> order;  ///< of the parameters in pagmo's vectors
  std::size_t discrete = 0;

  Problem() = default;  // pagmo wants one
  Problem(State& s, bool with_integers) : state(&s), integers(with_integers) {
    const auto& parameters = s.space.parameters;
    for (const bool levels : {false, true})
      for (std::size_t i = 0; i < parameters.size(); ++i)
        if (!parameters[i].levels.empty() == levels) order.push_back(i), discrete += levels;
  }
  double scale(std::size_t parameter) const {
    const std::size_t levels = state->space.parameters[parameter].levels.size();
    return integers && levels > 0 ? static_cast<double>(levels) : 0;
  }
  std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const {
    std::pair<pagmo::vector_double, pagmo::vector_double> out;
    for (const std::size_t p : order)
      out.first.push_back(0), out.second.push_back(scale(p) > 0 ? scale(p) - 1 : 1);
    return out;
  }
  pagmo::vector_double::size_type get_nobj() const { return state->objectives; }
  pagmo::vector_double::size_type get_nix() const { return integers ? discrete : 0; }
  Genes genes(const double* x) const {
    Genes out(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      out[order[i]] =
          scale(order[i]) > 0 ? (x[i] + 0.5) / scale(order[i]) : std::min(x[i], 1 - 1e-12);
    return out;
  }
  pagmo::vector_double encode(const Genes& g) const {
    pagmo::vector_double out;
    for (const std::size_t p : order)
      out.push_back(scale(p) > 0 ? std::min(std::floor(g[p] * scale(p)), scale(p) - 1) : g[p]);
    return out;
  }
  pagmo::vector_double fitness(const pagmo::vector_double& x) const {
    return state->values({genes(x.data())})[0];
  }
  pagmo::vector_double batch_fitness(const pagmo::vector_double& all) const {
    std::vector<Genes> batch;
    for (std::size_t i = 0; i < all.size(); i += order.size())
      batch.push_back(genes(all.data() + i));
    pagmo::vector_double out;
    for (const Values& v : state->values(batch)) out.insert(out.end(), v.begin(), v.end());
    return out;
  }
};

pagmo::algorithm algorithm(const std::string& method, std::size_t variables, std::size_t size,
                           unsigned seed) {
  const pagmo::bfe batches{pagmo::member_bfe{}};
  const auto with = [&](auto chosen) {
    chosen.set_bfe(batches);
    return pagmo::algorithm{std::move(chosen)};
  };
  if (method == "nspso")
    return with(pagmo::nspso(1, 0.6, 2.0, 2.0, 1.0, 0.5, 60, "crowding distance", false, seed));
  if (method == "maco")
    return with(pagmo::maco(1, static_cast<unsigned>(std::min<std::size_t>(size, 63)), 1.0, 1, 7,
                            100000, 0.0, false, seed));
  // Mutation more often than by default: spaces have few axes with few levels, and points seen
  // before cost nothing.
  return with(
      pagmo::nsga2(1, 0.95, 10.0, std::min(1.0, 1.5 / static_cast<double>(variables)), 10.0, seed));
}

}  // namespace

base::Result<std::vector<Point>> search(const Space& space, std::size_t objectives,
                                        const SearchOptions& options, const Evaluate& evaluate) {
  State state{space, evaluate, objectives, options.evaluations, {}, {}, {}};
  // NSGA-II takes fours.
  std::size_t size = static_cast<std::size_t>(options.population);
  if (size == 0) size = std::clamp<std::size_t>(options.evaluations / 5, 16, 100);
  size = std::max<std::size_t>(8, (size + 3) / 4 * 4);
  try {
    const pagmo::problem problem{Problem(state, options.method == "nsga2")};
    const auto& own = *problem.extract<Problem>();
    // Begins with a Latin hypercube, filled up evenly.
    DEPUTY_ASSIGN(auto first, draw_latin(space, size, options.seed));
    if (first.size() < size) {
      DEPUTY_ASSIGN(const auto more, draw_random(space, size, options.seed + 1));
      for (std::size_t i = 0; first.size() < size && !more.empty(); ++i)
        first.push_back(more[i % more.size()]);
    }
    if (first.size() < size)
      return base::Error{base::ErrorKind::kConfig, "constraints", "allow no point that was tried",
                         "loosen them"};
    const auto values = state.values(first);
    pagmo::population population(problem, 0, static_cast<unsigned>(options.seed));
    for (std::size_t i = 0; i < size; ++i) population.push_back(own.encode(first[i]), values[i]);
    pagmo::algorithm method = algorithm(options.method, space.parameters.size(), size,
                                        static_cast<unsigned>(options.seed));
    for (int idle = 0; !state.full() && idle < kPatience;) {
      const std::size_t before = state.points.size();
      population = method.evolve(population);
      idle = state.points.size() == before ? idle + 1 : 0;
    }
  } catch (const std::exception& e) {
    return base::Error{base::ErrorKind::kConfig, options.method, e.what(),
                       "try another population or method"};
  }
  if (state.error) return *state.error;
  return std::move(state.points);
}

}  // namespace deputy::explore
