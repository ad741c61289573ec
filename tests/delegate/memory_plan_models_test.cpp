// The memory plan of every network in the golden data against its lower bound.
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <set>

#include "delegate/compile.h"
#include "delegate/import/tflite.h"
#include "tests/support/golden.h"

namespace deputy::delegate {

TEST_CASE("with room for everything, every network's plan is within two per cent of the bound") {
  const auto data = tests::shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(*data + "/models"))
    if (entry.path().extension() == ".tflite") files.insert(entry.path().string());
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
