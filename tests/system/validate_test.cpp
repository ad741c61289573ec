// `deputy validate`: the table in its quick form, held against the committed baseline.
#include "tools/validate.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/system/deputy_process.h"
#include "tools/anchors.h"
#include "tools/validate_layers.h"

using namespace deputy;
using namespace deputy::test;
using Catch::Matchers::Contains;

namespace {

std::vector<std::string> quick_validate(std::vector<std::string> more) {
  std::vector<std::string> out = {"validate", "--quick"};
  if (const std::string data = shared_data("models"); !data.empty())
    out.insert(out.end(), {"--data", data});
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

tools::ValidationRow row_of(double within, double from, double to, double reference, double ours) {
  tools::ValidationRow row;
  row.anchor.id = "a", row.anchor.within = within, row.anchor.from = from, row.anchor.to = to;
  row.reference = reference, row.ours = ours, row.run = true;
  return row;
}

}  // namespace

TEST_CASE("no number of the quick validation table departs from the baseline") {
  const auto r = run_deputy(quick_validate({"--json"}));
  INFO(r.err << "\nif the new numbers are meant: deputy validate --data MODELS --update, and "
                "commit what it writes");
  const auto json = nlohmann::json::parse(r.out);
  for (const auto& row : json["rows"]) {
    INFO(row.dump());
    CHECK_FALSE(row.contains("drift"));
    CHECK_FALSE(row["source"].get<std::string>().empty());
  }
  CHECK(r.exit_code == 0);
  CHECK(json["met"].get<int>() + json["not_met"].get<int>() + json["information"].get<int>() > 5);
}

TEST_CASE("docs/validation is what the baseline says") {
  const auto baseline = tools::load_baseline(tools::anchor_path("baseline.yaml"));
  REQUIRE(baseline.ok());
  const auto sections = tools::validation_of(*baseline);
  REQUIRE(sections.ok());
  INFO("run 'deputy validate --data MODELS --update' and commit the result");
  CHECK(read_text(project_file("docs/validation/table.md")) ==
        tools::validation_markdown(*sections));
  CHECK(read_text(project_file("docs/validation/cycles.dat")) ==
        tools::validation_points(*sections));
  std::size_t rows = 0;
  for (const auto& section : *sections) {
    for (const auto& row : section.rows) {
      INFO(row.anchor.id);
      CHECK(row.run);
      ++rows;
    }
  }
  CHECK(rows == baseline->size());
}

TEST_CASE("a number that departs from the baseline is named and fails the command") {
  TempFolder t;
  auto baseline = tools::load_baseline(tools::anchor_path("baseline.yaml"));
  REQUIRE(baseline.ok());
  baseline->at("u55-128/kws-seeded").ours *= 1.02;
  write_text(t.file("baseline.yaml"), tools::baseline_text(*baseline));
  const auto r =
      run_deputy({"validate", "ethos-u55-128", "--quick", "--baseline", t.file("baseline.yaml")});
  CHECK(r.exit_code == 8);
  CHECK_THAT(r.err, Contains("1 rows drift"));
  CHECK_THAT(r.out, Contains("-2.0 %"));
}

TEST_CASE("verdicts follow the bounds") {
  using tools::Verdict;
  CHECK(row_of(10, 0, 0, 100, 110).verdict() == Verdict::kMet);
  CHECK(row_of(10, 0, 0, 100, 111).verdict() == Verdict::kNotMet);
  CHECK(row_of(10, 0, 0, 100, 89).verdict() == Verdict::kNotMet);
  CHECK(row_of(0, 0.61, 0.72, 0, 0.72).verdict() == Verdict::kMet);
  CHECK(row_of(0, 0.61, 0.72, 0, 0.60).verdict() == Verdict::kNotMet);
  CHECK(row_of(0, 0.61, 0.72, 0, 0.73).verdict() == Verdict::kNotMet);
  CHECK(row_of(0, 0, 0, 100, 500).verdict() == Verdict::kInformation);
  auto row = row_of(10, 0, 0, 100, 100);
  row.run = false;
  CHECK(row.verdict() == Verdict::kNotRun);
}

TEST_CASE("drift is a moved number, a new verdict or a new row") {
  const auto drift = [](tools::ValidationRow row, const tools::Baseline& baseline) {
    std::vector<tools::ValidationSection> sections = {{"s", "s", {row}}};
    tools::find_drift(sections, baseline);
    return sections[0].rows[0].drift;
  };
  CHECK(drift(row_of(10, 0, 0, 100, 100.9), {{"a", {100, 100}}}).empty());
  CHECK_THAT(drift(row_of(10, 0, 0, 100, 101.2), {{"a", {100, 100}}}), Contains("+1.2 %"));
  CHECK_THAT(drift(row_of(10, 0, 0, 100, 110.1), {{"a", {100, 109.9}}}), Contains("was met"));
  CHECK_THAT(drift(row_of(10, 0, 0, 100, 100), {}), Contains("not in the baseline"));
}

TEST_CASE("anchor files say what is wrong with them") {
  TempFolder t;
  const auto error = [&](const std::string& row) {
    write_text(t.file("a.yaml"), "title: t\nsoc: wearable\nsource: s\nrows:\n  - " + row + "\n");
    const auto r = run_deputy({"validate", t.file("a.yaml")});
    CHECK(r.exit_code == 4);
    return r.err;
  };
  CHECK_THAT(error("{label: x, network: ds_cnn}"), Contains("has no id"));
  CHECK_THAT(error("{id: x, network: ds_cnn, measure: nosuch}"), Contains("npu_cycles"));
  CHECK_THAT(error("{id: x, network: ds_cnn, within: 2, from: 1, to: 2}"), Contains("two bounds"));
  CHECK_THAT(error("{id: x, network: ds_cnn, from: 3, to: 2}"), Contains("wrong way round"));
  CHECK_THAT(error("{id: x, network: ds_cnn, limit: 2}"), Contains("limit"));
}

TEST_CASE("layers of a table are found by name, with what follows them") {
  TempFolder t;
  write_text(t.file("t.csv"),
             "# "
             "source\nlayer,winograd,strided,cycles,bound\na,0,0,100,MAC\nb,1,0,50,DRAM\nc,0,1,30,"
             "CVSRAM\n");
  const auto table = tools::load_layer_table(t.file("t.csv"));
  REQUIRE(table.ok());
  tools::Report report;
  const auto add = [&](const char* name, std::uint64_t cycles, double compute, double dram,
                       double sram) {
    tools::OpReport op;
    op.name = name, op.engine = "npu", op.own_cycles = cycles;
    op.bounds.compute = compute, op.bounds.dram = dram, op.bounds.sram = sram;
    report.ops.push_back(op);
  };
  add("a", 70, 60, 50, 0);
  add("a_pool", 20, 0, 20, 0);  // makes DRAM the larger
  add("b/conv", 10, 1, 9, 0);
  add("c", 40, 1, 2, 30);
  const auto layers = tools::compare_layers(report, *table, "row");
  REQUIRE(layers.ok());
  CHECK(layers->count == 2);
  CHECK(layers->same_bound == 1);
  CHECK(layers->differing == std::vector<std::string>{"a: MAC there, DRAM here"});
  CHECK(layers->cycles == 130);
  CHECK(layers->reference_cycles == 130);
  CHECK(layers->unstrided_cycles == 90);
  CHECK(layers->unstrided_reference_cycles == 100);
  report.ops.pop_back();
  CHECK_FALSE(tools::compare_layers(report, *table, "row").ok());
  write_text(t.file("t.csv"), "layer,winograd,strided,cycles,bound\na,0,0,many,MAC\n");
  CHECK_FALSE(tools::load_layer_table(t.file("t.csv")).ok());
}

TEST_CASE("every preset of the project loads") {
  for (const char* name :
       {"ethos-u55-128-like", "ethos-u55-256-like", "ethos-u65-256-like", "nvdla-small-like",
        "nvdla-large-like", "wearable", "implant", "imaging", "gap9-ne16-like"}) {
    INFO(name);
    const auto r = run_deputy({"run", project_file("workloads/ecg/ecg_beats.tflite"), "--soc", name,
                               "--timing-only", "--quiet"});
    INFO(r.err);
    CHECK(r.exit_code == 0);
  }
}
