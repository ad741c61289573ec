// Values of the command line that are lists or groups.
#include "base/config.h"

#include <catch2/catch.hpp>

using namespace deputy::base;

TEST_CASE("a value in brackets replaces a whole list or group of the file") {
  auto config =
      Config::from_text("list: [{a: 1, b: 2}, {a: 3}]\nlisting: 4\ngroup: {x: 5}\n", "f.yaml");
  REQUIRE(config.ok());
  REQUIRE(config->set("list=[{b: 9}]").ok());
  REQUIRE(config->set("group={y: [6, 7]}", "--with").ok());
  std::string keys;
  for (const auto& [key, entry] : config->entries()) keys += key + "=" + entry.value + " ";
  CHECK(keys == "group.y.0=6 group.y.1=7 list.0.b=9 listing=4 ");
  CHECK(config->entries().at("group.y.0").where == "--with group={y: [6, 7]}");
  REQUIRE(config->set("list=[]").ok());
  CHECK_FALSE(config->has_group("list"));
  CHECK(config->has_group("group"));
}

TEST_CASE("a value in brackets that is no YAML is refused where it was given") {
  auto config = Config::from_text("list: [1]\n", "f.yaml");
  REQUIRE(config.ok());
  for (const char* bad : {"list=[{a: 1", "list={a: 1, a: 2}", "list=[1, ~]"}) {
    const Status status = config->set(bad, "--with");
    INFO(bad);
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().where.starts_with(std::string("--with ") + bad));
  }
  CHECK(config->entries().at("list.0").value == "1");  // and nothing has changed
}
