// Every operator case of the shared conformance data against both outside runtimes. Known
// differences are listed by name with their cause: a new one fails, and so does one that went away.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "delegate/import/tflite.h"
#include "tests/support/golden.h"
#include "tests/support/interpreter.h"

namespace deputy::tests {
namespace {

/// case name -> why the runtime's output is not reproduced.
using Exceptions = std::map<std::string, std::string>;

const Exceptions kTflmDifferences = {};
const Exceptions kTfjsDifferences = {};

struct Totals {
  int cases = 0, equal = 0, only_xnnpack = 0;
};

void run_cases(const std::string& data, Numerics mode, std::vector<GoldenTensor> OpCase::*golden,
               const Exceptions& exceptions, Totals& totals) {
  for (const OpCase& c : load_op_cases(data)) {
    if ((c.*golden).empty()) continue;
    INFO(c.name << " in " << numerics_name(mode));
    const auto graph = delegate::import_tflite(read_bytes(data + "/" + c.model), c.name);
    REQUIRE(graph.ok());
    std::vector<std::vector<std::uint8_t>> inputs;
    for (const auto& file : c.inputs) inputs.push_back(read_bytes(data + "/" + file));
    const auto values = run_graph(*graph, inputs, mode);
    INFO((values.ok() ? "" : values.error().text()));
    REQUIRE(values.ok());
    bool equal = true;
    for (const GoldenTensor& t : c.*golden) {
      const auto id = static_cast<std::size_t>(graph->outputs[static_cast<std::size_t>(t.index)]);
      const Difference d = compare(t.dtype, values->tensors[id], read_bytes(data + "/" + t.file));
      if (d.none()) continue;
      equal = false;
      if (!exceptions.contains(c.name)) FAIL_CHECK("output " << t.index << ": " << d.text());
      // Where the tfjs run left XNNPACK, at most one step.
      CHECK(d.largest <= 1);
    }
    CHECK(equal != exceptions.contains(c.name));  // a vanished difference must leave the list
    ++totals.cases;
    totals.equal += equal;
    totals.only_xnnpack += c.only_xnnpack && mode == Numerics::kFp32;
  }
}

TEST_CASE("operator goldens: tflite numerics equal TFLite Micro") {
  const auto data = shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  Totals totals;
  run_cases(*data, Numerics::kTflite, &OpCase::tflm, kTflmDifferences, totals);
  CHECK(totals.cases == 340);
  CHECK(totals.equal + static_cast<int>(kTflmDifferences.size()) == totals.cases);
}

TEST_CASE("operator goldens: fp32 numerics equal TFLite with XNNPACK") {
  const auto data = shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  Totals totals;
  run_cases(*data, Numerics::kFp32, &OpCase::tfjs, kTfjsDifferences, totals);
  CHECK(totals.cases == 343);
  CHECK(totals.only_xnnpack == 215);
  CHECK(totals.equal + static_cast<int>(kTfjsDifferences.size()) == totals.cases);
}

}  // namespace
}  // namespace deputy::tests
