#include "base/version.h"

#include <catch2/catch.hpp>

namespace deputy::base {
namespace {
Version v(const std::string& text) { return Version::parse(text, "test").value(); }
VersionRange r(const std::string& text) { return VersionRange::parse(text, "test").value(); }
}  // namespace

TEST_CASE("versions compare by number, part by part") {
  CHECK(v("1.10") > v("1.9"));
  CHECK(v("2") > v("1.255"));
  CHECK(v("1.9") == v("1.9.0"));
  CHECK(v("1.9.1") > v("1.9"));
  CHECK(v("010.2").text() == "10.2");
  for (const char* bad :
       {"", "1.", ".1", "1..2", "a", "1.x", "-1", "1.2.3.4.5", " 1", "1 ", "4294967296"}) {
    INFO(bad);
    CHECK(!Version::parse(bad, "test").ok());
  }
}

TEST_CASE("version ranges hold both their ends") {
  CHECK(r("1.2..1.10").contains(v("1.9")));
  CHECK(r("1.2..1.10").contains(v("1.10")));
  CHECK(!r("1.2..1.10").contains(v("1.11")));
  CHECK(!r("..1.9").contains(v("1.10")));
  CHECK(r("1.9..").contains(v("1.10")));
  CHECK(r("1.3").contains(v("1.3.0")));
  CHECK(!r("1.3").contains(v("1.3.1")));
  CHECK(r("1..2").meets(r("2..3")));
  CHECK(!r("1..1.9").meets(r("1.10..")));
  CHECK(VersionRange{}.meets(r("7")));
  CHECK(VersionRange{}.text() == "any");
  CHECK(r("1.2..").text() == "1.2..");
  CHECK(!VersionRange::parse("..", "test").ok());
  CHECK(!VersionRange::parse("1.10..1.9", "test").ok());
}
}  // namespace deputy::base
