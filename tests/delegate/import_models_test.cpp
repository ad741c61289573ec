// Every model of the shared data imports (what outside tools wrote, our reader reads) and survives
// being written and read again.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "delegate/import/tflite.h"
#include "delegate/import/tflite_export.h"
#include "tests/delegate/graph_compare.h"
#include "tests/delegate/shared_data.h"

using namespace deputy::delegate;

namespace {

/// What is wrong with one file, in words; empty when nothing is.
std::string import_and_rewrite(const std::filesystem::path& file) {
  const auto graph = import_tflite(testing::read_file(file), file.filename().string());
  if (!graph.ok()) return graph.error().text();
  const auto bytes = export_tflite(*graph);
  if (!bytes.ok()) return "export: " + bytes.error().text();
  const auto again = import_tflite(*bytes, "again");
  if (!again.ok()) return "second import: " + again.error().text();
  if (const std::string text = testing::difference(*graph, *again); !text.empty()) return text;
  const auto bytes_again = export_tflite(*graph);
  return bytes_again.ok() && *bytes_again == *bytes ? "" : "a second export differs";
}

void check_folder(const std::string& folder, std::size_t expected) {
  const auto files = testing::tflite_files(testing::shared_data() / folder);
  if (files.empty()) {
    WARN("skipped: ../shared/data/" << folder << " is absent");
    return;
  }
  std::string failures;
  for (const auto& file : files)
    if (const std::string text = import_and_rewrite(file); !text.empty())
      failures += fmt::format("{}: {}\n", file.parent_path().filename().string(), text);
  INFO(failures);
  CHECK(failures.empty());
  CHECK(files.size() == expected);
}

}  // namespace

TEST_CASE("all shared .tflite models import and survive a rewrite") { check_folder("models", 19); }

TEST_CASE("all shared operator cases import and survive a rewrite") { check_folder("ops", 346); }
