// The house keeps its shape: who may include whom, and how much the public API shows.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/house/include_rules.h"
#include "tests/support/source_dir.h"

namespace {
const std::filesystem::path kTop = deputy::tests::source_dir();

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
}  // namespace

using deputy::house::check_includes;

TEST_CASE("no file includes what its folder may not") {
  const auto files = deputy::house::project_sources(kTop);
  REQUIRE(files.size() > 30);
  std::string report;
  for (const auto& file : files)
    for (const auto& v : check_includes(file, read(kTop / file)))
      report += fmt::format("{}:{}: {}\n", v.file, v.line, v.message);
  INFO(report);
  CHECK(report.empty());
}

TEST_CASE("the checker sees each kind of forbidden arrow") {
  CHECK(check_includes("arch/x.h", "#include \"delegate/compile.h\"\n").size() == 1);
  CHECK(check_includes("npu_model/x.h", "#include \"soc/platform.h\"\n").size() == 1);
  CHECK(check_includes("npu_model/x.h", "#include \"dma/dma_engine.h\"\n").size() == 1);
  CHECK(check_includes("npu_model/core/x.cpp", "#include <systemc>\n").size() == 1);
  CHECK(check_includes("delegate/x.cpp", "  #  include <tlm.h>\n").size() == 1);
  CHECK(check_includes("host_runtime/x.cpp", "#include \"delegate/ir/graph.h\"\n").size() == 1);
  CHECK(check_includes("include/deputy/x.h", "#include <yaml-cpp/yaml.h>\n").size() == 1);
  CHECK(check_includes("nowhere/x.h", "").size() == 1);
  CHECK(check_includes("tools/x.cpp", "#include \"soc/platform.h\"\n#include <CLI/CLI.hpp>\n")
            .empty());
  CHECK(check_includes("dsp_model/x.cpp", "#include \"dma/core/chunks.h\"\n#include <systemc>\n")
            .empty());
}

TEST_CASE("no line is longer than 100 columns") {
  std::string report;
  for (const auto& file : deputy::house::project_sources(kTop)) {
    std::istringstream text(read(kTop / file));
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
      const auto columns = std::count_if(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // the first byte of a character
      });
      if (columns > 100) report += fmt::format("{}:{}: {} columns\n", file, number, columns);
    }
  }
  INFO(report);
  CHECK(report.empty());
}

TEST_CASE("the public API has at most 15 headers") {
  int headers = 0;
  for (const auto& file : deputy::house::project_sources(kTop))
    headers += file.starts_with("include/deputy/");
  CHECK(headers >= 1);
  CHECK(headers <= 15);
}
