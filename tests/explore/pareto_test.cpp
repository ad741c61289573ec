#include "explore/pareto.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "explore/sensitivity.h"

using namespace deputy::explore;

namespace {

std::vector<Values> cloud(std::size_t count, std::size_t objectives, int levels, unsigned seed) {
  std::mt19937 bits(seed);
  std::vector<Values> out(count, Values(objectives));
  for (auto& point : out)
    for (double& v : point) v = static_cast<double>(bits() % static_cast<unsigned>(levels));
  return out;
}

}  // namespace

TEST_CASE("the front is what a look at every pair says") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const std::size_t objectives = 1 + seed % 4;
    auto points = cloud(80, objectives, 9, seed);
    points[3].clear();  // failed
    const auto front = pareto_front(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      bool best = !points[i].empty();
      for (std::size_t j = 0; j < points.size() && best; ++j) {
        if (points[j].empty() || i == j) continue;
        bool all = true, any = false;
        for (std::size_t k = 0; k < objectives; ++k)
          all &= points[j][k] <= points[i][k], any |= points[j][k] < points[i][k];
        if (all && (any || j < i)) best = false;  // of equal points the first
      }
      CHECK((std::ranges::find(front, i) != front.end()) == best);
    }
  }
}

TEST_CASE("the hypervolume is the number of grid cells that a point dominates") {
  // Points with whole coordinates: a cell of the unit grid is dominated whole or not at all.
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const std::size_t objectives = 1 + seed % 4;
    constexpr int kEdge = 7;
    const auto points = cloud(12, objectives, kEdge + 2, seed);  // some beyond the reference
    std::size_t cells = 0, all = 1;
    for (std::size_t k = 0; k < objectives; ++k) all *= kEdge;
    for (std::size_t cell = 0; cell < all; ++cell) {
      std::vector<double> low;
      for (std::size_t k = 0, rest = cell; k < objectives; ++k, rest /= kEdge)
        low.push_back(static_cast<double>(rest % kEdge));
      cells += std::ranges::any_of(points, [&](const Values& p) {
        for (std::size_t k = 0; k < objectives; ++k)
          if (p[k] > low[k]) return false;
        return true;
      });
    }
    CHECK(hypervolume(points, Values(objectives, kEdge)) == Approx(static_cast<double>(cells)));
  }
  CHECK(hypervolume({}, {1, 1}) == 0);
  CHECK(hypervolume({{2, 0}}, {1, 1}) == 0);
}

TEST_CASE("sensitivity of a function whose variance is known") {
  // f = 3 a + b over a, b in {0, 1, 2}, c without effect: variances 9 * 2/3 and 2/3.
  Space space;
  for (const char* name : {"a", "b", "c"}) {
    Parameter p;
    p.name = p.key = name;
    for (const char* v : {"0", "1", "2"}) p.levels.push_back({v, number_of(v), {{name, v}}});
    space.parameters.push_back(p);
  }
  std::vector<Point> points;
  std::vector<double> results;
  const auto grid = *space.grid();
  for (const auto& genes : grid) {
    points.push_back(*space.point(genes));
    results.push_back(3 * points.back().numbers[0] + points.back().numbers[1]);
  }
  const auto s = sensitivity(space, points, results);
  CHECK(s[0].share == Approx(0.9));
  CHECK(s[1].share == Approx(0.1));
  CHECK(s[2].share == Approx(0).margin(1e-12));
  REQUIRE(s[0].levels.size() == 3);
  CHECK(s[0].levels[2].mean == Approx(7));
  CHECK(s[0].levels[2].points == 9);
}
