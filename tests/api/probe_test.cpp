// From passed and failed cases to entries: worked out by hand. The probe itself runs in
// tests/system.
#include "api/probe.h"

#include <catch2/catch.hpp>

#include "tests/delegate/layer_graph.h"

namespace deputy::api {
namespace {

struct Series {
  std::vector<ProbeCase> cases;
  std::vector<ProbeOutcome> outcomes;
  void add(std::int32_t kernel, std::int32_t stride, ProbeState state) {
    delegate::testing::LayerGraph g;
    const auto x = g.input({1, 20, 20, 4});
    cases.push_back({"case", g.finish({g.conv(x, 4, kernel, {}, stride)}), Numerics::kTflite, {}});
    outcomes.push_back({"case", state, "seen"});
  }
  std::vector<Quirk> located() const { return locate_faults(cases, outcomes, {{1, 10}}); }
};
constexpr auto P = ProbeState::kPassed, F = ProbeState::kFailed, S = ProbeState::kSkipped;

}  // namespace

TEST_CASE("no failure, no entry") {
  Series s;
  s.add(3, 1, P), s.add(3, 2, S);
  CHECK(s.located().empty());
}

TEST_CASE("one number that tells the failing cases from the rest becomes the condition") {
  Series s;
  s.add(3, 1, P), s.add(3, 2, F), s.add(3, 3, P), s.add(1, 2, F), s.add(5, 1, P);
  const auto q = s.located();
  REQUIRE(q.size() == 1);
  CHECK(*q[0].op == arch::OpKind::CONV_2D);
  REQUIRE(q[0].when.size() == 1);
  CHECK(q[0].when.at("stride").text() == "2");
  CHECK(q[0].hardware.text() == "1.10");
  CHECK(q[0].reason.find("2 of 5") == 0);
}

TEST_CASE(
    "a condition reaches up to the next case that passed, and has no end where there is none") {
  Series s;
  s.add(1, 1, P), s.add(2, 1, P), s.add(5, 1, F), s.add(7, 1, F), s.add(1, 3, P);
  const auto q = s.located();
  REQUIRE(q.size() == 1);
  CHECK(q[0].when.at("kernel").text() == "3..");
}

TEST_CASE("an operator whose failures no number explains is denied whole") {
  Series s;
  s.add(3, 1, F), s.add(3, 1, P);
  const auto q = s.located();
  REQUIRE(q.size() == 1);
  CHECK(q[0].when.empty());
}

}  // namespace deputy::api
