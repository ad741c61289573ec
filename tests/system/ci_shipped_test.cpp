// The suite of configs/ci against its baseline.
#include <catch2/catch.hpp>

#include "tests/system/deputy_process.h"

using namespace deputy::test;

TEST_CASE("the shipped suite is as its baseline says") {
  const auto r = run_deputy({"ci", project_file("configs/ci/wearable.yaml")});
  INFO(r.out << r.err
             << "\nif the change is meant: deputy ci configs/ci/wearable.yaml --update-baseline, "
                "and commit what it writes");
  CHECK(r.exit_code == 0);
}
