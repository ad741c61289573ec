// A search against a sweep that was run whole.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "explore/search.h"
#include "tests/support/source_dir.h"

using namespace deputy::explore;

namespace {

/// A sweep that was run whole: objectives by the texts of a point (tests/explore/data/README.md).
struct WholeGrid {
  Space space;
  std::map<std::string, Values> values;
  Values reference;  ///< the worst of each objective

  WholeGrid() {
    std::ifstream file(deputy::tests::source_dir() + "/tests/explore/data/wearable-2000.csv");
    std::string line;
    std::getline(file, line);
    std::vector<std::set<std::string>> levels(4);
    std::vector<std::vector<std::string>> order(4);
    while (std::getline(file, line)) {
      std::istringstream cells(line);
      std::string id, cell;
      Values point;
      for (int c = 0; std::getline(cells, cell, ','); ++c) {
        if (c >= 4) {
          if (!cell.empty()) point.push_back(std::stod(cell));  // a refused point has none
          continue;
        }
        id += cell + " ";
        if (levels[static_cast<std::size_t>(c)].insert(cell).second)
          order[static_cast<std::size_t>(c)].push_back(cell);
      }
      values[id] = point;
      reference.resize(3, 0);
      for (std::size_t o = 0; o < point.size(); ++o)
        reference[o] = std::max(reference[o], point[o]);
    }
    const char* const names[] = {"bus", "clock", "shape", "sram"};
    for (std::size_t p = 0; p < 4; ++p) {
      Parameter parameter;
      parameter.name = parameter.key = names[p];
      for (const std::string& text : order[p])
        parameter.levels.push_back({text, number_of(text), {{names[p], text}}});
      space.parameters.push_back(parameter);
    }
  }
  Values at(const Point& point) const {
    std::string id;
    for (const std::string& text : point.texts) id += text + " ";
    return values.at(id);
  }
  /// Of normalised objectives, so that all count alike.
  double volume(const std::vector<Values>& points) const {
    std::vector<Values> scaled;
    for (Values v : points) {
      for (std::size_t o = 0; o < v.size(); ++o) v[o] /= reference[o];
      scaled.push_back(v);
    }
    return hypervolume(scaled, {1, 1, 1});
  }
};

}  // namespace

TEST_CASE("NSGA-II finds 95 % of a whole grid's hypervolume with a tenth of its evaluations") {
  const WholeGrid grid;
  REQUIRE(grid.values.size() == 2000);
  std::vector<Values> all;
  for (const auto& [id, v] : grid.values)
    if (!v.empty()) all.push_back(v);
  const double whole = grid.volume(all);
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    std::vector<Values> found;
    const auto points =
        search(grid.space, 3, {"nsga2", 0, grid.values.size() / 10, seed},
               [&](const std::vector<Point>& batch) -> deputy::base::Result<std::vector<Values>> {
                 std::vector<Values> out;
                 for (const Point& p : batch) out.push_back(grid.at(p));
                 found.insert(found.end(), out.begin(), out.end());
                 return out;
               });
    REQUIRE(points.ok());
    CHECK(points->size() <= 200);
    CHECK(found.size() == points->size());
    INFO("seed " << seed << ": " << grid.volume(found) / whole << " of the grid's, "
                 << points->size() << " evaluations");
    CHECK(grid.volume(found) >= 0.95 * whole);
  }
}
