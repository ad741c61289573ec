// Generated pages are what the tables in the code say today.
#include "tools/reference.h"

#include <catch2/catch.hpp>

#include "tests/system/deputy_process.h"
#include "tools/rtl_headers.h"

TEST_CASE("the SystemVerilog headers say what the tables of arch say") {
  for (const auto& [name, text] : deputy::tools::rtl_headers()) {
    INFO(name << ": run 'deputy reference' and commit the result");
    CHECK(deputy::test::read_text(deputy::test::project_file("rtl/include/" + name)) == text);
  }
}

TEST_CASE("docs/reference is up to date") {
  for (const auto& [name, text] : deputy::tools::reference_pages()) {
    INFO(name << ": run 'deputy reference' and commit the result");
    CHECK(deputy::test::read_text(deputy::test::project_file("docs/reference/" + name)) == text);
  }
}
