#include "explore/store.h"

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace deputy::explore;
using Catch::Matchers::Contains;

namespace {

struct Folder {
  Folder() {
    char name[] = "/tmp/deputy-store-XXXXXX";
    REQUIRE(mkdtemp(name));
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

}  // namespace

TEST_CASE("runs read back equal, in this process and in the next") {
  Folder folder;
  const std::string path = folder.path + "/sub/a.sqlite";
  const StoredRun run{"k1", "a=1\n", "net",
                      "ok", "",      {{"latency", 0.1}, {"area", 1e300}, {"zero", -0.0}}};
  {
    auto store = Store::open(path);
    if (!store.ok()) FAIL(store.error().text());
    CHECK_FALSE(*store->find("k1"));
    REQUIRE(store->add(run).ok());
    REQUIRE(store->add({"k2", "", "net", "crashed", "killed by signal 6; \"'", {}}).ok());
    REQUIRE(store->add({"k1", "", "other", "failed", "later", {{"latency", 2}}})
                .ok());  // what is there stays
  }
  auto store = Store::open(path);
  REQUIRE(store.ok());
  const auto found = store->find("k1");
  REQUIRE(found.ok());
  REQUIRE(*found);
  CHECK((*found)->values == run.values);
  CHECK((*found)->workload == "net");
  CHECK((**store->find("k2")).reason == "killed by signal 6; \"'");
  CHECK(*store->size() == 2);
  REQUIRE(store->forget_dead().ok());
  CHECK(*store->size() == 1);
}

TEST_CASE("a store takes over what another has and it lacks") {
  Folder folder;
  const std::string other = folder.path + "/b.sqlite";
  {
    auto b = Store::open(other);
    REQUIRE(b.ok());
    REQUIRE(b->add({"k1", "", "net", "ok", "", {{"latency", 1}}}).ok());
    REQUIRE(b->add({"k2", "", "net", "refused", "no", {}}).ok());
  }
  auto a = Store::open(folder.path + "/a.sqlite");
  REQUIRE(a.ok());
  REQUIRE(a->add({"k1", "", "net", "ok", "", {{"latency", 1}}}).ok());
  for (int i = 0; i < 2; ++i) {
    const auto merged = a->merge(other);
    if (!merged.ok()) FAIL(merged.error().text());
    CHECK(*a->size() == 2);
  }
  CHECK((**a->find("k1")).values.at("latency") == 1);
  CHECK((**a->find("k2")).reason == "no");
  CHECK_FALSE(a->merge(folder.path).ok());
}

TEST_CASE(
    "when stores merge, a run that died gives way to one that did not, with its values, and never "
    "the other way") {
  Folder folder;
  const std::string other = folder.path + "/b.sqlite";
  {
    auto b = Store::open(other);
    REQUIRE(b.ok());
    REQUIRE(b->add({"died here", "", "net", "ok", "", {{"latency", 3}}}).ok());
    REQUIRE(b->add({"died there", "", "net", "hung", "too long", {}}).ok());
    REQUIRE(b->add({"died twice", "", "net", "crashed", "there", {}}).ok());
  }
  auto a = Store::open(folder.path + "/a.sqlite");
  REQUIRE(a.ok());
  REQUIRE(a->add({"died here", "", "net", "crashed", "killed by signal 6", {}}).ok());
  REQUIRE(a->add({"died there", "", "net", "ok", "", {{"latency", 4}}}).ok());
  REQUIRE(a->add({"died twice", "", "net", "crashed", "here", {}}).ok());
  const auto merged = a->merge(other);
  if (!merged.ok()) FAIL(merged.error().text());
  CHECK((**a->find("died here")).status == "ok");
  CHECK((**a->find("died here")).reason == "");
  CHECK((**a->find("died here")).values == std::map<std::string, double>{{"latency", 3}});
  CHECK((**a->find("died there")).status == "ok");
  CHECK((**a->find("died there")).values.at("latency") == 4);
  CHECK((**a->find("died twice")).reason == "here");
  CHECK((**a->find("died twice")).values.empty());
}

TEST_CASE("a merge that fails says why, takes nothing, and leaves the store usable") {
  Folder folder;
  auto a = Store::open(folder.path + "/a.sqlite");
  REQUIRE(a.ok());
  REQUIRE(a->add({"k", "", "net", "ok", "", {{"latency", 1}}}).ok());
  for (const StoredRun& unequal :
       {StoredRun{"k", "", "net", "ok", "", {{"latency", 2}}},
        StoredRun{"k", "", "net", "ok", "", {}},
        StoredRun{"k", "", "net", "ok", "", {{"latency", 1}, {"energy", 1}}},
        StoredRun{"k", "", "net", "refused", "no", {}}}) {
    const std::string other = folder.path + "/b.sqlite";
    {
      auto b = Store::open(other);
      REQUIRE(b.ok());
      REQUIRE(b->add(unequal).ok());
      REQUIRE(b->add({"new", "", "net", "ok", "", {}}).ok());
    }
    const auto merged = a->merge(other);
    REQUIRE_FALSE(merged.ok());
    CHECK_THAT(merged.error().text(),
               Contains("b.sqlite") && Contains("1 of its runs came to another end"));
    CHECK(*a->size() == 1);
    std::filesystem::remove(other);
  }
  // Not a store of this version: the error is the table's, not one about detaching it.
  const std::string old = folder.path + "/old.sqlite";
  { REQUIRE(Store::open(old).ok()); }
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(old.c_str(), &db) == SQLITE_OK);
  REQUIRE(sqlite3_exec(db, "drop table run; create table run (key text primary key)", nullptr,
                       nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
  const auto merged = a->merge(old);
  REQUIRE_FALSE(merged.ok());
  CHECK_THAT(merged.error().text(), Contains("status"));
  REQUIRE(a->add({"later", "", "net", "ok", "", {}}).ok());
  CHECK(*a->size() == 2);
}

TEST_CASE("a file that is something else, or in use, is refused") {
  Folder folder;
  const std::string text = folder.path + "/text", path = folder.path + "/a.sqlite";
  std::ofstream(text) << "this is not a database, it is a line of text that goes on for a while";
  CHECK_FALSE(Store::open(text).ok());
  const pid_t other = fork();
  if (other == 0) {
    const auto store = Store::open(path);
    std::ofstream(folder.path + "/ready") << store.ok();
    pause();
  }
  while (!std::filesystem::exists(folder.path + "/ready")) usleep(1000);
  const auto second = Store::open(path);
  CHECK_FALSE(second.ok());
  if (!second.ok()) CHECK_THAT(second.error().text(), Contains("another process"));
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  CHECK(Store::open(path).ok());  // the lock ends with its process
}
