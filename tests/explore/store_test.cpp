#include "explore/store.h"

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
  const StoredRun run{"k1", "a=1\n", "net", "ok", "", {{"latency", 0.1}, {"area", 1e300}, {"zero", -0.0}}};
  {
    auto store = Store::open(path);
    if (!store.ok()) FAIL(store.error().text());
    CHECK_FALSE(*store->find("k1"));
    REQUIRE(store->add(run).ok());
    REQUIRE(store->add({"k2", "", "net", "crashed", "killed by signal 6; \"'", {}}).ok());
    REQUIRE(store->add({"k1", "", "other", "failed", "later", {{"latency", 2}}}).ok());  // what is there stays
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
