// Scenarios as the tests run them.
#pragma once

#include <catch2/catch.hpp>

#include "tests/support/source_dir.h"
#include "tools/stream/stream_report.h"

namespace deputy::stream_test {

using namespace tools;

inline StreamOptions options(const std::vector<std::string>& with,
                             const std::vector<std::string>& sets = {},
                             const char* scenario = "ecg_patch") {
  auto loaded = load_scenario(tests::source_dir() + "/configs/streams/" + scenario + ".yaml", with);
  if (!loaded.ok()) FAIL(loaded.error().text());
  loaded->soc = tests::source_dir() + "/configs/soc/" + loaded->soc + ".yaml";
  auto out = stream_options(std::move(*loaded), sets);
  if (!out.ok()) FAIL(out.error().text());
  return *out;
}
inline StreamRun run(const StreamOptions& o) {
  auto out = run_stream(o);
  if (!out.ok()) FAIL(out.error().text());
  return std::move(*out);
}

}  // namespace deputy::stream_test
