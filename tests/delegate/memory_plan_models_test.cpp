// The memory plan of every network in the golden data against its lower bound.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <set>

#include "delegate/compile.h"
#include "delegate/import/tflite.h"
#include "tests/support/golden.h"

namespace deputy::delegate {
namespace {

std::set<std::string> model_files(const std::string& data) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(data + "/models"))
    if (entry.path().extension() == ".tflite") files.insert(entry.path().string());
  return files;
}

// Bytes of an arena and the bound that no plan of its buffers goes below.
struct Use {
  unsigned long long bytes = 0, bound = 0;
};
struct Uses {
  Use fast, slow;
};
Use arena(const std::string& text, const std::string& name) {
  Use use;
  const std::size_t at = text.find(name + " arena ");
  if (at == std::string::npos ||
      std::sscanf(text.c_str() + at + name.size(), " arena %llu bytes, lower bound %llu",
                  &use.bytes, &use.bound) != 2)
    return {};
  return use;
}
Uses planned(const Graph& graph, CompileOptions options) {
  CompileTrace trace;
  options.trace = &trace;
  REQUIRE(compile(graph, options).ok());
  for (const TraceNote& note : trace.notes)
    if (note.topic == "memory" && note.text.find("arena") != std::string::npos)
      return {arena(note.text, "fast"), arena(note.text, "slow")};
  FAIL("no memory note");
  return {};
}

}  // namespace

// build/release/tests/test_delegate "the memory plans of all networks*" prints the table of
// docs/results.md.
TEST_CASE("the memory plans of all networks beside their lower bounds", "[.slow]") {
  const auto data = tests::shared_data_dir();
  REQUIRE(data);
  std::string table = "| model | room | switches | fast arena | bound | slow arena | bound |\n";
  double worst = 0;
  for (const std::string& file : model_files(*data)) {
    const auto graph = import_tflite(tests::read_bytes(file), file);
    REQUIRE(graph.ok());
    for (const std::uint64_t room : {std::uint64_t{1} << 40, std::uint64_t{128} << 10})
      for (const char* off : {"", "no-fusion", "no-cascade", "no-fusion no-cascade"}) {
        CompileOptions options;
        options.sram_bytes = room;
        options.optimisations.fusion = std::string(off).find("fusion") == std::string::npos;
        options.optimisations.cascade = std::string(off).find("cascade") == std::string::npos;
        const Uses u = planned(*graph, options);
        for (const Use& use : {u.fast, u.slow})
          if (use.bound > 0)
            worst = std::max(worst,
                             static_cast<double>(use.bytes) / static_cast<double>(use.bound) - 1);
        table += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n",
                             std::filesystem::path(file).stem().string(),
                             room > (1 << 30) ? "all" : "128 KiB", *off ? off : "all on",
                             u.fast.bytes, u.fast.bound, u.slow.bytes, u.slow.bound);
      }
  }
  std::fputs(table.c_str(), stdout);
  INFO("worst excess " << 100 * worst << " %");
  CHECK(worst <= 0.02);
}

TEST_CASE("with room for everything, every network's plan is within two per cent of the bound") {
  const auto data = tests::shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  const std::set<std::string> files = model_files(*data);
  CHECK(files.size() >= 19);
  for (const std::string& file : files) {
    const auto graph = import_tflite(tests::read_bytes(file), file);
    INFO(file);
    REQUIRE(graph.ok());
    for (const Effort effort : {Effort::kFast, Effort::kFull}) {
      CompileTrace trace;
      CompileOptions options;
      options.sram_bytes = std::uint64_t{1} << 40, options.effort = effort, options.trace = &trace;
      REQUIRE(compile(*graph, options).ok());
      std::size_t seen = 0;
      for (const TraceNote& note : trace.notes) {
        unsigned long long bytes = 0, bound = 0;
        if (note.topic != "memory" ||
            std::sscanf(note.text.c_str(), "fast arena %llu bytes, lower bound %llu", &bytes,
                        &bound) != 2)
          continue;
        ++seen;
        INFO(note.text);
        CHECK(bound > 0);
        CHECK(bytes >= bound);
        CHECK(bytes * 100 <= bound * 102);
      }
      CHECK(seen == 1);
    }
  }
}

}  // namespace deputy::delegate
