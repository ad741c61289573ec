// Every model of the shared data imports: what outside tools wrote, our reader reads.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "delegate/import/tflite.h"

namespace {
namespace fs = std::filesystem;
const fs::path kData = fs::path(DEPUTY_SOURCE_DIR) / ".." / "shared" / "data";

std::vector<std::uint8_t> read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Imports every .tflite below `folder`; the report has one line for each that fails.
struct Outcome {
  int imported = 0;
  std::string failures;
};
Outcome import_all(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".tflite") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Outcome outcome;
  for (const fs::path& file : files) {
    const auto graph = deputy::delegate::import_tflite(read(file), file.filename().string());
    if (graph.ok()) ++outcome.imported;
    else outcome.failures += fmt::format("{}: {}\n", file.parent_path().filename().string(), graph.error().text());
  }
  return outcome;
}
}  // namespace

TEST_CASE("all shared .tflite models import") {
  if (!fs::exists(kData / "models")) {
    WARN("skipped: ../shared/data/models is absent");
    return;
  }
  const Outcome outcome = import_all(kData / "models");
  INFO(outcome.failures);
  CHECK(outcome.failures.empty());
  CHECK(outcome.imported == 19);
}

TEST_CASE("all shared operator cases import") {
  if (!fs::exists(kData / "ops")) {
    WARN("skipped: ../shared/data/ops is absent");
    return;
  }
  const Outcome outcome = import_all(kData / "ops");
  INFO(outcome.failures);
  CHECK(outcome.failures.empty());
  CHECK(outcome.imported == 346);
}
