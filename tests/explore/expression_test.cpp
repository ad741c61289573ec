#include "explore/expression.h"

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;
using deputy::explore::Expression;

namespace {

std::optional<double> names(const std::string& name) {
  if (name == "a") return 3;
  if (name == "npu.mac.oc_lanes") return 16;
  return std::nullopt;
}

double value(const std::string& text) {
  const auto e = Expression::parse(text, "here");
  if (!e.ok()) FAIL(e.error().text());
  const auto v = e->value(names);
  if (!v.ok()) FAIL(v.error().text());
  return *v;
}

std::string error(const std::string& text) {
  const auto e = Expression::parse(text, "here");
  if (!e.ok()) return e.error().text();
  const auto v = e->value(names);
  return v.ok() ? "" : v.error().text();
}

}  // namespace

TEST_CASE("an expression has the value that arithmetic gives it") {
  CHECK(value("1 + 2 * 3") == 7);
  CHECK(value("(1 + 2) * 3") == 9);
  CHECK(value("10 - 4 - 3") == 3);
  CHECK(value("24 / 4 / 2") == 3);
  CHECK(value("17 % 5") == 2);
  CHECK(value("-a * -2") == 6);
  CHECK(value("npu.mac.oc_lanes*a") == 48);
  CHECK(value("64KiB") == 65536);
  CHECK(value("1.5e2") == 150);
}

TEST_CASE("comparisons and logic are 1 or 0, the weakest operators last") {
  CHECK(value("1 + 1 <= 2") == 1);
  CHECK(value("2 < 2") == 0);
  CHECK(value("a >= 3 && a != 4") == 1);
  CHECK(value("0 && 0 || 1") == 1);
  CHECK(value("1 || 0 && 0") == 1);
  CHECK(value("!(a > 2)") == 0);
  CHECK(value("1 > 0 == 1") == 1);
}

TEST_CASE("functions") {
  CHECK(value("min(4, a)") == 3);
  CHECK(value("max(4, a)") == 4);
  CHECK(value("ceil(a / 2) + floor(a / 2)") == 3);
  CHECK(value("log2(npu.mac.oc_lanes)") == 4);
  CHECK(value("sqrt(npu.mac.oc_lanes)") == 4);
  CHECK(value("round(2.5)") == 3);
}

TEST_CASE("what is no expression is refused with the place and the text") {
  for (const char* text :
       {"", "1 +", "(1", "1)", "a b", "* 2", "min(1)", "nothing(1)", "1 $ 2", "@"}) {
    INFO(text);
    const std::string what = error(text);
    CHECK_THAT(what, Contains("here"));
  }
  CHECK_THAT(error("bus * 2"), Contains("nothing is called 'bus'"));
  CHECK_THAT(error("1 / (a - 3)"), Contains("no number"));
  CHECK_FALSE(error(std::string(100000, '(')).empty());
  CHECK_FALSE(error(std::string(100000, '-') + "1").empty());
}
