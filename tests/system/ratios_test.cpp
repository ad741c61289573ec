// `deputy bench ratios`: our cycles beside outside ones.
#include "tools/ratios.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/system/deputy_process.h"

using namespace deputy;
using namespace deputy::test;
using Catch::Matchers::Contains;

TEST_CASE("the ratio table has every network with its SRAM limit kept") {
  const std::string data = shared_data("models");
  if (data.empty()) return;
  const auto r = run_deputy({"bench", "ratios", data, "--anchors", "ethos-u55-128", "--json"});
  INFO(r.err);
  REQUIRE(r.exit_code == 0);
  const auto json = nlohmann::json::parse(r.out)["tables"];
  REQUIRE(json.size() == 1);
  CHECK(json[0]["soc"] == "ethos-u55-128-like");
  REQUIRE(json[0]["rows"].size() == 8);
  for (const auto& row : json[0]["rows"]) {
    INFO(row.dump());
    CHECK(row["sram"]["used"] <= row["sram"]["allowed"]);
    // The weights' memory gives one byte a cycle: no engine is faster than what it reads there.
    CHECK(row["cycles"] >= row["dram_bytes"]);
    CHECK(row["ratio"].get<double>() ==
          Approx(row["cycles"].get<double>() / row["reference_cycles"].get<double>()));
  }
}

TEST_CASE("ratios name a missing model, an unknown anchor file and a wrong table") {
  TempFolder t;
  const auto missing = run_deputy({"bench", "ratios", t.path()});
  CHECK(missing.exit_code == 7);
  CHECK_THAT(missing.err, Contains("kws_ref_model.tflite"));
  const auto unknown = run_deputy({"bench", "ratios", t.path(), "--anchors", "nosuch"});
  CHECK(unknown.exit_code != 0);
  CHECK_THAT(unknown.err, Contains("nosuch"));
}

TEST_CASE("the reference's table is read by kind and order") {
  tools::Report report;
  for (const char* kind : {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "ADD", "SOFTMAX"}) {
    tools::OpReport op;
    op.kind = kind;
    report.ops.push_back(op);
  }
  const std::string csv =
      "TFLite_operator,NNG Operator,Op "
      "Cycles\nCONV_2D,Conv2DBias,10.0\nDEPTHWISE_CONV_2D,DW,20\nCONV_2D,FullyConnected,30.5\n"
      "SOFTMAX,MaxPool,1\nSOFTMAX,Sub,2\nSOFTMAX,Mul,3\n";
  const auto cycles = tools::reference_layers(report, csv, "t.csv");
  REQUIRE(cycles.ok());
  CHECK(*cycles == std::vector<double>{10, 20, 30.5, 0, 6});
  CHECK_FALSE(tools::reference_layers(report, "a,b\n1,2\n", "t.csv").ok());
  CHECK_FALSE(tools::reference_layers(
                  report, "TFLite_operator,NNG Operator,Op Cycles\nCONV_2D,x,many\n", "t.csv")
                  .ok());
}
