#include "explore/space.h"

#include <catch2/catch.hpp>
#include <set>

#include "explore/sample.h"

using namespace deputy::explore;
using Catch::Matchers::Contains;

namespace {

Space space_of(const std::string& text) {
  auto config = deputy::base::Config::from_text(text, "test.yaml");
  REQUIRE(config.ok());
  auto space = parse_space(*config);
  if (!space.ok()) FAIL(space.error().text());
  const auto rest = config->finish();
  if (!rest.ok()) FAIL(rest.error().text());
  return std::move(*space);
}

std::string error_of(const std::string& text) {
  auto config = deputy::base::Config::from_text(text, "test.yaml");
  REQUIRE(config.ok());
  const auto space = parse_space(*config);
  return space.ok() ? "" : space.error().text();
}

const char* const kSpace = R"(
parameters:
  clock: {key: npu.clock_mhz, values: [100, 200]}
  shape:
    choices:
      - {label: small, mac.oc: 4, mac.ic: 4}
      - {mac.oc: 8, mac.ic: 16}
  spm: {key: spm.bytes, log: {from: 1000, to: 16000, steps: 3}, multiple_of: 1024}
linked:
  bus: max(clock / 50, mac.oc)
constraints:
  - mac.oc * clock <= 800 || base_knob > 5
)";

}  // namespace

TEST_CASE("a grid has every combination once, with choices, rounded ranges and linked knobs") {
  const Space space = space_of(kSpace);
  const auto grid = space.grid();
  REQUIRE(grid.ok());
  REQUIRE(grid->size() == 2 * 2 * 3);
  std::set<std::string> ids;
  for (const auto& genes : *grid) ids.insert(space.point(genes)->id());
  CHECK(ids.size() == 12);
  CHECK(ids.contains("bus=4\nmac.ic=4\nmac.oc=4\nnpu.clock_mhz=100\nspm.bytes=1024\n"));
  CHECK(ids.contains("bus=8\nmac.ic=16\nmac.oc=8\nnpu.clock_mhz=200\nspm.bytes=4096\n"));
  CHECK(ids.contains("bus=4\nmac.ic=4\nmac.oc=4\nnpu.clock_mhz=200\nspm.bytes=16384\n"));
  const auto first = space.point(grid->front());
  CHECK(first->texts == std::vector<std::string>{"100", "small", "1024"});
}

TEST_CASE("constraints see parameters, knobs that a point sets, and knobs of the base") {
  Space space = space_of(kSpace);
  const auto grid = space.grid();
  const auto allowed = [&] {
    std::size_t count = 0;
    for (const auto& genes : *grid) count += *space.allowed(*space.point(genes));
    return count;
  };
  CHECK_FALSE(space.allowed(*space.point(grid->front())).ok());  // nobody knows base_knob
  space.base = [](const std::string& name) {
    return name == "base_knob" ? std::optional<double>(1) : std::nullopt;
  };
  CHECK(allowed() == 9);  // not 8 lanes at 200
  space.base = [](const std::string& name) {
    return name == "base_knob" ? std::optional<double>(6) : std::nullopt;
  };
  CHECK(allowed() == 12);
}

TEST_CASE("mistakes in a space say where") {
  CHECK_THAT(error_of("parameters: {a: {values: [1]}}"),
             Contains("parameters.a") && Contains("no key"));
  CHECK_THAT(error_of("parameters: {a: {key: x}}"), Contains("needs one of values"));
  CHECK_THAT(error_of("parameters: {a: {key: x, values: [1], range: {from: 1, to: 2}}}"),
             Contains("needs one of values"));
  CHECK_THAT(error_of("parameters: {a: {key: x, log: {from: 0, to: 2}}}"), Contains("above 0"));
  CHECK_THAT(error_of("parameters: {a: {key: x, range: {from: 3, to: 2}}}"),
             Contains("larger 'to'"));
  CHECK_THAT(error_of("parameters: {a: {key: x, values: [1]}, b: {key: x, values: [2]}}"),
             Contains("'x' is set by two"));
  CHECK_THAT(error_of("parameters: {a: {key: x, values: [1]}}\nlinked: {x: a}"),
             Contains("'x' is set by two"));
  CHECK_THAT(error_of("parameters: {a: {key: x, values: [1]}}\nconstraints: ['a <']"),
             Contains("test.yaml:2"));
  CHECK_THAT(error_of("parameters: {a: {key: x, values: [100, 130], multiple_of: 64}}"),
             Contains("parameters.a.multiple_of") && Contains("range"));
  CHECK_THAT(error_of("parameters: {a: {choices: [{x: 1}], multiple_of: 64}}"),
             Contains("multiple_of"));
  CHECK_THAT(error_of("linked: {x: 1}"), Contains("nothing is varied"));
  const Space continuous = space_of("parameters: {a: {key: x, range: {from: 1, to: 2}}}");
  CHECK_FALSE(continuous.grid().ok());
}

TEST_CASE("a Latin hypercube has one point in each part of each axis, the same for the same seed") {
  const Space space = space_of(
      "parameters:\n  a: {key: x, range: {from: 0, to: 20}}\n  b: {key: y, log: {from: 1, to: "
      "1024}}");
  const auto drawn = draw_latin(space, 20, 7);
  REQUIRE(drawn.ok());
  REQUIRE(drawn->size() == 20);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    std::set<int> parts;
    for (const auto& genes : *drawn) parts.insert(static_cast<int>(genes[axis] * 20));
    CHECK(parts.size() == 20);
  }
  CHECK(*draw_latin(space, 20, 7) == *drawn);
  CHECK(*draw_latin(space, 20, 8) != *drawn);
  const auto point = space.point({0.5, 0.5});
  CHECK(point->texts[0] == "10");
  CHECK(point->numbers[1] == Approx(32));
}

TEST_CASE("random points are allowed and different, and end where the space ends") {
  Space space = space_of(kSpace);
  space.base = [](const std::string&) { return std::optional<double>(1); };
  const auto drawn = draw_random(space, 100, 3);
  REQUIRE(drawn.ok());
  CHECK(drawn->size() == 9);
  CHECK(draw_random(space, 5, 3)->size() == 5);
}
