// The compiled cache: what names an entry, and what becomes of entries that are damaged, raced for
// or too many.
#include "api/compiled_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "api/cache_entry.h"
#include "tests/delegate/layer_graph.h"

namespace deputy::api {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

struct Folder {
  Folder() {
    char name[] = "/tmp/deputy_cache_XXXXXX";
    REQUIRE(mkdtemp(name));
    path = name;
  }
  ~Folder() {
    std::error_code ec;
    fs::permissions(path, fs::perms::owner_all, ec);
    fs::remove_all(path, ec);
  }
  std::string path;
};

KeyParts parts() {
  static const Bytes model = {1, 2, 3, 4};
  KeyParts out;
  out.model = model;
  out.model_name = "small.tflite";
  out.device.hardware = {{1, 0}}, out.device.firmware = {{1, 0}}, out.device.driver = {{1, 0}};
  return out;
}

delegate::Graph graph() {
  delegate::testing::LayerGraph g;
  const auto x = g.input({1, 4, 4, 2});
  return g.finish({g.conv(x, 2, 1)});
}

void change(bool& v) { v = !v; }
void change(std::string& v) { v += "x"; }
void change(std::vector<delegate::PlacementRule>& v) {
  v.push_back({"ADD", delegate::Target::kCpu, false});
}
template <class T>
void change(T& v) {
  if constexpr (std::is_enum_v<T>)
    v = static_cast<T>(static_cast<int>(v) == 0 ? 1 : 0);
  else
    v = static_cast<T>(v == static_cast<T>(3) ? 4 : 3);
}

Bytes read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}
std::string only_entry(const std::string& folder) {
  std::string out;
  for (const auto& e : fs::directory_iterator(folder)) out = e.path().string();
  return out;
}
Digest key_of(int n) { return sha256(std::to_string(n)); }
void used_at(const CompiledCache& cache, int key, int second) {
  const timespec times[2] = {{second, 0}, {second, 0}};
  REQUIRE(utimensat(AT_FDCWD, (cache.folder() + "/" + hex(key_of(key)) + ".dce").c_str(), times,
                    0) == 0);
}

}  // namespace

TEST_CASE("SHA-256 gives the digests of FIPS 180-4's examples") {
  CHECK(hex(sha256(std::string_view("abc"))) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(sha256(std::string_view(""))) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("every part of the key changes it, each compile option by itself") {
  std::set<std::string> keys = {hex(compile_key(parts()))};
  std::size_t count = 1;
  const auto differs = [&](const KeyParts& p, const std::string& name) {
    INFO(name);
    CHECK(keys.insert(hex(compile_key(p))).second);
    ++count;
  };
  const Bytes other = {1, 2, 3, 5};
  auto p = parts();
  p.model = other, differs(p, "model");
  p = parts(), p.model_name = "other", differs(p, "name");
  p = parts(), p.compiler += "x", differs(p, "compiler");
  p = parts(), p.input_shapes = {{1, 2}}, differs(p, "shape");
  p = parts(), p.input_shapes = {{1}, {2}}, differs(p, "shapes");
  p = parts(), p.rules = {"quirk"}, differs(p, "rules");
  p = parts(), p.device.engine += "x", differs(p, "engine");
  p = parts(), p.device.hardware = {{1, 10}}, differs(p, "hardware");
  p = parts(), p.device.firmware = {{1, 10}}, differs(p, "firmware");
  p = parts(), p.device.driver = {{1, 10}}, differs(p, "driver");
  // Through the same reflection that writes the key: as many options as it has leaves, one at a
  // time.
  std::size_t options = 0;
  visit_options(p.options, [&](const std::string&, auto&) { ++options; });
  CHECK(options > 40);
  for (std::size_t i = 0; i < options; ++i) {
    p = parts();
    std::size_t at = 0;
    std::string name;
    visit_options(p.options, [&](const std::string& n, auto& member) {
      if (at++ == i) change(member), name = n;
    });
    differs(p, name);
  }
  delegate::CompileTrace trace;
  p = parts(), p.options.trace = &trace;
  CHECK(keys.contains(hex(compile_key(p))));
  CHECK(keys.size() == count);
}

TEST_CASE("a hit gives the bytes of the compile, a miss stores them") {
  const Folder folder;
  const CompiledCache cache(folder.path + "/made/on/demand");
  const auto compile = [] { return delegate::compile(graph(), {}); };
  const auto first = compile_cached(&cache, parts(), compile);
  REQUIRE(first.ok());
  CHECK(first->cache.state == "miss");
  CHECK(first->cache.text.empty());
  const auto second = compile_cached(&cache, parts(), [&]() -> base::Result<arch::Executable> {
    FAIL("compiled although it is cached");
    return compile();
  });
  REQUIRE(second.ok());
  CHECK(second->cache.state == "hit");
  CHECK(second->bytes == first->bytes);
  const auto without = compile_cached(nullptr, parts(), compile);
  REQUIRE(without.ok());
  CHECK(without->cache.state == "off");
  CHECK(without->bytes == first->bytes);
}

TEST_CASE("each byte of an entry that changes and each length it is cut to is found out") {
  const Folder folder;
  const CompiledCache cache(folder.path);
  const Bytes payload = {9, 8, 7, 6, 5, 4, 3, 2, 1};
  REQUIRE(cache.store(key_of(1), "m", payload).ok());
  const std::string path = only_entry(folder.path);
  const Bytes good = read(path);
  REQUIRE(cache.find(key_of(1)).payload == payload);
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const int flip : {1, 0x80, 0xFF}) {
      Bytes bad = good;
      bad[i] = static_cast<std::uint8_t>(bad[i] ^ flip);
      write(path, bad);
      const auto found = cache.find(key_of(1));
      INFO("byte " << i);
      CHECK(!found.hit);
      CHECK(!found.problem.empty());
    }
  for (std::size_t n = 0; n < good.size(); ++n) {
    write(path, Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)));
    CHECK(!cache.find(key_of(1)).problem.empty());
  }
  Bytes longer = good;
  longer.push_back(0);
  write(path, longer);
  CHECK(!cache.find(key_of(1)).problem.empty());
  // A sound entry under another program's name.
  write(cache.folder() + "/" + hex(key_of(2)) + ".dce", good);
  CHECK(cache.find(key_of(2)).problem == "it is another program's entry");
  Bytes newer = good;
  newer[8] = 2;
  write(path, newer);
  CHECK(cache.find(key_of(1)).problem == "version 2, this build reads version 1");
}

TEST_CASE("a damaged entry is compiled again, which is said and mends it") {
  const Folder folder;
  const CompiledCache cache(folder.path);
  const auto compile = [] { return delegate::compile(graph(), {}); };
  const auto first = compile_cached(&cache, parts(), compile);
  const std::string path = only_entry(folder.path);
  Bytes bad = read(path);
  bad[bad.size() / 2] ^= 1;
  write(path, bad);
  const auto second = compile_cached(&cache, parts(), compile);
  REQUIRE(second.ok());
  CHECK(second->cache.state == "damaged");
  CHECK(second->cache.text.find("SHA-256") != std::string::npos);
  CHECK(second->bytes == first->bytes);
  CHECK(compile_cached(&cache, parts(), compile)->cache.state == "hit");
  // A payload whose digest is right but that is no executable.
  const Bytes junk = {1, 2, 3};
  REQUIRE(cache.store(compile_key(parts()), "m", junk).ok());
  CHECK(compile_cached(&cache, parts(), compile)->cache.state == "damaged");
}

TEST_CASE("a folder that cannot be written compiles and says so") {
  const Folder folder;
  write(folder.path + "/file", {});
  const CompiledCache cache(folder.path +
                            "/file/below");  // root may write read-only folders, nobody this one
  const auto out = compile_cached(&cache, parts(), [] { return delegate::compile(graph(), {}); });
  REQUIRE(out.ok());
  CHECK(out->cache.state == "unwritable");
  CHECK(out->cache.text.find("not cached") != std::string::npos);
}

TEST_CASE("the least recently used entries go when the folder is full") {
  const Folder folder;
  const Bytes payload(1000, 7);
  const std::uint64_t one = format_entry(key_of(0), "m", payload).size();
  const CompiledCache cache(folder.path, 3 * one);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(cache.store(key_of(i), "m", payload).ok());
    used_at(cache, i, 1000 + i);
  }
  CHECK(cache.find(key_of(0)).hit);  // now used last
  REQUIRE(cache.store(key_of(3), "m", payload).ok());
  CHECK(cache.find(key_of(0)).hit);
  CHECK(!cache.find(key_of(1)).hit);
  CHECK(cache.find(key_of(2)).hit);
  CHECK(cache.find(key_of(3)).hit);
  // An entry larger than the limit stays until the next one comes.
  REQUIRE(cache.store(key_of(4), "m", Bytes(5000, 1)).ok());
  CHECK(cache.find(key_of(4)).hit);
  CHECK(cache.list()->size() == 1);
}

TEST_CASE("prune removes damaged entries and what dead writers left, never what is being written") {
  const Folder folder;
  const CompiledCache cache(folder.path);
  const Bytes payload(10, 7);
  for (int i = 0; i < 2; ++i) REQUIRE(cache.store(key_of(i), "m", payload).ok());
  write(folder.path + "/" + hex(key_of(0)) + ".dce", {1, 2});
  write(folder.path + "/" + hex(key_of(5)) + ".dce.1.0.writing", {1, 2});
  CHECK(cache.list()->size() == 2);
  const auto pruned = cache.prune(1 << 20);
  REQUIRE(pruned.ok());
  CHECK(pruned->entries == 1);
  CHECK(pruned->leftovers == 1);
  CHECK(cache.find(key_of(1)).hit);
}

TEST_CASE("processes that write, read and prune one folder never see half an entry") {
  const Folder folder;
  const auto payload_of = [](int key) {
    return Bytes(static_cast<std::size_t>(3000 + key), static_cast<std::uint8_t>(key));
  };
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      const CompiledCache cache(folder.path, 9000);  // too small for all: entries come and go
      int bad = 0;
      for (int round = 0; round < 40; ++round) {
        const int key = (round + child) % 4;
        bad += !cache.store(key_of(key), "m", payload_of(key)).ok();
        for (int k = 0; k < 4; ++k) {
          const auto found = cache.find(key_of(k));
          bad += !found.problem.empty() || (found.hit && found.payload != payload_of(k));
        }
        if (child == 0) bad += !cache.prune(6000).ok();
      }
      _exit(bad == 0 ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
}

}  // namespace deputy::api
