#include "explore/search.h"

#include <catch2/catch.hpp>
#include <set>

#include "explore/methods.h"

using namespace deputy::explore;

TEST_CASE(
    "a search evaluates no point twice, none that is not allowed, and takes the same way again") {
  Space space;
  for (const char* name : {"a", "b"}) {
    Parameter p;
    p.name = p.key = name;
    for (int i = 0; i < 30; ++i)
      p.levels.push_back({std::to_string(i), i, {{name, std::to_string(i)}}});
    space.parameters.push_back(p);
  }
  Parameter continuous;
  continuous.name = continuous.key = "c";
  continuous.from = 1, continuous.to = 2;
  space.parameters.push_back(continuous);
  space.constraints.push_back(*Expression::parse("a + b >= 20", "test"));
  for (const Method& each : methods()) {
    if (!each.search) continue;
    const std::string method = each.name;
    INFO(method);
    const auto run = [&](std::uint64_t seed) {
      std::set<std::string> seen;
      auto points =
          search(space, 2, {method, 16, 120, seed},
                 [&](const std::vector<Point>& batch) -> deputy::base::Result<std::vector<Values>> {
                   std::vector<Values> out;
                   for (const Point& p : batch) {
                     CHECK(seen.insert(p.id()).second);
                     CHECK(p.numbers[0] + p.numbers[1] >= 20);
                     // One in seven fails.
                     if (static_cast<int>(p.numbers[0]) % 7 == 3)
                       out.push_back({});
                     else
                       out.push_back({p.numbers[0] * p.numbers[2], p.numbers[1]});
                   }
                   return out;
                 });
      if (!points.ok()) FAIL(points.error().text());
      CHECK(points->size() <= 120);
      CHECK(points->size() > 40);
      std::string all;
      for (const Point& p : *points) all += p.id() + ";";
      return all;
    };
    CHECK(run(1) == run(1));
    CHECK(run(1) != run(2));
  }
}

TEST_CASE("an evaluation that cannot go on ends the search with its error") {
  Space space;
  Parameter p;
  p.name = p.key = "a";
  p.from = 0, p.to = 1;
  space.parameters.push_back(p);
  int calls = 0;
  const auto points =
      search(space, 2, {"nsga2", 8, 100, 1},
             [&](const std::vector<Point>& batch) -> deputy::base::Result<std::vector<Values>> {
               if (++calls == 3)
                 return deputy::base::Error{deputy::base::ErrorKind::kIo, "results",
                                            "the disk is full", "make room"};
               std::vector<Values> out;
               for (const Point& point : batch)
                 out.push_back({point.numbers[0], 1 - point.numbers[0]});
               return out;
             });
  REQUIRE_FALSE(points.ok());
  CHECK(points.error().kind == deputy::base::ErrorKind::kIo);
  CHECK(points.error().message == "the disk is full");
  CHECK(calls == 3);
}
